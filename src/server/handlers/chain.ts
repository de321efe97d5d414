import { ApiError } from "../../api/errors.ts";
import { blockReply, chainReply, supplyReply, transactionReply } from "../../api/replies/chain-reply.ts";
import { pageOf } from "../../api/replies/view.ts";
import {
  FAULT_FIELDS,
  faultTerms,
  type SettlementFaultWords,
  WEI_PER_GWEI,
} from "../../api/settlement-faults.ts";
import { unminedOf } from "../../core/chain/chain.ts";
import { CERTAIN, type SettlementFault } from "../../core/chain/settlement-fault.ts";
import type { Transaction } from "../../core/chain/transaction.ts";
import { guardOrigin, isTrusted } from "../access.ts";
import { type Handlers, JsonText, type Service, SILENCE, viewOf } from "../service.ts";
import { findMarket } from "./lookup.ts";
import { submit } from "./trading.ts";

/** How many settlement faults are in force at once. */
const MAX_FAULTS = 1_000;

/** /sim/chain. */
export const chainHandlers: Handlers<
  | "getChain"
  | "listBlocks"
  | "listPendingTransactions"
  | "getSupply"
  | "mineBlocks"
  | "bumpFees"
  | "listSettlementFaults"
  | "addSettlementFault"
  | "removeSettlementFaults"
  | "removeSettlementFault"
> = {
  getChain: (_call, service) => chainReply(viewOf(service)),
  listBlocks: ({ query }, service) => {
    const view = viewOf(service);
    const { heights, blocks } = view.state.chain;
    return pageOf(heights.size, query, (index) =>
      blockReply(view, blocks.get(heights.get(heights.size - index))),
    );
  },
  listPendingTransactions: ({ query }, service) => {
    const view = viewOf(service);
    const pending = unminedOf(view.state.chain);
    return pageOf(pending.length, query, (index) => transactionReply(view, pending[index] as Transaction));
  },
  getSupply: ({ path }, service) => {
    const view = viewOf(service);
    return supplyReply(view, findMarket(view, path.idOrSlug ?? ""));
  },
  mineBlocks: ({ body }, service) => {
    submit(service, { kind: "mineBlocks", count: body.blocks });
    return chainReply(viewOf(service));
  },
  bumpFees: (_call, service) => {
    const events = submit(service, { kind: "bumpFees" });
    const [event] = events;
    return { bumped: event?.kind === "feesBumped" ? event.transactions.length : 0 };
  },
  listSettlementFaults: ({ query }, { exchange }) => {
    const { faults } = exchange.state.chain;
    return pageOf(faults.length, query, (index) => faultReply(faults[index] as SettlementFault));
  },
  addSettlementFault: ({ body }, service) => addFault(service, body),
  removeSettlementFaults: (_call, service) => {
    const removed = service.exchange.state.chain.faults.map(({ number }) => idOf(number));
    submit(service, { kind: "endSettlementFault", number: null });
    return { removed };
  },
  removeSettlementFault: ({ path }, service) => {
    const { faults } = service.exchange.state.chain;
    const found = faults.find(({ number }) => idOf(number) === path.id);
    if (found === undefined) {
      throw new ApiError(
        "FAULT_NOT_FOUND",
        `no settlement fault ${JSON.stringify((path.id ?? "").slice(0, 80))}`,
        {
          hint:
            faults.length === 0
              ? "there are none in force: one that has befallen as many settlements as it was to is over"
              : `there are ${faults.map(({ number }) => idOf(number)).join(", ")}`,
        },
      );
    }
    submit(service, { kind: "endSettlementFault", number: found.number });
    return faultReply(found);
  },
};

const idOf = (number: number): string => `settlement-fault-${number}`;

type NewFault =
  | (SettlementFaultWords & { readonly depth?: number | undefined })
  | (Omit<SettlementFaultWords, "kind"> & { readonly kind: "reorg"; readonly depth?: number | undefined });

/** Which fields mean something of which kind, beside `kind`. */
const FIELDS: Readonly<Record<NewFault["kind"], readonly string[]>> = { ...FAULT_FIELDS, reorg: ["depth"] };

function addFault(service: Service, fault: NewFault): object {
  refuseStrayFields(fault);
  const { exchange } = service;
  if (fault.kind === "reorg") {
    const depth = fault.depth ?? 1;
    submit(service, { kind: "reorganizeChain", depth });
    return reorgReply(depth);
  }
  if (exchange.state.chain.faults.length >= MAX_FAULTS) {
    throw new ApiError("LIMIT_REACHED", `there are ${MAX_FAULTS} settlement faults, and no more are kept`, {
      hint: "DELETE /sim/chain/faults/{id} ends one, DELETE /sim/chain/faults all",
      details: { maximum: MAX_FAULTS },
    });
  }
  submit(service, { kind: "setSettlementFault", ...faultTerms(fault) });
  return faultReply(exchange.state.chain.faults.at(-1) as SettlementFault);
}

/** A field that means nothing of its kind was meant for another one. @throws ApiError `INVALID_PARAMETER`. */
function refuseStrayFields(fault: NewFault): void {
  const known = FIELDS[fault.kind];
  const stray = Object.entries(fault).flatMap(([name, value]) =>
    name === "kind" || value === undefined || known.includes(name) ? [] : [name],
  );
  if (stray.length === 0) return;
  throw new ApiError(
    "INVALID_PARAMETER",
    `${stray.join(", ")}: means nothing of a fault of kind ${fault.kind}`,
    {
      hint: `beside kind it takes ${known.join(", ")}`,
      details: { fields: stray },
    },
  );
}

/** It has happened already: there is nothing to end. */
const reorgReply = (depth: number): object => ({
  id: null,
  kind: "reorg",
  times: 1,
  probability: 1,
  blocks: null,
  baseFeeGwei: null,
  depth,
  reason: null,
  struck: 1,
  remaining: 0,
});

function faultReply(fault: SettlementFault): object {
  const { number, times, probability, blocks, baseFee, reason, struck } = fault;
  const isSpike = fault.fault === "gasSpike";
  return {
    id: idOf(number),
    kind: isSpike ? "gas-spike" : fault.fault,
    times,
    probability: probability / CERTAIN,
    blocks: fault.fault === "delay" ? blocks : null,
    baseFeeGwei: isSpike ? baseFee / WEI_PER_GWEI : null,
    depth: null,
    reason,
    struck,
    remaining: times === null ? null : times - struck,
  };
}

/** POST /chain. */
export const chainRpcHandlers: Handlers<"callChain"> = {
  callChain: async ({ body, headers }, { chain, options }) => {
    guardOrigin(headers, "the chain");
    const text = await chain(body, isTrusted(options, headers));
    return text === "" ? SILENCE : new JsonText(text);
  },
};
