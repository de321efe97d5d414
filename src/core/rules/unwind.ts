import { type Balance, spendableOf } from "../account.ts";
import { unminedOf } from "../chain/chain.ts";
import { movesOf, USDC } from "../chain/moves.ts";
import type { Move, Transaction } from "../chain/transaction.ts";
import type { DomainEvent, EventOf } from "../events.ts";
import { marketOfToken } from "../market.ts";
import { type Order, remainingOf, reservationOf } from "../order.ts";
import type { State } from "../state.ts";
import { balanceOf } from "./ledger.ts";
import type { RuleSet } from "./rule-set.ts";

/** What will be different about one balance. */
interface Projection {
  readonly account: number;
  readonly token: number;
  balance: number;
  incoming: number;
}

/** The ledger takes back what a settlement or a call did. */
type Withdrawal = EventOf<"settlementFailed"> | EventOf<"callTakenBack"> | EventOf<"transactionDropped">;

const DEPENDENT = "it spends what a failed settlement or a transfer on the chain took away";

/**
 * Works out what must go with something that takes funds out of the ledger: pending settlements that spend what is not
 * there any more, newest first, and resting orders left without funds, of which the oldest have the first claim. Reads
 * only; the chain itself never owes, so that there is always an end.
 */
export class Unwinding {
  readonly #state: State;
  readonly #rules: RuleSet;
  readonly #projections = new Map<string, Projection>();
  /** In the order in which they must fail: what came last goes first. */
  readonly #withdrawals: Withdrawal[] = [];
  readonly #withdrawn = new Set<number>();

  constructor(state: State, rules: RuleSet) {
    this.#state = state;
    this.#rules = rules;
  }

  /** Something changes the ledger for good. */
  move(moves: readonly Move[]): void {
    for (const { account, token, amount } of moves) this.#projection(account, token).balance += amount;
  }

  /** What was in the ledger and not on the chain goes back. */
  takeBack(moves: readonly Move[]): void {
    for (const { account, token, amount } of moves) {
      const projection = this.#projection(account, token);
      projection.balance -= amount;
      if (amount > 0) projection.incoming -= amount;
    }
  }

  /** What was on the chain is on its way again. */
  expectAgain(moves: readonly Move[]): void {
    for (const { account, token, amount } of moves) {
      if (amount > 0) this.#projection(account, token).incoming += amount;
    }
  }

  /** A settlement fails: what it has brought and taken goes back. */
  fail(transaction: Transaction, failure: Omit<EventOf<"settlementFailed">, "kind" | "transaction">): void {
    this.#withdraw(transaction, { kind: "settlementFailed", transaction: transaction.number, ...failure });
  }

  /** A call is dropped: what it has brought and taken before a reorganization goes back. */
  drop(transaction: Transaction): void {
    this.#withdraw(transaction, { kind: "transactionDropped", transaction: transaction.number });
  }

  #withdraw(transaction: Transaction, event: Withdrawal): void {
    this.#withdrawn.add(transaction.number);
    this.#withdrawals.push(event);
    this.takeBack(movesOf(this.#state, transaction));
  }

  /** All that happens: orders are canceled, then settlements fail, what depends on others before them. */
  events(): DomainEvent[] {
    this.#failDependents();
    const orders = this.#uncovered();
    return [
      ...orders.map((order) => ({ kind: "orderCanceled", order, reason: "SETTLEMENT_FAILED" }) as const),
      ...this.#withdrawals.reverse(),
    ];
  }

  #failDependents(): void {
    for (;;) {
      const short = [...this.#projections.values()].find(
        (each) => this.#balanceOf(each).balance + each.balance < 0,
      );
      if (short === undefined) return;
      const spender = this.#latestSpender(short);
      if (spender.content !== null && this.#rules.replacedCallsStartAnew)
        this.#withdraw(spender, { kind: "callTakenBack", transaction: spender.number });
      else this.fail(spender, { reason: DEPENDENT, isMined: false, fault: 0 });
    }
  }

  /** What there will be of a balance that can be spent or reserved. */
  #coverOf(projection: Projection): number {
    const now = this.#balanceOf(projection);
    const [balance, incoming] = [now.balance + projection.balance, now.incoming + projection.incoming];
    return spendableOf({ ...now, balance, incoming }, this.#state.config.balances);
  }

  /** The latest settlement that is in the ledger and not on the chain, and takes from a balance. */
  #latestSpender({ account, token }: Projection): Transaction {
    for (const transaction of unsettled(this.#state)) {
      if (this.#withdrawn.has(transaction.number)) continue;
      const spends = movesOf(this.#state, transaction).some(
        (move) => move.account === account && move.token === token && move.amount < 0,
      );
      if (spends) return transaction;
    }
    throw new Error(`account ${account} owes token ${token}, and nothing pending took it`);
  }

  /** The resting orders that their accounts cannot pay any more, oldest first. */
  #uncovered(): number[] {
    const orders: number[] = [];
    for (const projection of this.#projections.values()) {
      const cover = this.#coverOf(projection);
      if (this.#balanceOf(projection).reserved <= cover) continue;
      let kept = 0;
      for (const { order, amount } of this.#claims(projection)) {
        if (kept + amount <= cover) kept += amount;
        else orders.push(order);
      }
    }
    return orders.sort((a, b) => a - b);
  }

  /** What the open orders of an account keep reserved of an asset, oldest first. */
  *#claims({ account, token }: Projection): Generator<{ readonly order: number; readonly amount: number }> {
    const { accounts, orders, markets } = this.#state;
    for (let next = accounts.get(account).firstOpen; next !== 0; ) {
      const order: Order = orders.get(next);
      next = order.nextOpen;
      if ((order.side === "BUY" ? USDC : order.token) !== token) continue;
      const { feeRateBps } = markets.get(marketOfToken(order.token));
      yield { order: order.number, amount: reservationOf(order, remainingOf(order), feeRateBps) };
    }
  }

  #balanceOf({ account, token }: Projection): Readonly<Balance<number>> {
    return balanceOf(this.#state.accounts.find(account), token);
  }

  #projection(account: number, token: number): Projection {
    const key = `${account}/${token}`;
    let projection = this.#projections.get(key);
    if (projection === undefined) {
      projection = { account, token, balance: 0, incoming: 0 };
      this.#projections.set(key, projection);
    }
    return projection;
  }
}

/** What is in the ledger and not on the chain, latest first. */
export const unsettled = ({ chain }: State): Transaction[] =>
  unminedOf(chain)
    .reverse()
    .filter(
      ({ content, exception }) =>
        content === null || (content.kind === "call" && (exception?.effect ?? null) !== null),
    );
