import { numbersAs } from "../../api/decimals.ts";
import { fillsOf } from "../../api/trading.ts";
import { type Account, type Balance, onChainOf } from "../../core/account.ts";
import { type SettlementStatus, tradeStatus } from "../../core/chain/settlement.ts";
import { moneyText, sizeText } from "../../core/format.ts";
import { type Market, tokenOf } from "../../core/market.ts";
import type { Order } from "../../core/order.ts";
import type { State } from "../../core/state.ts";
import { OUTCOMES } from "../../core/terms.ts";
import { size } from "../../core/units.ts";
import { levelText, orderStateText } from "../../scenario/run/words.ts";
import { book } from "../../scenario/venue/views.ts";
import { type Entry, filled, flow, list, map, type Node } from "../scenario-text.ts";
import type { Trace } from "../trace.ts";
import type { TouchedMarket, Vocabulary } from "../vocabulary.ts";
import type { DescribedSession, Script } from "./script.ts";
import { RecordingError } from "./told-commands.ts";

/** The books of markets as they stand, of both outcomes; `numbers` are those that the markets have in the session. */
export const bookEntries = (
  words: Vocabulary,
  markets: readonly Market[],
  numbers = markets.map(({ number }) => number),
): Entry[] =>
  markets.flatMap((market, index) =>
    OUTCOMES.map((outcome): Entry => {
      const { bids, asks } = book(market, outcome);
      const sides: Entry[] = [
        ["bids", filled(bids.map(levelText))],
        ["asks", filled(asks.map(levelText))],
      ];
      return [words.token(tokenOf(numbers[index] ?? 0, outcome)), map(sides)];
    }),
  );

/** How a session has ended, or its scenario; orders, accounts and markets are those of the session, by their numbers. */
interface Ending {
  readonly state: State;
  order(number: number): Order;
  account(number: number): Account;
  /** The number here of a market. */
  market(number: number): number;
  /** How much of an order was matched before. */
  matchedBefore(order: number): number;
  readonly tradesBefore: number;
}

const endingOf = ({ opening, end }: Trace): Ending => ({
  state: end,
  order: (number) => end.orders.get(number),
  account: (number) => end.accounts.get(number),
  market: (number) => number,
  matchedBefore: (number) => opening.orders.find(number)?.matched ?? 0,
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

/** An order as it is in the end; of one that rested from the start, what was left then counts. */
function orderText(ending: Ending, number: number): string {
  const { status, matched, size: whole, cancelReason: reason } = ending.order(number);
  const before = ending.matchedBefore(number);
  return orderStateText({ status, matched: size(matched - before), size: size(whole - before), reason });
}

/** How far each fill that an order had is settled. */
const statusesOf = (ending: Ending, number: number): SettlementStatus[] =>
  fillsOf({ state: ending.state, numbers: numbersAs("number") }, ending.order(number))
    .filter(({ trade }) => trade.number > ending.tradesBefore)
    .map(({ trade }) => tradeStatus(ending.state, trade));

/** What an account has of USDC, whose token is 0, and of the shares of some markets. */
function assetsOf(ending: Ending, markets: readonly TouchedMarket[], account: number) {
  const { collateral, holdings } = ending.account(account);
  const assets: (readonly [token: number, balance: Balance<number> | undefined])[] = [[0, collateral]];
  for (const { number } of markets) {
    const holding = holdings.get(ending.market(number));
    assets.push([tokenOf(number, "YES"), holding?.yes], [tokenOf(number, "NO"), holding?.no]);
  }
  return assets;
}

/**
 * What must be true at the end of a session's scenario: books, orders that have a name and how far they are settled, trades
 * that no step has compared yet, and what accounts have.
 * @throws RecordingError where the steps do not come to what the session came to.
 */
export function finalExpectations(trades: readonly string[], script: Script): Entry[] {
  const { told } = script;
  const { session, words, names, markets } = told;
  const ending = endingOf(session);
  refuseDivergence(told, ending, endingIn(script));
  const books = bookEntries(
    words,
    markets.map(({ after }) => after),
  );
  const orders = [...names].map(([number, name]): Entry => [name, orderText(ending, number)]);
  const settled = settledEntries(ending, names);
  const parts: readonly (readonly [key: string, entries: readonly Entry[]])[] = [
    ["book", books],
    ["orders", orders],
    ["trades", []],
    ["balances", balanceEntries(told, ending, endingIn(script))],
    ["chain", settled.length === 0 ? [] : [["settled", map(settled)]]],
  ];
  return parts.flatMap(([key, entries]): Entry[] => {
    if (key === "trades") return [[key, list(trades)]];
    return entries.length === 0 ? [] : [[key, map(entries)]];
  });
}

/** How far the orders that have a name are settled; nothing where blocks are mined at once and nothing went wrong. */
function settledEntries(ending: Ending, names: ReadonlyMap<number, string>): Entry[] {
  const isUsual = (status: SettlementStatus): boolean =>
    status === "CONFIRMED" && ending.state.config.settlement === "instant";
  return [...names].flatMap(([number, name]): Entry[] => {
    const statuses = statusesOf(ending, number);
    const [first] = statuses;
    if (first === undefined || statuses.every(isUsual)) return [];
    return [[name, statuses.every((status) => status === first) ? first : filled(statuses)]];
  });
}

/**
 * What accounts have of USDC and of the markets' shares, whether or not orders reserve it. What their wallets hold on the
 * chain is said where it is something else, and the same in the scenario, which begins with everything settled.
 */
function balanceEntries({ words, markets, actors }: DescribedSession, ending: Ending, own: Ending): Entry[] {
  return actors.map((number) => {
    const others = new Map(assetsOf(own, markets, number));
    const assets = assetsOf(ending, markets, number).flatMap(([token, balance]): Entry[] => {
      if (balance === undefined) return [];
      const name = token === 0 ? "USDC" : words.token(token);
      return [[name, amountNode(balance, others.get(token), token === 0 ? moneyText : sizeText)]];
    });
    return [words.account(number), map(assets)];
  });
}

function amountNode(
  balance: Balance<number>,
  own: Balance<number> | undefined,
  text: (units: number) => string,
): Node {
  const onChain = onChainOf(balance);
  const isSaid = onChain !== balance.balance && own !== undefined && onChainOf(own) === onChain;
  return isSaid
    ? map([
        ["balance", text(balance.balance)],
        ["onChain", text(onChain)],
      ])
    : text(balance.balance);
}

/**
 * The steps do not come to what the session came to where it depended on what was on its way before it began, on the order
 * of the nonces or on the fees of a wallet, none of which a scenario has.
 */
function refuseDivergence(told: DescribedSession, ending: Ending, own: Ending): void {
  const others = new Map(facts(told, own));
  for (const [what, found] of facts(told, ending)) {
    const other = others.get(what);
    if (other === found) continue;
    throw new RecordingError(
      `a scenario of this session would end with another state: ${what} is ${other} instead of ${found}. It depends on what was pending when the session began, or on nonces and fees of wallets, which no step says`,
    );
  }
}

function* facts(
  { session, words, names, markets, actors }: DescribedSession,
  ending: Ending,
): Generator<readonly [what: string, found: string]> {
  const { size: before } = session.opening.orders;
  for (let number = before + 1; number < session.end.orders.next; number += 1) {
    yield [`the settlement of its order ${number - before}`, statusesOf(ending, number).join(", ")];
  }
  for (const [number, name] of names) yield [name, orderText(ending, number)];
  for (const number of actors) {
    const name = words.account(number);
    for (const [token, balance] of assetsOf(ending, markets, number)) {
      const units = balance?.balance ?? 0;
      if (token === 0) yield [`the balance of ${name}`, `${moneyText(units)} USDC`];
      else yield [`what ${name} has of ${words.token(token)}`, sizeText(units)];
    }
  }
  const numbers = markets.map(({ number }) => number);
  const here = numbers.map((number) => ending.state.markets.get(ending.market(number)));
  for (const [token, sides] of bookEntries(words, here, numbers)) yield [`the book of ${token}`, flow(sides)];
}
