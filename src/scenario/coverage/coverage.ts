import { failedLines, INDENT, markOf } from "../report/lines.ts";
import type { Paint } from "../report/text.ts";
import { columnsOf, count, decimalText, grouped, oneLine, padded } from "../report/text.ts";
import type { ScenarioResult, SuiteResult } from "../run/result.ts";
import type { Counts, Group, GroupName } from "./items.ts";

/** How one item is exercised. */
export interface ItemCoverage {
  /** What it is called, a column for each. */
  readonly words: readonly string[];
  /** How many scenarios exercise it, and how often they do together. */
  readonly scenarios: number;
  readonly times: number;
  /** The file of the first of them; null when nobody does. */
  readonly first: string | null;
}

interface GroupCoverage {
  readonly name: GroupName;
  readonly items: readonly ItemCoverage[];
}

/** What a suite exercises of all that it could; what a failed scenario does counts for nothing. */
export interface Coverage {
  readonly groups: readonly GroupCoverage[];
  readonly suite: SuiteResult;
}

/** What a scenario that passed has exercised. */
export interface Exercise {
  readonly file: string;
  readonly counts: Counts;
}

/** Adds up what scenarios have exercised, in their order. */
export const coverageOf = (groups: readonly Group[], exercises: readonly Exercise[]): GroupCoverage[] =>
  groups.map(({ name, items }) => ({
    name,
    items: Array.from(items, ([item, words]) => {
      let scenarios = 0;
      let times = 0;
      let first: string | null = null;
      for (const { file, counts } of exercises) {
        const seen = counts.times(name, item);
        if (seen === 0) continue;
        first ??= file;
        scenarios += 1;
        times += seen;
      }
      return { words, scenarios, times, first };
    }),
  }));

/** How many of the items are exercised, and in percent, rounded down to a tenth: 100 only when all are. */
interface Share {
  readonly exercised: number;
  readonly total: number;
  readonly percent: number;
}

export function shareOf(groups: readonly GroupCoverage[]): Share {
  const items = groups.flatMap((group) => group.items);
  const exercised = items.filter(({ scenarios }) => scenarios > 0).length;
  return { exercised, total: items.length, percent: Math.floor((exercised * 1000) / items.length) / 10 };
}

/** One line of the table, its cells as wide as they are. */
interface Row {
  readonly name: string;
  readonly item: ItemCoverage;
}

/** How wide the cells of the table are. */
interface Widths {
  readonly name: number;
  readonly scenarios: number;
  readonly times: number;
}

/** A table of all items by group, in each those that nobody exercises first; then what failed; then the total. */
export function coverageLines({ groups, suite }: Coverage, paint: Paint): string[] {
  const tables = groups.map((group) => ({ group, rows: rowsOf(group) }));
  const widths = widthsOf(tables.flatMap(({ rows }) => rows));
  const lines = tables.flatMap(({ group, rows }) => [
    `${paint.bold(group.name)}  ${shareText(shareOf([group]))}`,
    ...rows.map((row) => rowLine(row, widths, paint)),
    "",
  ]);
  return [
    paint.dim(headingLine(widths)),
    ...lines,
    ...troubleLines(suite, paint),
    `${shareText(shareOf(groups))} items, ${percentText(shareOf(groups))}`,
  ];
}

/** `95.1 %`. */
export const percentText = ({ percent }: Share): string => `${decimalText(percent, 1)} %`;

const shareText = ({ exercised, total }: Share): string => `${grouped(exercised)} of ${grouped(total)}`;

/** The items of a group, the words of their names under one another. */
function rowsOf({ items }: GroupCoverage): Row[] {
  const widths: number[] = [];
  for (const { words } of items) {
    for (const [column, word] of words.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, columnsOf(word));
    }
  }
  const nameOf = ({ words }: ItemCoverage): string =>
    words.map((word, column) => padded(word, widths[column] ?? 0)).join("  ");
  const rows = items.map((item) => ({ name: nameOf(item), item }));
  return rows.sort((a, b) => Number(a.item.scenarios > 0) - Number(b.item.scenarios > 0));
}

const HEADING = { scenarios: "scenarios", times: "times", first: "first" } as const;

const widthsOf = (rows: readonly Row[]): Widths => ({
  name: Math.max(...rows.map(({ name }) => columnsOf(name))),
  scenarios: Math.max(HEADING.scenarios.length, ...rows.map(({ item }) => grouped(item.scenarios).length)),
  times: Math.max(HEADING.times.length, ...rows.map(({ item }) => grouped(item.times).length)),
});

const headingLine = ({ name, scenarios, times }: Widths): string =>
  `${" ".repeat(INDENT + name)}  ${HEADING.scenarios.padStart(scenarios)}  ${HEADING.times.padStart(times)}  ${HEADING.first}`;

function rowLine({ name, item }: Row, widths: Widths, paint: Paint): string {
  const scenarios = grouped(item.scenarios).padStart(widths.scenarios);
  const times = grouped(item.times).padStart(widths.times);
  const first = item.first === null ? paint.red("never") : oneLine(item.first);
  const mark = markOf(item.first === null ? "failed" : "passed", paint);
  return `  ${mark} ${padded(name, widths.name)}  ${scenarios}  ${times}  ${first}`;
}

/** The scenarios that failed, and why some were skipped: neither exercises anything. */
function troubleLines({ results, failed, skipped }: SuiteResult, paint: Paint): string[] {
  const reasons = new Set(results.flatMap(({ reason }) => (reason === null ? [] : [oneLine(reason)])));
  return [
    ...(failed === 0 ? [] : [...failedLines(results, paint), ""]),
    ...(skipped === 0
      ? []
      : [paint.yellow(`${count(skipped, "scenario")} skipped: ${[...reasons].join("; ")}`), ""]),
  ];
}

/** Of the document; a change that a reader could stumble over raises it. */
const VERSION = 1;

/** The same figures for a program: one JSON value, its keys always in the same order. */
export function coverageDocument({ groups, suite }: Coverage): object {
  const those = (status: ScenarioResult["status"]): readonly ScenarioResult[] =>
    suite.results.filter((result) => result.status === status);
  return {
    version: VERSION,
    ...shareOf(groups),
    scenarios: { passed: suite.passed, failed: suite.failed, skipped: suite.skipped },
    groups: groups.map((group) => ({
      name: group.name,
      ...shareOf([group]),
      items: group.items.map(({ words, scenarios, times, first }) => ({
        name: words.join(" "),
        scenarios,
        times,
        first,
      })),
    })),
    failed: those("failed").map(({ file, name, failure }) => ({
      file,
      name,
      message: failure?.message ?? null,
      repeat: failure?.repeat ?? null,
    })),
    skipped: those("skipped").map(({ file, name, reason }) => ({ file, name, reason })),
  };
}
