import { type SettlementStatus, tradeStatus } from "../core/chain/settlement.ts";
import { type Command, isCausedByTime, type OrderTerms, orderWords } from "../core/commands.ts";
import type { EventOf } from "../core/events.ts";
import { moneyText, priceText, sizeText } from "../core/format.ts";
import { numberOf } from "../core/ids.ts";
import { type Market, marketOfToken, outcomeOf } from "../core/market.ts";
import { type Order, remainingOf } from "../core/order.ts";
import { FEES, type State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import { size } from "../core/units.ts";
import { unreachable } from "../core/unreachable.ts";
import { type MarketTerms, NEXT_ORDER, tokenText } from "../scenario/language/parts.ts";
import { defaultMarket } from "../scenario/language/read-scenario.ts";
import { isOneStep, type OneStepCommand, WRITTEN, type Written } from "../scenario/language/steps.ts";
import { fillText, tradeText } from "../scenario/run/words.ts";
import { marketOfEvent } from "./mentions.ts";
import { type Entry, faultStep, map, moment, type Step, sayableTerms, scalar } from "./scenario-text.ts";
import { orderOfFault, positionIn, type Trace, type TracedCommand } from "./trace.ts";

/** What is done to an address by whoever tests with it. */
const OF_NOBODY: ReadonlySet<Command["kind"]> = new Set(["setNativeBalance", "setNonce"]);

/** Whose command it is, whose transaction, or whom it funds; null where it is nobody's. */
export function addressIn(command: Command): Address | null {
  if (command.kind === "sendTransaction") return command.from;
  return "address" in command && !OF_NOBODY.has(command.kind) ? command.address : null;
}

/** Whether the exchange itself owns an account: its faucet, or what collects its fees. */
export const isHouse = (account: number): boolean => account <= FEES;

/** The accounts of a session, by the names that a scenario gives them. */
export class Parties {
  /** Numbers of those who acted, were funded or were refused, in the order of their first time. */
  readonly actors: readonly number[];
  readonly #names = new Map<number, string>();

  /** `refused` are the accounts whose requests were refused. */
  constructor({ commands, end }: Trace, devAccounts: readonly Address[], refused: readonly number[] = []) {
    const accountOf = (address: Address | null) =>
      address === null ? undefined : end.accountByAddress.get(address);
    const acted = commands.flatMap(({ command }) => accountOf(addressIn(command)) ?? []);
    this.actors = [...new Set([...acted, ...refused])];
    for (const [index, address] of devAccounts.entries()) {
      const account = accountOf(address);
      if (account !== undefined) this.#names.set(account, `dev-${index}`);
    }
    const wallets = this.actors.filter((account) => !this.#names.has(account));
    for (const [index, account] of wallets.entries()) this.#names.set(account, `wallet-${index + 1}`);
  }

  /** `dev-0` and so on for the dev accounts, `wallet-1` for who else acted, `trader-1` for who only was there before. */
  nameOf(account: number): string {
    return this.#names.get(account) ?? `trader-${account - FEES}`;
  }
}

/** What a scenario calls accounts, by their addresses, and orders, by their numbers; undefined for those without a name. */
interface GivenNames {
  account(address: Address): string;
  order(number: number): string | undefined;
}

/** How the things of one history are called in its scenario, and how its commands are said there. */
export class Vocabulary {
  readonly #markets: ReadonlyMap<number, string>;
  readonly #end: State;
  readonly #names: GivenNames;

  /** `end` knows every order of the history. */
  constructor(markets: readonly TouchedMarket[], end: State, names: GivenNames) {
    this.#markets = new Map(markets.map(({ number, name }) => [number, name]));
    this.#end = end;
    this.#names = names;
  }

  named(address: Address): string {
    return this.#names.account(address);
  }

  account(number: number): string {
    return this.named(this.#end.accounts.get(number).address);
  }

  market(number: number): string {
    return this.#markets.get(number) ?? `market-${number}`;
  }

  /** The market's name where one must be given: not of the only one. */
  marketIfSeveral(number: number): string | null {
    return this.#markets.size === 1 ? null : this.market(number);
  }

  /** ` in rain`, or nothing where there is but one market. */
  inMarket(number: number): string {
    const name = this.marketIfSeveral(number);
    return name === null ? "" : ` in ${name}`;
  }

  /** `YES`, or `rain YES` where there are several markets. */
  token(token: number): string {
    return tokenText({ market: this.marketIfSeveral(marketOfToken(token)), outcome: outcomeOf(token) });
  }

  /** An order as a step says it: `BUY 100 YES @ 0.55 in rain as order-1`. */
  order(order: OrderTerms, token: number, name: string | undefined): string {
    const { size, price, expiration: at } = order;
    const expiration = at === null ? null : moment(at);
    const texts = { ...order, size: sizeText(size), price: priceText(price), expiration };
    const named = name === undefined ? "" : ` as ${name}`;
    return orderWords(texts, outcomeOf(token) + this.inMarket(marketOfToken(token))) + named;
  }

  /** `fund 12.5 USDC` or `fund 50 YES in rain`; the token is 0 for USDC. */
  funding(token: number, amount: number): string {
    if (token === 0) return `fund ${moneyText(amount)} USDC`;
    return `fund ${sizeText(amount)} ${outcomeOf(token)}${this.inMarket(marketOfToken(token))}`;
  }

  /** What an account of a scenario starts with, as its header says it. */
  assets(funds: Funds): Entry[] {
    return funds.all.map(([token, amount]) =>
      token === 0 ? ["USDC", moneyText(amount)] : [this.token(token), sizeText(amount)],
    );
  }

  /** A fill as its taker sees it, and the same with the taker's name before it. */
  fill(event: EventOf<"orderTraded">): { readonly fill: string; readonly trade: string } {
    const taker = this.#end.orders.get(event.taker);
    const words = {
      side: taker.side,
      size: event.size,
      outcome: outcomeOf(taker.token),
      price: event.price,
      market: this.marketIfSeveral(marketOfToken(taker.token)),
      taker: this.account(taker.account),
      maker: this.account(this.#end.orders.get(event.maker).account),
      matchType: event.matchType,
      status: null,
    };
    return { fill: fillText(words), trade: tradeText(words) };
  }

  /** The step that a command is, which nobody in particular takes. */
  oneStep(command: OneStepCommand): Entry {
    return (WRITTEN[command.kind] as Written<OneStepCommand>)(command, this);
  }

  /** The step that says a command; null of what stands in the header or funds somebody, `cannot say` of what no step is. */
  step(traced: TracedCommand): Step | null | { readonly cannotSay: string } {
    const { command, placed } = traced;
    if (isCausedByTime(command)) return null;
    if (isOneStep(command)) return [this.oneStep(command)];
    switch (command.kind) {
      case "placeOrder": {
        const token = this.#end.tokenById.get(command.tokenId) ?? 0;
        const name = placed === null ? undefined : this.#names.order(placed.order);
        return [[this.named(command.address), this.order(command, token, name)]];
      }
      case "cancelOrder": {
        const order = numberOf(this.#end.idPrefixes.order, command.orderId);
        return [[this.named(command.address), `cancel ${this.#names.order(order) ?? "nothing"}`]];
      }
      case "cancelAllOrders":
        return [[this.named(command.address), "cancel all"]];
      case "sendTransaction": {
        const position = positionIn(this.#end, command);
        if (position === null) return { cannotSay: `a wallet's own transaction (${command.call.kind})` };
        const { market, change } = position;
        const text = change.kind === "redeem" ? change.kind : `${change.kind} ${sizeText(change.size)}`;
        return [[this.named(command.from), text + this.inMarket(market)]];
      }
      case "setSettlementFault": {
        const terms = sayableTerms(command);
        if (command.order === undefined) return faultStep(terms);
        const hit = orderOfFault(command.order, traced);
        return faultStep(terms, hit === "next" ? NEXT_ORDER : (this.#names.order(hit) ?? null));
      }
      case "endSettlementFault":
        if (command.number === null) return [["chain fault", "none"]];
        return { cannotSay: "the end of one fault of several" };
      case "setNativeBalance":
      case "setNonce":
      case "dropTransaction":
      case "setMining":
      case "setBlockTerms":
      case "setNextBaseFee":
        return { cannotSay: command.kind };
      case "createEvent":
      case "createMarket":
      case "fundAccount":
      case "deriveCredentials":
        return null;
      default:
        throw unreachable(command);
    }
  }
}

/** What an account starts with, or is given. */
export class Funds {
  readonly #amounts = new Map<number, number>();

  /** Adds micro-USDC, where the token is 0, or size units of a token. */
  add(token: number, amount: number): void {
    if (amount > 0) this.#amounts.set(token, (this.#amounts.get(token) ?? 0) + amount);
  }

  /** By token, USDC first. */
  get all(): readonly (readonly [token: number, amount: number])[] {
    return [...this.#amounts].sort(([a], [b]) => a - b);
  }
}

/** Which settlements give their order a name, also of an order that did not rest. */
const TOLD: ReadonlySet<SettlementStatus> = new Set<SettlementStatus>(["FAILED", "RETRYING"]);

/**
 * The names of the orders that a scenario speaks of again, by number: those that rested, whose settlement went wrong
 * or met a fault (`hit`), in the order of the session's own, and those that were there before and that their owner canceled.
 */
export function orderNames({ opening, commands, end }: Trace, hit: ReadonlySet<number>): Map<number, string> {
  const names = new Map<number, string>();
  const before = opening.orders.size;
  const nameOwn = (order: number): unknown => names.set(order, `order-${order - before}`);
  for (const { command, events } of commands) {
    for (const event of events) {
      if (event.kind === "orderRested") nameOwn(event.order);
      else if (event.kind === "orderTraded") {
        const isTold = hit.has(event.taker) || TOLD.has(tradeStatus(end, end.trades.get(event.trade)));
        if (isTold) nameOwn(event.taker);
      } else if (event.kind === "orderCanceled" && event.order <= before && command.kind === "cancelOrder")
        names.set(event.order, `earlier-${event.order}`);
    }
  }
  return names;
}

/** A market that a session has to do with. */
export interface TouchedMarket {
  readonly number: number;
  /** What the scenario calls it. */
  readonly name: string;
  /** As it was when the session began; null when the session created it. */
  readonly before: Market | null;
  readonly after: Market;
}

/**
 * The markets that a session touched, by number: where something was placed, ended, issued, created, closed,
 * resolved, split, merged or redeemed, and where those who acted had orders open already; `others` are touched, too.
 */
export function touchedMarkets(
  { opening, commands, end }: Trace,
  actors: readonly number[],
  others: readonly number[] = [],
): TouchedMarket[] {
  const touched = new Set(others);
  for (const { events } of commands) {
    for (const event of events) {
      const position = event.kind === "transactionSent" ? positionIn(end, event.content) : null;
      const market = position?.market ?? marketOfEvent(event, end);
      if (market !== null) touched.add(market);
    }
  }
  for (const account of actors) {
    for (let next = opening.accounts.find(account)?.firstOpen ?? 0; next !== 0; ) {
      const order = opening.orders.get(next);
      touched.add(marketOfToken(order.token));
      next = order.nextOpen;
    }
  }
  const names = new Set<string>();
  return [...touched]
    .sort((a, b) => a - b)
    .map((number) => {
      const after = end.markets.get(number);
      const name = freeName(after.slug, names);
      names.add(name);
      return { number, name, before: opening.markets.find(number) ?? null, after };
    });
}

const LONGEST_NAME = 64;

/** A slug as a name that a scenario can give a market, and that no market before has. */
export function freeName(slug: string, taken: ReadonlySet<string>): string {
  const words =
    slug
      .toLowerCase()
      .match(/[a-z\d]+/g)
      ?.join("-") ?? "market";
  // What YAML would take for a number or for nothing is no name.
  const named = scalar(words) === words ? words : `market-${words}`;
  for (let next = 1; ; next += 1) {
    const ending = next === 1 ? "" : `-${next}`;
    const name = shortened(named, LONGEST_NAME - ending.length) + ending;
    if (!taken.has(name)) return name;
  }
}

/** The first words of a slug that are not too long together; of a single long word, its beginning. */
function shortened(slug: string, most: number): string {
  if (slug.length <= most) return slug;
  const end = slug.lastIndexOf("-", most);
  return slug.slice(0, end > 0 ? end : most);
}

const DEFAULTS = defaultMarket();

/**
 * The terms of the markets that a session touched; what is as by default is left out, but for the tick size. The
 * smallest order is as small as what is left of an order that must rest anew. Remarks say what is not as it was in the session.
 */
export function marketEntries(markets: readonly TouchedMarket[], resting: readonly Order[]) {
  const remarks: string[] = [];
  const all: MarketTerms[] = [];
  const entries = markets.map(({ number, name, after }): Entry => {
    const { tickSize, minOrderSize, feeRateBps, matching, selfTrade } = after;
    const left = resting.filter(({ token }) => marketOfToken(token) === number).map(remainingOf);
    const minimum = size(left.reduce<number>((least, each) => Math.min(least, each), minOrderSize));
    const terms = { minOrderSize: minimum, feeRateBps, matching, selfTrade };
    all.push({ name, tickSize, ...terms });
    if (minimum < minOrderSize) {
      remarks.push(
        `${name} had a minOrderSize of ${sizeText(minOrderSize)}, but less is left of an order that rests from the start.`,
      );
    }
    const said = Object.entries({ ...terms, minOrderSize: sizeText(minimum) }).filter(
      ([key]) => terms[key as keyof typeof terms] !== DEFAULTS[key as keyof typeof terms],
    );
    const others = said.map(([key, value]): Entry => [key, String(value)]);
    return [name, map([["tickSize", priceText(tickSize)], ...others])];
  });
  return { entries, terms: all.length === 0 ? [DEFAULTS] : all, remarks };
}
