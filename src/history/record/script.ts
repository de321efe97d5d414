import { retryRefused } from "../../api/order-request.ts";
import { refusalError } from "../../api/refusals.ts";
import type { Account } from "../../core/account.ts";
import { headOf } from "../../core/chain/chain.ts";
import type { SettlementFaultTerms } from "../../core/chain/settlement-fault.ts";
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
import { Wallets } from "../../scenario/venue/wallets.ts";
import { faultStep, moment, type Remark, type Step, sayableTerms } from "../scenario-text.ts";
import { positionIn, Remapper, type Trace, type TracedCommand } from "../trace.ts";
import type { Funds, TouchedMarket, Vocabulary } from "../vocabulary.ts";
import { RecordingError } from "./told-commands.ts";

/** What a scenario says before its steps. */
interface Header extends Pick<ExchangeConfig, "seed" | "settlement" | "balances"> {
  readonly clock: Millis;
  readonly markets: readonly MarketTerms[];
}

/** A session with the words in which a scenario writes it. */
export interface DescribedSession {
  /** Its commands are those that steps say. */
  readonly session: Trace;
  readonly words: Vocabulary;
  /** Of orders, by number. */
  readonly names: ReadonlyMap<number, string>;
  readonly markets: readonly TouchedMarket[];
  readonly actors: readonly number[];
}

/**
 * The steps of a scenario as they are written. Each is done at once in the exchange in which the scenario will be run: what
 * it comes to is known before anybody runs the file. Accounts are called there as the scenario calls them; markets, orders
 * and what commands speak of are those of the session.
 */
export class Script {
  readonly steps: (Step | Remark)[] = [];
  readonly #venue: LocalVenue;
  readonly #remapper: Remapper;
  /** What it tells. */
  readonly told: DescribedSession;
  /** The moment that the steps have come to. */
  #now: Millis;
  #bottom = 0;

  constructor(header: Header, told: DescribedSession) {
    const place = { file: "", line: 1, column: 1 };
    const scenario = { name: "", place, world: null, accounts: [], steps: [], ...header };
    this.#venue = new LocalVenue(scenario, null, new Wallets());
    this.told = told;
    const { words, markets, session } = told;
    this.#remapper = new Remapper(this.#venue.exchange, session.end, (address) =>
      this.#venue.signIn(words.named(address)),
    );
    for (const { name, number } of markets) {
      this.#remapper.markets.set(number, this.state.marketBySlug.get(name) ?? 0);
    }
    this.#now = this.#venue.now();
  }

  /** What the scenario's own exchange knows by now. */
  get state(): State {
    return this.#venue.state;
  }

  get now(): Millis {
    return this.#now;
  }

  /** How many blocks came since the session began. */
  get blocks(): number {
    return headOf(this.state.chain) - this.#bottom;
  }

  /** The session begins. */
  begin(): void {
    this.#bottom = headOf(this.state.chain);
  }

  say(...step: Step): void {
    this.steps.push(step);
  }

  /** Says something on one line that is no step. */
  remark(remark: string): void {
    this.steps.push({ remark });
  }

  /** Does what a command of the session did, and says it. @throws RecordingError when it is refused. */
  do(traced: TracedCommand, ...step: Step): void {
    const own = this.#remapper.own(traced);
    if (own === null) throw new Error(`sequence ${traced.sequence} speaks of what is not told`);
    this.submit(own, traced.sequence, step, traced.events);
  }

  /** Does and says something of the scenario's own that stands for events of a command. @throws RecordingError */
  submit(command: Command, sequence: number, step: Step, events: readonly DomainEvent[] = []): void {
    const decision = this.#venue.exchange.submit(command);
    if (decision.ok) this.#remapper.pair(events, decision.events);
    else this.#refused(sequence, step, refusedBy(refusalError(decision.refusal, this.#venue.view)));
    this.say(...step);
  }

  #refused(sequence: number, step: Step, { code, message }: { code: string; message: string }): never {
    const [[who, what] = ["", ""]] = step;
    throw new RecordingError(
      `no step can repeat sequence ${sequence} of the session (${who}: ${what}): in the exchange of a scenario it is refused with ${code}: ${message}`,
    );
  }

  /** Sets a settlement fault, of an order by its number here and what steps call it. */
  fault(terms: SettlementFaultTerms, order?: number, of: string | null = null): void {
    const said = sayableTerms(terms);
    const command = {
      kind: "setSettlementFault",
      ...said,
      ...(order === undefined ? {} : { order }),
    } as const;
    this.submit(command, 0, faultStep(said, of));
  }

  /** Rests what is left of an order that was there before the session. */
  rest(order: Order, step: Step): void {
    const { side, price, orderType, expiration, token, number, account } = order;
    const address = this.#venue.signIn(this.told.words.account(account));
    const tokenId = this.#venue.tokenId(this.#token(token));
    this.#remapper.orders.set(number, this.state.orders.next);
    const left = size(order.size - order.matched);
    this.submit(
      { kind: "placeOrder", address, tokenId, side, price, size: left, orderType, expiration },
      0,
      step,
    );
  }

  /** Makes an account known, and gives it what it starts with. */
  open(account: string, funds: Funds): void {
    const address = this.#venue.signIn(account);
    const fundings = funds.all.map(([token, amount]) => this.#funding(token, amount));
    if (fundings.length === 0) return;
    const attempt = this.#venue.submit(this.#fundCommand(address, fundings));
    if (!attempt.ok) throw new RecordingError(attempt.message);
  }

  /** Gives USDC, where the token is 0, or shares of a token of the session. */
  fund(sequence: number, account: string, token: number, amount: number): void {
    const command = this.#fundCommand(this.#venue.signIn(account), [this.#funding(token, amount)]);
    this.submit(command, sequence, [[account, this.told.words.funding(token, amount)]]);
  }

  #fundCommand(address: string, fundings: readonly Funding[]) {
    return fundCommand(address, fundings, (token) => this.#venue.tokenId(token));
  }

  #funding(token: number, amount: number): Funding {
    if (token === 0) return { asset: "USDC", amount: money(amount) };
    return { asset: this.#token(token), amount: size(amount) };
  }

  #token(token: number) {
    return { market: this.told.words.market(marketOfToken(token)), outcome: outcomeOf(token) };
  }

  /** Tries a wallet's transaction and sends it, as a step does; where it may come to nothing, it is left out then. */
  call(traced: TracedCommand, step: Step, mayFail: boolean): void {
    const { words, session } = this.told;
    const { command, sequence } = traced;
    const position = command.kind === "sendTransaction" ? positionIn(session.end, command) : null;
    const [[account] = [""]] = step;
    if (position === null) throw new Error(`sequence ${sequence} is no step`);
    const attempt = this.#venue.transact(account, words.market(position.market), position.change);
    if (attempt.ok) this.say(...step);
    else if (!mayFail) this.#refused(sequence, step, attempt);
  }

  /** The code with which an order is refused here, right or wrong as its words are; null when it is not. Nothing changes. */
  refusalOfOrder(account: string, words: OrderWords): string | null {
    const body = orderBodyOf(words, this.#venue.tokenId(words), this.#venue.now()) as Record<string, Scalar>;
    return this.#refusal("POST", account, { kind: "request", body, query: {}, isCut: false });
  }

  /** The same of the cancel of an order of the session, or of one that there is not. */
  refusalOfCancel(account: string, order: number | null): string | null {
    const own = order === null ? undefined : this.#remapper.orders.get(order);
    const orderId = own === undefined ? "nothing" : idOf(this.state.idPrefixes.order, own);
    return this.#refusal("DELETE", account, { kind: "request", body: { orderId }, query: {}, isCut: false });
  }

  #refusal(method: RefusedRequest["method"], account: string, asked: AskedFor): string | null {
    const address = this.#venue.signIn(account);
    const request = { method, path: "/clob/order", address, isProven: true, asked };
    const answer = retryRefused(this.#venue.view, this.#venue.now(), request);
    return answer.kind === "refused" ? answer.code : null;
  }

  /** What became here of an order of the session. @throws Error when it was never placed here. */
  orderOf(order: number): Order {
    const own = this.#remapper.orders.get(order);
    if (own === undefined) throw new Error(`order ${order} is not told`);
    return this.state.orders.get(own);
  }

  /** The numbers here of the markets of the session. */
  get markets(): ReadonlyMap<number, number> {
    return this.#remapper.markets;
  }

  /** What an account of the session owns here. */
  accountOf(number: number): Account {
    const address = this.#venue.signIn(this.told.words.account(number));
    return this.state.accounts.get(this.state.accountByAddress.get(address) ?? 0);
  }

  /** Lets time pass in a step, unless the steps have come so far. */
  passTo(at: Millis, words = moment(at)): void {
    if (at !== this.#now) this.say(["at", words]);
    this.#now = at;
    this.foresee(at);
  }

  /** Lets time pass that a later step will write: nothing is done in between. */
  foresee(at: Millis): void {
    this.#venue.exchange.advanceTo(at);
  }

  /** Writes the time that was foreseen. */
  catchUp(): void {
    if (this.isBehind) this.passTo(this.#venue.now());
  }

  get isBehind(): boolean {
    return this.#venue.now() > this.#now;
  }
}
