import { ASK, BID } from "../../src/core/book/book.ts";
import type { Command, CreateMarket, OrderType, Outcome, PlaceOrder, Side } from "../../src/core/commands.ts";
import type { Decision } from "../../src/core/decision.ts";
import type { DomainEvent } from "../../src/core/events.ts";
import { idOf } from "../../src/core/ids.ts";
import { violations } from "../../src/core/invariants.ts";
import { bookFor, isMirrored, type Market, outcomeOf, priceIn, tokenIdIn } from "../../src/core/market.ts";
import type { Order } from "../../src/core/order.ts";
import type { RefusalCode } from "../../src/core/refusals.ts";
import { emptyAccount, type ExchangeConfig, type State } from "../../src/core/state.ts";
import { parseDuration } from "../../src/core/time.ts";
import { type Millis, millis, money, price, size } from "../../src/core/units.ts";
import { Exchange } from "../../src/runtime/exchange.ts";
import { MONEY_PLACES, PRICE_PLACES, SIZE_PLACES, textOf, unitsOf } from "../../src/wire/decimals.ts";

/** 2026-01-01T00:00:00Z, where every test exchange starts. */
export const START = millis(1_767_225_600_000);

/** What a market is created with, in human decimals; what is left out has the defaults of the control plane. */
export interface MarketTerms extends Partial<Pick<CreateMarket, "matching" | "selfTrade" | "feeRateBps">> {
  readonly tickSize?: number;
  readonly minOrderSize?: number;
}

/** What an account is given, in USDC and in shares of the first market, or of every market. */
export interface Funding {
  readonly usdc?: number;
  readonly yes?: number;
  readonly no?: number;
  readonly everyMarket?: number;
}

/** A balance in human decimals. */
export interface Holdings {
  readonly balance: number;
  readonly reserved: number;
}

const ORDER =
  /^(?<by>\w+) (?<side>BUY|SELL) (?<shares>[\d.]+) (?<outcome>YES|NO) @ (?<price>[\d.]+)(?: (?<type>GTC|GTD|FOK|FAK)(?: (?<life>\w+))?)?$/;

/** The wallet address of a person in a test. */
export const addressOf = (name: string): string =>
  `0x${[...name].map((letter) => letter.charCodeAt(0).toString(16)).join("").padStart(40, "0")}`;

/** A decimal in units of 10^-places. @throws Error when it has more decimals. */
export function unitsIn(decimal: number | string, places: number): number {
  const units = unitsOf(decimal, places);
  if (units === null) throw new Error(`${decimal} has more than ${places} decimals`);
  return units;
}

/** How a decision came out: `ok`, or the code of the refusal. */
export const outcomeOfDecision = (decision: Decision): "ok" | RefusalCode =>
  decision.ok ? "ok" : decision.refusal.code;

/**
 * An exchange that speaks the language of a trading floor. Orders are sentences, `alice BUY 10 YES @ 0.5 GTD 60s` (type
 * and life may be left out), and what happened reads back as such. After each command every invariant must hold.
 */
export class TestExchange {
  readonly exchange: Exchange;
  /** Every event so far, in order. */
  readonly events: DomainEvent[] = [];
  readonly #names = new Map<string, string>();

  constructor(config: Partial<ExchangeConfig> = {}) {
    const faucet = { collateral: money(0), everyMarket: size(0) };
    this.exchange = new Exchange({ seed: "test", faucet, credentials: "rotate", ...config }, START);
    this.exchange.watch((_sequence, _at, events) => void this.events.push(...events));
  }

  get state(): State {
    return this.exchange.state;
  }

  /** Submits a command. @throws Error when it breaks an invariant. */
  submit(command: Command): Decision {
    const decision = this.exchange.submit(command);
    this.#check(command.kind);
    return decision;
  }

  /** Opens a market and answers its number. */
  market(terms: MarketTerms = {}): number {
    if (this.state.events.size === 0) this.submit(eventCommand("event"));
    const number = this.state.markets.next;
    this.#demand(this.submit(marketCommand(`market-${number}`, terms)), `market ${number}`);
    return number;
  }

  /** Gives an account what it needs. */
  fund(name: string, { usdc = 0, yes = 0, no = 0, everyMarket = 0 }: Funding): void {
    const shares = [["YES", yes] as const, ["NO", no] as const].filter(([, amount]) => amount > 0);
    const tokens = shares.map(([outcome, amount]) => ({
      tokenId: this.tokenId(outcome),
      size: size(unitsIn(amount, SIZE_PLACES)),
    }));
    const collateral = money(unitsIn(usdc, MONEY_PLACES));
    const grant = size(unitsIn(everyMarket, SIZE_PLACES));
    const command = { address: this.address(name), collateral, tokens, everyMarket: grant };
    this.#demand(this.submit({ kind: "fundAccount", ...command }), `funds of ${name}`);
  }

  /** Sends orders that must be accepted and answers the number of the last. */
  send(...sentences: readonly string[]): number {
    for (const sentence of sentences) this.#demand(this.try(sentence), sentence);
    return this.state.orders.size;
  }

  /** Sends an order that may be refused. */
  try(sentence: string, market = 1): Decision {
    return this.submit(this.command(sentence, market));
  }

  /** The command that a sentence stands for. */
  command(sentence: string, market = 1): PlaceOrder {
    const words = ORDER.exec(sentence)?.groups as Record<string, string | undefined> | undefined;
    if (words === undefined) throw new Error(`not an order: ${sentence}`);
    const { by = "", side, shares = "", outcome, price: limit = "", type = "GTC", life } = words;
    const lasts = life === undefined ? null : parseDuration(life);
    return {
      kind: "placeOrder",
      address: this.address(by),
      tokenId: this.tokenId(outcome as Outcome, market),
      side: side as Side,
      price: price(unitsIn(limit, PRICE_PLACES)),
      size: size(unitsIn(shares, SIZE_PLACES)),
      orderType: type as OrderType,
      expiration: lasts === null ? null : millis(this.exchange.now + lasts),
    };
  }

  /** Cancels an order on behalf of somebody. */
  cancel(name: string, order: number): Decision {
    return this.submit({ kind: "cancelOrder", address: this.address(name), orderId: this.orderId(order) });
  }

  /** Cancels all that somebody has resting. */
  cancelAll(name: string): Decision {
    return this.submit({ kind: "cancelAllOrders", address: this.address(name) });
  }

  /** Lets a duration such as `90s` pass. */
  advance(duration: string): void {
    this.exchange.advanceTo(millis(this.exchange.now + (parseDuration(duration) as Millis)));
    this.#check(`advance ${duration}`);
  }

  address(name: string): string {
    const address = addressOf(name);
    this.#names.set(address, name);
    return address;
  }

  tokenId(outcome: Outcome, market = 1): string {
    return tokenIdIn(this.state.markets.get(market), outcome);
  }

  orderId(order: number): string {
    return idOf(this.state.idPrefixes.order, order);
  }

  /** An order in a line: `LIVE 4/10`, `CANCELED 0/10 FOK_UNFILLED`. */
  order(number: number): string {
    const { status, matched, size: whole, cancelReason } = this.state.orders.get(number);
    const reason = cancelReason === null ? "" : ` ${cancelReason}`;
    return `${status} ${textOf(matched, SIZE_PLACES)}/${textOf(whole, SIZE_PLACES)}${reason}`;
  }

  /** All trades from number `from` on, taker x maker: `#2 x #1: 10 @ 0.5 COMPLEMENTARY`, and its fee if there is one. */
  trades(from = 1): string[] {
    return [...this.state.trades].slice(from - 1).map((trade) => {
      const fee = trade.fee > 0 ? ` fee ${textOf(trade.fee, MONEY_PLACES)}` : "";
      const what = `${textOf(trade.size, SIZE_PLACES)} @ ${textOf(trade.price, PRICE_PLACES)}`;
      return `#${trade.taker} x #${trade.maker}: ${what} ${trade.matchType}${fee}`;
    });
  }

  usdc(name: string): Holdings {
    return this.#holdings(this.#account(name).collateral, MONEY_PLACES);
  }

  shares(name: string, outcome: Outcome, market = 1): Holdings {
    const holding = this.#account(name).holdings.get(market);
    const nothing = { balance: 0, reserved: 0 };
    return this.#holdings(holding?.[outcome === "YES" ? "yes" : "no"] ?? nothing, SIZE_PLACES);
  }

  /** The numbers of somebody's open orders, oldest first. */
  open(name: string): number[] {
    const open: number[] = [];
    for (let next = this.#account(name).firstOpen; next !== 0; next = this.state.orders.get(next).nextOpen) {
      open.push(next);
    }
    return open;
  }

  /** Both sides of a token's book, best first, as `size @ price`. */
  book(outcome: Outcome = "YES", market = 1): { bids: string[]; asks: string[] } {
    const line = ({ shares, price }: Level): string => `${shares} @ ${price}`;
    const record = this.state.markets.get(market);
    return { bids: levels(record, outcome, "BUY").map(line), asks: levels(record, outcome, "SELL").map(line) };
  }

  /** The book of a token as a table `bid | price | ask`, highest price first. */
  table(outcome: Outcome = "YES", market = 1): string {
    const record = this.state.markets.get(market);
    const row = (bid: string, at: string, ask: string): string =>
      `${bid.padStart(12)} | ${at.padStart(6)} | ${ask}`.trimEnd();
    const asks = levels(record, outcome, "SELL").map(({ shares, price }) => row("", price, shares));
    const bids = levels(record, outcome, "BUY").map(({ shares, price }) => row(shares, price, ""));
    return [row("bid", "price", "ask"), ...asks.reverse(), ...bids].join("\n");
  }

  /** Who placed an order. */
  placedBy({ account }: Order): string {
    return this.#names.get(this.state.accounts.get(account).address) ?? `account ${account}`;
  }

  #account(name: string) {
    const number = this.state.accountByAddress.get(addressOf(name));
    return number === undefined ? emptyAccount(0, addressOf(name)) : this.state.accounts.get(number);
  }

  #holdings({ balance, reserved }: Holdings, places: number): Holdings {
    return { balance: Number(textOf(balance, places)), reserved: Number(textOf(reserved, places)) };
  }

  #demand(decision: Decision, what: string): void {
    if (decision.ok) return;
    const books = [...this.state.markets].map(({ number }) => `market ${number}\n${this.table("YES", number)}`);
    throw new Error(`${what}: ${JSON.stringify(decision.refusal)}\n${books.join("\n")}`);
  }

  #check(what: string): void {
    const broken = violations(this.state);
    if (broken.length > 0) throw new Error(`after ${what}: ${JSON.stringify(broken, null, 1)}`);
  }
}
