import {
  blockReply,
  chainReply,
  faultTerms,
  orderOfFault,
  reorganizationReply,
  requireFieldsOfKind,
  settlementFaultId,
  settlementFaultReply,
  supplyReply,
  transactionReply,
} from "../../api/chain.ts";
import type { Operation } from "../../api/endpoints.ts";
import { ApiError, requireBelowLimit } from "../../api/errors.ts";
import { findMarket, pageAt, pageOf } from "../../api/view.ts";
import { type SettlementFault, unminedOf } from "../../core/chain/chain.ts";
import { quoted } from "../../core/format.ts";
import { guardOrigin, isTrusted } from "../access.ts";
import { JsonText, NO_CONTENT } from "../messages.ts";
import type { Handlers } from "../service.ts";
import { submit } from "./trading.ts";

export const chainHandlers = {
  getChain: (_call, _service, view) => chainReply(view),
  listBlocks: ({ query }, _service, view) => {
    const { heights, blocks } = view.state.chain;
    return pageAt(heights.size, query, (index) =>
      blockReply(view, blocks.get(heights.get(heights.size - index))),
    );
  },
  listPendingTransactions: ({ query }, _service, view) =>
    pageOf(unminedOf(view.state.chain), query, (each) => transactionReply(view, each)),
  getSupply: ({ path }, _service, view) => supplyReply(view, findMarket(view, path.idOrSlug)),
  mineBlocks: ({ body }, service, view) => {
    submit(service, { kind: "mineBlocks", count: body.blocks });
    return chainReply(view);
  },
  bumpFees: (_call, service) => {
    const [event] = submit(service, { kind: "bumpFees" });
    return { bumped: event?.kind === "feesBumped" ? event.transactions.length : 0 };
  },
  listSettlementFaults: ({ query }, { exchange: { state } }) =>
    pageOf(state.chain.faults, query, (fault) => settlementFaultReply(state, fault)),
  addSettlementFault: ({ body }, service) => {
    requireFieldsOfKind(body);
    const { exchange } = service;
    const { kind, depth = 1, ...words } = body;
    if (kind === "reorg") {
      submit(service, { kind: "reorganizeChain", depth });
      return reorganizationReply(depth);
    }
    const hint = "DELETE /sim/chain/faults/{id} ends one, DELETE /sim/chain/faults all";
    requireBelowLimit(exchange.state.chain.faults.length, "settlement faults", hint);
    const order = words.of === undefined ? {} : { order: orderOfFault(exchange.state, words.of) };
    submit(service, { kind: "setSettlementFault", ...faultTerms({ kind, ...words }), ...order });
    return settlementFaultReply(exchange.state, exchange.state.chain.faults.at(-1) as SettlementFault);
  },
  removeSettlementFaults: (_call, service) => {
    const removed = service.exchange.state.chain.faults.map(({ number }) => settlementFaultId(number));
    submit(service, { kind: "endSettlementFault", number: null });
    return { removed };
  },
  removeSettlementFault: ({ path }, service) => {
    const { faults } = service.exchange.state.chain;
    const found = faults.find(({ number }) => settlementFaultId(number) === path.id);
    if (found === undefined) {
      const hint =
        faults.length === 0
          ? "there are none: a fault ends after the last settlement that it applies to"
          : `there are ${faults.map(({ number }) => settlementFaultId(number)).join(", ")}`;
      throw new ApiError("FAULT_NOT_FOUND", `no settlement fault ${quoted(path.id)}`, { hint });
    }
    submit(service, { kind: "endSettlementFault", number: found.number });
    return settlementFaultReply(service.exchange.state, found);
  },
  callChain: async ({ body, headers }, { chain, options }) => {
    guardOrigin(headers, "the chain");
    const text = await (await chain()).answer(body, isTrusted(options, headers));
    return text === "" ? NO_CONTENT : new JsonText(text);
  },
} satisfies Partial<Handlers<Operation>>;
