import { sidesOf } from "../../api/order-book.ts";
import { fillsOf } from "../../api/trading.ts";
import { numbersAs } from "../../api/view.ts";
import { type Account, type Balance, onChainOf } from "../../core/account.ts";
import { baseFeeOf, CERTAIN, confirmationsOf, DEFAULT_BASE_FEE } from "../../core/chain/chain.ts";
import { type SettlementStatus, tradeStatus, USDC } from "../../core/chain/settlement.ts";
import type { Command } from "../../core/commands.ts";
import type { DomainEvent } from "../../core/events.ts";
import { moneyText, sizeText } from "../../core/format.ts";
import { type Market, marketOfToken, tokenOf } from "../../core/market.ts";
import { type Order, remainingOf, reservationOf } from "../../core/order.ts";
import { STATUSES } from "../../core/rules/markets.ts";
import type { State } from "../../core/state.ts";
import { OUTCOMES } from "../../core/terms.ts";
import { size } from "../../core/units.ts";
import { levelText, orderStateText } from "../../scenario/run/format.ts";
import { flow, type Node, type NodeMap } from "../scenario-text.ts";
import { orderStateOf, type Trace } from "../trace.ts";
import { Funds, type TouchedMarket, type Vocabulary } from "../vocabulary.ts";
import { type DescribedSession, RecordingError, type Script } from "./script.ts";

/**
 * Returns the funds in a scenario's header, by account. An actor has its balances at the start of the session and what
 * the faucet gave it later; another owner of a resting order has what its orders reserve.
 */
export function startingFunds(
  { opening, commands }: Trace,
  markets: readonly TouchedMarket[],
  actors: readonly number[],
  resting: readonly Order[],
): Map<number, Funds> {
  const funds = new Map<number, Funds>();
  const start = { account: (number: number) => opening.accounts.find(number), markets: shown(markets) };
  for (const number of actors) {
    const own = new Funds();
    for (const [token, balance] of assetsOf(start, number)) own.add(token, balance?.balance ?? 0);
    funds.set(number, own);
  }
  for (const { command, events } of commands) {
    for (const event of events) {
      if (event.kind === "collateralIssued" && command.kind === "deriveCredentials") {
        funds.get(event.account)?.add(USDC, event.amount);
      } else if (event.kind === "grantMinted" && raisedIn(command, events).length === 0) {
        funds.get(event.account)?.add(tokenOf(event.market, "YES"), event.size);
        funds.get(event.account)?.add(tokenOf(event.market, "NO"), event.size);
      }
    }
  }
  const isActor = new Set(actors);
  for (const order of [...resting].sort((a, b) => a.account - b.account)) {
    if (isActor.has(order.account)) continue;
    const reserved = funds.get(order.account) ?? new Funds();
    funds.set(order.account, reserved);
    const { feeRateBps } = opening.markets.get(marketOfToken(order.token));
    const token = order.side === "BUY" ? USDC : order.token;
    reserved.add(token, reservationOf(order, remainingOf(order), feeRateBps));
  }
  return funds;
}

/** Returns the grants minted because a funding raised them. Steps give them, not the header. */
export const raisedIn = (command: Command, events: readonly DomainEvent[]): DomainEvent<"grantMinted">[] =>
  command.kind === "fundAccount" && command.everyMarket > 0
    ? events.filter((event) => event.kind === "grantMinted")
    : [];

/** Returns the orders that rested in some markets when a session began, oldest first. */
export function restingBefore(opening: State, markets: readonly TouchedMarket[]): Order[] {
  const touched = new Set(markets.map(({ number }) => number));
  return [...opening.orders].filter(
    ({ status, token }) => status === "LIVE" && touched.has(marketOfToken(token)),
  );
}

/**
 * Writes the steps that bring a scenario's markets to their state at the start of the session. Remainders of `resting` are
 * placed in the order of arrival, so that every queue is the same; an expectation checks the books.
 */
export function writeOpening(script: Script, resting: readonly Order[]): void {
  const { session, words, names, markets } = script.described;
  for (const order of resting) {
    const text = words.order({ ...order, size: remainingOf(order) }, order.token, names.get(order.number));
    script.rest(order, { [words.account(order.account)]: text });
  }
  for (const { number, before } of markets) {
    const command = before && STATUSES[before.status].commandTo(before);
    if (command === null) continue;
    script.submit({ ...command, market: script.marketOf(number).number }, 0, words.oneStep(command));
  }
  writeChain(script, session);
  if (resting.length === 0) return;
  const before = markets.flatMap(({ number, before: market }) => (market === null ? [] : { number, market }));
  script.steps.push({ expect: { book: booksOf(words, before) } });
}

/** Mines until settlements are final and a later reorganization has blocks to replace, and restores the base fee. */
function writeChain(script: Script, { opening, commands }: Trace): void {
  const confirmations = confirmationsOf(opening.config.settlement);
  const isReorganized = commands.some(({ command }) => command.kind === "reorganizeChain");
  const needed = script.state.chain.pending > 0 ? confirmations + 1 : isReorganized ? confirmations : 0;
  const count = confirmations === 0 ? 0 : needed;
  if (count > 0) script.submit({ kind: "mineBlocks", count }, 0, { mine: String(count) });
  const baseFee = baseFeeOf(opening.chain);
  if (baseFee === DEFAULT_BASE_FEE) return;
  script.fault({ fault: "gasSpike", probability: CERTAIN, times: null, blocks: 0, baseFee, reason: null });
}

/** A market of the session or of its scenario, with its number in the session. */
interface ShownMarket {
  readonly number: number;
  readonly market: Market;
}

const shown = (markets: readonly TouchedMarket[]): readonly ShownMarket[] =>
  markets.map(({ number, after: market }) => ({ number, market }));

/** Returns the books of markets, for both outcomes. */
const booksOf = (words: Vocabulary, markets: readonly ShownMarket[]): NodeMap =>
  Object.fromEntries(
    markets.flatMap(({ number, market }) =>
      OUTCOMES.map((outcome) => {
        const { bids, asks } = sidesOf(market, outcome);
        const sides = { bids: bids.map(levelText), asks: asks.map(levelText) };
        return [words.token(tokenOf(number, outcome)), sides];
      }),
    ),
  );

/** The end of a session, or of its scenario. Arguments are numbers in the session. */
interface EndState {
  readonly state: State;
  /** State in which the session began; null for the scenario. */
  readonly opening: State | null;
  readonly order: (number: number) => Order;
  readonly account: (number: number) => Account | undefined;
  readonly markets: readonly ShownMarket[];
}

/** Returns the final state of an order; for one that rested from the start, relative to its remainder then. */
function endStateText({ opening, order }: EndState, number: number): string {
  const state = orderStateOf(order(number));
  const before = opening?.orders.find(number)?.matched ?? 0;
  const [matched, whole] = [size(state.matched - before), size(state.size - before)];
  return orderStateText({ ...state, matched, size: whole });
}

/** Returns the settlement status of each fill of an order since the start. */
const statusesOf = ({ state, opening, order }: EndState, number: number): SettlementStatus[] =>
  fillsOf({ state, numbers: numbersAs("number") }, order(number))
    .filter(({ trade }) => trade.number > (opening?.trades.size ?? 0))
    .map(({ trade }) => tradeStatus(state, trade));

/** Returns the balances of an account in USDC and in the tokens of markets. */
function assetsOf({ account, markets }: Pick<EndState, "account" | "markets">, number: number) {
  const found = account(number);
  const assets: (readonly [token: number, balance: Balance<number> | undefined])[] = [
    [USDC, found?.collateral],
  ];
  for (const { number, market } of markets) {
    const holding = found?.holdings.get(market.number);
    assets.push([tokenOf(number, "YES"), holding?.yes], [tokenOf(number, "NO"), holding?.no]);
  }
  return assets;
}

/**
 * Returns the expectations at the end of a scenario: books, named orders and their settlements, balances, and `trades`,
 * which no step compares yet.
 * @throws RecordingError if the scenario does not end with the session's state.
 */
export function finalExpectations(trades: readonly string[], script: Script): NodeMap {
  const { described } = script;
  const { session, words, names, actors, markets } = described;
  const { opening, end } = session;
  const inSession: EndState = {
    state: end,
    opening,
    order: (number) => end.orders.get(number),
    account: (number) => end.accounts.get(number),
    markets: shown(markets),
  };
  const inScenario: EndState = {
    state: script.state,
    opening: null,
    order: (number) => script.orderOf(number),
    account: (number) => script.accountOf(number),
    markets: markets.map(({ number }) => ({ number, market: script.marketOf(number) })),
  };
  assertSameEnd(described, inSession, inScenario);
  const orders = [...names].map(([number, name]) => [name, endStateText(inSession, number)]);
  const balances = actors.map((number) => [
    words.account(number),
    balancesOf(number, words, inSession, inScenario),
  ]);
  const unlessEmpty = (key: string, map: NodeMap): NodeMap =>
    Object.keys(map).length === 0 ? {} : { [key]: map };
  return {
    ...unlessEmpty("book", booksOf(words, inSession.markets)),
    ...unlessEmpty("orders", Object.fromEntries(orders)),
    trades,
    ...unlessEmpty("balances", Object.fromEntries(balances)),
    ...unlessEmpty("chain", unlessEmpty("settled", settlementsOf(inSession, names))),
  };
}

/** Returns the settlements of named orders that are not what a step expects anyway, instant and confirmed. */
function settlementsOf(end: EndState, names: ReadonlyMap<number, string>): NodeMap {
  const usual = end.state.config.settlement === "instant" ? "CONFIRMED" : null;
  const entries = [...names].flatMap(([number, name]): [string, Node][] => {
    const statuses = statusesOf(end, number);
    const [first] = statuses;
    const isUniform = statuses.every((status) => status === first);
    if (first === undefined || (isUniform && first === usual)) return [];
    return [[name, isUniform ? first : statuses]];
  });
  return Object.fromEntries(entries);
}

/**
 * Returns the balances of an account in USDC and shares, reserved amounts included. The balance on the chain is added if it
 * differs and is the same in the scenario, which begins with everything settled.
 */
function balancesOf(number: number, words: Vocabulary, inSession: EndState, inScenario: EndState): NodeMap {
  const others = new Map(assetsOf(inScenario, number));
  const entries = assetsOf(inSession, number).flatMap(([token, balance]): [string, Node][] => {
    if (balance === undefined) return [];
    const [name, text] = token === USDC ? ["USDC", moneyText] : [words.token(token), sizeText];
    const other = others.get(token);
    const onChain = onChainOf(balance);
    const isAdded = onChain !== balance.balance && other !== undefined && onChainOf(other) === onChain;
    const total = text(balance.balance);
    return [[name, isAdded ? { balance: total, onChain: text(onChain) } : total]];
  });
  return Object.fromEntries(entries);
}

/**
 * The ends differ if the session depended on transactions pending when it began, or on the order of nonces or the fees
 * of a wallet: a scenario has none of these. @throws RecordingError
 */
function assertSameEnd(described: DescribedSession, inSession: EndState, inScenario: EndState): void {
  const facts = factsOf(described, inScenario);
  for (const [fact, expected] of factsOf(described, inSession)) {
    const found = facts.get(fact);
    if (found === expected) continue;
    throw new RecordingError(
      `a scenario of this session would end with another state: ${fact} is ${found} instead of ${expected}. It depends on what was pending when the session began, on nonces and fees of wallets, or on a mining mode set although trades settle at once, none of which a step can express`,
    );
  }
}

/** Returns the facts that a session and its scenario must have in common at the end. */
function factsOf({ session, words, names, actors }: DescribedSession, end: EndState) {
  const facts = new Map<string, string>();
  const { size: before } = session.opening.orders;
  for (let number = before + 1; number < session.end.orders.next; number += 1) {
    facts.set(`the settlement of its order ${number - before}`, statusesOf(end, number).join(", "));
  }
  for (const [number, name] of names) facts.set(name, endStateText(end, number));
  for (const number of actors) {
    const name = words.account(number);
    for (const [token, balance] of assetsOf(end, number)) {
      const units = balance?.balance ?? 0;
      if (token === USDC) facts.set(`the balance of ${name}`, `${moneyText(units)} USDC`);
      else facts.set(`the balance of ${name} in ${words.token(token)}`, sizeText(units));
    }
  }
  for (const [token, sides] of Object.entries(booksOf(words, end.markets)))
    facts.set(`the book of ${token}`, flow(sides));
  return facts;
}
