import { numbersAs } from "../../api/decimals.ts";
import { fillsOf } from "../../api/trading.ts";
import { type Balance, onChainOf } from "../../core/account.ts";
import { type SettlementStatus, tradeStatus } from "../../core/chain/settlement.ts";
import { moneyText, sizeText } from "../../core/format.ts";
import { type Market, tokenOf } from "../../core/market.ts";
import type { Outcome } from "../../core/terms.ts";
import { size } from "../../core/units.ts";
import { levelText, orderStateText } from "../run/words.ts";
import { book } from "../venue/local-views.ts";
import type { ObservedSession } from "./observed-session.ts";
import type { ToldSession } from "./told-session.ts";
import type { Twin } from "./twin.ts";
import type { Vocabulary } from "./vocabulary.ts";
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
export function statusesOf({ opening, end }: ObservedSession, order: number): SettlementStatus[] {
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
export function balanceEntries({ session, words, markets, actors }: ToldSession, twin: Twin): Entry[] {
  return actors.map((number) => {
    const { collateral, holdings } = session.end.accounts.get(number);
    const own = twin.accountOf(words.account(number));
    const assets: Entry[] = [["USDC", amountNode(collateral, own.collateral, moneyText)]];
    for (const { number: market, name } of markets) {
      const holding = holdings.get(market);
      if (holding === undefined) continue;
      const other = own.holdings.get(twin.marketNumber(name));
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
