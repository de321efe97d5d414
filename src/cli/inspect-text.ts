import { numbersAs } from "../api/decimals.ts";
import { orderStory } from "../api/explanations.ts";
import { addressText, orderText } from "../core/format.ts";
import { idOf, numberOf } from "../core/ids.ts";
import { marketOfToken } from "../core/market.ts";
import type { Order } from "../core/order.ts";
import type { State } from "../core/state.ts";
import { isControl } from "../engine/journal-line.ts";
import type { ReplayedLine } from "../history/journal-replay.ts";
import { Mentions } from "../history/mentions.ts";
import type { AccountView, LevelView, MarketView, OrderView, StateView } from "../history/state-view.ts";
import { indented, type Paint, visible } from "../scenario/report/text.ts";
import { UsageError } from "./exit-code.ts";
import { type JournalLine, journalLine } from "./journal-text.ts";
import { table } from "./output.ts";

/** Formats books as tables of bid, price and ask, then orders and balances. */
export function stateText({ markets, orders, accounts }: StateView, paint: Paint): string[] {
  return [
    ...markets.flatMap((market) => marketText(market, paint)),
    "",
    paint.bold("open orders"),
    ...(orders.length === 0 ? ["  none"] : indented(table(orders.map(orderCells)), 2)),
    "",
    paint.bold("balances"),
    ...(accounts.length === 0
      ? ["  none"]
      : indented(table([ASSET_HEAD, ...accounts.flatMap(accountCells)]), 2)),
  ];
}

function marketText({ market, status, winningOutcome, books }: MarketView, paint: Paint): string[] {
  const how = winningOutcome === null ? status : `${status} as ${winningOutcome}`;
  return books.flatMap(({ outcome, bids, asks }) => [
    "",
    `${paint.bold(`${visible(market)} ${outcome}`)}  ${how}`,
    ...(bids.length + asks.length === 0 ? ["  empty"] : bookText(bids, asks, paint)),
  ]);
}

const LEVEL_WIDTH = 16;
const PRICE_WIDTH = 8;

function bookText(bids: readonly LevelView[], asks: readonly LevelView[], paint: Paint): string[] {
  const size = ({ size, orders }: LevelView): string => `${size} (${orders})`;
  const row = (bid: string, price: string, ask: string): string =>
    `  ${paint.green(bid.padStart(LEVEL_WIDTH))} │ ${price.padStart(PRICE_WIDTH)} │ ${paint.red(ask)}`.trimEnd();
  return [
    row("bid", "price", "ask"),
    ...[...asks].reverse().map((level) => row("", String(level.price), size(level))),
    ...bids.map((level) => row(size(level), String(level.price), "")),
  ];
}

const orderCells = (order: OrderView): string[] => [
  `order ${order.order}`,
  addressText(order.account),
  `${order.side} ${order.size} ${order.outcome} @ ${order.price}`,
  visible(order.market),
  `${order.matched} matched`,
  order.expiration === null ? order.orderType : `${order.orderType} until ${order.expiration}`,
];

const ASSET_HEAD = ["account", "asset", "balance", "available", "reserved"];

function accountCells({ account, assets, sharesOfEveryOtherToken }: AccountView): string[][] {
  const rows = assets.map(({ asset, market, balance, available, reserved }, index) => [
    index === 0 ? addressText(account) : "",
    market === null ? asset : `${asset} in ${visible(market)}`,
    ...[balance, available, reserved].map(String),
  ]);
  const others = ["", "each other token", ...Array(2).fill(String(sharesOfEveryOtherToken)), "0"];
  return sharesOfEveryOtherToken === 0 ? rows : [...rows, others];
}

/** Collects the lines of a journal that mention one order. */
export class OrderHistory {
  readonly #name: string;
  readonly #paint: Paint;
  #lines: { readonly number: number; readonly formatted: JournalLine }[] = [];

  /** `name` is the order's number, or its id in lower case. */
  constructor(name: string, paint: Paint) {
    this.#name = name;
    this.#paint = paint;
  }

  /** Adds the next line, with the state after it. */
  add(replayed: ReplayedLine, state: State): void {
    const { line } = replayed;
    // A restore or reset undoes earlier lines, and their order numbers are used again.
    if (isControl(line, "restore")) this.#lines = this.#lines.filter(({ number }) => number <= line.d.line);
    if (isControl(line, "reset")) this.#lines = [];
    if (!new Mentions(replayed, state).orders.has(this.#numberIn(state))) return;
    this.#lines.push({ number: line.n, formatted: journalLine(replayed, state, this.#paint) });
  }

  /** Returns the order. @throws UsageError if it does not exist */
  #orderIn(state: State): Order {
    const order = state.orders.find(this.#numberIn(state));
    if (order !== undefined) return order;
    const { size } = state.orders;
    const range = size === 0 ? "there were no orders then" : `there were the orders 1 to ${size} then`;
    throw new UsageError(
      `--order expects the id of an order, or its number; ${range}, found ${this.#name}${otherMeaning(state, this.#name)}`,
    );
  }

  text(state: State): string[] {
    const { bold, dim } = this.#paint;
    const order = this.#orderIn(state);
    const { order: reply, owner, summary, story } = storyOf(state, order);
    const { slug } = state.markets.get(marketOfToken(order.token));
    const what = `${reply.side} ${reply.size} ${reply.outcome} @ ${reply.price} ${reply.orderType} in ${visible(slug)}`;
    return [
      `${bold(orderText(order.number))}, ${reply.id}, of ${owner}`,
      `${what}: ${reply.status}, ${reply.sizeMatched} matched`,
      summary,
      "",
      ...story.map(({ at, what }) => `  ${dim(at)}  ${what}`),
      "",
      bold("lines of the journal"),
      ...(this.#lines.length === 0 ? ["  none: it was placed before the first"] : []),
      ...this.#lines.map(({ formatted }) => formatted.text),
    ];
  }

  json(state: State): object {
    const order = this.#orderIn(state);
    return {
      number: order.number,
      ...storyOf(state, order),
      lines: this.#lines.map(({ formatted }) => formatted.json),
    };
  }

  #numberIn({ idPrefixes }: State): number {
    return /^\d+$/.test(this.#name) ? Number(this.#name) : numberOf(idPrefixes.order, this.#name);
  }
}

const storyOf = (state: State, order: Order) => orderStory({ state, numbers: numbersAs("number") }, order);

/** Explains an id that is not of an order but of a trade or market. */
function otherMeaning({ idPrefixes, trades, markets }: State, id: string): string {
  const trade = trades.find(numberOf(idPrefixes.trade, id));
  if (trade !== undefined) {
    const [taker, maker] = [idOf(idPrefixes.order, trade.taker), idOf(idPrefixes.order, trade.maker)];
    return `, a trade of ${taker} and ${maker}`;
  }
  const market = markets.find(numberOf(idPrefixes.market, id));
  return market === undefined ? "" : `, the market ${visible(market.slug)}`;
}
