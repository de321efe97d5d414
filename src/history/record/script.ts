import { refusalError } from "../../api/refusals.ts";
import type { Account } from "../../core/account.ts";
import { headOf, type SettlementFaultTerms } from "../../core/chain/chain.ts";
import type { Command } from "../../core/commands.ts";
import type { DomainEvent } from "../../core/events.ts";
import { idOf } from "../../core/ids.ts";
import { marketOfToken, outcomeOf } from "../../core/market.ts";
import type { Order } from "../../core/order.ts";
import type { AskedFor, RefusedRequest, Scalar } from "../../core/refusals.ts";
import type { ExchangeConfig, State } from "../../core/state.ts";
import { type Millis, money, size } from "../../core/units.ts";
import {
  type Funding,
  type MarketTerms,
  type OrderWords,
  orderBodyOf,
} from "../../scenario/language/parts.ts";
import { LocalVenue } from "../../scenario/venue/local-venue.ts";
import { fundCommand } from "../../scenario/venue/opening.ts";
import { refusedBy } from "../../scenario/venue/views.ts";
import { retryRefused } from "../retry-refused.ts";
import { faultStep, moment, type Remark, roundedTerms, type Step } from "../scenario-text.ts";
import { positionCallIn, Remapper, type Trace, type TracedCommand } from "../trace.ts";
import type { Funds, TouchedMarket, Vocabulary } from "../vocabulary.ts";
import { RecordingError } from "./recordable-commands.ts";

/** Settings of a scenario. */
interface Header extends Pick<ExchangeConfig, "seed" | "settlement" | "balances"> {
  readonly clock: Millis;
  readonly markets: readonly MarketTerms[];
}

/** A session with its names in the scenario. */
export interface DescribedSession {
  /** Has only the commands that are written as steps. */
  readonly session: Trace;
  readonly words: Vocabulary;
  /** Names of orders, by number. */
  readonly names: ReadonlyMap<number, string>;
  readonly markets: readonly TouchedMarket[];
  readonly actors: readonly number[];
}

/**
 * The steps of a scenario. Each is executed when it is added, on an exchange like the one of a run, so that its result is
 * known. Arguments and results are names of accounts in the scenario, and numbers of markets and orders in the session.
 */
export class Script {
  readonly steps: (Step | Remark)[] = [];
  readonly described: DescribedSession;
  readonly #venue: LocalVenue;
  readonly #remapper: Remapper;
  /** Time after the steps written so far; the exchange may be ahead. */
  #now: Millis;
  /** Height of the chain when the session began. */
  #firstHeight = 0;

  constructor(header: Header, described: DescribedSession) {
    const place = { file: "", line: 1, column: 1 };
    const scenario = { name: "", place, world: null, accounts: [], steps: [], ...header };
    this.#venue = new LocalVenue(scenario);
    this.described = described;
    const { words, markets, session } = described;
    this.#remapper = new Remapper(this.#venue.exchange, session.end, (address) =>
      this.#venue.signIn(words.accountAt(address)),
    );
    for (const { name, number } of markets) {
      this.#remapper.markets.set(number, this.state.marketBySlug.get(name) ?? 0);
    }
    this.#now = this.#venue.now();
  }

  /** State of the scenario's exchange. */
  get state(): State {
    return this.#venue.state;
  }

  get now(): Millis {
    return this.#now;
  }

  /** Number of blocks since the session began. */
  get blocks(): number {
    return headOf(this.state.chain) - this.#firstHeight;
  }

  /** Called after the opening steps, when the session begins. */
  beginSession(): void {
    this.#firstHeight = headOf(this.state.chain);
  }

  addStep(...step: Step): void {
    this.steps.push(step);
  }

  addRemark(remark: string): void {
    this.steps.push({ remark });
  }

  /** Repeats a command of the session as a step. @throws RecordingError if it is refused. */
  repeat(traced: TracedCommand, ...step: Step): void {
    const command = this.#remapper.remap(traced);
    if (command === null)
      throw new Error(`sequence ${traced.sequence} refers to something that no step created`);
    this.submit(command, traced.sequence, step, traced.events);
  }

  /** Submits a command of the scenario as a step; `events` are those in the session that it repeats. @throws RecordingError */
  submit(command: Command, sequence: number, step: Step, events: readonly DomainEvent[] = []): void {
    const decision = this.#venue.exchange.submit(command);
    if (decision.ok) this.#remapper.link(events, decision.events);
    else this.#refused(sequence, step, refusedBy(refusalError(decision.refusal, this.#venue.view)));
    this.addStep(...step);
  }

  #refused(sequence: number, step: Step, { code, message }: { code: string; message: string }): never {
    const [[who, what] = ["", ""]] = step;
    throw new RecordingError(
      `no step can repeat sequence ${sequence} of the session (${who}: ${what}): in the exchange of a scenario it is refused with ${code}: ${message}`,
    );
  }

  /** Sets a settlement fault; `order` is the scenario's number of the order that it hits, `of` its name in steps. */
  fault(terms: SettlementFaultTerms, order?: number, of: string | null = null): void {
    const rounded = roundedTerms(terms);
    const command = {
      kind: "setSettlementFault",
      ...rounded,
      ...(order === undefined ? {} : { order }),
    } as const;
    this.submit(command, 0, faultStep(rounded, of));
  }

  /** Places the remainder of an order that rested before the session. */
  rest(order: Order, step: Step): void {
    const { side, price, orderType, expiration, token, number, account } = order;
    const address = this.#venue.signIn(this.described.words.account(account));
    const tokenId = this.#venue.tokenId(this.#token(token));
    this.#remapper.orders.set(number, this.state.orders.next);
    const left = size(order.size - order.matched);
    this.submit(
      { kind: "placeOrder", address, tokenId, side, price, size: left, orderType, expiration },
      0,
      step,
    );
  }

  /** Opens an account of the header with its funds. */
  openAccount(account: string, funds: Funds): void {
    const address = this.#venue.signIn(account);
    const fundings = funds.all.map(([token, amount]) => this.#funding(token, amount));
    if (fundings.length === 0) return;
    const attempt = this.#venue.submit(this.#fundCommand(address, fundings));
    if (!attempt.ok) throw new RecordingError(attempt.message);
  }

  /** Funds an account with micro-USDC if the token is 0, else with size units of a token of the session. */
  fund(sequence: number, account: string, token: number, amount: number): void {
    const command = this.#fundCommand(this.#venue.signIn(account), [this.#funding(token, amount)]);
    this.submit(command, sequence, [[account, this.described.words.funding(token, amount)]]);
  }

  #fundCommand(address: string, fundings: readonly Funding[]) {
    return fundCommand(address, fundings, (token) => this.#venue.tokenId(token));
  }

  #funding(token: number, amount: number): Funding {
    if (token === 0) return { asset: "USDC", amount: money(amount) };
    return { asset: this.#token(token), amount: size(amount) };
  }

  #token(token: number) {
    return { market: this.described.words.market(marketOfToken(token)), outcome: outcomeOf(token) };
  }

  /** Sends a wallet's transaction as a step. If it fails, the step is omitted if `mayFail`. @throws RecordingError */
  call(traced: TracedCommand, step: Step, mayFail: boolean): void {
    const { words, session } = this.described;
    const { command, sequence } = traced;
    const position = command.kind === "sendTransaction" ? positionCallIn(session.end, command) : null;
    const [[account] = [""]] = step;
    if (position === null) throw new Error(`no step for sequence ${sequence}`);
    const attempt = this.#venue.transact(account, words.market(position.market), position.change);
    if (attempt.ok) this.addStep(...step);
    else if (!mayFail) this.#refused(sequence, step, attempt);
  }

  /** Returns the code with which an order, valid or not, would be refused now; null if it would be accepted. */
  refusalOfOrder(account: string, words: OrderWords): string | null {
    const body = orderBodyOf(words, this.#venue.tokenId(words), this.#venue.now()) as Record<string, Scalar>;
    return this.#refusal("POST", account, { kind: "request", body, query: {}, isCut: false });
  }

  /** Returns the code with which canceling an order would be refused now; null for an order that does not exist. */
  refusalOfCancel(account: string, order: number | null): string | null {
    const number = order === null ? undefined : this.#remapper.orders.get(order);
    const orderId = number === undefined ? "nothing" : idOf(this.state.idPrefixes.order, number);
    return this.#refusal("DELETE", account, { kind: "request", body: { orderId }, query: {}, isCut: false });
  }

  #refusal(method: RefusedRequest["method"], account: string, asked: AskedFor): string | null {
    const address = this.#venue.signIn(account);
    const request = { method, path: "/clob/order", address, isProven: true, asked };
    const answer = retryRefused(this.#venue.view, this.#venue.now(), request);
    return answer.kind === "refused" ? answer.code : null;
  }

  /** Returns the scenario's order for an order of the session. @throws Error if it has not been placed. */
  orderOf(order: number): Order {
    const number = this.#remapper.orders.get(order);
    if (number === undefined) throw new Error(`no step places order ${order}`);
    return this.state.orders.get(number);
  }

  /** Numbers of markets in the scenario, by their numbers in the session. */
  get markets(): ReadonlyMap<number, number> {
    return this.#remapper.markets;
  }

  /** Returns the scenario's account for an account of the session. */
  accountOf(number: number): Account {
    const address = this.#venue.signIn(this.described.words.account(number));
    return this.state.accounts.get(this.state.accountByAddress.get(address) ?? 0);
  }

  /** Advances time with a step, unless the steps already end at that time. */
  advanceTo(at: Millis, words = moment(at)): void {
    if (at !== this.#now) this.addStep(["at", words]);
    this.#now = at;
    this.advanceSilently(at);
  }

  /** Advances time without a step: a later one covers it, because no command comes between. */
  advanceSilently(at: Millis): void {
    this.#venue.exchange.advanceTo(at);
  }

  /** Adds the step for time that was advanced silently. */
  writeTime(): void {
    if (this.hasUnwrittenTime) this.advanceTo(this.#venue.now());
  }

  get hasUnwrittenTime(): boolean {
    return this.#venue.now() > this.#now;
  }
}
