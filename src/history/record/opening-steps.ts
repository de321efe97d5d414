import { baseFeeOf, confirmationsOf, QUIET_BASE_FEE } from "../../core/chain/chain.ts";
import { CERTAIN } from "../../core/chain/settlement-fault.ts";
import type { Command } from "../../core/commands.ts";
import type { DomainEvent, EventOf } from "../../core/events.ts";
import { priceText, sizeText } from "../../core/format.ts";
import { marketOfToken, tokenOf } from "../../core/market.ts";
import { type Order, remainingOf, reservationOf } from "../../core/order.ts";
import type { State } from "../../core/state.ts";
import { FULL_PRICE, notional, type Size, size } from "../../core/units.ts";
import { defaultMarket } from "../../scenario/language/read-scenario.ts";
import type { MarketTerms } from "../../scenario/language/scenario.ts";
import { bookEntries } from "./expectations.ts";
import type { ObservedSession } from "./observed-session.ts";
import type { Script } from "./script.ts";
import type { DescribedSession, TouchedMarket } from "./session-names.ts";
import { type Entry, faultStep, map, sayableTerms } from "./yaml-text.ts";

/** What an account starts with. */
export class Funds {
  /** Micro-USDC. */
  collateral = 0;
  /** Size units by token. */
  readonly shares = new Map<number, number>();

  addShares(token: number, amount: number): void {
    if (amount > 0) this.shares.set(token, (this.shares.get(token) ?? 0) + amount);
  }

  /** The USDC that giving this issues: shares of one outcome are minted as full sets. */
  get issued(): number {
    let issued = this.collateral;
    for (const amount of this.shares.values()) issued += notional(FULL_PRICE, size(amount));
    return issued;
  }
}

/**
 * What everybody in a scenario starts with, by account: those who act what they had when the session began and what
 * the faucet gave them in it, then those who only rest what their orders reserve.
 */
export function startingFunds(
  session: ObservedSession,
  markets: readonly TouchedMarket[],
  actors: readonly number[],
  resting: readonly Order[],
): Map<number, Funds> {
  const funds = new Map<number, Funds>();
  for (const account of actors) funds.set(account, heldBefore(session.opening, account, markets));
  addFaucet(session, funds);
  const isActor = new Set(actors);
  for (const order of [...resting].sort((a, b) => a.account - b.account)) {
    if (isActor.has(order.account)) continue;
    const own = funds.get(order.account) ?? new Funds();
    funds.set(order.account, own);
    const { feeRateBps } = session.opening.markets.get(marketOfToken(order.token));
    const reserved = reservationOf(order, remainingOf(order), feeRateBps);
    if (order.side === "BUY") own.collateral += reserved;
    else own.addShares(order.token, reserved);
  }
  return funds;
}

function heldBefore(state: State, number: number, markets: readonly TouchedMarket[]): Funds {
  const funds = new Funds();
  const account = state.accounts.find(number);
  if (account === undefined) return funds;
  funds.collateral = account.collateral.balance;
  for (const { number: market } of markets) {
    const holding = account.holdings.get(market);
    funds.addShares(tokenOf(market, "YES"), holding?.yes.balance ?? 0);
    funds.addShares(tokenOf(market, "NO"), holding?.no.balance ?? 0);
  }
  return funds;
}

/** The grants that a funding mints because it raises them: they are given by steps, not at the start. */
export const raisedIn = (command: Command, events: readonly DomainEvent[]): EventOf<"grantMinted">[] =>
  command.kind === "fundAccount" && command.everyMarket > 0
    ? events.filter((event) => event.kind === "grantMinted")
    : [];

/** Adds what first derivations of keys issued, and the shares that were granted and minted on first touch. */
function addFaucet({ commands }: ObservedSession, funds: ReadonlyMap<number, Funds>): void {
  for (const { command, events } of commands) {
    for (const event of events) {
      if (event.kind === "collateralIssued" && command.kind === "deriveCredentials") {
        const own = funds.get(event.account);
        if (own !== undefined) own.collateral += event.amount;
      } else if (event.kind === "grantMinted" && raisedIn(command, events).length === 0) {
        const own = funds.get(event.account);
        own?.addShares(tokenOf(event.market, "YES"), event.size);
        own?.addShares(tokenOf(event.market, "NO"), event.size);
      }
    }
  }
}

/** What a market's smallest order is unless it says otherwise. */
const DEFAULT_MINIMUM = defaultMarket().minOrderSize;

/** The markets of a scenario by name, and what about them is not as it was in the session. */
interface MarketEntries {
  readonly entries: readonly Entry[];
  /** The same, as the language reads it. */
  readonly terms: readonly MarketTerms[];
  readonly remarks: readonly string[];
}

/**
 * The terms of the markets that a session touched; what is as by default is left out, but for the tick size. The
 * smallest order is as small as what is left of an order that must rest anew.
 */
export function marketEntries(markets: readonly TouchedMarket[], resting: readonly Order[]): MarketEntries {
  const remarks: string[] = [];
  const all: MarketTerms[] = [];
  const left = leastLeft(resting);
  const entries = markets.map(({ number, name, after }): Entry => {
    const { tickSize, minOrderSize, feeRateBps, matching, selfTrade } = after;
    const terms: Entry[] = [["tickSize", priceText(tickSize)]];
    const minimum = size(Math.min(minOrderSize, left.get(number) ?? minOrderSize));
    all.push({ name, tickSize, minOrderSize: minimum, feeRateBps, matching, selfTrade });
    if (minimum < minOrderSize) {
      remarks.push(
        `${name} had a minOrderSize of ${sizeText(minOrderSize)}, but less is left of an order that rests from the start.`,
      );
    }
    if (minimum !== DEFAULT_MINIMUM) terms.push(["minOrderSize", sizeText(minimum)]);
    if (feeRateBps !== 0) terms.push(["feeRateBps", String(feeRateBps)]);
    if (matching !== "complementary") terms.push(["matching", matching]);
    if (selfTrade !== "allow") terms.push(["selfTrade", selfTrade]);
    return [name, map(terms)];
  });
  return { entries, terms: all.length === 0 ? [defaultMarket()] : all, remarks };
}

/** What is left of the order with the least left, by market. */
function leastLeft(resting: readonly Order[]): Map<number, Size> {
  const least = new Map<number, Size>();
  for (const order of resting) {
    const market = marketOfToken(order.token);
    const left = remainingOf(order);
    if (left < (least.get(market) ?? Number.POSITIVE_INFINITY)) least.set(market, left);
  }
  return least;
}

/** The orders that rested in some markets when a session began, oldest first. */
export function restingBefore(opening: State, markets: readonly TouchedMarket[]): Order[] {
  const touched = new Set(markets.map(({ number }) => number));
  const resting: Order[] = [];
  for (const order of opening.orders) {
    if (order.status === "LIVE" && touched.has(marketOfToken(order.token))) resting.push(order);
  }
  return resting;
}

/**
 * The steps that bring a scenario's own markets to where a session found them. What is left of each order rests in the
 * order of arrival, so that every queue is the same; the books prove it.
 */
export function writeOpening(script: Script, { session, words, names, markets }: DescribedSession): void {
  const { shadow } = script;
  const resting = restingBefore(session.opening, markets);
  for (const order of resting) {
    const left = remainingOf(order);
    const account = words.account(order.account);
    const attempt = shadow.place(account, order, words.market(marketOfToken(order.token)), left);
    script.done(0, attempt, [account, words.order(order, left, names.get(order.number))]);
  }
  for (const { name, number, before } of markets) {
    const market = shadow.marketNumber(name);
    if (before?.status === "CLOSED") {
      script.done(0, shadow.submit({ kind: "closeMarket", market }), ["close", name]);
    } else if (before?.status === "RESOLVED" && before.winningOutcome !== null) {
      const { winningOutcome } = before;
      const attempt = shadow.submit({ kind: "resolveMarket", market, winningOutcome });
      script.done(0, attempt, ["resolve", `${winningOutcome}${words.inMarket(number)}`]);
    }
  }
  writeChain(script, session);
  if (resting.length === 0) return;
  const stood = markets.flatMap(({ before }) => (before === null ? [] : [before]));
  script.say(["expect", map([["book", map(bookEntries(words, stood))]])]);
}

/** What has been reported is final, there are blocks for a reorganization to replace, and the base fee is what it was. */
function writeChain(script: Script, { opening, commands }: ObservedSession): void {
  const { shadow, state } = script;
  const most = confirmationsOf(opening.config.settlement);
  const isReplaced = commands.some(({ command }) => command.kind === "reorganizeChain");
  const count = most === 0 ? 0 : state.chain.pending > 0 ? most + 1 : isReplaced ? most : 0;
  if (count > 0) script.done(0, shadow.submit({ kind: "mineBlocks", count }), ["mine", String(count)]);
  const baseFee = baseFeeOf(opening.chain);
  if (baseFee === QUIET_BASE_FEE) return;
  const spike = sayableTerms({
    fault: "gasSpike",
    probability: CERTAIN,
    times: null,
    blocks: 0,
    baseFee,
    reason: null,
  });
  script.done(0, shadow.submit({ kind: "setSettlementFault", ...spike }), ...faultStep(spike));
}
