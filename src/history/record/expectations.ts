import { numbersAs } from "../../api/decimals.ts";
import { fillsOf } from "../../api/trading.ts";
import { type Balance, type Holding, onChainOf } from "../../core/account.ts";
import { type SettlementStatus, settlementStatus, tradeStatus } from "../../core/chain/settlement.ts";
import { moneyText, sizeText } from "../../core/format.ts";
import { type Market, tokenOf } from "../../core/market.ts";
import type { Outcome } from "../../core/terms.ts";
import { size } from "../../core/units.ts";
import { levelText, orderStateText } from "../../scenario/run/words.ts";
import { book } from "../../scenario/venue/local-views.ts";
import { type ObservedSession, RecordingError } from "./observed-session.ts";
import type { ShadowExchange } from "./script.ts";
import type { DescribedSession, Vocabulary } from "./session-names.ts";
import { type Entry, filled, map, type Node } from "./yaml-text.ts";

const OUTCOMES: readonly Outcome[] = ["YES", "NO"];

/** The books of markets as they stand, of both outcomes. */
export const bookEntries = (words: Vocabulary, markets: readonly Market[]): Entry[] =>
  markets.flatMap((market) =>
    OUTCOMES.map((outcome): Entry => {
      const { bids, asks } = book(market, outcome);
      const sides: Entry[] = [
        ["bids", filled(bids.map(levelText))],
        ["asks", filled(asks.map(levelText))],
      ];
      return [words.token(tokenOf(market.number, outcome)), map(sides)];
    }),
  );

/** The orders that have a name, as they are in the end; of those that rested from the start, what was left then counts. */
export const orderEntries = (
  { opening, end }: ObservedSession,
  names: ReadonlyMap<number, string>,
): Entry[] =>
  [...names].map(([number, name]) => {
    const order = end.orders.get(number);
    const before = opening.orders.find(number)?.matched ?? 0;
    const look = {
      status: order.status,
      matched: size(order.matched - before),
      size: size(order.size - before),
      reason: order.cancelReason,
    };
    return [name, orderStateText(look)];
  });

/** How far each fill that an order had in a session is settled. */
function statusesOf({ opening, end }: ObservedSession, order: number): SettlementStatus[] {
  const fills = fillsOf({ state: end, numbers: numbersAs("number") }, end.orders.get(order));
  return fills
    .filter(({ trade }) => trade.number > opening.trades.size)
    .map(({ trade }) => tradeStatus(end, trade));
}

/** How far the orders that have a name are settled; nothing where blocks are mined at once and nothing went wrong. */
export function settledEntries(session: ObservedSession, names: ReadonlyMap<number, string>): Entry[] {
  const isUsual = (status: SettlementStatus): boolean =>
    status === "CONFIRMED" && session.end.config.settlement === "instant";
  return [...names].flatMap(([number, name]): Entry[] => {
    const statuses = statusesOf(session, number);
    const [first] = statuses;
    if (first === undefined || statuses.every(isUsual)) return [];
    return [[name, statuses.every((status) => status === first) ? first : filled(statuses)]];
  });
}

/**
 * What accounts have of USDC and of the markets' shares, whether or not orders reserve it. What their wallets hold on the
 * chain is said where it is something else, and the same in the scenario, which begins with everything settled.
 */
export function balanceEntries(
  { session, words, markets, actors }: DescribedSession,
  shadow: ShadowExchange,
): Entry[] {
  return actors.map((number) => {
    const { collateral, holdings } = session.end.accounts.get(number);
    const own = shadow.accountOf(words.account(number));
    const assets: Entry[] = [["USDC", amountNode(collateral, own.collateral, moneyText)]];
    for (const { number: market, name } of markets) {
      const holding = holdings.get(market);
      if (holding === undefined) continue;
      const other = own.holdings.get(shadow.marketNumber(name));
      const [yes, no] = [tokenOf(market, "YES"), tokenOf(market, "NO")];
      assets.push([words.token(yes), amountNode(holding.yes, other?.yes, sizeText)]);
      assets.push([words.token(no), amountNode(holding.no, other?.no, sizeText)]);
    }
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
 * Sees that the steps of a scenario come to what the session came to. They do not where the session depended on what was
 * on its way before it began, on the order of the nonces or on the fees of a wallet, none of which a scenario has.
 * @throws RecordingError naming what comes out differently.
 */
export function refuseDivergence(told: DescribedSession, shadow: ShadowExchange): void {
  for (const difference of differences(told, shadow)) {
    throw new RecordingError(
      "SESSION_NOT_RECORDABLE",
      `a scenario of this session would end with another state: ${difference}. It depends on what was pending when the session began, or on nonces and fees of wallets, which no step says`,
    );
  }
}

function* differences(
  { session, words, names, markets, actors }: DescribedSession,
  shadow: ShadowExchange,
): Generator<string> {
  const { end } = session;
  for (const [transaction, own] of shadow.transactions) {
    const before = settlementStatus(end, end.chain.transactions.get(transaction));
    const after = settlementStatus(shadow.state, shadow.state.chain.transactions.get(own));
    const { firstTrade } = end.chain.transactions.get(transaction);
    const order = end.trades.get(firstTrade).taker - session.opening.orders.size;
    if (before !== after) yield `the settlement of its order ${order} is ${after} instead of ${before}`;
  }
  const looks = orderEntries(session, names);
  for (const [index, number] of [...names.keys()].entries()) {
    const { status, matched, size, cancelReason: reason } = shadow.orderOf(number);
    const [name, look] = looks[index] ?? ["", ""];
    const own = orderStateText({ status, matched, size, reason });
    if (own !== look) yield `${name} is ${own} instead of ${look}`;
  }
  for (const number of actors) {
    const name = words.account(number);
    const [account, own] = [end.accounts.get(number), shadow.accountOf(name)];
    const [before, after] = [account.collateral.balance, own.collateral.balance];
    if (before !== after) yield `${name} has ${moneyText(after)} USDC instead of ${moneyText(before)}`;
    for (const market of markets) {
      const held = sharesText(account.holdings.get(market.number));
      const there = sharesText(own.holdings.get(shadow.marketNumber(market.name)));
      if (held !== there) yield `${name} has ${there} of ${market.name} instead of ${held}`;
    }
  }
  for (const { name, after } of markets) {
    const own = shadow.state.markets.get(shadow.marketNumber(name));
    if (bookText(after) !== bookText(own)) yield `the book of ${name} is another`;
  }
}

const sharesText = (holding: Holding | undefined): string =>
  `${sizeText(holding?.yes.balance ?? 0)} YES and ${sizeText(holding?.no.balance ?? 0)} NO`;

const bookText = (market: Market): string => JSON.stringify([book(market, "YES"), book(market, "NO")]);
