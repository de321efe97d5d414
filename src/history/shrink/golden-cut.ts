import { unitsOf } from "../../api/decimals.ts";
import { PRICE_PLACES, priceText, SIZE_PLACES, sizeText } from "../../core/format.ts";
import { FULL_PRICE } from "../../core/units.ts";
import type { Scenario } from "../../scenario/language/scenario.ts";
import { OTHER_GOLDEN, readGolden, sideDiff, tradesDiff } from "../../scenario/run/expectations.ts";
import type { DiffLine } from "../../scenario/run/result.ts";
import { type Entry, itemLines, list, map, wrapped } from "../scenario-text.ts";
import { Draft, type Part } from "./draft.ts";
import { type InlineFlows, type NotedRun, withFlowsInline } from "./inline-flows.ts";
import type { Failed } from "./trial.ts";

const ROW = /^\s*(?:(?<bid>\S+ \(\d+\)) )?\|\s+(?<price>[\d.]+) \|(?: (?<ask>\S+ \(\d+\)))?$/;

/** What a golden file holds: every trade in order, as a `trades` expectation writes it, and the books. */
type GoldenText = ReturnType<typeof goldenIn>;

/** Reads a golden file's text. */
function goldenIn(text: string) {
  const [, trades = [], ...books] = text
    .trimEnd()
    .split("\n\n")
    .map((part) => part.split("\n"));
  return {
    trades: trades.slice(1).map((line) => line.trim()),
    books: books.map(([token = "", ...lines]) => {
      const rows = lines.map((line) => ROW.exec(line)?.groups ?? {});
      const levels = (side: "bid" | "ask"): string[] =>
        rows.flatMap((row) => (row[side] === undefined ? [] : [`${row.price} x ${row[side]}`]));
      // Market and outcome as in `rain YES`, the lines of its table, and levels best first: `0.55 x 60 (2)`.
      return { token, lines, bids: levels("bid"), asks: levels("ask").reverse() };
    }),
  };
}

/** An expectation of the first thing in which a golden file and what happened differ. */
export interface GoldenCut {
  /** What makes it differ, whose step or row it is seen behind; null: it is seen where the golden file is compared. */
  readonly behind: Action | null;
  readonly expectation: Entry;
  /** How it fails: the lines that only the file or only the run has, as a difference shows them. */
  readonly difference: readonly string[];
  /**
   * What must stay: the order that should have traded otherwise, and those that it should have met. Without them the
   * expectation would be wrong by itself, and fail in the same way.
   */
  readonly keeps: readonly Action[];
  /** What the file's user should know. */
  readonly remark: string;
}

/** The lines of a difference that are not the same on both sides. */
export const differingLines = (diff: readonly DiffLine[]): string[] =>
  diff.flatMap(({ kind, text }) => (kind === "expected" || kind === "found" ? [`${kind} ${text}`] : []));

/** Something that may trade: an order step, or a row of a flow, counted from 1, that places an order. */
interface Action {
  readonly step: number;
  readonly row: number | null;
  readonly account: string;
  readonly market: string | null;
  readonly side: string;
  readonly outcome: string;
  readonly price: number;
  readonly size: number;
  /** How many fills there were before and behind it. */
  readonly before: number;
  readonly after: number;
}

/**
 * Where a golden file and a run differ first. Trades up to there are expected as the file has them: what comes behind
 * follows from the difference, and its steps can go. Null where nobody knows what belongs to which step.
 */
function goldenCut(scenario: Scenario, kept: string, noted: NotedRun): GoldenCut | null {
  const [wanted, found] = [goldenIn(kept), goldenIn(noted.golden)];
  const first = wanted.trades.findIndex((trade, index) => trade !== found.trades[index]);
  const index = first < 0 && found.trades.length > wanted.trades.length ? wanted.trades.length : first;
  return index < 0 ? otherBook(scenario, wanted, found) : otherTrade(scenario, wanted, found, noted, index);
}

function otherBook({ markets }: Scenario, wanted: GoldenText, found: GoldenText): GoldenCut | null {
  const index = wanted.books.findIndex(
    ({ token, lines }, at) =>
      found.books[at]?.token !== token || found.books[at].lines.join("\n") !== lines.join("\n"),
  );
  const [book, other] = [wanted.books[index], found.books[index]];
  if (book === undefined || other?.token !== book.token) return null;
  const { token, bids, asks } = book;
  const sides: Entry[] = [
    ["bids", wrapped(bids)],
    ["asks", wrapped(asks)],
  ];
  const name = markets.length === 1 ? (token.split(" ").at(-1) ?? "") : token;
  return {
    behind: null,
    expectation: ["book", map([[name, map(sides)]])],
    keeps: [],
    difference: differingLines([...sideDiff("ask", asks, other.asks), ...sideDiff("bid", bids, other.bids)]),
    remark: `the golden file differs first in the book of ${token}, which is expected instead`,
  };
}

function otherTrade(
  scenario: Scenario,
  { trades: wanted }: GoldenText,
  { trades: found }: GoldenText,
  noted: NotedRun,
  index: number,
): GoldenCut | null {
  if (scenario.steps.some(({ kind }) => kind === "race" || kind === "restore")) return null;
  const actions = actionsOf(scenario, noted);
  const traded = actions.find(({ after }) => after > index);
  const isMissing = (act: Action): boolean => rest(wanted, index, act).length > 0;
  // Where the trade that is expected never came, some order has not met what it should have.
  const waited = actions.find(
    (act) => act.after >= index && (traded === undefined || act.after <= index) && isMissing(act),
  );
  const act = traded !== undefined && isMissing(traded) ? traded : (waited ?? traded);
  if (act === undefined) return null;
  const own = rest(wanted, index, act);
  const trades = [...wanted.slice(0, index), ...own];
  const makers = actions
    .slice(0, actions.indexOf(act))
    .filter((each) => own.some((line) => isMaker(line, each)));
  return {
    behind: act,
    expectation: ["trades", list(trades)],
    keeps: [act, ...makers],
    difference: differingLines(tradesDiff("trades", trades, found.slice(0, act.after))),
    remark: `the golden file differs first in trade ${index + 1}: the trades up to there are expected instead`,
  };
}

/** The trades from an index on that are an act's own: as long as its order has something left and no price is better. */
function rest(wanted: readonly string[], index: number, act: Action): string[] {
  let left = act.size;
  for (let own = act.before; own < Math.min(act.after, index); own += 1)
    left -= tradeIn(wanted[own] ?? "")?.size ?? 0;
  const found: string[] = [];
  let worst = Number.NEGATIVE_INFINITY;
  for (const line of wanted.slice(index)) {
    const trade = tradeIn(line);
    if (trade === null || !isOf(trade, act) || trade.size > left) break;
    const cost = trade.price * (act.side === "BUY" ? 1 : -1);
    if (cost < worst) break;
    found.push(line);
    left -= trade.size;
    worst = cost;
  }
  return found;
}

/** Whether an order may be the one that a trade names as its maker: its account's, at its price. */
function isMaker(line: string, act: Action): boolean {
  const trade = tradeIn(line);
  if (trade === null || !line.includes(` from ${act.account}`)) return false;
  const isSame = act.outcome === trade.outcome;
  const price = isSame ? trade.price : FULL_PRICE - trade.price;
  return act.price === price && (act.side !== trade.side) === isSame;
}

const TRADE =
  /^(?<account>\S+) (?<side>BUY|SELL) (?<size>[\d.]+) (?<outcome>YES|NO) @ (?<price>[\d.]+) (?:in (?<market>\S+) )?from /;

interface Trade extends Pick<Action, "account" | "side" | "outcome" | "price" | "size"> {
  /** Undefined of the only one. */
  readonly market: string | undefined;
}

function tradeIn(line: string): Trade | null {
  const { account, market, side = "", outcome = "", size = "", price = "" } = TRADE.exec(line)?.groups ?? {};
  if (account === undefined) return null;
  const units = (text: string, places: number): number => unitsOf(text, places) ?? 0;
  return {
    account,
    market,
    side,
    outcome,
    size: units(size, SIZE_PLACES),
    price: units(price, PRICE_PLACES),
  };
}

/** Whether a trade may be an act's. */
function isOf({ account, side, outcome, market, price }: Trade, act: Action): boolean {
  const isWithinLimit = act.side === "BUY" ? price <= act.price : price >= act.price;
  const isThere = market === undefined || market === act.market;
  return account === act.account && side === act.side && outcome === act.outcome && isThere && isWithinLimit;
}

/** Everything that may have traded, in order. */
function actionsOf({ steps, markets }: Scenario, { flows, fillsAfter }: NotedRun): Action[] {
  const actions: Action[] = [];
  const add = (
    { number: step, account }: { readonly number: number; readonly account: string },
    row: number | null,
    terms: Pick<Action, "market" | "side" | "outcome" | "price" | "size">,
    after: number,
  ): void => {
    const { side, outcome, price, size } = terms;
    const market = terms.market ?? markets[0]?.name ?? null;
    const before = actions.at(-1)?.after ?? 0;
    actions.push({ step, row, account, market, side, outcome, price, size, before, after });
  };
  for (const step of steps) {
    const { number } = step;
    const own = "market" in step ? step.market : null;
    for (const [index, { row, fills }] of (flows.get(number)?.rows ?? []).entries()) {
      if (row.op !== "place") continue;
      add({ number, account: row.account }, index + 1, { ...row, market: row.market ?? own }, fills);
    }
    const after = fillsAfter.get(number);
    if (after === undefined) break;
    if (step.kind !== "order" || step.exact === null) continue;
    add(step, null, { ...step.exact, market: step.exact.market ?? own }, after);
  }
  return actions;
}

/** Where the golden file that fails a scenario differs first; null where something else fails, or nobody knows. */
export async function goldenCutOf({ scenario, failure }: Failed, noted: NotedRun): Promise<GoldenCut | null> {
  const step = scenario.steps.find(({ number }) => number === failure.step);
  if (step?.kind !== "expect" || !failure.message.startsWith(OTHER_GOLDEN)) return null;
  const golden = step.expectations
    .filter((each) => each.kind === "golden")
    .find(({ place: { line, column } }) => line === failure.place.line && column === failure.place.column);
  const kept = golden === undefined ? null : await readGolden(golden.file);
  return kept === null ? null : goldenCut(scenario, kept, noted);
}

/**
 * The text in which flows are steps and the golden file's step is an expectation of the first thing that differs, without
 * what comes between the two. Null where the step stands in brackets.
 */
export function withoutGolden(
  draft: Draft,
  { scenario, failure }: Failed,
  noted: NotedRun,
  { behind, expectation, keeps }: GoldenCut,
  withTimes: boolean,
): InlineFlows | null {
  const indexOf = (number: number): number => scenario.steps.findIndex((step) => step.number === number);
  const at = indexOf(failure.step);
  const step = draft.steps[at] as Part;
  const lines = itemLines([["expect", map([expectation])]], step.column);
  const expected = draft.instead(step, [lines.join("\n").slice(step.column + 2)]);
  if (expected === null) return null;
  const inline = withFlowsInline(new Draft(draft.with([expected])), scenario, noted, {
    withTimes,
    lastRow: (number) => (number === behind?.step ? behind.row : null),
  });
  const whole = new Draft(inline.text);
  const ends = scenario.steps.map(({ number }) => inline.counts.get(number) ?? 1);
  const until = (index: number): number => ends.slice(0, index).reduce((sum, count) => sum + count, 0);
  const last = behind === null ? at - 1 : indexOf(behind.step);
  const [from, to] = [until(last + 1), until(at)];
  const gone = whole.steps.filter((_step, index) => (index >= from && index < to) || index > to);
  const beginnings = keeps.map(({ step: number, row, account, side, size, outcome, price }) =>
    row === null
      ? (draft.steps[indexOf(number)]?.text.split("\n", 1)[0] ?? "")
      : `- ${account}: ${side} ${sizeText(size)} ${outcome} @ ${priceText(price)}`,
  );
  return { ...inline, text: whole.without(gone), keeps: beginnings };
}
