import { openOrdersOf } from "../core/account.ts";
import { type SettlementStatus, tradeStatus, USDC } from "../core/chain/settlement.ts";
import { type Command, isCausedByTime, type OrderTerms, orderWords } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import { moneyText, priceText, sizeText } from "../core/format.ts";
import { numberOf } from "../core/ids.ts";
import { type Market, marketOfToken, outcomeOf } from "../core/market.ts";
import { type Order, remainingOf } from "../core/order.ts";
import { FEES, type State } from "../core/state.ts";
import { type Address, unreachable } from "../core/terms.ts";
import { size } from "../core/units.ts";
import { defaultMarket, type MarketTerms, tokenText } from "../scenario/language/declarations.ts";
import { MAX_NAME_LENGTH } from "../scenario/language/fields.ts";
import { NEXT_ORDER } from "../scenario/language/order-line.ts";
import { isOneStep, type OneStepCommand, WRITTEN, type Written } from "../scenario/language/steps.ts";
import { fillText, tradeText } from "../scenario/run/format.ts";
import { uniqueName } from "../simulation/event-story.ts";
import { faultStep, moment, type NodeMap, roundedTerms, scalar } from "./scenario-text.ts";
import { faultedOrder, marketOfEvent, positionCallIn, type Trace, type TracedCommand } from "./trace.ts";

/** Commands by which a test changes a wallet; the wallet does not act. */
const WALLET_CHANGES: ReadonlySet<Command["kind"]> = new Set(["setNativeBalance", "setNonce"]);

/** Returns the address that sends a command or transaction, or that it funds; null if there is none. */
export function addressIn(command: Command): Address | null {
  if (command.kind === "sendTransaction") return command.from;
  return "address" in command && !WALLET_CHANGES.has(command.kind) ? command.address : null;
}

/** Names the accounts of a session in its scenario; `refused` are those whose requests were refused. */
export function accountNames(
  { commands, end }: Trace,
  devAccounts: readonly Address[],
  refused: readonly number[] = [],
) {
  const accountOf = (address: Address | null) =>
    address === null ? undefined : end.accountByAddress.get(address);
  const acted = commands.flatMap(({ command }) => accountOf(addressIn(command)) ?? []);
  const actors = [...new Set([...acted, ...refused])];
  const names = new Map<number, string>();
  for (const [index, address] of devAccounts.entries()) {
    const account = accountOf(address);
    if (account !== undefined) names.set(account, `dev-${index}`);
  }
  const wallets = actors.filter((account) => !names.has(account));
  for (const [index, account] of wallets.entries()) names.set(account, `wallet-${index + 1}`);
  return {
    /** Numbers of the accounts that acted, were funded or were refused, in order of first occurrence. */
    actors,
    /** Returns `dev-0` for a dev account, `wallet-1` for another account that acted, `trader-1` for the others. */
    nameOf: (account: number): string => names.get(account) ?? `trader-${account - FEES}`,
  };
}

/** A command as far as its step depends on it: with the number of the order that it placed, and the orders before it. */
interface DescribedCommand extends Pick<TracedCommand, "command"> {
  readonly placed: { readonly order: number } | null;
  readonly before: { readonly orders: number };
}

/** The step that ends all faults of the chain. */
export const NO_FAULTS = { "chain fault": "none" } as const;

/** Names things of a history in its scenario, and writes its commands as steps. */
export class Vocabulary {
  readonly #markets: ReadonlyMap<number, string>;
  readonly #end: State;
  readonly accountAt: (address: Address) => string;
  readonly #orderName: (number: number) => string | undefined;

  /** `end` is the state at the end of the history. */
  constructor(
    markets: readonly Pick<TouchedMarket, "number" | "name">[],
    end: State,
    accountAt: (address: Address) => string,
    orderName: (number: number) => string | undefined,
  ) {
    this.#markets = new Map(markets.map(({ number, name }) => [number, name]));
    this.#end = end;
    this.accountAt = accountAt;
    this.#orderName = orderName;
  }

  account(number: number): string {
    return this.accountAt(this.#end.accounts.get(number).address);
  }

  market(number: number): string {
    return this.#markets.get(number) ?? `market-${number}`;
  }

  /** Returns the name of a market; null if it is the only one, whose name can be omitted. */
  marketIfSeveral(number: number): string | null {
    return this.#markets.size === 1 ? null : this.market(number);
  }

  /** Returns ` in rain`; empty if there is only one market. */
  inMarket(number: number): string {
    const name = this.marketIfSeveral(number);
    return name === null ? "" : ` in ${name}`;
  }

  /** Returns `YES`, or `rain YES` if there are several markets. */
  token(token: number): string {
    return tokenText({ market: this.marketIfSeveral(marketOfToken(token)), outcome: outcomeOf(token) });
  }

  /** Writes an order as in a step: `BUY 100 YES @ 0.55 in rain as order-1`. */
  order(order: OrderTerms, token: number, name: string | undefined): string {
    const { size, price, expiration: at } = order;
    const expiration = at === null ? null : moment(at);
    const texts = { ...order, size: sizeText(size), price: priceText(price), expiration };
    const named = name === undefined ? "" : ` as ${name}`;
    return orderWords(texts, outcomeOf(token) + this.inMarket(marketOfToken(token))) + named;
  }

  /** Writes `fund 12.5 USDC` or `fund 50 YES in rain`. */
  funding(token: number, amount: number): string {
    if (token === USDC) return `fund ${moneyText(amount)} USDC`;
    return `fund ${sizeText(amount)} ${outcomeOf(token)}${this.inMarket(marketOfToken(token))}`;
  }

  /** Returns the assets of an account in the header of a scenario. */
  assets(funds: Funds): NodeMap {
    const entries = funds.all.map(([token, amount]) =>
      token === USDC ? ["USDC", moneyText(amount)] : [this.token(token), sizeText(amount)],
    );
    return Object.fromEntries(entries);
  }

  /** Writes a fill as in the taker's step, and as a trade, with the taker's name first. */
  fill(event: DomainEvent<"orderTraded">): { readonly fill: string; readonly trade: string } {
    const { size, price, matchType } = event;
    const { side, token, account } = this.#end.orders.get(event.taker);
    // In this order, because a name may be given when it is first used.
    const taker = this.account(account);
    const maker = this.account(this.#end.orders.get(event.maker).account);
    const market = this.marketIfSeveral(marketOfToken(token));
    const terms = { side, size, outcome: outcomeOf(token), price, market };
    const words = { ...terms, taker, maker, matchType, status: null };
    return { fill: fillText(words), trade: tradeText(words) };
  }

  /** Returns the step of a command that no account sends. */
  oneStep(command: OneStepCommand): NodeMap {
    return Object.fromEntries([(WRITTEN[command.kind] as Written<OneStepCommand>)(command, this)]);
  }

  /**
   * Returns the step of a command. Null if the command belongs to the header, funds an account, is caused by time, or has
   * no effect because wallets of scenarios have enough gas money; a text describes a command that no step can express.
   */
  step({ command, placed, before }: DescribedCommand): NodeMap | string | null {
    if (isCausedByTime(command)) return null;
    if (isOneStep(command)) return this.oneStep(command);
    switch (command.kind) {
      case "placeOrder": {
        const token = this.#end.tokenById.get(command.tokenId) ?? 0;
        const name = placed === null ? undefined : this.#orderName(placed.order);
        return { [this.accountAt(command.address)]: this.order(command, token, name) };
      }
      case "cancelOrder": {
        const order = numberOf(this.#end.idPrefixes.order, command.orderId);
        return { [this.accountAt(command.address)]: `cancel ${this.#orderName(order) ?? "nothing"}` };
      }
      case "cancelAllOrders":
        return { [this.accountAt(command.address)]: "cancel all" };
      case "sendTransaction": {
        const position = positionCallIn(this.#end, command);
        if (position === null) return `a wallet's own transaction (${command.call.kind})`;
        const { market, change } = position;
        const text = change.kind === "redeem" ? change.kind : `${change.kind} ${sizeText(change.size)}`;
        return { [this.accountAt(command.from)]: text + this.inMarket(market) };
      }
      case "setSettlementFault": {
        const terms = roundedTerms(command);
        if (command.order === undefined) return faultStep(terms);
        const order = faultedOrder(command.order, before);
        return faultStep(terms, order === "next" ? NEXT_ORDER : (this.#orderName(order) ?? null));
      }
      case "endSettlementFault":
        return command.number === null ? NO_FAULTS : "the end of one fault of several";
      case "setNonce":
      case "dropTransaction":
      case "setMining":
      case "setBlockTerms":
      case "setNextBaseFee":
        return command.kind;
      case "createEvent":
      case "createMarket":
      case "fundAccount":
      case "deriveCredentials":
      case "setNativeBalance":
        return null;
      default:
        throw unreachable(command);
    }
  }
}

/** Amounts that an account starts with. */
export class Funds {
  readonly #amounts = new Map<number, number>();

  /** Adds micro-USDC for the token USDC, else size units of the token. */
  add(token: number, amount: number): void {
    if (amount > 0) this.#amounts.set(token, (this.#amounts.get(token) ?? 0) + amount);
  }

  /** By token, USDC first. */
  get all(): readonly (readonly [token: number, amount: number])[] {
    return [...this.#amounts].sort(([a], [b]) => a - b);
  }
}

/** Statuses of a settlement at the end for which the taker order gets a name. */
const NAMED_STATUSES: ReadonlySet<SettlementStatus> = new Set<SettlementStatus>(["FAILED", "RETRYING"]);

/**
 * Names the orders that later steps or expectations refer to, by number: those of the session that rested, failed to
 * settle or were hit by a fault (`faulted`), and earlier ones that their owner canceled.
 */
export function orderNames({ opening, commands, end }: Trace, faulted: ReadonlySet<number>) {
  const names = new Map<number, string>();
  const before = opening.orders.size;
  const addName = (order: number): unknown => names.set(order, `order-${order - before}`);
  for (const { command, events } of commands) {
    for (const event of events) {
      if (event.kind === "orderRested") addName(event.order);
      else if (event.kind === "orderTraded") {
        const status = tradeStatus(end, end.trades.get(event.trade));
        if (faulted.has(event.taker) || NAMED_STATUSES.has(status)) addName(event.taker);
      } else if (event.kind === "orderCanceled" && event.order <= before && command.kind === "cancelOrder")
        names.set(event.order, `earlier-${event.order}`);
    }
  }
  return names;
}

/** A market with events or open orders of a session. */
export interface TouchedMarket {
  readonly number: number;
  readonly name: string;
  /** Its state when the session began; null if the session created it. */
  readonly before: Market | null;
  readonly after: Market;
}

/**
 * Returns the markets of a session, by number: those with events in the session or with open orders of its actors
 * before it, and `others`.
 */
export function touchedMarkets(
  { opening, commands, end }: Trace,
  actors: readonly number[],
  others: readonly number[] = [],
): TouchedMarket[] {
  const touched = new Set(others);
  for (const { events } of commands) {
    for (const event of events) {
      const position = event.kind === "transactionSent" ? positionCallIn(end, event.content) : null;
      const market = position?.market ?? marketOfEvent(event, end);
      if (market !== null) touched.add(market);
    }
  }
  for (const account of actors) {
    for (const { token } of openOrdersOf(opening, opening.accounts.find(account))) {
      touched.add(marketOfToken(token));
    }
  }
  const names = new Set<string>();
  const numbers = [...touched].sort((a, b) => a - b);
  return numbers.map((number) => {
    const after = end.markets.get(number);
    const name = uniqueMarketName(after.slug, names);
    return { number, name, before: opening.markets.find(number) ?? null, after };
  });
}

/** Turns a slug into an unused market name for a scenario, and adds it to `taken`. */
export function uniqueMarketName(slug: string, taken: Set<string>): string {
  const found = slug.toLowerCase().match(/[a-z\d]+/g) ?? ["market"];
  const words = found.join("-");
  // A name must not look like a number or null in YAML.
  return uniqueName(scalar(words) === words ? words : `market-${words}`, taken, MAX_NAME_LENGTH);
}

const DEFAULTS = defaultMarket();

/**
 * Returns the markets for a scenario's header, without default terms except the tick size. The minimum order size is
 * reduced to the smallest remainder in `resting`, which steps place again; a remark says so.
 */
export function marketEntries(markets: readonly TouchedMarket[], resting: readonly Order[]) {
  const remarks: string[] = [];
  const all: MarketTerms[] = [];
  const entries = markets.map(({ number, name, after }): [string, NodeMap] => {
    const { tickSize, minOrderSize, feeRateBps, matching, selfTrade } = after;
    const sizes = resting.filter(({ token }) => marketOfToken(token) === number).map(remainingOf);
    const minimum = size(sizes.reduce<number>((smallest, each) => Math.min(smallest, each), minOrderSize));
    const terms = { minOrderSize: minimum, feeRateBps, matching, selfTrade };
    all.push({ name, tickSize, ...terms });
    if (minimum < minOrderSize) {
      remarks.push(
        `${name} had a minOrderSize of ${sizeText(minOrderSize)}, but an order that rests from the start has less left.`,
      );
    }
    const others = Object.entries({ ...terms, minOrderSize: sizeText(minimum) })
      .filter(([key]) => terms[key as keyof typeof terms] !== DEFAULTS[key as keyof typeof terms])
      .map(([key, value]) => [key, String(value)]);
    return [name, { tickSize: priceText(tickSize), ...Object.fromEntries(others) }];
  });
  return { entries: Object.fromEntries(entries), terms: all.length === 0 ? [DEFAULTS] : all, remarks };
}
