import { numbersAs } from "../../api/decimals.ts";
import { sidesOf } from "../../api/order-book.ts";
import { fillsOf } from "../../api/trading.ts";
import { type Account, type Balance, onChainOf } from "../../core/account.ts";
import { baseFeeOf, CERTAIN, confirmationsOf, DEFAULT_BASE_FEE } from "../../core/chain/chain.ts";
import { type SettlementStatus, tradeStatus, USDC } from "../../core/chain/settlement.ts";
import type { Command } from "../../core/commands.ts";
import type { DomainEvent, EventOf } from "../../core/events.ts";
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
  for (const number of actors) {
    const own = new Funds();
    const assets = assetsOf(opening.accounts.find(number), markets);
    for (const [token, balance] of assets) own.add(token, balance?.balance ?? 0);
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
export const raisedIn = (command: Command, events: readonly DomainEvent[]): EventOf<"grantMinted">[] =>
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
 * Writes the steps that bring a scenario's markets to their state at the start of the session. Remainders of orders are
 * placed in the order of arrival, so that every queue is the same; an expectation checks the books.
 */
export function writeOpening(script: Script): void {
  const { session, words, names, markets } = script.described;
  const resting = restingBefore(session.opening, markets);
  for (const order of resting) {
    const text = words.order({ ...order, size: remainingOf(order) }, order.token, names.get(order.number));
    script.rest(order, { [words.account(order.account)]: text });
  }
  for (const { number, before } of markets) {
    const command = before && STATUSES[before.status].commandTo(before);
    if (command === null) continue;
    script.submit({ ...command, market: script.markets.get(number) ?? 0 }, 0, words.oneStep(command));
  }
  writeChain(script, session);
  if (resting.length === 0) return;
  const before = markets.flatMap((market) => market.before ?? []);
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

/** Returns the books of markets, for both outcomes; `numbers` are the markets' numbers in the session. */
const booksOf = (
  words: Vocabulary,
  markets: readonly Market[],
  numbers = markets.map(({ number }) => number),
): NodeMap =>
  Object.fromEntries(
    markets.flatMap((market, index) =>
      OUTCOMES.map((outcome) => {
        const { bids, asks } = sidesOf(market, outcome);
        const sides = { bids: bids.map(levelText), asks: asks.map(levelText) };
        return [words.token(tokenOf(numbers[index] ?? 0, outcome)), sides];
      }),
    ),
  );

/** Final state of a session or of its scenario. Arguments are numbers in the session. */
type Ending = ReturnType<typeof endingOf>;

const endingOf = ({ opening, end }: Trace) => ({
  state: end,
  order: (number: number): Order => end.orders.get(number),
  account: (number: number): Account => end.accounts.get(number),
  /** Returns the market's number in `state`. */
  market: sameNumber,
  /** Returns the size of an order that was matched before the start. */
  matchedBefore: (order: number): number => opening.orders.find(order)?.matched ?? 0,
  /** Number of trades before the start. */
  tradesBefore: opening.trades.size,
});

const endingIn = (script: Script): Ending => ({
  state: script.state,
  order: (number) => script.orderOf(number),
  account: (number) => script.accountOf(number),
  market: (number) => script.markets.get(number) ?? 0,
  matchedBefore: () => 0,
  tradesBefore: 0,
});

/** Returns the final state of an order; for one that rested from the start, relative to its remainder then. */
function endStateText(ending: Ending, number: number): string {
  const state = orderStateOf(ending.order(number));
  const before = ending.matchedBefore(number);
  const [matched, whole] = [size(state.matched - before), size(state.size - before)];
  return orderStateText({ ...state, matched, size: whole });
}

/** Returns the settlement status of each fill of an order. */
const statusesOf = (ending: Ending, number: number): SettlementStatus[] =>
  fillsOf({ state: ending.state, numbers: numbersAs("number") }, ending.order(number))
    .filter(({ trade }) => trade.number > ending.tradesBefore)
    .map(({ trade }) => tradeStatus(ending.state, trade));

/** Returns the balances of an account in USDC and in the tokens of markets. */
function assetsOf(account: Account | undefined, markets: readonly TouchedMarket[], numberIn = sameNumber) {
  const assets: (readonly [token: number, balance: Balance<number> | undefined])[] = [
    [USDC, account?.collateral],
  ];
  for (const { number } of markets) {
    const holding = account?.holdings.get(numberIn(number));
    assets.push([tokenOf(number, "YES"), holding?.yes], [tokenOf(number, "NO"), holding?.no]);
  }
  return assets;
}

const sameNumber = (number: number): number => number;

/**
 * Returns the expectations at the end of a scenario: books, named orders and their settlements, balances, and `trades`,
 * which no step compares yet.
 * @throws RecordingError if the scenario does not end with the session's state.
 */
export function finalExpectations(trades: readonly string[], script: Script): NodeMap {
  const { described } = script;
  const { session, words, names, markets } = described;
  const ending = endingOf(session);
  const scenarioEnding = endingIn(script);
  assertSameEnding(described, ending, scenarioEnding);
  const ends = markets.map(({ after }) => after);
  const orders = [...names].map(([number, name]) => [name, endStateText(ending, number)]);
  const unlessEmpty = (key: string, map: NodeMap): NodeMap =>
    Object.keys(map).length === 0 ? {} : { [key]: map };
  return {
    ...unlessEmpty("book", booksOf(words, ends)),
    ...unlessEmpty("orders", Object.fromEntries(orders)),
    trades,
    ...unlessEmpty("balances", balancesAtEnd(described, ending, scenarioEnding)),
    ...unlessEmpty("chain", unlessEmpty("settled", settlementsOf(ending, names))),
  };
}

/** Returns the settlements of named orders that are not what a step expects anyway, instant and confirmed. */
function settlementsOf(ending: Ending, names: ReadonlyMap<number, string>): NodeMap {
  const isDefault = (status: SettlementStatus): boolean =>
    status === "CONFIRMED" && ending.state.config.settlement === "instant";
  const entries = [...names].flatMap(([number, name]): [string, Node][] => {
    const statuses = statusesOf(ending, number);
    const [first] = statuses;
    if (first === undefined || statuses.every(isDefault)) return [];
    return [[name, statuses.every((status) => status === first) ? first : statuses]];
  });
  return Object.fromEntries(entries);
}

/**
 * Returns the balances of accounts in USDC and shares, reserved amounts included. The balance on the chain is added if it
 * differs and is the same in the scenario, which begins with everything settled.
 */
function balancesAtEnd(described: DescribedSession, ending: Ending, scenarioEnding: Ending): NodeMap {
  const { words, markets, actors } = described;
  const entries = actors.map((number): [string, NodeMap] => {
    const ownAssets = assetsOf(ending.account(number), markets, ending.market);
    const inScenario = new Map(assetsOf(scenarioEnding.account(number), markets, scenarioEnding.market));
    const assets = ownAssets.flatMap(([token, balance]): [string, Node][] => {
      if (balance === undefined) return [];
      const name = token === USDC ? "USDC" : words.token(token);
      return [[name, amountNode(balance, inScenario.get(token), token === USDC ? moneyText : sizeText)]];
    });
    return [words.account(number), Object.fromEntries(assets)];
  });
  return Object.fromEntries(entries);
}

function amountNode(
  balance: Balance<number>,
  inScenario: Balance<number> | undefined,
  text: (units: number) => string,
): Node {
  const onChain = onChainOf(balance);
  const isSame = inScenario !== undefined && onChainOf(inScenario) === onChain;
  if (onChain === balance.balance || !isSame) return text(balance.balance);
  return { balance: text(balance.balance), onChain: text(onChain) };
}

/**
 * The endings differ if the session depended on transactions pending when it began, or on the order of nonces or the fees
 * of a wallet: a scenario has none of these. @throws RecordingError
 */
function assertSameEnding(described: DescribedSession, ending: Ending, scenarioEnding: Ending): void {
  const inScenario = factsOf(described, scenarioEnding);
  for (const [fact, expected] of factsOf(described, ending)) {
    const found = inScenario.get(fact);
    if (found === expected) continue;
    throw new RecordingError(
      `a scenario of this session would end with another state: ${fact} is ${found} instead of ${expected}. It depends on what was pending when the session began, on nonces and fees of wallets, or on a mining mode set although trades settle at once, none of which a step can express`,
    );
  }
}

/** Returns the facts that a session and its scenario must have in common at the end. */
function factsOf({ session, words, names, markets, actors }: DescribedSession, ending: Ending) {
  const facts = new Map<string, string>();
  const { size: before } = session.opening.orders;
  for (let number = before + 1; number < session.end.orders.next; number += 1) {
    facts.set(`the settlement of its order ${number - before}`, statusesOf(ending, number).join(", "));
  }
  for (const [number, name] of names) facts.set(name, endStateText(ending, number));
  for (const number of actors) {
    const name = words.account(number);
    for (const [token, balance] of assetsOf(ending.account(number), markets, ending.market)) {
      const units = balance?.balance ?? 0;
      if (token === USDC) facts.set(`the balance of ${name}`, `${moneyText(units)} USDC`);
      else facts.set(`the balance of ${name} in ${words.token(token)}`, sizeText(units));
    }
  }
  const numbers = markets.map(({ number }) => number);
  const here = numbers.map((number) => ending.state.markets.get(ending.market(number)));
  for (const [token, sides] of Object.entries(booksOf(words, here, numbers)))
    facts.set(`the book of ${token}`, flow(sides));
  return facts;
}
