import { type Balance, openOrdersOf, spendableOf } from "../account.ts";
import { unminedOf } from "../chain/chain.ts";
import { movesOf, USDC } from "../chain/settlement.ts";
import type { Move, Transaction } from "../chain/transaction.ts";
import type { DomainEvent } from "../events.ts";
import { marketOfToken } from "../market.ts";
import { remainingOf, reservationOf } from "../order.ts";
import type { State } from "../state.ts";
import { balanceOf } from "./ledger.ts";
import type { RuleSet } from "./rule-set.ts";

/** Planned change of one balance. */
interface Projection {
  readonly account: number;
  readonly token: number;
  balance: number;
  incoming: number;
}

/** Event that undoes a settlement or a call in the ledger. */
type UndoEvent = DomainEvent<"settlementFailed" | "callTakenBack" | "transactionDropped">;

const DEPENDENT = "it spends what a failed settlement or a transfer on the chain took away";

/**
 * Computes the consequences of removing funds from the ledger: pending settlements that spend missing funds fail, newest
 * first; resting orders without funds are canceled, and the oldest orders have priority. Does not write the state. It
 * terminates because balances on chain are never negative.
 */
export class Unwinding {
  readonly #state: State;
  readonly #rules: RuleSet;
  /** Transactions that the command returns to the pool. */
  readonly #returned: readonly Transaction[];
  readonly #projections = new Map<string, Projection>();
  /** In the order in which they were found; `events` reverses it, so that dependents come first. */
  readonly #undoEvents: UndoEvent[] = [];
  readonly #undone = new Set<number>();

  constructor(state: State, rules: RuleSet, returned: readonly Transaction[] = []) {
    this.#state = state;
    this.#rules = rules;
    this.#returned = returned;
  }

  /** Adds moves that are final. */
  addMoves(moves: readonly Move[]): void {
    for (const { account, token, amount } of moves) this.#projection(account, token).balance += amount;
  }

  /** Undoes moves that are in the ledger and not on chain. */
  undoMoves(moves: readonly Move[]): this {
    for (const { account, token, amount } of moves) {
      const projection = this.#projection(account, token);
      projection.balance -= amount;
      if (amount > 0) projection.incoming -= amount;
    }
    return this;
  }

  /** Marks moves as pending again that were on chain. */
  addIncoming(moves: readonly Move[]): void {
    for (const { account, token, amount } of moves) {
      if (amount > 0) this.#projection(account, token).incoming += amount;
    }
  }

  /** Fails a settlement and undoes its moves. */
  fail(match: Transaction, failure: Omit<DomainEvent<"settlementFailed">, "kind" | "transaction">): this {
    return this.#addUndo(match, { kind: "settlementFailed", transaction: match.number, ...failure });
  }

  /** Drops a call and undoes its moves from before a reorganization. */
  drop(transaction: Transaction): this {
    return this.#addUndo(transaction, { kind: "transactionDropped", transaction: transaction.number });
  }

  /** Undoes a call's moves from before a reorganization; it stays pending unless the same command replaces it. */
  undo(transaction: Transaction): this {
    return this.#addUndo(transaction, { kind: "callTakenBack", transaction: transaction.number });
  }

  #addUndo(transaction: Transaction, event: UndoEvent): this {
    this.#undone.add(transaction.number);
    this.#undoEvents.push(event);
    return this.undoMoves(movesOf(this.#state, transaction));
  }

  /** Returns all events: cancels of orders, events between, then failures of settlements, dependents first. */
  events(...between: readonly DomainEvent[]): DomainEvent[] {
    this.#failDependents();
    const orders = this.#unfundedOrders();
    return [
      ...orders.map((order) => ({ kind: "orderCanceled", order, reason: "SETTLEMENT_FAILED" }) as const),
      ...between,
      ...this.#undoEvents.reverse(),
    ];
  }

  #failDependents(): void {
    for (;;) {
      const short = [...this.#projections.values()].find(
        (each) => this.#balanceOf(each).balance + each.balance < 0,
      );
      if (short === undefined) return;
      const spender = this.#latestSpender(short);
      if (spender.content !== null && this.#rules.reorganizationRestartsCalls) this.undo(spender);
      else this.fail(spender, { reason: DEPENDENT, isMined: false, fault: 0 });
    }
  }

  /** Returns the latest unsettled transaction that debits a balance. */
  #latestSpender({ account, token }: Projection): Transaction {
    const spends = (transaction: Transaction): boolean =>
      !this.#undone.has(transaction.number) &&
      movesOf(this.#state, transaction).some(
        (move) => move.account === account && move.token === token && move.amount < 0,
      );
    const pending = [...unsettled(this.#state), ...this.#returned].sort((a, b) => b.number - a.number);
    const spender = pending.find(spends) ?? replacedInLedger(this.#state).findLast(spends);
    if (spender === undefined)
      throw new Error(`account ${account} owes token ${token}, which no pending transaction debited`);
    return spender;
  }

  /** Returns the resting orders that their accounts can no longer pay for, oldest first. */
  #unfundedOrders(): number[] {
    const orders: number[] = [];
    for (const projection of this.#projections.values()) {
      const now = this.#balanceOf(projection);
      const [balance, incoming] = [now.balance + projection.balance, now.incoming + projection.incoming];
      const cover = spendableOf({ ...now, balance, incoming }, this.#state.config.balances);
      if (now.reserved <= cover) continue;
      const { account, token } = projection;
      let kept = 0;
      for (const order of openOrdersOf(this.#state, this.#state.accounts.get(account))) {
        if ((order.side === "BUY" ? USDC : order.token) !== token) continue;
        const { feeRateBps } = this.#state.markets.get(marketOfToken(order.token));
        const amount = reservationOf(order, remainingOf(order), feeRateBps);
        if (kept + amount <= cover) kept += amount;
        else orders.push(order.number);
      }
    }
    return orders.sort((a, b) => a - b);
  }

  #balanceOf({ account, token }: Projection): Readonly<Balance<number>> {
    return balanceOf(this.#state.accounts.find(account), token);
  }

  #projection(account: number, token: number): Projection {
    const key = `${account}/${token}`;
    const projection = this.#projections.get(key) ?? { account, token, balance: 0, incoming: 0 };
    this.#projections.set(key, projection);
    return projection;
  }
}

/** Returns calls that `RuleSet.takenNonceUndoesCall` undoes, and that earlier rules left in the ledger. */
const replacedInLedger = ({ chain }: State): Transaction[] =>
  [...chain.transactions].filter(({ status, exception }) => status === "REPLACED" && exception?.effect);

/** Returns the transactions in the ledger that are not on chain, latest first. */
export const unsettled = ({ chain }: State): Transaction[] =>
  unminedOf(chain)
    .reverse()
    .filter(
      ({ content, exception }) =>
        content === null || (content.kind === "call" && (exception?.effect ?? null) !== null),
    );
