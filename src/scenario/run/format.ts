import type { SettlementStatus } from "../../core/chain/settlement.ts";
import { moneyText, priceText, sizeText } from "../../core/format.ts";
import { OUTCOMES } from "../../core/terms.ts";
import { toIso } from "../../core/time.ts";
import { assetText, tokenText } from "../language/declarations.ts";
import type { LevelLine } from "../language/expectations.ts";
import type { FillLine, OrderState, TradeLine } from "../language/order-line.ts";
import { type Scenario, stepsOf } from "../language/steps.ts";
import type { Venue } from "../venue/venue.ts";
import type { BookView, Fill, HoldingView, Level, Refused, TokenRef } from "../venue/views.ts";
import type { Session } from "./session.ts";

/** Returns `0.55 x 60`, or `0.55 x 60 (2)` with a number of orders. */
export const levelText = ({ price, size, orders }: LevelLine): string =>
  `${priceText(price)} x ${sizeText(size)}${orders === null ? "" : ` (${orders})`}`;

const levelsText = (levels: readonly Level[]): string =>
  levels.length === 0 ? "none" : levels.map(levelText).join(", ");

/** `CANCELED 0/10 FOK_UNFILLED`. */
export const orderStateText = ({ status, matched, size, reason }: OrderState): string =>
  `${status} ${sizeText(matched)}/${sizeText(size)}${reason === null ? "" : ` ${reason}`}`;

type FillWords = Omit<FillLine, "isMakerOrder">;

/** Writes a fill in the scenario language; without its market if that is null. */
export function fillText(fill: FillWords): string {
  const { side, size, outcome, price, market, maker, matchType, status } = fill;
  const place = market === null ? "" : ` in ${market}`;
  const how = matchType === "COMPLEMENTARY" ? "" : ` ${matchType}`;
  const settled = status === null ? "" : ` ${status}`;
  return `${side} ${sizeText(size)} ${outcome} @ ${priceText(price)}${place} from ${maker}${how}${settled}`;
}

export const tradeText = (trade: FillWords & { readonly taker: string }): string =>
  `${trade.taker} ${fillText(trade)}`;

/** Reduces a fill to the parts that its expectation names. */
export const fillLike = (
  fill: Fill,
  line: FillLine | TradeLine | undefined,
  isOnlyMarket: boolean,
  status: SettlementStatus | null = null,
) => ({
  ...fill,
  market: isOnlyMarket && line?.market == null ? null : fill.market,
  status: line?.status == null ? null : status,
});

/** `INVALID_TICK_SIZE: price 0.555 is not ... (nearest valid prices: 0.55, 0.56)`. */
export const refusedText = ({ code, message, hint }: Refused): string =>
  `${code}: ${message}${hint === null ? "" : ` (${hint})`}`;

/** Writes the books, one line for each; a complementary market has only its YES book. */
async function* bookLines({ venue }: Session) {
  for (const token of tokensOf(venue)) {
    const { bids, asks } = await venue.book(token);
    yield `${token.market} ${token.outcome} bids ${levelsText(bids)}; asks ${levelsText(asks)}`;
  }
}

/** Returns the tokens that have a book of their own. */
const tokensOf = (venue: Venue): TokenRef[] =>
  venue.markets.flatMap((market) => {
    const outcomes = venue.isComplementary(market) ? OUTCOMES.slice(0, 1) : OUTCOMES;
    return outcomes.map((outcome) => ({ market, outcome }));
  });

/** Writes the balances of each account, without empty ones, one line for each account. */
async function* balanceLines({ venue }: Session) {
  for (const account of venue.accounts) {
    const holdings = await venue.holdings(account);
    const shown = holdings.filter(
      ({ asset, balance, onChain }) => asset === "USDC" || balance > 0 || onChain > 0,
    );
    yield `${account} ${shown.map(holdingText).join(", ")}`;
  }
}

function holdingText({ asset, balance, reserved, onChain }: HoldingView): string {
  const text = asset === "USDC" ? moneyText : sizeText;
  const parts = [
    ...(reserved === 0 ? [] : [`${text(reserved)} reserved`]),
    ...(onChain === balance ? [] : [`${text(onChain)} on the chain`]),
  ];
  return `${assetText(asset)} ${text(balance)}${parts.length === 0 ? "" : ` (${parts.join(", ")})`}`;
}

/** Writes the named orders in the order of the file, one line for each. */
async function* orderLines(session: Session) {
  const written = new Set<string>();
  for (const step of stepsOf(session.scenario.steps)) {
    const name = step.kind === "order" ? (step.name ?? "") : "";
    const key = session.orderNamed(name);
    if (key === undefined || written.has(name)) continue;
    written.add(name);
    yield `${name} ${orderStateText(await session.venue.order(key))}`;
  }
}

export async function summaryOf(session: Session): Promise<string[]> {
  const lines = [`at ${toIso(await session.venue.now())}`];
  for (const part of [bookLines, orderLines, balanceLines])
    for await (const line of part(session)) lines.push(line);
  return lines;
}

export async function goldenText({ name }: Pick<Scenario, "name">, venue: Venue): Promise<string> {
  const lines = [`# ${name}`, "", "trades"];
  for (const fill of await venue.fills(0)) {
    lines.push(`  ${tradeText(fillLike(fill, undefined, venue.markets.length === 1))}`);
  }
  for (const token of tokensOf(venue)) lines.push("", tokenText(token), ...table(await venue.book(token)));
  return `${lines.join("\n")}\n`;
}

/** Writes a book as `bid | price | ask`, the highest price first. */
function table({ bids, asks }: BookView): string[] {
  const row = (bid: string, price: string, ask: string): string =>
    `  ${bid.padStart(14)} | ${price.padStart(6)} | ${ask}`.trimEnd();
  const cell = ({ size, orders }: Level): string => `${sizeText(size)} (${orders})`;
  return [
    row("bid", "price", "ask"),
    ...asks.map((level) => row("", priceText(level.price), cell(level))).reverse(),
    ...bids.map((level) => row(cell(level), priceText(level.price), "")),
  ];
}
