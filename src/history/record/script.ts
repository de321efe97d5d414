import { askAgain } from "../../api/order-request.ts";
import type { PositionChange } from "../../api/position-transaction.ts";
import { headOf } from "../../core/chain/chain.ts";
import type { Command } from "../../core/commands.ts";
import { idOf } from "../../core/ids.ts";
import { outcomeOf } from "../../core/market.ts";
import type { Order } from "../../core/order.ts";
import type { AskedFor, RefusedRequest, Scalar } from "../../core/refusals.ts";
import type { ExchangeConfig, State } from "../../core/state.ts";
import type { Millis, Size } from "../../core/units.ts";
import type { Funding, MarketTerms, OrderWords } from "../../scenario/language/scenario.ts";
import { LocalVenue } from "../../scenario/venue/local-venue.ts";
import { fundCommand, orderBodyOf } from "../../scenario/venue/opening.ts";
import { type Attempt, DONE } from "../../scenario/venue/views.ts";
import { Wallets } from "../../scenario/venue/wallets.ts";
import { RecordingError } from "./observed-session.ts";
import { moment, type Remark, type Step } from "./yaml-text.ts";

/** What a scenario says before its steps. */
interface ShadowTerms extends Pick<ExchangeConfig, "seed" | "settlement" | "balances"> {
  readonly clock: Millis;
  readonly markets: readonly MarketTerms[];
}

/**
 * The exchange in which a scenario will be run, in which its steps are done as they are written: what they come to is
 * known before anybody runs the file. Markets and accounts are called here as the scenario calls them; orders and
 * transactions by their numbers in the session.
 */
export class ShadowExchange {
  readonly #venue: LocalVenue;
  readonly #orders = new Map<number, number>();
  readonly #transactions = new Map<number, number>();
  #bottom = 0;

  constructor(terms: ShadowTerms) {
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
    const address = this.#venue.signIn(account);
    if (fundings.length === 0) return DONE;
    return this.submit(fundCommand(address, fundings, (token) => this.#venue.tokenId(token)));
  }

  fund(account: string, funding: Funding): Attempt<null> {
    return this.open(account, [funding]);
  }

  /** Places an order of the session, so many shares of it. */
  place(account: string, order: Order, market: string, size: Size): Attempt<null> {
    const { side, price, orderType, expiration } = order;
    const address = this.#venue.signIn(account);
    const tokenId = this.#venue.tokenId({ market, outcome: outcomeOf(order.token) });
    this.#orders.set(order.number, this.state.orders.next);
    return this.submit({ kind: "placeOrder", address, tokenId, side, price, size, orderType, expiration });
  }

  cancel(account: string, order: number): Attempt<null> {
    const orderId = this.#idOf(this.orderOf(order).number);
    return this.submit({ kind: "cancelOrder", address: this.#venue.signIn(account), orderId });
  }

  cancelAll(account: string): Attempt<null> {
    return this.submit({ kind: "cancelAllOrders", address: this.#venue.signIn(account) });
  }

  /** Tries a wallet's transaction and sends it, as a step does. */
  call(account: string, market: string, change: PositionChange): Attempt<null> {
    return this.#venue.transact(account, market, change);
  }

  /** The code with which an order is refused here, right or wrong as its words are; null when it is not. Nothing changes. */
  refusalOfOrder(account: string, words: OrderWords): string | null {
    const body = orderBodyOf(words, this.#venue.tokenId(words), this.now) as Record<string, Scalar>;
    return this.#refusal("POST", account, { kind: "request", body, query: {}, isCut: false });
  }

  /** The same of the cancel of an order of the session, or of one that there is not. */
  refusalOfCancel(account: string, order: number | null): string | null {
    const own = order === null ? undefined : this.#orders.get(order);
    const body = { orderId: own === undefined ? "nothing" : this.#idOf(own) };
    return this.#refusal("DELETE", account, { kind: "request", body, query: {}, isCut: false });
  }

  #refusal(method: RefusedRequest["method"], account: string, asked: AskedFor): string | null {
    const address = this.#venue.signIn(account);
    const request = { method, path: "/clob/order", address, isProven: true, asked };
    const answer = askAgain(this.#venue.view, this.now, request);
    return answer.kind === "refused" ? answer.code : null;
  }

  /** Does what needs no name. */
  submit(command: Command): Attempt<null> {
    return this.#venue.submit(command);
  }

  #idOf(order: number): string {
    return idOf(this.state.idPrefixes.order, order);
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
    return this.state.accounts.get(this.state.accountByAddress.get(this.#venue.signIn(name)) ?? 0);
  }
}

/** The steps of a scenario as they are written; each is done at once in the scenario's own exchange. */
export class Script {
  readonly steps: (Step | Remark)[] = [];
  readonly shadow: ShadowExchange;
  /** The moment that the steps have come to. */
  #now: Millis;

  constructor(shadow: ShadowExchange) {
    this.shadow = shadow;
    this.#now = shadow.now;
  }

  get now(): Millis {
    return this.#now;
  }

  /** What the scenario's own exchange knows by now. */
  get state(): State {
    return this.shadow.state;
  }

  say(...step: Step): void {
    this.steps.push(step);
  }

  /** Says something on one line that is no step. */
  remark(remark: string): void {
    this.steps.push({ remark });
  }

  /** Says a step that the exchange has done. @throws RecordingError when it was refused there. */
  done(sequence: number, attempt: Attempt<unknown>, ...step: Step): void {
    if (!attempt.ok) {
      const [[who, what] = ["", ""]] = step;
      throw new RecordingError(
        "SESSION_NOT_RECORDABLE",
        `no step can repeat sequence ${sequence} of the session (${who}: ${what}): in the exchange of a scenario it is refused with ${attempt.code}: ${attempt.message}`,
      );
    }
    this.say(...step);
  }

  /** Lets time pass in a step, unless the steps have come so far. */
  passTo(at: Millis, words = moment(at)): void {
    if (at !== this.#now) this.say(["at", words]);
    this.#now = at;
    this.shadow.advanceTo(at);
  }

  /** Lets time pass that a later step will write: nothing is done in between. */
  foresee(at: Millis): void {
    this.shadow.advanceTo(at);
  }

  /** Writes the time that was foreseen. */
  catchUp(): void {
    if (this.isBehind) this.passTo(this.shadow.now);
  }

  get isBehind(): boolean {
    return this.shadow.now > this.#now;
  }
}
