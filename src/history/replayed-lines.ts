import { numbersAs } from "../api/decimals.ts";
import { ApiError } from "../api/errors.ts";
import {
  cancelBody,
  cancelOrderCommand,
  NOT_CANCELED,
  orderBody,
  placeOrderCommand,
} from "../api/order-request.ts";
import { refusalError } from "../api/refusals.ts";
import type { View } from "../api/view.ts";
import { minedAt } from "../core/chain/chain.ts";
import { actorOf, type Command } from "../core/commands.ts";
import { idOf, numberOf } from "../core/ids.ts";
import { marketOfToken, outcomeOf, tokenIdIn } from "../core/market.ts";
import type { RefusedRequest } from "../core/refusals.ts";
import { decide } from "../core/rules/rules.ts";
import type { State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import type { Millis } from "../core/units.ts";
import { isControl } from "../engine/journal-line.ts";
import { count, grouped } from "../scenario/report/text.ts";
import { refusedText } from "./describe-line.ts";
import type { ReplayedLine } from "./journal-replay.ts";
import { marketOfEvent } from "./trace.ts";

/** What a line of a journal mentions, in itself or in its events. */
export class Mentions {
  /** Numbers of orders. */
  readonly orders = new Set<number>();
  /** Identifiers of the API: ids, slugs, token and condition ids, addresses. */
  readonly #ids = new Set<string>();
  readonly #state: State;

  /** The state is the one after the line. */
  constructor({ line, command, result }: ReplayedLine, state: State) {
    this.#state = state;
    if (command !== null) this.#addFields(command);
    if (isControl(line, "refused")) this.#refused(line.d);
    if (result.kind !== "accepted") return;
    for (const event of result.events) {
      this.#addFields(event);
      if (event.kind !== "blocksMined") continue;
      for (const { number } of minedAt(state.chain, event.height)) this.#byField.transaction(number);
    }
  }

  /** Whether a pattern matches a whole id of something mentioned. */
  matches(pattern: RegExp): boolean {
    for (const id of this.#ids) if (id !== "" && pattern.exec(id)?.[0] === id) return true;
    return false;
  }

  /** Adds what a command or an event mentions, by the names of its fields. */
  #addFields(mentioning: object): void {
    const byField: Readonly<Record<string, (value: never) => void>> = this.#byField;
    for (const [field, value] of Object.entries(mentioning)) byField[field]?.(value as never);
  }

  readonly #byField = {
    account: (number: number) => this.#ids.add(this.#state.accounts.find(number)?.address ?? ""),
    address: (address: Address) => this.#ids.add(address),
    from: (address: Address) => this.#ids.add(address),
    to: (address: Address) => this.#ids.add(address),
    event: (number: number) => {
      this.#ids.add(idOf(this.#state.idPrefixes.event, number));
      this.#ids.add(this.#state.events.find(number)?.slug ?? "");
    },
    /** Adds a market with both of its tokens. */
    market: (number: number) => {
      this.#market(number);
      for (const id of this.#state.markets.find(number)?.tokenIds ?? []) this.#ids.add(id);
    },
    order: (number: number) => {
      const order = this.#state.orders.find(number);
      if (order === undefined) return;
      this.orders.add(number);
      this.#ids.add(idOf(this.#state.idPrefixes.order, number));
      this.#byField.account(order.account);
      const market = marketOfToken(order.token);
      this.#byField.tokenId(tokenIdIn(this.#state.markets.get(market), outcomeOf(order.token)));
    },
    orderId: (id: string) => this.#byField.order(numberOf(this.#state.idPrefixes.order, id)),
    tokenId: (id: string) => {
      this.#ids.add(id);
      const token = this.#state.tokenById.get(id);
      if (token !== undefined) this.#market(marketOfToken(token));
    },
    tokens: (tokens: readonly { readonly tokenId: string }[]) => {
      for (const { tokenId } of tokens) this.#byField.tokenId(tokenId);
    },
    trade: (number: number) => {
      const trade = this.#state.trades.find(number);
      if (trade === undefined) return;
      this.#ids.add(idOf(this.#state.idPrefixes.trade, number));
      this.#byField.order(trade.taker);
      this.#byField.order(trade.maker);
    },
    /** Adds the trades that a transaction settles. */
    transaction: (number: number) => {
      const { firstTrade, trades } = this.#state.chain.transactions.find(number) ?? NONE;
      for (let trade = firstTrade; trade < firstTrade + trades; trade += 1) this.#byField.trade(trade);
    },
    transactions: (numbers: readonly number[]) => {
      for (const number of numbers) this.#byField.transaction(number);
    },
  };

  #market(number: number): void {
    const { slug = "", conditionId = "" } = this.#state.markets.find(number) ?? {};
    for (const id of [idOf(this.#state.idPrefixes.market, number), slug, conditionId]) this.#ids.add(id);
  }

  #refused({ address, asked }: RefusedRequest): void {
    if (address !== null) this.#ids.add(address);
    if (asked?.kind === "command") this.#addFields(asked.command);
    if (asked?.kind !== "request") return;
    for (const value of [...Object.values(asked.body), ...Object.values(asked.query)]) {
      if (typeof value !== "string") continue;
      this.#byField.orderId(value);
      this.#byField.tokenId(value);
    }
  }
}

const NONE = { firstTrade: 0, trades: 0 };

/** Markets with events since the opening, and accounts that sent commands. */
export class Touched {
  readonly markets = new Set<number>();
  readonly accounts = new Set<Address>();

  /** Processes the next line; the state is the one after it. */
  take({ command, result }: ReplayedLine, state: State): void {
    const actor = command === null ? null : actorOf(command);
    if (actor !== null) this.accounts.add(actor);
    if (result.kind !== "accepted") return;
    for (const event of result.events) {
      const market = marketOfEvent(event, state);
      if (market !== null) this.markets.add(market);
    }
  }
}

/** Result of repeating a refused request. */
type RetryResult =
  | { readonly kind: "accepted" }
  /** `code` is an error code or the reason why nothing was canceled. */
  | { readonly kind: "refused"; readonly code: string }
  | { readonly kind: "fails"; readonly message: string }
  /** The deciding input, such as a signature or an unrecorded body, is not available. */
  | { readonly kind: "unknown" };

type RefusedAttempt = Pick<RefusedRequest, "method" | "path" | "address" | "isProven" | "asked">;

/** Repeats a refused request against a state without changing it. */
export function retryRefused(view: View, at: Millis, refused: RefusedAttempt): RetryResult {
  try {
    const command = retryOf(view, refused);
    if (command === null) return { kind: "unknown" };
    const decision = decide(view.state, { at, command });
    if (decision.ok) return { kind: "accepted" };
    if (decision.refusal.code === "ORDER_NOT_LIVE") {
      const { status } = view.state.orders.get(decision.refusal.order);
      if (status !== "LIVE") return { kind: "refused", code: NOT_CANCELED[status] };
    }
    return { kind: "refused", code: refusalError(decision.refusal, view).code };
  } catch (error) {
    if (error instanceof ApiError) return { kind: "refused", code: error.code };
    return { kind: "fails", message: error instanceof Error ? error.message : String(error) };
  }
}

/** Returns the command of a request; null if it is not known. @throws ApiError if the request itself is invalid. */
function retryOf(view: View, { method, path, address, isProven, asked }: RefusedAttempt): Command | null {
  if (asked?.kind === "command") return asked.command;
  if (asked === null || asked.isCut || address === null || !isProven) return null;
  switch (`${method} ${path}`) {
    case "POST /clob/order":
      return placeOrderCommand(view, address, orderBody.read(asked.body));
    case "DELETE /clob/order":
      return cancelOrderCommand(address, cancelBody.read(asked.body), asked.query);
    default:
      return null;
  }
}

/** Describes the recorded and the new answer of a retried request; null if they are the same or the new one is unknown. */
function changeText({ code }: RefusedRequest, now: RetryResult): string | null {
  switch (now.kind) {
    case "accepted":
      return `refused with ${code} then, accepted now`;
    case "fails":
      return `refused with ${code} then, fails now: ${now.message}`;
    case "refused":
      return now.code === code ? null : `refused with ${code} then, with ${now.code} now`;
    case "unknown":
      return null;
  }
}

/** Retries the refused requests of a journal, each in the state in which it was refused. */
export class RefusedRetries {
  /** Requests whose retry gets another answer: the line in the journal, the request and the two answers as text. */
  readonly changed: Readonly<{ line: number; asked: string; change: string }>[] = [];
  #tried = 0;
  #untried = 0;

  /** Processes the next line; the state is the one after it. */
  take({ line, result }: ReplayedLine, state: State): void {
    if (!isControl(line, "refused")) return;
    // After a line that differs, the state is not the recorded one.
    const view = { state, numbers: numbersAs("number") };
    const now = result.kind === "unknown" ? result : retryRefused(view, line.t, line.d);
    if (now.kind === "unknown") this.#untried += 1;
    else this.#tried += 1;
    const change = changeText(line.d, now);
    if (change !== null) this.changed.push({ line: line.n, asked: refusedText(line.d, state), change });
  }

  /** Counts of retried and other requests; null if none was refused. */
  get summary(): string | null {
    const all = this.#tried + this.#untried;
    if (all === 0) return null;
    const changed = this.changed.length;
    const parts: readonly (readonly [count: number, result: string])[] = [
      [this.#tried - changed, "refused again in the same way"],
      [changed, "answered differently now"],
      [this.#untried, "that cannot be retried"],
    ];
    const texts = parts.filter(([of]) => of > 0).map(([of, result]) => `${grouped(of)} ${result}`);
    return `${count(all, "refused request")}: ${texts.join(", ")}`;
  }
}
