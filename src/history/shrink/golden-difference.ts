import { PRICE_PLACES, SIZE_PLACES, unitsOf } from "../../core/format.ts";
import { FULL_PRICE } from "../../core/units.ts";
import type { Scenario } from "../../scenario/language/steps.ts";
import { readGolden, sideDiff, tradesDiff } from "../../scenario/run/expectations.ts";
import { itemLines, type NodeMap } from "../scenario-text.ts";
import { draftOf, type Part } from "./draft.ts";
import { type InlineFlows, type RunRecord, type TradingOrder, withFlowsInline } from "./inline-flows.ts";
import { causeOf, differingLines, type Failed } from "./trial.ts";

const ROW = /^\s*(?:(?<bid>\S+ \(\d+\)) )?\|\s+(?<price>[\d.]+) \|(?: (?<ask>\S+ \(\d+\)))?$/;

type Golden = ReturnType<typeof parseGolden>;

/** Parses a golden file: every trade in order, and the books. */
function parseGolden(text: string) {
  const [, trades = [], ...books] = text
    .trimEnd()
    .split("\n\n")
    .map((part) => part.split("\n"));
  return {
    trades: trades.slice(1).map(parseTrade),
    books: books.map(([token = "", ...lines]) => {
      const rows = lines.map((line) => ROW.exec(line)?.groups ?? {});
      const levels = (side: "bid" | "ask"): string[] =>
        rows.flatMap((row) => (row[side] === undefined ? [] : [`${row.price} x ${row[side]}`]));
      // Token as `rain YES`, the lines of its table, and levels as `0.55 x 60 (2)`, best first.
      return { token, lines, bids: levels("bid"), asks: levels("ask").reverse() };
    }),
  };
}

const TRADE =
  /^(?<taker>\S+) (?<side>BUY|SELL) (?<size>[\d.]+) (?<outcome>YES|NO) @ (?<price>[\d.]+) (?:in (?<market>\S+) )?from (?<maker>\S+)/;

const units = (text: string, places: number): number => unitsOf(text, places) ?? 0;

type Trade = ReturnType<typeof parseTrade>;

/** Parses a line as in a `trades` expectation. The market is undefined if there is only one. */
function parseTrade(given: string) {
  const line = given.trim();
  const { taker, maker, side, outcome, market, size = "", price = "" } = TRADE.exec(line)?.groups ?? {};
  const exact = { size: units(size, SIZE_PLACES), price: units(price, PRICE_PLACES) };
  return { line, taker, maker, side, outcome, market, ...exact };
}

/** An expectation of the first difference between a golden file and a run. */
export interface GoldenDifference {
  /** The order that causes the difference, after which it is visible; null if only the step with the golden file shows it. */
  readonly after: ExactOrder | null;
  readonly expectation: NodeMap;
  /** Lines that only the file or only the run has, as in the diff of the failure. */
  readonly lines: readonly string[];
  /**
   * Orders that must not be removed: the one that should have traded differently, and its expected makers. Without them
   * the expectation would fail in the same way because it is wrong.
   */
  readonly required: readonly ExactOrder[];
  /** A sentence for the user. */
  readonly remark: string;
}

/** A placed order with its terms as numbers. */
interface ExactOrder extends TradingOrder {
  readonly market: string | null;
  readonly price: number;
  readonly size: number;
}

function bookDifference({ markets }: Scenario, expected: Golden, found: Golden): GoldenDifference | null {
  const index = expected.books.findIndex(
    ({ token, lines }, at) =>
      found.books[at]?.token !== token || found.books[at].lines.join("\n") !== lines.join("\n"),
  );
  const [book, other] = [expected.books[index], found.books[index]];
  if (book === undefined || other?.token !== book.token) return null;
  const { token, bids, asks } = book;
  const name = markets.length === 1 ? (token.split(" ").at(-1) ?? "") : token;
  return {
    after: null,
    expectation: { book: { [name]: { bids, asks } } },
    required: [],
    lines: differingLines([...sideDiff("ask", asks, other.asks), ...sideDiff("bid", bids, other.bids)]),
    remark: `the golden file differs first in the book of ${token}, which is expected instead`,
  };
}

function tradeDifference(
  scenario: Scenario,
  { trades: expected }: Golden,
  { trades: found }: Golden,
  run: RunRecord,
  index: number,
): GoldenDifference | null {
  if (scenario.steps.some(({ kind }) => kind === "race" || kind === "restore")) return null;
  const orders = run.placed.map((order): ExactOrder => {
    const { price, size, market } = order.words;
    const terms = { price: units(price, PRICE_PLACES), size: units(size, SIZE_PLACES) };
    return { ...order, ...terms, market: market ?? scenario.markets[0]?.name ?? null };
  });
  const traded = orders.find(({ after }) => after > index);
  const isMissingTrades = (order: ExactOrder): boolean => remainingTrades(expected, index, order).length > 0;
  // If the expected trade is missing, an earlier order did not match as it should have.
  const untraded = orders.find(
    (order) =>
      order.after >= index && (traded === undefined || order.after <= index) && isMissingTrades(order),
  );
  const order = traded !== undefined && isMissingTrades(traded) ? traded : (untraded ?? traded);
  if (order === undefined) return null;
  const remaining = remainingTrades(expected, index, order);
  const trades = [...expected.slice(0, index), ...remaining].map(({ line }) => line);
  const others = found.slice(0, order.after).map(({ line }) => line);
  const makers = orders
    .slice(0, orders.indexOf(order))
    .filter((each) => remaining.some((trade) => canBeMaker(each, trade)));
  return {
    after: order,
    expectation: { trades },
    required: [order, ...makers],
    lines: differingLines(tradesDiff("trades", trades, others)),
    remark: `the golden file differs first in trade ${index + 1}: the trades up to there are expected instead`,
  };
}

/** Returns the expected trades from an index on that an order can have: within its remaining size, at no better prices. */
function remainingTrades(expected: readonly Trade[], index: number, order: ExactOrder): Trade[] {
  const earlier = expected.slice(order.before, Math.min(order.after, index));
  let size = earlier.reduce((left, trade) => left - trade.size, order.size);
  const trades: Trade[] = [];
  let worst = Number.NEGATIVE_INFINITY;
  for (const trade of expected.slice(index)) {
    const cost = trade.price * (order.words.side === "BUY" ? 1 : -1);
    if (!canBeTaker(order, trade) || trade.size > size || cost < worst) break;
    trades.push(trade);
    size -= trade.size;
    worst = cost;
  }
  return trades;
}

/** Whether an order can be the maker of a trade: it has the account and the price. */
function canBeMaker(order: ExactOrder, trade: Trade): boolean {
  const isSameOutcome = order.words.outcome === trade.outcome;
  const price = isSameOutcome ? trade.price : FULL_PRICE - trade.price;
  const isOpposite = (order.words.side !== trade.side) === isSameOutcome;
  return trade.maker === order.account && order.price === price && isOpposite;
}

/** Whether an order can be the taker of a trade. */
function canBeTaker(order: ExactOrder, trade: Trade): boolean {
  const { market, price } = trade;
  const isWithinLimit = order.words.side === "BUY" ? price <= order.price : price >= order.price;
  const isInMarket = market === undefined || market === order.market;
  const isLike = (["side", "outcome"] as const).every((field) => trade[field] === order.words[field]);
  return isLike && trade.taker === order.account && isInMarket && isWithinLimit;
}

/**
 * Finds the first difference from the golden file that fails a scenario. The trades of the file up to it become the
 * expectation; later steps can be removed. Null if something else fails, or if it is unknown which step caused which trade.
 */
export function goldenDifferenceOf(failed: Failed, run: RunRecord): GoldenDifference | null {
  const { scenario, failure } = failed;
  const step = scenario.steps.find(({ number }) => number === failure.step);
  if (step?.kind !== "expect" || causeOf(failed) !== "golden") return null;
  const { line, column } = failure.place;
  const golden = step.expectations
    .filter((each) => each.kind === "golden")
    .find(({ place }) => line === place.line && column === place.column);
  const text = golden === undefined ? null : readGolden(golden.file);
  if (text === null) return null;
  const [expected, found] = [parseGolden(text), parseGolden(run.golden)];
  const first = expected.trades.findIndex(({ line }, index) => line !== found.trades[index]?.line);
  const index = first < 0 && found.trades.length > expected.trades.length ? expected.trades.length : first;
  return index < 0
    ? bookDifference(scenario, expected, found)
    : tradeDifference(scenario, expected, found, run, index);
}

/**
 * Returns the text with flows as steps, and with an expectation of the first difference instead of the golden file,
 * without the steps between the two. Null if the step with the golden file is in brackets.
 */
export function withoutGolden(
  { draft, scenario, failure }: Failed,
  run: RunRecord,
  { after, expectation, required, remark }: GoldenDifference,
  withTimes: boolean,
): InlineFlows | null {
  const indexOf = (number: number): number => scenario.steps.findIndex((step) => step.number === number);
  const at = indexOf(failure.step);
  const step = draft.steps[at] as Part;
  const lines = itemLines({ expect: expectation }, step.column);
  const expected = draft.replacement(step, [lines.join("\n").slice(step.column + 2)]);
  if (expected === null) return null;
  const last = after === null ? at - 1 : indexOf(after.step);
  const isKept = (_step: unknown, index: number): boolean => index <= last || index === at;
  const whole = draftOf(draft.with([expected]));
  const removed = whole.steps.filter((each, index) => !isKept(each, index));
  const kept = { ...scenario, steps: scenario.steps.filter(isKept) };
  const inline = withFlowsInline(draftOf(whole.without(removed)), kept, run, withTimes, (number) =>
    number === after?.step ? after.row : null,
  );
  const beginnings = required.map(({ step: number, row, account, words: { side, size, outcome, price } }) =>
    row === null
      ? (draft.steps[indexOf(number)]?.text.split("\n", 1)[0] ?? "")
      : `- ${account}: ${side} ${size} ${outcome} @ ${price}`,
  );
  return { ...inline, remarks: [...inline.remarks, remark], requiredSteps: beginnings };
}
