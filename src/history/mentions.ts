import { minedAt } from "../core/chain/chain.ts";
import { actorOf } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import { idOf, numberOf } from "../core/ids.ts";
import { marketOfToken, outcomeOf, tokenIdIn } from "../core/market.ts";
import type { RefusedRequest } from "../core/refusals.ts";
import type { State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import { isControl } from "../engine/journal-line.ts";
import type { ReplayedLine } from "./journal-replay.ts";

/** Orders, trades, markets and so on that a line of a journal mentions, in itself or in its events. */
export class Mentions {
  readonly orders = new Set<number>();
  readonly #trades = new Set<number>();
  readonly #markets = new Set<number>();
  readonly #events = new Set<number>();
  readonly #tokens = new Set<string>();
  readonly #addresses = new Set<Address>();
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
      for (const { number } of minedAt(state.chain, event.height)) this.#transaction(number);
    }
  }

  /** Whether a pattern matches a whole id of something mentioned. */
  matches(pattern: RegExp): boolean {
    for (const id of this.#ids()) if (id !== "" && pattern.exec(id)?.[0] === id) return true;
    return false;
  }

  /** Yields the identifiers of the API: ids, slugs, token and condition ids, addresses. */
  *#ids(): Generator<string> {
    const { idPrefixes, markets, events } = this.#state;
    for (const number of this.orders) yield idOf(idPrefixes.order, number);
    for (const number of this.#trades) yield idOf(idPrefixes.trade, number);
    for (const number of this.#markets) {
      yield idOf(idPrefixes.market, number);
      const market = markets.find(number);
      if (market !== undefined) yield* [market.slug, market.conditionId];
    }
    for (const number of this.#events) {
      yield idOf(idPrefixes.event, number);
      yield events.find(number)?.slug ?? "";
    }
    yield* this.#tokens;
    yield* this.#addresses;
  }

  /** Adds what a command or an event mentions, by the names of its fields. */
  #addFields(mentioning: object): void {
    for (const [field, value] of Object.entries(mentioning)) this.#byField[field]?.(value as never);
  }

  readonly #byField: Readonly<Record<string, (value: never) => void>> = {
    account: (number: number) => this.#account(number),
    address: (address: Address) => this.#addresses.add(address),
    from: (address: Address) => this.#addresses.add(address),
    to: (address: Address) => this.#addresses.add(address),
    event: (number: number) => this.#events.add(number),
    market: (number: number) => this.#market(number),
    order: (number: number) => this.#order(number),
    orderId: (id: string) => this.#order(numberOf(this.#state.idPrefixes.order, id)),
    tokenId: (id: string) => this.#tokenId(id),
    tokens: (tokens: readonly { readonly tokenId: string }[]) => {
      for (const { tokenId } of tokens) this.#tokenId(tokenId);
    },
    trade: (number: number) => this.#trade(number),
    transaction: (number: number) => this.#transaction(number),
    transactions: (numbers: readonly number[]) => {
      for (const number of numbers) this.#transaction(number);
    },
  };

  #refused({ address, asked }: RefusedRequest): void {
    if (address !== null) this.#addresses.add(address);
    if (asked?.kind === "command") this.#addFields(asked.command);
    if (asked?.kind !== "request") return;
    for (const value of [...Object.values(asked.body), ...Object.values(asked.query)]) {
      if (typeof value !== "string") continue;
      this.#order(numberOf(this.#state.idPrefixes.order, value));
      this.#tokenId(value);
    }
  }

  #order(number: number): void {
    const order = this.#state.orders.find(number);
    if (order === undefined) return;
    this.orders.add(number);
    this.#account(order.account);
    const market = marketOfToken(order.token);
    this.#markets.add(market);
    this.#tokens.add(tokenIdIn(this.#state.markets.get(market), outcomeOf(order.token)));
  }

  #trade(number: number): void {
    const trade = this.#state.trades.find(number);
    if (trade === undefined) return;
    this.#trades.add(number);
    this.#order(trade.taker);
    this.#order(trade.maker);
  }

  /** Adds the trades that a transaction settles. */
  #transaction(number: number): void {
    const { firstTrade, trades } = this.#state.chain.transactions.find(number) ?? NONE;
    for (let trade = firstTrade; trade < firstTrade + trades; trade += 1) this.#trade(trade);
  }

  #tokenId(id: string): void {
    this.#tokens.add(id);
    const token = this.#state.tokenById.get(id);
    if (token !== undefined) this.#markets.add(marketOfToken(token));
  }

  /** Adds a market with both of its tokens. */
  #market(number: number): void {
    this.#markets.add(number);
    for (const id of this.#state.markets.find(number)?.tokenIds ?? []) this.#tokens.add(id);
  }

  #account(number: number): void {
    const account = this.#state.accounts.find(number);
    if (account !== undefined) this.#addresses.add(account.address);
  }
}

const NONE = { firstTrade: 0, trades: 0 };

/** Returns the market of an event; null if it does not belong to a single market. */
export function marketOfEvent(event: DomainEvent, { orders }: State): number | null {
  if ("market" in event) return event.market;
  // A fault may be set for an order that is not placed yet.
  if (!("order" in event) || event.kind === "settlementFaultSet") return null;
  return marketOfToken(orders.get(event.order).token);
}

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
