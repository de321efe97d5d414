import { whyUnsettled } from "../../api/chain.ts";
import { type PositionChange, positionTransaction } from "../../api/position-transaction.ts";
import { revertWords } from "../../api/refusals.ts";
import { fillsOf } from "../../api/trading.ts";
import { headOf, unminedOf } from "../../core/chain/chain.ts";
import { finalHeight, type SettlementStatus, tradeStatus } from "../../core/chain/settlement.ts";
import type { SettlementFaultTerms } from "../../core/chain/settlement-fault.ts";
import { awaitsBlock } from "../../core/chain/transaction.ts";
import type { Market, Supply } from "../../core/market.ts";
import { outcomeOfCall } from "../../core/rules/contract-calls.ts";
import { DONE, nothingOf, refusedBy } from "./local-attempts.ts";
import type { LocalVenue } from "./local-venue.ts";
import type { Attempt, ChainVenue, ChainView, OrderKey, SharesView, SupplyView } from "./venue.ts";

/** The settlement chain of an exchange in this process. */
export class LocalChain implements ChainVenue {
  readonly #venue: LocalVenue;

  constructor(venue: LocalVenue) {
    this.#venue = venue;
  }

  call(account: string, market: string, change: PositionChange): Attempt<null> {
    const from = this.#venue.addressOf(account);
    const { exchange, state, view } = this.#venue;
    const transaction = positionTransaction(from, this.#market(market).conditionId, change);
    const trial = outcomeOfCall(state, { from, value: BigInt(transaction.value) }, transaction.call);
    if (!trial.ok) {
      return { ok: false, code: "TRANSACTION_REVERTED", message: revertWords(trial.reason), hint: null };
    }
    const decision = exchange.submit(transaction);
    return decision.ok ? DONE : { ...refusedBy(decision.refusal, view), code: "TRANSACTION_REFUSED" };
  }

  mine(blocks: number): void {
    this.#venue.exchange.submit({ kind: "mineBlocks", count: blocks });
  }

  reorganize(depth: number): Attempt<null> {
    const { exchange, view } = this.#venue;
    return nothingOf(exchange.submit({ kind: "reorganizeChain", depth }), view);
  }

  setFault(terms: SettlementFaultTerms, of: OrderKey | "next" | null): Attempt<null> {
    const { exchange, state, view } = this.#venue;
    const order = of === null ? {} : { order: of === "next" ? state.orders.next : (of as number) };
    return nothingOf(exchange.submit({ kind: "setSettlementFault", ...terms, ...order }), view);
  }

  endFaults(which: "fail" | "all"): void {
    const { exchange, state } = this.#venue;
    const failing = state.chain.faults.filter(({ fault }) => fault === "fail");
    const ended = which === "all" ? [null] : failing.map(({ number }) => number);
    for (const number of ended) exchange.submit({ kind: "endSettlementFault", number });
  }

  bumpFees(): number {
    const decision = this.#venue.exchange.submit({ kind: "bumpFees" });
    const [event] = decision.ok ? decision.events : [];
    return event?.kind === "feesBumped" ? event.transactions.length : 0;
  }

  view(): ChainView {
    const { state } = this.#venue;
    return { head: headOf(state.chain), confirmed: finalHeight(state), pending: state.chain.pending };
  }

  supply(market: string): SupplyView {
    const { supply, onChain } = this.#market(market);
    return { onChain: sharesOf(onChain), ledger: sharesOf(supply) };
  }

  settled(order: OrderKey): readonly SettlementStatus[] {
    const { state, view } = this.#venue;
    const fills = fillsOf(view, state.orders.get(order as number));
    return fills.map(({ trade }) => tradeStatus(state, trade));
  }

  waiting(): readonly string[] {
    const { state } = this.#venue;
    const waiting = unminedOf(state.chain).filter((each) => awaitsBlock(each) && each.status === "PENDING");
    return waiting.map((transaction) => whyUnsettled(state, transaction) ?? "");
  }

  #market(slug: string): Market {
    const { marketBySlug, markets } = this.#venue.state;
    return markets.get(marketBySlug.get(slug) ?? 0);
  }
}

const sharesOf = ({ yes, no }: Supply): SharesView => ({ YES: yes, NO: no });
