import { throws } from "node:assert/strict";
import { openOrdersOf } from "../../src/core/account.ts";
import { ASK, BID } from "../../src/core/book/book.ts";
import type { Command, CommandOf } from "../../src/core/commands.ts";
import type { DomainEvent } from "../../src/core/events.ts";
import { decimalText, MONEY_PLACES, PRICE_PLACES, SIZE_PLACES } from "../../src/core/format.ts";
import { idOf } from "../../src/core/ids.ts";
import { violations } from "../../src/core/invariants.ts";
import { bookFor, isMirrored, type Market, priceIn, tokenIdIn } from "../../src/core/market.ts";
import type { Decision, RefusalCode } from "../../src/core/refusals.ts";
import { type ExchangeConfig, findAccount, type State } from "../../src/core/state.ts";
import type { Outcome, Side } from "../../src/core/terms.ts";
import { parseDuration } from "../../src/core/time.ts";
import { millis, money, price, type Sum, size } from "../../src/core/units.ts";
import { Exchange } from "../../src/engine/exchange.ts";
import type { Journal } from "../../src/engine/journal.ts";
import {
  addressOf,
  commandIn,
  eventCommand,
  fundCommand,
  type MarketTerms,
  marketCommand,
  orderCommand,
  parametersIn,
  unitsIn,
} from "./commands.ts";
import { UNSETTLED } from "./config.ts";

/** Start of every test exchange: 2026-01-01T00:00:00Z. */
export const START = millis(1_767_225_600_000);

/** Funds of an account: USDC, shares of one market, shares of every market. */
export interface Funding {
  readonly usdc?: number;
  readonly yes?: number;
  readonly no?: number;
  readonly everyMarket?: number;
}

/** A balance in decimals. */
export interface Holdings {
  readonly balance: number;
  readonly reserved: number;
}

/** Returns `ok`, or the code of the refusal. */
export const verdictOf = (decision: Decision): "ok" | RefusalCode =>
  decision.ok ? "ok" : decision.refusal.code;

/** Faucet of 10,000 USDC and a grant of 10,000 shares of every token. */
export const FAUCET_OF_10_000 = {
  faucet: { collateral: money(10_000_000_000), everyMarket: size(1_000_000) },
} as const;

/**
 * An exchange whose orders are written as sentences, and whose results are lines of text, all in decimals. Checks every
 * invariant after each command.
 */
export class TestExchange {
  readonly exchange: Exchange;
  /** Every event so far, in order. */
  readonly events: DomainEvent[] = [];

  /** @param of the configuration of a new exchange, or one that is open. */
  constructor(of: Partial<ExchangeConfig> | Exchange = {}, journal?: Journal) {
    const faucet = { collateral: money(0), everyMarket: size(0) };
    const terms = { seed: "test", faucet, credentials: "rotate", ...UNSETTLED } as const;
    this.exchange = of instanceof Exchange ? of : new Exchange({ ...terms, ...of }, START, journal);
    this.exchange.watch((_sequence, _at, events) => void this.events.push(...events));
  }

  get state(): State {
    return this.exchange.state;
  }

  /** Submits a command that may be refused. @throws Error if it breaks an invariant. */
  submit(command: Command): Decision {
    const decision = this.exchange.submit(command);
    this.check(command.kind);
    return decision;
  }

  /** Submits a command. @throws Error if it is refused or breaks an invariant. */
  mustSubmit(command: Command): void {
    const decision = this.submit(command);
    if (decision.ok) return;
    const books = [...this.state.markets].map(
      ({ number }) => `market ${number}\n${this.table("YES", number)}`,
    );
    throw new Error([JSON.stringify(command), JSON.stringify(decision.refusal), ...books].join("\n"));
  }

  /** Returns the events of one kind so far, in order. */
  eventsOf<Kind extends DomainEvent["kind"]>(kind: Kind): Extract<DomainEvent, DomainEvent<Kind>>[] {
    return this.events.filter((event) => event.kind === kind) as Extract<DomainEvent, DomainEvent<Kind>>[];
  }

  /** Creates a market, and returns its number. */
  market(terms: MarketTerms = {}): number {
    if (this.state.events.size === 0) this.mustSubmit(eventCommand("event"));
    this.mustSubmit(marketCommand(`market-${this.state.markets.next}`, terms));
    return this.state.markets.size;
  }

  /** Funds an account, with shares of one market. */
  fund(name: string, { usdc = 0, yes = 0, no = 0, everyMarket = 0 }: Funding, market = 1): void {
    const shares = [["YES", yes] as const, ["NO", no] as const].filter(([, amount]) => amount > 0);
    const funds = {
      collateral: money(unitsIn(usdc, MONEY_PLACES)),
      tokens: shares.map(([outcome, amount]) => ({
        tokenId: this.tokenId(outcome, market),
        size: size(unitsIn(amount, SIZE_PLACES)),
      })),
      everyMarket: size(unitsIn(everyMarket, SIZE_PLACES)),
    };
    this.mustSubmit(fundCommand(addressOf(name), funds));
  }

  /** Parses an order: `alice BUY 10 YES @ 0.5 GTD 60s`. */
  command(sentence: string, market = 1): CommandOf<"placeOrder"> {
    return orderCommand(sentence, this.exchange.now, (outcome) => this.tokenId(outcome, market));
  }

  /** Places orders in the first market, which must be accepted. Returns the number of the last. */
  send(...sentences: readonly string[]): number {
    for (const sentence of sentences) this.mustSubmit(this.command(sentence));
    return this.state.orders.size;
  }

  /** Places an order that may be refused. */
  try(sentence: string, market = 1): Decision {
    return this.submit(this.command(sentence, market));
  }

  cancel(name: string, order: number): Decision {
    return this.submit({ kind: "cancelOrder", address: addressOf(name), orderId: this.orderId(order) });
  }

  cancelAll(name: string): Decision {
    return this.submit({ kind: "cancelAllOrders", address: addressOf(name) });
  }

  derive(name: string): void {
    this.mustSubmit({ kind: "deriveCredentials", address: addressOf(name) });
  }

  /** Bob sells 1 YES to alice at 0.5. */
  trade(): void {
    this.send("alice BUY 1 YES @ 0.5", "bob SELL 1 YES @ 0.5");
  }

  /**
   * Does what words say, separated by semicolons: `market rain feeRateBps=100; fund alice usdc=5 in 2; advance 1s`, or an
   * order, in a market: `alice BUY 1 YES @ 0.5 in 2`. All must be accepted, unless ` refused CODE` follows. Returns the number
   * of the last order.
   */
  act(words: string): number {
    for (const each of words.split(";")) {
      const [accepted = "", code] = each.trim().split(" refused ");
      const [text = "", market = "1"] = accepted.split(/ in (?=\d+$)/);
      const perform = (): void => this.perform(text, Number(market));
      if (code === undefined) perform();
      else throws(perform, { message: new RegExp(`"${code}"`) });
    }
    return this.state.orders.size;
  }

  protected perform(text: string, market: number): void {
    const [verb = "", ...rest] = text.split(" ");
    const [first = "1"] = rest;
    const command = commandIn(text, market);
    if (command !== null) this.mustSubmit(command);
    else if (verb === "derive") for (const name of rest) this.derive(name);
    else if (verb === "fund") this.fund(first, parametersIn(text), market);
    else if (verb === "trade") for (let count = 0; count < Number(first); count += 1) this.trade();
    else if (verb === "advance") this.advance(first);
    else if (first === "cancel") this.cancel(verb, Number(rest[1]));
    else this.mustSubmit(this.command(text, market));
  }

  /** Advances the clock by a duration such as `90s`. */
  advance(duration: string): void {
    const length = parseDuration(duration);
    if (length === null) throw new Error(`not a duration: ${duration}`);
    this.exchange.advanceTo(millis(this.exchange.now + length));
    this.check(`advance ${duration}`);
  }

  /** Returns the volume and the liquidity of a market, in micro-USDC. */
  figures(market = 1): { volume: bigint; liquidity: bigint } {
    const { volume, liquidity } = this.state.markets.get(market);
    return { volume: inMicros(volume), liquidity: inMicros(liquidity) };
  }

  tokenId(outcome: Outcome, market = 1): string {
    return tokenIdIn(this.state.markets.get(market), outcome);
  }

  orderId(order: number): string {
    return idOf(this.state.idPrefixes.order, order);
  }

  /** Describes an order: `LIVE 4/10`, `CANCELED 0/10 FOK_UNFILLED`. */
  order(number: number): string {
    const { status, matched, size: whole, cancelReason } = this.state.orders.get(number);
    const reason = cancelReason === null ? "" : ` ${cancelReason}`;
    return `${status} ${decimalText(matched, SIZE_PLACES)}/${decimalText(whole, SIZE_PLACES)}${reason}`;
  }

  /** Describes the trades, taker x maker: `#2 x #1: 10 @ 0.5 MINT fee 0.1`, without the match type COMPLEMENTARY. */
  trades(): string[] {
    return [...this.state.trades].map(({ taker, maker, matchType, fee, ...trade }) => {
      const what = `${decimalText(trade.size, SIZE_PLACES)} @ ${decimalText(trade.price, PRICE_PLACES)}`;
      const how = matchType === "COMPLEMENTARY" ? "" : ` ${matchType}`;
      return `#${taker} x #${maker}: ${what}${how}${fee > 0 ? ` fee ${decimalText(fee, MONEY_PLACES)}` : ""}`;
    });
  }

  usdc(name: string): Holdings {
    return inDecimals(findAccount(this.state, addressOf(name))?.collateral, MONEY_PLACES);
  }

  shares(name: string, outcome: Outcome, market = 1): Holdings {
    const holding = findAccount(this.state, addressOf(name))?.holdings.get(market);
    return inDecimals(outcome === "YES" ? holding?.yes : holding?.no, SIZE_PLACES);
  }

  /** Returns the numbers of the open orders of an account, oldest first. */
  open(name: string): number[] {
    return [...openOrdersOf(this.state, findAccount(this.state, addressOf(name)))].map(
      ({ number }) => number,
    );
  }

  /** Returns both sides of a token's book, best first, as `size @ price`. */
  book(outcome: Outcome = "YES", market = 1): { bids: string[]; asks: string[] } {
    const side = (side: Side): string[] =>
      levelsOf(this.state.markets.get(market), outcome, side).map(([shares, at]) => `${shares} @ ${at}`);
    return { bids: side("BUY"), asks: side("SELL") };
  }

  /** Returns the book of a token as a table `bid | price | ask`, highest price first. */
  table(outcome: Outcome = "YES", market = 1): string {
    const record = this.state.markets.get(market);
    const row = (bid: string, at: string, ask: string): string =>
      `${bid.padStart(10)} | ${at.padStart(6)} | ${ask}`.trimEnd();
    const asks = levelsOf(record, outcome, "SELL").map(([shares, at]) => row("", at, shares));
    const bids = levelsOf(record, outcome, "BUY").map(([shares, at]) => row(shares, at, ""));
    return [row("bid", "price", "ask"), ...asks.reverse(), ...bids].join("\n");
  }

  protected check(what: string): void {
    const broken = violations(this.state);
    if (broken.length > 0) throw new Error(`after ${what}: ${JSON.stringify(broken, null, 1)}`);
  }
}

/** Opens an exchange with one market. Alice, Bob and Carol have a million USDC and a million shares of each outcome. */
export function openFundedExchange(
  terms: MarketTerms = {},
  config: Partial<ExchangeConfig> = {},
): TestExchange {
  const exchange = new TestExchange(config);
  exchange.market(terms);
  for (const name of ["alice", "bob", "carol"]) {
    exchange.fund(name, { usdc: 1_000_000, yes: 1_000_000, no: 1_000_000 });
  }
  return exchange;
}

const inMicros = ({ usdc, micro }: Sum): bigint => BigInt(usdc) * 1_000_000n + BigInt(micro);

const inDecimals = (of: Holdings | undefined, places: number): Holdings => ({
  balance: Number(decimalText(of?.balance ?? 0, places)),
  reserved: Number(decimalText(of?.reserved ?? 0, places)),
});

/** Returns the levels of one side of a token's book, best first. In a mirrored book the bids are the other token's asks. */
function levelsOf(market: Market, outcome: Outcome, side: Side): [shares: string, price: string][] {
  const mirrored = isMirrored(market, outcome);
  const levels: [string, string][] = [];
  bookFor(market, outcome).book?.depth((side === "BUY") === mirrored ? ASK : BID, (tick, open) => {
    const at = priceIn(mirrored, price(tick * market.tickSize));
    levels.push([decimalText(open, SIZE_PLACES), decimalText(at, PRICE_PLACES)]);
  });
  return levels;
}
