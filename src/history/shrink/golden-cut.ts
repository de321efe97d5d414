import { unitsOf } from "../../api/decimals.ts";
import { PRICE_PLACES, priceText, SIZE_PLACES, sizeText } from "../../core/format.ts";
import { FULL_PRICE } from "../../core/units.ts";
import type { Scenario } from "../../scenario/language/scenario.ts";
import { OTHER_GOLDEN, readGolden, sideDiff, tradesDiff } from "../../scenario/run/expectations.ts";
import type { DiffLine } from "../../scenario/run/result.ts";
import { scalar } from "../scenario-text.ts";
import { Draft, lineOf, type Part } from "./draft.ts";
import { type InlineFlows, type NotedRun, type PlayedRow, withFlowsInline } from "./inline-flows.ts";
import type { Failed } from "./trial.ts";

/** What a golden file holds. */
interface GoldenText {
  /** Every trade in order, as a `trades` expectation writes it. */
  readonly trades: readonly string[];
  readonly books: readonly GoldenBook[];
}

/** A book as a golden file draws it. */
interface GoldenBook {
  /** Market and outcome: `rain YES`. */
  readonly token: string;
  /** The lines of its table. */
  readonly lines: readonly string[];
  /** Best first, as a `book` expectation writes levels: `0.55 x 60 (2)`. */
  readonly bids: readonly string[];
  readonly asks: readonly string[];
}

const ROW = /^\s*(?:(?<bid>\S+ \(\d+\)) )?\|\s+(?<price>[\d.]+) \|(?: (?<ask>\S+ \(\d+\)))?$/;

/** Reads a golden file's text. */
function goldenIn(text: string): GoldenText {
  const [, trades = "", ...books] = text.trimEnd().split("\n\n");
  return {
    trades: linesOf(trades).map((line) => line.trim()),
    books: books.map((book) => {
      const lines = linesOf(book);
      const rows = lines.map((line) => ROW.exec(line)?.groups ?? {});
      const levels = (side: "bid" | "ask"): string[] =>
        rows.flatMap((row) => (row[side] === undefined ? [] : [`${row.price} x ${row[side]}`]));
      return {
        token: book.split("\n", 1)[0] ?? "",
        lines,
        bids: levels("bid"),
        asks: levels("ask").reverse(),
      };
    }),
  };
}

/** The lines behind the first. */
const linesOf = (part: string): string[] => part.split("\n").slice(1);

/** An expectation of the first thing in which a golden file and what happened differ. */
export interface GoldenCut {
  /** The step behind which it is seen, and of a flow the row, counted from 1; null: where the golden file is compared. */
  readonly behind: { readonly step: number; readonly row: number | null } | null;
  readonly expectation:
    | { readonly kind: "trades"; readonly trades: readonly string[] }
    | ({ readonly kind: "book"; readonly token: string } & Sides);
  /** How it fails: the lines that only the file or only the run has, as a difference shows them. */
  readonly difference: readonly string[];
  /**
   * What must stay: the order that should have traded otherwise, and those that it should have met. Without them the
   * expectation would be wrong by itself, and fail in the same way.
   */
  readonly keeps: readonly Kept[];
  /** What the file's user should know. */
  readonly remark: string;
}

/** A step, or a row of a flow as the step that it becomes begins. */
type Kept =
  | { readonly step: number; readonly begins: null }
  | { readonly step: null; readonly begins: string };

interface Sides {
  readonly bids: readonly string[];
  readonly asks: readonly string[];
}

/** The lines of a difference that are not the same on both sides. */
export const differingLines = (diff: readonly DiffLine[]): string[] =>
  diff.flatMap(({ kind, text }) => (kind === "expected" || kind === "found" ? [`${kind} ${text}`] : []));

/** Something that may trade: an order step, or a row of a flow that places an order. */
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

function otherBook(scenario: Scenario, wanted: GoldenText, found: GoldenText): GoldenCut | null {
  for (const [index, book] of wanted.books.entries()) {
    const other = found.books[index];
    if (other?.token !== book.token) return null;
    if (other.lines.join("\n") === book.lines.join("\n")) continue;
    const outcome = book.token.split(" ").at(-1) ?? "";
    const token = scenario.markets.length === 1 ? outcome : book.token;
    const { bids, asks } = book;
    return {
      behind: null,
      expectation: { kind: "book", token, bids, asks },
      keeps: [],
      difference: differingLines([
        ...sideDiff("ask", asks, other.asks),
        ...sideDiff("bid", bids, other.bids),
      ]),
      remark: `the golden file differs first in the book of ${book.token}, which is expected instead`,
    };
  }
  return null;
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
    behind: { step: act.step, row: act.row },
    expectation: { kind: "trades", trades },
    keeps: [act, ...makers].map(keptOf),
    difference: differingLines(tradesDiff("trades", trades, found.slice(0, act.after))),
    remark: `the golden file differs first in trade ${index + 1}: the trades up to there are expected instead`,
  };
}

/** The trades from an index on that are an act's own: as long as its order has something left and no price is better. */
function rest(wanted: readonly string[], index: number, act: Action): string[] {
  let left = act.size;
  for (let own = act.before; own < Math.min(act.after, index); own += 1)
    left -= tradeIn(wanted[own])?.size ?? 0;
  const found: string[] = [];
  let worst = 0;
  for (const line of wanted.slice(index)) {
    const trade = tradeIn(line);
    const cost = (trade?.price ?? 0) * (act.side === "BUY" ? 1 : -1);
    if (trade === null || !isOf(line, act) || trade.size > left) break;
    if (found.length > 0 && cost < worst) break;
    found.push(line);
    left -= trade.size;
    worst = cost;
  }
  return found;
}

function keptOf({ step, row, account, side, size, outcome, price }: Action): Kept {
  if (row === null) return { step, begins: null };
  const terms = `${side} ${sizeText(size)} ${outcome} @ ${priceText(price)}`;
  return { step: null, begins: `- ${account}: ${terms}` };
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

function tradeIn(line: string | undefined) {
  const { account, market, side, size, outcome, price } = TRADE.exec(line ?? "")?.groups ?? {};
  if (account === undefined) return null;
  const units = (text: string | undefined, places: number): number => unitsOf(text ?? "", places) ?? 0;
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
function isOf(line: string | undefined, act: Action): boolean {
  const trade = tradeIn(line);
  if (trade === null || trade.account !== act.account || trade.side !== act.side) return false;
  if (trade.market !== undefined && trade.market !== act.market) return false;
  const isWithinLimit = act.side === "BUY" ? trade.price <= act.price : trade.price >= act.price;
  return trade.outcome === act.outcome && isWithinLimit;
}

/** Everything that may have traded, in order. */
function actionsOf({ steps, markets }: Scenario, { flows, fillsAfter }: NotedRun): Action[] {
  const actions: Action[] = [];
  let before = 0;
  const add = (act: Omit<Action, "before">): void => {
    actions.push({ ...act, before });
    before = act.after;
  };
  for (const step of steps) {
    const { number } = step;
    const market = ("market" in step ? step.market : null) ?? markets[0]?.name ?? null;
    for (const [index, played] of (flows.get(number)?.rows ?? []).entries()) {
      const act = actionOf(played, market);
      if (act !== null) add({ step: number, row: index + 1, ...act });
    }
    const after = fillsAfter.get(number);
    if (after === undefined) break;
    if (step.kind !== "order" || step.exact === null) continue;
    const { side, outcome, price, size } = step.exact;
    const own = step.exact.market ?? market;
    add({ step: number, row: null, account: step.account, market: own, side, outcome, price, size, after });
  }
  return actions;
}

function actionOf(
  { row, fills }: PlayedRow,
  market: string | null,
): Omit<Action, "step" | "row" | "before"> | null {
  if (row.op !== "place") return null;
  const { account, side, outcome, price, size } = row;
  return { account, market: row.market ?? market, side, outcome, price, size, after: fills };
}

/** Where the golden file that fails a scenario differs first; null where something else fails, or nobody knows. */
export async function goldenCutOf({ scenario, failure }: Failed, noted: NotedRun): Promise<GoldenCut | null> {
  const step = scenario.steps.find(({ number }) => number === failure.step);
  if (step?.kind !== "expect" || !failure.message.startsWith(OTHER_GOLDEN)) return null;
  const golden = step.expectations.find(
    (each) =>
      each.kind === "golden" &&
      each.place.line === failure.place.line &&
      each.place.column === failure.place.column,
  );
  const kept = golden?.kind === "golden" ? await readGolden(golden.file) : null;
  return kept === null ? null : goldenCut(scenario, kept, noted);
}

/**
 * The text in which flows are steps and the golden file's step is an expectation of the first thing that differs, without
 * what comes between the two. Null where the step stands in brackets.
 */
export function withoutGolden(
  draft: Draft,
  failed: Failed,
  noted: NotedRun,
  cut: GoldenCut,
  withTimes: boolean,
): InlineFlows | null {
  const { scenario, failure } = failed;
  const { behind } = cut;
  const at = scenario.steps.findIndex(({ number }) => number === failure.step);
  const line = lineOf(draft, draft.steps[at] as Part);
  if (line === null) return null;
  const golden = new Draft(draft.replaced(line, `- ${expectText(cut, line.column)}`));
  const inline = withFlowsInline(golden, scenario, noted, {
    withTimes,
    lastRow: (step) => (step === behind?.step ? behind.row : null),
  });
  const whole = new Draft(inline.text);
  const ends = scenario.steps.map(({ number }) => inline.counts.get(number) ?? 1);
  const until = (index: number): number => ends.slice(0, index).reduce((sum, count) => sum + count, 0);
  const last = behind === null ? at - 1 : scenario.steps.findIndex(({ number }) => number === behind.step);
  const [from, to] = [until(last + 1), until(at)];
  const gone = whole.steps.filter((_step, index) => (index >= from && index < to) || index > to);
  const keeps = cut.keeps.map(({ step, begins }) => begins ?? textOfStep(draft, failed, step));
  return { ...inline, text: whole.without(new Set(gone)), keeps };
}

/** The first line of a step, which stays when expectations of its own go. */
function textOfStep(draft: Draft, { scenario }: Failed, step: number): string {
  const part = draft.steps[scenario.steps.findIndex(({ number }) => number === step)];
  return part === undefined ? "" : (draft.textOf(part.span).split("\n", 1)[0] ?? "");
}

/** A step that expects what the golden file has, as it stands behind a dash so far from the left. */
function expectText({ expectation }: GoldenCut, column: number): string {
  const line = (depth: number, text: string): string => " ".repeat(column + 2 + 2 * depth) + text;
  const list = (key: string, depth: number, items: readonly string[]): string[] =>
    items.length === 0
      ? [line(depth, `${key}: []`)]
      : [line(depth, `${key}:`), ...items.map((item) => line(depth + 1, `- ${scalar(item)}`))];
  const lines =
    expectation.kind === "trades"
      ? list("trades", 1, expectation.trades)
      : [
          line(1, "book:"),
          line(2, `${expectation.token}:`),
          ...list("bids", 3, expectation.bids),
          ...list("asks", 3, expectation.asks),
        ];
  return ["expect:", ...lines].join("\n");
}
