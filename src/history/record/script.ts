import { ApiError } from "../../api/errors.ts";
import { placeOrderBody } from "../../api/order-request.ts";
import { refusalError } from "../../api/refusals.ts";
import type { Account } from "../../core/account.ts";
import { headOf, type SettlementFaultTerms } from "../../core/chain/chain.ts";
import { USDC } from "../../core/chain/settlement.ts";
import { type Command, orderWords } from "../../core/commands.ts";
import type { DomainEvent } from "../../core/events.ts";
import { idOf, numberOf } from "../../core/ids.ts";
import { type Market, marketOfToken, outcomeOf } from "../../core/market.ts";
import type { Order } from "../../core/order.ts";
import type { AskedFor, RefusedRequest, Scalar } from "../../core/refusals.ts";
import type { State } from "../../core/state.ts";
import { type Millis, money, size } from "../../core/units.ts";
import type { RefusedEntry } from "../../engine/journal.ts";
import {
  expiryOf,
  mayExpire,
  type OrderWords,
  orderBodyOf,
  wordsOfBody,
} from "../../scenario/language/order-line.ts";
import type { LocalVenue } from "../../scenario/venue/local-venue.ts";
import { refusedBy } from "../../scenario/venue/views.ts";
import { marketOfRefused } from "../describe-line.ts";
import { retryRefused } from "../refused-retries.ts";
import { faultStep, moment, type NodeMap, roundedTerms, scalar } from "../scenario-text.ts";
import { positionCallIn, Remapper, type Trace, type TracedCommand } from "../trace.ts";
import type { Funds, TouchedMarket, Vocabulary } from "../vocabulary.ts";

/** No scenario can express the session; the message is a sentence for the user. */
export class RecordingError extends ApiError {
  constructor(
    message: string,
    code: "SESSION_TOO_LONG" | "SESSION_NOT_RECORDABLE" = "SESSION_NOT_RECORDABLE",
  ) {
    super(code, message, { hint: "POST /sim/reset begins a new session, which can be recorded" });
  }
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
  /** Those that are texts are comments. */
  readonly steps: (NodeMap | string)[] = [];
  readonly described: DescribedSession;
  readonly #venue: LocalVenue;
  readonly #remapper: Remapper;
  /** Time after the steps written so far; the exchange may be ahead. */
  now: Millis;
  /** Height of the chain when the session began. */
  #firstHeight = 0;

  constructor(venue: LocalVenue, described: DescribedSession) {
    this.#venue = venue;
    this.described = described;
    const { words, markets, session } = described;
    this.#remapper = new Remapper(this.#venue.exchange, session.end, (address) =>
      this.#venue.signIn(words.accountAt(address)),
    );
    for (const { name, number } of markets) {
      this.#remapper.markets.set(number, this.state.marketBySlug.get(name) ?? 0);
    }
    this.now = this.#venue.now();
  }

  get state(): State {
    return this.#venue.state;
  }

  /** Number of blocks since the session began. */
  get blocks(): number {
    return headOf(this.state.chain) - this.#firstHeight;
  }

  /** Called after the opening steps, when the session begins. */
  beginSession(): void {
    this.#firstHeight = headOf(this.state.chain);
  }

  /** Repeats a command of the session as a step. @throws RecordingError if it is refused. */
  repeat(traced: TracedCommand, step: NodeMap): void {
    const command = this.#remapper.remap(traced);
    if (command === null)
      throw new Error(`sequence ${traced.sequence} refers to something that no step created`);
    this.submit(command, traced.sequence, step, traced.events);
  }

  /** Submits a command of the scenario as a step; `events` are those in the session that it repeats. @throws RecordingError */
  submit(command: Command, sequence: number, step: NodeMap, events: readonly DomainEvent[] = []): void {
    const decision = this.#venue.exchange.submit(command);
    if (decision.ok) this.#remapper.link(events, decision.events);
    else this.#refused(sequence, step, refusedBy(refusalError(decision.refusal, this.#venue.view)));
    this.steps.push(step);
  }

  #refused(sequence: number, step: NodeMap, { code, message }: { code: string; message: string }): never {
    const [[who, what] = ["", ""]] = Object.entries(step);
    throw new RecordingError(
      `no step can repeat sequence ${sequence} of the session (${who}: ${what}): in the exchange of a scenario it is refused with ${code}: ${message}`,
    );
  }

  /** Sets a settlement fault; `order` is the scenario's number of the order that it hits, `of` its name in steps. */
  fault(terms: SettlementFaultTerms, order?: number, of: string | null = null): void {
    const rounded = roundedTerms(terms);
    const ofOrder = order === undefined ? {} : { order };
    this.submit({ kind: "setSettlementFault", ...rounded, ...ofOrder }, 0, faultStep(rounded, of));
  }

  /** Places the remainder of an order that rested before the session. */
  rest(order: Order, step: NodeMap): void {
    const { side, price, orderType, expiration, token, number, account } = order;
    const address = this.#venue.signIn(this.described.words.account(account));
    const tokenId = this.#tokenId(token);
    this.#remapper.orders.set(number, this.state.orders.next);
    const terms = { side, price, size: size(order.size - order.matched), orderType, expiration };
    this.submit({ kind: "placeOrder", address, tokenId, ...terms }, 0, step);
  }

  /** Opens an account of the header with its funds. */
  openAccount(account: string, { all: amounts }: Funds): void {
    this.#venue.signIn(account);
    if (amounts.length === 0) return;
    const attempt = this.#venue.submit(this.#funding(account, amounts));
    if (!attempt.ok) throw new RecordingError(attempt.message);
  }

  /** Funds an account with micro-USDC for the token USDC, else with size units of a token of the session. */
  fund(sequence: number, account: string, token: number, amount: number): void {
    const step = { [account]: this.described.words.funding(token, amount) };
    this.submit(this.#funding(account, [[token, amount]]), sequence, step);
  }

  #funding(account: string, amounts: Funds["all"]): Command {
    const collateral = money(amounts.find(([token]) => token === USDC)?.[1] ?? 0);
    const tokens = amounts
      .filter(([token]) => token !== USDC)
      .map(([token, amount]) => ({ tokenId: this.#tokenId(token), size: size(amount) }));
    const address = this.#venue.signIn(account);
    return { kind: "fundAccount", address, collateral, tokens, everyMarket: size(0) };
  }

  #tokenId(token: number): string {
    const market = this.described.words.market(marketOfToken(token));
    return this.#venue.tokenId({ market, outcome: outcomeOf(token) });
  }

  /** Sends a wallet's transaction as a step. If it fails, the step is omitted if `mayFail`. @throws RecordingError */
  call(traced: TracedCommand, step: NodeMap, mayFail: boolean): void {
    const { words, session } = this.described;
    const { command, sequence } = traced;
    const position = command.kind === "sendTransaction" ? positionCallIn(session.end, command) : null;
    const [account = ""] = Object.keys(step);
    if (position === null) throw new Error(`no step for sequence ${sequence}`);
    const attempt = this.#venue.transact(account, words.market(position.market), position.change);
    if (attempt.ok) this.steps.push(step);
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
    return retryRefused(this.#venue.view, this.#venue.now(), request)?.code ?? null;
  }

  /** Returns the scenario's order for an order of the session. @throws Error if it has not been placed. */
  orderOf(order: number): Order {
    const number = this.#remapper.orders.get(order);
    if (number === undefined) throw new Error(`no step places order ${order}`);
    return this.state.orders.get(number);
  }

  /** Returns the scenario's market for a market of the session. */
  marketOf(number: number): Market {
    return this.state.markets.get(this.#remapper.markets.get(number) ?? 0);
  }

  /** Returns the scenario's account for an account of the session. */
  accountOf(number: number): Account {
    const address = this.#venue.signIn(this.described.words.account(number));
    return this.state.accounts.get(this.state.accountByAddress.get(address) ?? 0);
  }

  /** Advances time with a step, unless the steps already end at that time. */
  advanceTo(at: Millis, words = moment(at)): void {
    if (at !== this.now) this.steps.push({ at: words });
    this.now = at;
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
    return this.#venue.now() > this.now;
  }
}

/** Maximum number of refused requests written, so that they cannot make a file too long. */
const MAX_WRITTEN = 1_000;
/** A word that can be in an order line, valid or not. */
const WORD = /^(?!(?:in|as)$)[\w.+:-]{1,40}$/;
/** First words of other steps, with which an order line cannot begin. */
const VERBS: ReadonlySet<string> = new Set(["cancel", "fund", "split", "merge", "redeem"]);
/** The name of an order that does not exist. */
const NO_ORDER = "nothing";

/** A step, and the code with which the scenario's exchange refuses it; null if it does not. */
interface RefusedStep {
  readonly line: string;
  readonly code: string | null;
}

/**
 * Writes the refused request of a number, from 1, as a step with `rejects`: an order or cancel of a known account that the
 * scenario's exchange refuses with the same code. Others become remarks. The exchange does not change.
 */
export function writeRefused(script: Script, { at, request }: RefusedEntry, number: number): void {
  if (number === MAX_WRITTEN + 1) script.steps.push("Further refused requests are left out.");
  if (number > MAX_WRITTEN) return;
  const { code, method, path } = request;
  const { words, session } = script.described;
  // The refusal depends on the time.
  if (code === "EXPIRATION_IN_PAST") script.advanceTo(at);
  const account = accountIn(request, session.end);
  const name = account === null ? null : words.account(account);
  const step = name === null ? null : refusedStep(script, name, request);
  if (name !== null && step?.code === code) {
    script.steps.push({ [name]: scalar(step.line), rejects: scalar(code) });
    return;
  }
  const what = step === null ? `${method} ${path.replace(/[^!-~]/g, "?")}` : step.line;
  const who = name === null ? "" : ` of ${name}`;
  script.steps.push(`Refused with ${code}, which no step can express: ${what}${who}.`);
}

function refusedStep(script: Script, name: string, { method, path, asked }: RefusedRequest) {
  if (path !== "/clob/order" || asked === null) return null;
  if (asked.kind === "command") {
    if (asked.command.kind === "placeOrder") return refusedOrder(script, name, placeOrderBody(asked.command));
    return asked.command.kind === "cancelOrder" ? refusedCancel(script, name, [asked.command.orderId]) : null;
  }
  if (asked.isCut) return null;
  if (method === "POST") return refusedOrder(script, name, asked.body);
  return refusedCancel(script, name, [...Object.values(asked.body), ...Object.values(asked.query)]);
}

function refusedOrder(
  script: Script,
  name: string,
  body: Readonly<Record<string, Scalar>>,
): RefusedStep | null {
  const { words: names, session } = script.described;
  const token = typeof body.tokenId === "string" ? session.end.tokenById.get(body.tokenId) : undefined;
  if (token === undefined) return null;
  const market = marketOfToken(token);
  const words = wordsOfBody(body, outcomeOf(token), names.marketIfSeveral(market));
  const { side, size, price, type, expiry } = words;
  const parts = [side, size, price, type, ...(expiry === null ? [] : [expiry.text])];
  if (!parts.every((part) => WORD.test(part)) || VERBS.has(side)) return null;
  if (expiry !== null && !mayExpire(type, expiry.text)) return null;
  const written: Record<string, unknown> = { ...orderBodyOf(words, "", script.now) };
  written.tokenId = body.tokenId;
  if (!Object.entries(body).every(([field, value]) => (written[field] ?? "") === value)) return null;
  const expiration = expiry === null ? null : type === "GTC" ? `GTC ${expiry.text}` : expiry.text;
  const texts = { ...words, orderType: type, expiration };
  const line = orderWords(texts, words.outcome + names.inMarket(market));
  const read = { ...words, expiry: expiry === null ? null : expiryOf(expiry.text) };
  return { line, code: script.refusalOfOrder(name, read) };
}

function refusedCancel(script: Script, name: string, given: readonly Scalar[]): RefusedStep | null {
  const [id, ...others] = new Set(given);
  if (typeof id !== "string" || id === "" || others.length > 0) return null;
  const { session, names } = script.described;
  const order = numberOf(session.end.idPrefixes.order, id);
  const orderName = names.get(order);
  const code = script.refusalOfCancel(name, orderName === undefined ? null : order);
  return { line: `cancel ${orderName ?? NO_ORDER}`, code };
}

/** Returns the known senders of refused requests and the markets of their orders, by number. */
export function partiesOfRefused(refused: readonly RefusedEntry[], state: State) {
  const requests = refused.map(({ request }) => request).filter((each) => accountIn(each, state) !== null);
  return {
    accounts: requests.flatMap((request) => accountIn(request, state) ?? []),
    markets: requests.flatMap((request) => marketOfRefused(request, state) ?? []),
  };
}

/** Returns the account of a sender proven by a signature; null if there is none. */
const accountIn = ({ address, isProven }: RefusedRequest, state: State): number | null =>
  (isProven && address !== null ? state.accountByAddress.get(address) : undefined) ?? null;
