import { moneyText, priceText, sizeText } from "../../core/format.ts";
import { assetText } from "../language/parts.ts";
import { type Scenario, stepsOf } from "../language/scenario.ts";
import type { Venue } from "../venue/venue.ts";
import type { BookView, HoldingView } from "../venue/views.ts";
import { fillLike, levelsText, momentText, orderStateText, tradeText } from "./format.ts";
import type { Session } from "./session.ts";

/** Writes the books of all markets, one line for each; a complementary market has only its YES book. */
async function bookLines({ venue }: Session): Promise<string[]> {
  const lines: string[] = [];
  for (const market of venue.markets) {
    for (const outcome of outcomesOf(venue.isComplementary(market))) {
      const { bids, asks } = await venue.book({ market, outcome });
      lines.push(`${market} ${outcome} bids ${levelsText(bids)}; asks ${levelsText(asks)}`);
    }
  }
  return lines;
}

const outcomesOf = (isComplementary: boolean): readonly ("YES" | "NO")[] =>
  isComplementary ? ["YES"] : ["YES", "NO"];

/** Writes the balances of each account, without empty ones, one line for each account. */
async function balanceLines({ venue }: Session): Promise<string[]> {
  const lines: string[] = [];
  for (const account of venue.accounts) {
    const holdings = await venue.holdings(account);
    const shown = holdings.filter(
      ({ asset, balance, onChain }) => asset === "USDC" || balance > 0 || onChain > 0,
    );
    lines.push(`${account} ${shown.map(holdingText).join(", ")}`);
  }
  return lines;
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
async function orderLines(session: Session): Promise<string[]> {
  const names = new Set<string>();
  for (const step of stepsOf(session.scenario.steps)) {
    if (step.kind === "order" && step.name !== null) names.add(step.name);
  }
  const lines: string[] = [];
  for (const name of names) {
    const key = session.orderNamed(name);
    if (key !== undefined) lines.push(`${name} ${orderStateText(await session.venue.order(key))}`);
  }
  return lines;
}

/** Writes the time, the books, the named orders and the balances. */
export async function summaryOf(session: Session): Promise<string[]> {
  const time = momentText(await session.venue.now());
  const parts = [await bookLines(session), await orderLines(session), await balanceLines(session)];
  return [`at ${time}`, ...parts.flat()];
}

export async function goldenText({ name }: Pick<Scenario, "name">, venue: Venue): Promise<string> {
  const lines = [`# ${name}`, "", "trades"];
  for (const fill of await venue.fills(0)) {
    lines.push(`  ${tradeText(fillLike(fill, undefined, venue.markets.length === 1))}`);
  }
  for (const market of venue.markets) {
    for (const outcome of outcomesOf(venue.isComplementary(market))) {
      lines.push("", `${market} ${outcome}`, ...table(await venue.book({ market, outcome })));
    }
  }
  return `${lines.join("\n")}\n`;
}

/** Writes a book as `bid | price | ask`, the highest price first. */
function table({ bids, asks }: BookView): string[] {
  const row = (bid: string, price: string, ask: string): string =>
    `  ${bid.padStart(14)} | ${price.padStart(6)} | ${ask}`.trimEnd();
  const cell = (size: number, orders: number): string => `${sizeText(size)} (${orders})`;
  return [
    row("bid", "price", "ask"),
    ...asks.map(({ price, size, orders }) => row("", priceText(price), cell(size, orders))).reverse(),
    ...bids.map(({ price, size, orders }) => row(cell(size, orders), priceText(price), "")),
  ];
}
