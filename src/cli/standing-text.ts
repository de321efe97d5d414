import type {
  AccountStanding,
  LevelStanding,
  MarketStanding,
  OrderStanding,
  Standing,
} from "../history/standing.ts";
import { addressText } from "../history/thing-words.ts";
import type { Paint } from "../scenario/report/text.ts";
import { visible } from "../scenario/report/text.ts";

/** Books as tables of bid, price and ask, then orders and balances. */
export function standingText({ markets, orders, accounts }: Standing, paint: Paint): string[] {
  return [
    ...markets.flatMap((market) => marketText(market, paint)),
    "",
    paint.bold("open orders"),
    ...(orders.length === 0 ? ["  none"] : table(orders.map(orderCells))),
    "",
    paint.bold("balances"),
    ...(accounts.length === 0 ? ["  none"] : table([ASSET_HEAD, ...accounts.flatMap(accountCells)])),
  ];
}

function marketText({ market, status, winningOutcome, books }: MarketStanding, paint: Paint): string[] {
  const how = winningOutcome === null ? status : `${status} as ${winningOutcome}`;
  return books.flatMap(({ outcome, bids, asks }) => [
    "",
    `${paint.bold(`${visible(market)} ${outcome}`)}  ${how}`,
    ...(bids.length + asks.length === 0 ? ["  nobody rests"] : bookText(bids, asks, paint)),
  ]);
}

const LEVEL_WIDTH = 16;
const PRICE_WIDTH = 8;

function bookText(bids: readonly LevelStanding[], asks: readonly LevelStanding[], paint: Paint): string[] {
  const size = ({ size, orders }: LevelStanding): string => `${size} (${orders})`;
  const row = (bid: string, price: string, ask: string): string =>
    `  ${paint.green(bid.padStart(LEVEL_WIDTH))} │ ${price.padStart(PRICE_WIDTH)} │ ${paint.red(ask)}`.trimEnd();
  return [
    row("bid", "price", "ask"),
    ...[...asks].reverse().map((level) => row("", String(level.price), size(level))),
    ...bids.map((level) => row(size(level), String(level.price), "")),
  ];
}

const orderCells = (order: OrderStanding): string[] => [
  `order ${order.order}`,
  addressText(order.account),
  `${order.side} ${order.size} ${order.outcome} @ ${order.price}`,
  visible(order.market),
  `${order.matched} matched`,
  order.expiration === null ? order.orderType : `${order.orderType} until ${order.expiration}`,
];

const ASSET_HEAD = ["account", "asset", "balance", "available", "reserved"];

const accountCells = ({ account, assets }: AccountStanding): string[][] =>
  assets.map(({ asset, market, balance, available, reserved }, index) => [
    index === 0 ? addressText(account) : "",
    market === null ? asset : `${asset} in ${visible(market)}`,
    ...[balance, available, reserved].map(String),
  ]);

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd(),
  );
}
