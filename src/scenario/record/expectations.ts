import type { Outcome } from "../../core/commands.ts";
import { type Market, tokenOf } from "../../core/market.ts";
import type { State } from "../../core/state.ts";
import { size } from "../../core/units.ts";
import { levelText, lookText, moneyText, sizeText } from "../run/words.ts";
import { book } from "../venue/local-views.ts";
import type { ObservedSession } from "./observed-session.ts";
import type { TouchedMarket } from "./touched-markets.ts";
import type { Vocabulary } from "./vocabulary.ts";
import { type Entry, filled, map } from "./yaml-text.ts";

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
    return [name, lookText(look)];
  });

/** What accounts have of USDC and of the markets' shares, whether or not orders reserve it. */
export const balanceEntries = (
  words: Vocabulary,
  state: State,
  accounts: readonly number[],
  markets: readonly TouchedMarket[],
): Entry[] =>
  accounts.map((number) => {
    const { collateral, holdings } = state.accounts.get(number);
    const assets: Entry[] = [["USDC", moneyText(collateral.balance)]];
    for (const { number: market } of markets) {
      const holding = holdings.get(market);
      if (holding === undefined) continue;
      assets.push([words.token(tokenOf(market, "YES")), sizeText(holding.yes.balance)]);
      assets.push([words.token(tokenOf(market, "NO")), sizeText(holding.no.balance)]);
    }
    return [words.account(number), map(assets)];
  });
