import { columnsOf, padded } from "../report/columns.ts";
import { count, decimalText, grouped } from "../report/figures.ts";
import type { Paint } from "../report/paint.ts";
import { oneLine } from "../report/printable.ts";
import { INDENT, markOf } from "../report/scenario-lines.ts";
import { failedLines } from "../report/summary-lines.ts";
import type { SuiteResult } from "../run/result.ts";
import { type Coverage, type GroupCoverage, type ItemCoverage, type Share, shareOf } from "./coverage.ts";

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
