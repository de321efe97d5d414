import { askAgain } from "../../api/order-request.ts";
import type { PositionChange } from "../../api/position-transaction.ts";
import { headOf } from "../../core/chain/chain.ts";
import type { Command } from "../../core/commands.ts";
import { outcomeOf } from "../../core/market.ts";
import type { Order } from "../../core/order.ts";
import type { AskedFor, RefusedRequest, Scalar } from "../../core/refusals.ts";
import type { ExchangeConfig, State } from "../../core/state.ts";
import type { Millis, Size } from "../../core/units.ts";
import type { Funding, MarketTerms, OrderWords } from "../language/scenario.ts";
import { nothingOf } from "../venue/local-attempts.ts";
import { LocalVenue } from "../venue/local-venue.ts";
import { orderBodyOf } from "../venue/order-body.ts";
import type { Attempt } from "../venue/venue.ts";
import { Wallets } from "../venue/wallets.ts";

/** What a scenario says before its steps. */
export interface TwinTerms extends Pick<ExchangeConfig, "seed" | "settlement" | "balances"> {
  readonly clock: Millis;
  readonly markets: readonly MarketTerms[];
}

/**
 * The exchange in which a scenario will be run, in which its steps are done as they are written: what they come to is
 * known before anybody runs the file. Markets and accounts are called here as the scenario calls them; orders and
 * transactions by their numbers in the session.
 */
export class Twin {
  readonly #venue: LocalVenue;
  readonly #orders = new Map<number, number>();
  readonly #transactions = new Map<number, number>();
  #bottom = 0;

  constructor(terms: TwinTerms) {
    const place = { file: "", line: 1, column: 1 };
    this.#venue = new LocalVenue(
      { name: "", place, world: null, accounts: [], steps: [], ...terms },
      null,
      new Wallets(),
    );
  }

  get state(): State {
    return this.#venue.state;
  }

  get now(): Millis {
    return this.#venue.exchange.now;
  }

  get nextDueAt(): Millis | null {
    return this.#venue.exchange.nextDueAt;
  }

  /** How many blocks came since the session began. */
  get blocks(): number {
    return headOf(this.state.chain) - this.#bottom;
  }

  /** The session begins. */
  begin(): void {
    this.#bottom = headOf(this.state.chain);
  }

  advanceTo(at: Millis): void {
    this.#venue.exchange.advanceTo(at);
  }

  open(account: string, fundings: readonly Funding[]): Attempt<null> {
    return this.#venue.open(account, fundings);
  }

  fund(account: string, funding: Funding): Attempt<null> {
    return this.#venue.fund(account, funding);
  }

  /** Places an order of the session, so many shares of it. */
  place(account: string, order: Order, market: string, size: Size): Attempt<null> {
    const { side, price, orderType, expiration } = order;
    const address = this.#venue.addressOf(account);
    const tokenId = this.#venue.tokenId({ market, outcome: outcomeOf(order.token) });
    this.#orders.set(order.number, this.state.orders.next);
    return this.submit({ kind: "placeOrder", address, tokenId, side, price, size, orderType, expiration });
  }

  cancel(account: string, order: number): Attempt<null> {
    const orderId = this.#venue.idOf(this.orderOf(order).number);
    return this.submit({ kind: "cancelOrder", address: this.#venue.addressOf(account), orderId });
  }

  cancelAll(account: string): Attempt<null> {
    return this.submit({ kind: "cancelAllOrders", address: this.#venue.addressOf(account) });
  }

  /** Tries a wallet's transaction and sends it, as a step does. */
  call(account: string, market: string, change: PositionChange): Attempt<null> {
    return this.#venue.chain.call(account, market, change);
  }

  /** The code with which an order is refused here, right or wrong as its words are; null when it is not. Nothing changes. */
  refusalOfOrder(account: string, words: OrderWords): string | null {
    const body = orderBodyOf(words, this.#venue.tokenId(words), this.now) as Record<string, Scalar>;
    return this.#refusal("POST", account, { kind: "request", body, query: {}, isCut: false });
  }

  /** The same of the cancel of an order of the session, or of one that there is not. */
  refusalOfCancel(account: string, order: number | null): string | null {
    const own = order === null ? undefined : this.#orders.get(order);
    const body = { orderId: own === undefined ? "nothing" : this.#venue.idOf(own) };
    return this.#refusal("DELETE", account, { kind: "request", body, query: {}, isCut: false });
  }

  #refusal(method: RefusedRequest["method"], account: string, asked: AskedFor): string | null {
    const address = this.#venue.addressOf(account);
    const request = { method, path: "/clob/order", address, isProven: true, asked };
    const answer = askAgain(this.#venue.view, this.now, request);
    return answer.kind === "refused" ? answer.code : null;
  }

  /** Does what needs no name. */
  submit(command: Command): Attempt<null> {
    return nothingOf(this.#venue.exchange.submit(command), this.#venue.view);
  }

  marketNumber(name: string): number {
    return this.state.marketBySlug.get(name) ?? 0;
  }

  /** What became here of an order of the session. @throws Error when it was never placed here. */
  orderOf(order: number): Order {
    const own = this.#orders.get(order);
    if (own === undefined) throw new Error(`order ${order} is not told`);
    return this.state.orders.get(own);
  }

  /** A transaction of the session has this number here. */
  pair(transaction: number, own: number): void {
    this.#transactions.set(transaction, own);
  }

  /** The number here of a transaction of the session; undefined of what it did not send. */
  transactionOf(transaction: number): number | undefined {
    return this.#transactions.get(transaction);
  }

  /** Every settlement of the session, by its number there and here. */
  get transactions(): ReadonlyMap<number, number> {
    return this.#transactions;
  }

  /** What an account owns here. */
  accountOf(name: string) {
    return this.state.accounts.get(this.state.accountByAddress.get(this.#venue.addressOf(name)) ?? 0);
  }
}
