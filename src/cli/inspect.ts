import { orderStory } from "../api/explanations.ts";
import { marketNamed, numbersAs } from "../api/view.ts";
import { DEFAULT_DATA } from "../config.ts";
import { addressText, listed, orderText } from "../core/format.ts";
import { idOf, numberOf } from "../core/ids.ts";
import { marketOfToken } from "../core/market.ts";
import type { Order } from "../core/order.ts";
import type { State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import { toIso } from "../core/time.ts";
import { isControl } from "../engine/journal-line.ts";
import { mentionsIn, Touched } from "../history/describe-line.ts";
import { type ReplayedLine, replayJournalLines } from "../history/journal-replay.ts";
import {
  type AccountView,
  type LevelView,
  type MarketView,
  type OrderView,
  type StateView,
  stateView,
} from "../history/state-view.ts";
import { nearest } from "../nearest.ts";
import { count, indented, type Paint, visible } from "../scenario/report/text.ts";
import type { Run, Values } from "./commands.ts";
import { endedWith, replayProblems } from "./failure.ts";
import { journalLine, openNamed, requireLine } from "./journal.ts";
import { paintOf, print, printJson, table } from "./output.ts";
import { UsageError } from "./process.ts";
import { writePage } from "./report.ts";

/** `clobsim inspect`: prints the state of an exchange after a line of its journal. */
export const inspect: Run<"inspect"> = async (values, [name = DEFAULT_DATA], { environment }) => {
  const { market, account, order, all: isAll, json: isJson, html } = values;
  const hasChosen = market !== null || account !== null || isAll;
  if (html !== null) {
    if (values.at === null && order === null && !hasChosen && !isJson) return writePage(name, html);
    throw new UsageError(
      "--html shows the whole history: --at, --market, --account, --order, --all and --json do not go with it",
    );
  }
  if (order !== null && hasChosen) {
    throw new UsageError("--order shows an order alone: --market, --account and --all do not go with it");
  }
  const at = values.at ?? {};
  const source = openNamed(name);
  const paint = paintOf(environment);
  const inspection =
    order === null ? stateInspection(values, paint) : orderInspection(order.toLowerCase(), paint);
  const end = replayJournalLines(source, at, (replayed, { state }) => inspection.add(replayed, state));
  return endedWith(replayProblems(source, end), () => {
    requireLine(source, at, end);
    const { state, sequence, now } = end.exchange;
    const [line, time] = [end.last?.n ?? 0, toIso(now)];
    const { json, text } = inspection.describe(state, end.origin.devAccounts);
    if (isJson) printJson({ line, time, sequence, ...json });
    else print([`${paint.bold(`line ${line}`)}, ${time}, sequence ${sequence}`, ...text]);
  });
};

/** Collects lines of a journal, and describes the state at the end. */
interface Inspection {
  /** Adds a line with the state after it. */
  readonly add: (replayed: ReplayedLine, state: State) => void;
  /** @throws UsageError if the requested market, account or order does not exist */
  readonly describe: (
    state: State,
    devAccounts: readonly Address[],
  ) => { readonly json: object; readonly text: readonly string[] };
}

/** Shows the chosen markets and accounts, else those with activity since the opening. */
function stateInspection({ market, account, all: isAll }: Values<"inspect">, paint: Paint): Inspection {
  const touched = new Touched();
  const marketsIn = (state: State) => {
    const markets = [...state.markets];
    if (market === null) return markets.filter(({ number }) => isAll || touched.markets.has(number));
    const own = marketNamed(state, market);
    return own === undefined ? onePrefixed("market", market, markets, ({ slug }) => slug) : [own];
  };
  const accountsIn = (state: State, devAccounts: readonly Address[]) => {
    const accounts = [...state.accounts];
    if (account === null) return accounts.filter(({ address }) => isAll || touched.accounts.has(address));
    const name = account.toLowerCase();
    const named = devAccounts.find((_, index) => name === `dev-${index}`) ?? name;
    return onePrefixed("account", named, accounts, ({ address }) => address);
  };
  return {
    add: (replayed, state) => touched.take(replayed, state),
    describe: (state, devAccounts) => {
      const view = stateView(state, marketsIn(state), accountsIn(state, devAccounts));
      return { json: view, text: stateText(view, paint) };
    },
  };
}

/** Returns the only item whose name has a prefix. @throws UsageError that suggests names */
function onePrefixed<T>(noun: string, named: string, all: readonly T[], nameOf: (item: T) => string): T[] {
  const found = all.filter((item) => nameOf(item).startsWith(named));
  if (found.length === 1) return found;
  const expected = `--${noun} expects one ${noun}`;
  const namesIn = (names: readonly string[]): string => listed(names.map(visible));
  if (found.length > 1) {
    throw new UsageError(`${expected}, ${found.length} begin with ${named}: ${namesIn(found.map(nameOf))}`);
  }
  const names = all.map(nameOf);
  const containing = names.filter((name) => name.includes(named));
  const similar = containing.length > 0 ? containing : [nearest(named, names) ?? []].flat();
  const suggestion =
    similar.length > 0 ? `, did you mean ${namesIn(similar)}?` : `: there were ${namesIn(names)}`;
  throw new UsageError(`${expected}, there was none ${named} then${suggestion}`);
}

/** Formats books as tables of bid, price and ask, then orders and balances. */
function stateText({ markets, orders, accounts }: StateView, paint: Paint): string[] {
  const listing = (title: string, rows: readonly (readonly string[])[], head: string[][] = []): string[] => [
    "",
    paint.bold(title),
    ...(rows.length === 0 ? ["  none"] : indented(table([...head, ...rows]), 2)),
  ];
  return [
    ...markets.flatMap((market) => booksText(market, paint)),
    ...listing("open orders", orders.map(orderCells)),
    ...listing("balances", accounts.flatMap(accountCells), [ASSET_HEAD]),
  ];
}

function booksText({ market, status, winningOutcome, books }: MarketView, paint: Paint): string[] {
  const how = winningOutcome === null ? status : `${status} as ${winningOutcome}`;
  return books.flatMap(({ outcome, bids, asks }) => [
    "",
    `${paint.bold(`${visible(market)} ${outcome}`)}  ${how}`,
    ...(bids.length + asks.length === 0 ? ["  empty"] : bookText(bids, asks, paint)),
  ]);
}

function bookText(bids: readonly LevelView[], asks: readonly LevelView[], paint: Paint): string[] {
  const size = ({ size, orders }: LevelView): string => `${size} (${orders})`;
  const row = (bid: string, price: string, ask: string): string =>
    `  ${paint.green(bid.padStart(16))} │ ${price.padStart(8)} │ ${paint.red(ask)}`.trimEnd();
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

/** Shows one order with the lines that mention it. `name` is its number, or its id in lower case. */
function orderInspection(name: string, paint: Paint): Inspection {
  let lines: ReturnType<typeof journalLine>[] = [];
  const numberIn = ({ idPrefixes }: State): number =>
    /^\d+$/.test(name) ? Number(name) : numberOf(idPrefixes.order, name);
  const orderIn = (state: State): Order => {
    const order = state.orders.find(numberIn(state));
    if (order !== undefined) return order;
    const orders = `the ${count(state.orders.size, "order")} until then`;
    throw new UsageError(
      `--order expects the id or the number of one of ${orders}, found ${name}${otherMeaning(state, name)}`,
    );
  };
  return {
    add: (replayed, state) => {
      const { line } = replayed;
      // A restore or reset undoes earlier lines, and their order numbers are used again.
      if (isControl(line, "restore")) lines = lines.filter(({ json }) => json.line <= line.d.line);
      if (isControl(line, "reset")) lines = [];
      if (mentionsIn(replayed, state).orders.has(numberIn(state)))
        lines.push(journalLine(replayed, state, paint));
    },
    describe: (state) => {
      const found = orderIn(state);
      const explained = orderStory({ state, numbers: numbersAs("number") }, found);
      const { order, owner, summary, story } = explained;
      const { slug } = state.markets.get(marketOfToken(found.token));
      const what = `${order.side} ${order.size} ${order.outcome} @ ${order.price} ${order.orderType} in ${visible(slug)}`;
      const text = [
        `${paint.bold(orderText(found.number))}, ${order.id}, of ${owner}`,
        `${what}: ${order.status}, ${order.sizeMatched} matched`,
        summary,
        "",
        ...story.map(({ at, what }) => `  ${paint.dim(at)}  ${what}`),
        "",
        paint.bold("lines of the journal"),
        ...(lines.length === 0 ? ["  none: it was placed before the first"] : []),
        ...lines.map(({ text }) => text),
      ];
      return { json: { number: found.number, ...explained, lines: lines.map(({ json }) => json) }, text };
    },
  };
}

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
