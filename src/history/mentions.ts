import { minedAt } from "../core/chain/chain.ts";
import type { Command } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import { idOf, numberOf } from "../core/ids.ts";
import { marketOfToken, outcomeOf, tokenIdIn } from "../core/market.ts";
import type { RefusedRequest } from "../core/refusals.ts";
import type { State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import { isNote } from "../engine/journal-line.ts";
import type { Told } from "./walk.ts";

/** What a line of a journal speaks of, itself or in what it caused, by the numbers that things have there. */
export class Mentions {
  readonly orders = new Set<number>();
  readonly #trades = new Set<number>();
  readonly #markets = new Set<number>();
  readonly #events = new Set<number>();
  readonly #tokens = new Set<string>();
  readonly #addresses = new Set<Address>();
  readonly #state: State;

  /** The state is that behind the line. */
  constructor({ line, command, outcome }: Told, state: State) {
    this.#state = state;
    if (command !== null) this.#command(command);
    if (isNote(line, "refused")) this.#refused(line.d);
    if (outcome.kind === "accepted") for (const event of outcome.events) this.#event(event);
  }

  /** Whether a pattern matches one of the ids of all this, from its first letter to its last. */
  matches(pattern: RegExp): boolean {
    for (const id of this.#ids()) if (id !== "" && pattern.exec(id)?.[0] === id) return true;
    return false;
  }

  /** What the API knows them by: ids, slugs, token and condition ids, addresses. */
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

  #command(command: Command): void {
    if ("address" in command) this.#addresses.add(command.address);
    if ("market" in command) this.#market(command.market);
    switch (command.kind) {
      case "placeOrder":
        this.#tokenId(command.tokenId);
        break;
      case "fundAccount":
        for (const { tokenId } of command.tokens) this.#tokenId(tokenId);
        break;
      case "cancelOrder":
        this.#order(numberOf(this.#state.idPrefixes.order, command.orderId));
        break;
      case "expireOrder":
        this.#order(command.order);
        break;
      case "sendTransaction":
        this.#addresses.add(command.from).add(command.to);
        break;
      case "executeTransaction":
        this.#transaction(command.transaction);
    }
  }

  #refused({ address, asked }: RefusedRequest): void {
    if (address !== null) this.#addresses.add(address);
    if (asked?.kind === "command") this.#command(asked.command);
    if (asked?.kind !== "request") return;
    for (const value of [...Object.values(asked.body), ...Object.values(asked.query)]) {
      if (typeof value !== "string") continue;
      this.#order(numberOf(this.#state.idPrefixes.order, value));
      this.#tokenId(value);
    }
  }

  #event(event: DomainEvent): void {
    if ("account" in event) this.#account(event.account);
    if ("order" in event) this.#order(event.order);
    if ("transaction" in event) this.#transaction(event.transaction);
    switch (event.kind) {
      case "orderTraded":
        this.#trade(event.trade);
        break;
      case "eventCreated":
        this.#events.add(event.event);
        break;
      case "marketCreated":
      case "marketClosed":
      case "marketResolved":
      case "setsIssued":
        this.#market(event.market);
        break;
      case "blocksMined":
        for (const { number } of minedAt(this.#state.chain, event.height)) this.#transaction(number);
        break;
      case "feesBumped":
        for (const number of event.transactions) this.#transaction(number);
    }
  }

  #order(number: number): void {
    const order = this.#state.orders.find(number);
    if (order === undefined) return;
    this.orders.add(number);
    this.#account(order.account);
    this.#token(order.token);
  }

  #trade(number: number): void {
    const trade = this.#state.trades.find(number);
    if (trade === undefined) return;
    this.#trades.add(number);
    this.#order(trade.taker);
    this.#order(trade.maker);
  }

  /** The trades that it settles. */
  #transaction(number: number): void {
    const { firstTrade, trades } = this.#state.chain.transactions.find(number) ?? NONE;
    for (let trade = firstTrade; trade < firstTrade + trades; trade += 1) this.#trade(trade);
  }

  #tokenId(id: string): void {
    this.#tokens.add(id);
    const token = this.#state.tokenById.get(id);
    if (token !== undefined) this.#markets.add(marketOfToken(token));
  }

  #token(token: number): void {
    const market = this.#state.markets.find(marketOfToken(token));
    if (market === undefined) return;
    this.#markets.add(market.number);
    this.#tokens.add(tokenIdIn(market, outcomeOf(token)));
  }

  /** A market itself, with both of its tokens. */
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
