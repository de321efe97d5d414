import { faultWords } from "../../api/chain.ts";
import { type PositionChange, positionTransaction } from "../../api/position-transaction.ts";
import type { ExchangeClient } from "../../client/client.ts";
import type { SettlementStatus } from "../../core/chain/settlement.ts";
import type { SettlementFaultTerms } from "../../core/chain/settlement-fault.ts";
import { DONE, demand, nothingOf } from "./attempts.ts";
import { sharesView } from "./http-views.ts";
import { askNode } from "./json-rpc.ts";
import type { MarketMap } from "./market-map.ts";
import type { Attempt, ChainVenue, ChainView, OrderKey, SupplyView } from "./venue.ts";

const MOST_SHOWN = 500;

/** The settlement chain of an exchange over HTTP: its control plane, and its node. */
export class HttpChain implements ChainVenue {
  readonly #client: ExchangeClient;
  readonly #markets: MarketMap;
  readonly #walletOf: (account: string) => Promise<string>;

  /** `walletOf` answers the address of an account that has derived its credentials. */
  constructor(client: ExchangeClient, markets: MarketMap, walletOf: (account: string) => Promise<string>) {
    this.#client = client;
    this.#markets = markets;
    this.#walletOf = walletOf;
  }

  async call(account: string, market: string, change: PositionChange): Promise<Attempt<null>> {
    const wallet = await this.#walletOf(account);
    const { conditionId } = this.#markets.named(market);
    const { from, to, input, ...terms } = positionTransaction(wallet, conditionId, change);
    const call = { from, to, data: input };
    const trial = await askNode(this.#client, "eth_estimateGas", [call]);
    if (!trial.ok) return trial;
    const lent = await askNode(this.#client, "anvil_impersonateAccount", [from]);
    if (!lent.ok) return lent;
    const sent = await askNode(this.#client, "eth_sendTransaction", [
      {
        ...call,
        gas: quantity(terms.gas),
        maxFeePerGas: quantity(terms.maxFeePerGas),
        maxPriorityFeePerGas: quantity(terms.maxPriorityFeePerGas),
      },
    ]);
    return sent.ok ? DONE : sent;
  }

  async mine(blocks: number): Promise<void> {
    demand(await this.#client.control.chain.mine(blocks));
  }

  async reorganize(depth: number): Promise<Attempt<null>> {
    return nothingOf(await this.#client.control.chain.addFault({ kind: "reorg", depth }));
  }

  async setFault(terms: SettlementFaultTerms, of: OrderKey | "next" | null): Promise<Attempt<null>> {
    return nothingOf(
      await this.#client.control.chain.addFault({
        ...faultWords(terms),
        ...(of === null ? {} : { of: String(of) }),
      }),
    );
  }

  async endFaults(which: "fail" | "all"): Promise<void> {
    const { chain } = this.#client.control;
    if (which === "all") {
      demand(await chain.clearFaults());
      return;
    }
    const { data } = demand(await chain.faults({ limit: MOST_SHOWN }));
    for (const { id, kind } of data) if (kind === "fail" && id !== null) demand(await chain.deleteFault(id));
  }

  async bumpFees(): Promise<number> {
    return demand(await this.#client.control.chain.bump()).bumped;
  }

  async view(): Promise<ChainView> {
    const { head, confirmed, pending } = demand(await this.#client.control.chain.info());
    return { head: head.number, confirmed, pending };
  }

  async supply(market: string): Promise<SupplyView> {
    const { id } = this.#markets.named(market);
    const { onChain, ledger } = demand(await this.#client.control.chain.supply(id));
    return { onChain: sharesView(onChain), ledger: sharesView(ledger) };
  }

  async settled(order: OrderKey): Promise<readonly SettlementStatus[]> {
    const { fills } = demand(await this.#client.control.order(String(order)));
    return fills.map(({ status }) => status);
  }

  async waiting(): Promise<readonly string[]> {
    const { data } = demand(await this.#client.control.chain.pending({ limit: MOST_SHOWN }));
    const isWaiting = new Set(["MATCH", "REPORT", "CALL"]);
    const waiting = data.filter(({ kind, status }) => isWaiting.has(kind) && status === "PENDING");
    return waiting.map(({ reason }) => reason ?? "");
  }
}

const quantity = (value: number): string => `0x${value.toString(16)}`;
