import { type SettlementStatus, tradeStatus } from "../../core/chain/settlement.ts";
import type { Command } from "../../core/commands.ts";
import type { DomainEvent, EventOf } from "../../core/events.ts";
import { priceText, sizeText } from "../../core/format.ts";
import { type Market, marketOfToken, outcomeOf } from "../../core/market.ts";
import type { Order } from "../../core/order.ts";
import { FEES, type State } from "../../core/state.ts";
import type { Address } from "../../core/terms.ts";
import type { Size } from "../../core/units.ts";
import type { RefusedEntry } from "../../engine/journal.ts";
import { fillText, tokenText, tradeText } from "../../scenario/run/words.ts";
import type { ObservedSession } from "./observed-session.ts";
import { positionIn } from "./observed-session.ts";
import { moment, scalar } from "./yaml-text.ts";

/** Whose command it is, whose transaction, or whom it funds; null where it is nobody's. */
export function addressIn(command: Command): Address | null {
  switch (command.kind) {
    case "placeOrder":
    case "cancelOrder":
    case "cancelAllOrders":
    case "deriveCredentials":
    case "fundAccount":
      return command.address;
    case "sendTransaction":
      return command.from;
    default:
      return null;
  }
}

/** Whether the exchange itself owns an account: its faucet, or what collects its fees. */
export const isHouse = (account: number): boolean => account <= FEES;

/** The accounts of a session, by the names that a scenario gives them. */
export class Parties {
  /** Numbers of those who acted, were funded or were refused, in the order of their first time. */
  readonly actors: readonly number[];
  readonly #names = new Map<number, string>();

  /** `refused` are the accounts whose requests were refused. */
  constructor(
    { commands, end }: ObservedSession,
    devAccounts: readonly Address[],
    refused: readonly number[] = [],
  ) {
    const actors = new Set<number>();
    for (const { command } of commands) {
      const account = accountOf(end, addressIn(command));
      if (account !== undefined) actors.add(account);
    }
    for (const account of refused) actors.add(account);
    this.actors = [...actors];
    for (const [index, address] of devAccounts.entries()) {
      const account = accountOf(end, address);
      if (account !== undefined) this.#names.set(account, `dev-${index}`);
    }
    let wallets = 0;
    for (const account of this.actors) {
      if (this.#names.has(account)) continue;
      wallets += 1;
      this.#names.set(account, `wallet-${wallets}`);
    }
  }

  /** `dev-0` and so on for the dev accounts, `wallet-1` for who else acted, `trader-1` for who only was there before. */
  nameOf(account: number): string {
    return this.#names.get(account) ?? `trader-${account - FEES}`;
  }
}

const accountOf = (state: State, address: Address | null): number | undefined =>
  address === null ? undefined : state.accountByAddress.get(address);

/** How the things of one session are called in its scenario. */
export class Vocabulary {
  readonly #parties: Parties;
  readonly #markets: ReadonlyMap<number, string>;
  /** What knows every order of the session. */
  readonly #end: State;

  constructor(parties: Parties, markets: readonly TouchedMarket[], end: State) {
    this.#parties = parties;
    this.#markets = new Map(markets.map(({ number, name }) => [number, name]));
    this.#end = end;
  }

  account(number: number): string {
    return this.#parties.nameOf(number);
  }

  market(number: number): string {
    const name = this.#markets.get(number);
    if (name === undefined) throw new Error(`market ${number} has no name`);
    return name;
  }

  /** The market's name where one must be given: not of the only one. */
  marketIfSeveral(number: number): string | null {
    const name = this.market(number);
    return this.#markets.size === 1 ? null : name;
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

  /** An order of so many shares as a step says it: `BUY 100 YES @ 0.55 in rain as order-1`. */
  order(order: Order, size: Size, name: string | undefined): string {
    const { token, side, price, orderType, expiration } = order;
    const type = orderType === "GTC" ? "" : ` ${orderType}`;
    const expiry = expiration === null ? "" : ` ${moment(expiration)}`;
    const place = this.inMarket(marketOfToken(token));
    const named = name === undefined ? "" : ` as ${name}`;
    return `${side} ${sizeText(size)} ${outcomeOf(token)} @ ${priceText(price)}${type}${expiry}${place}${named}`;
  }

  /** `50 YES in rain`. */
  shares(token: number, amount: number): string {
    return `${sizeText(amount)} ${outcomeOf(token)}${this.inMarket(marketOfToken(token))}`;
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
}

/** Which settlements give their order a name, also of an order that did not rest. */
const TOLD: ReadonlySet<SettlementStatus> = new Set<SettlementStatus>(["FAILED", "RETRYING"]);

/**
 * The names of the orders that a scenario speaks of again, by number: those that rested, whose settlement went wrong
 * or met a fault (`hit`), in the order of the session's own, and those that were there before and that their owner canceled.
 */
export function orderNames(
  { opening, commands, end }: ObservedSession,
  hit: ReadonlySet<number>,
): Map<number, string> {
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
  session: ObservedSession,
  actors: readonly number[],
  others: readonly number[] = [],
): TouchedMarket[] {
  const { opening, commands, end } = session;
  const touched = new Set(others);
  for (const { events } of commands) {
    for (const event of events) {
      const market = marketOfEvent(end, event);
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

function marketOfEvent(state: State, event: DomainEvent): number | null {
  switch (event.kind) {
    case "orderPlaced":
      return marketOfToken(event.token);
    case "orderCanceled":
    case "orderExpired":
      return marketOfToken(state.orders.get(event.order).token);
    case "marketCreated":
    case "marketClosed":
    case "marketResolved":
    case "setsIssued":
    case "grantMinted":
      return event.market;
    case "transactionSent":
      return positionIn(state, event.content)?.market ?? null;
    default:
      return null;
  }
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

/** A session with the words in which a scenario writes it. */
export interface DescribedSession {
  /** Its commands are those that steps say. */
  readonly session: ObservedSession;
  readonly words: Vocabulary;
  /** Of orders, by number. */
  readonly names: ReadonlyMap<number, string>;
  readonly markets: readonly TouchedMarket[];
  readonly actors: readonly number[];
  /** What was refused meanwhile, oldest first. */
  readonly refused: readonly RefusedEntry[];
}
