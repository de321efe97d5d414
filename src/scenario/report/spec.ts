import { placeText, problemText, wrongFilesText } from "../language/page.ts";
import type { DiffLine, Failure, RaceReport, ScenarioResult, SuiteResult } from "../run/result.ts";
import {
  aligned,
  count,
  durationText,
  endOf,
  grouped,
  hung,
  indented,
  type MakeReporter,
  oneLine,
  type Paint,
  type ReporterOptions,
  type SuitePlan,
  title,
  visible,
  WIDTH,
  wrapped,
} from "./text.ts";

/** In larger suites, passed scenarios are only counted. */
const MAX_LISTED = 200;

/** The report for terminals: a line for each scenario under its folder, failures in full, totals at the end. */
export const specReporter: MakeReporter = (options) => {
  const { write, paint, width, verbose } = options;
  let plan: SuitePlan = { scenarios: 0, files: 0 };
  let folder: string | null = null;
  let isAfterBlank = true;
  const isSummed = (): boolean => !verbose && plan.scenarios > MAX_LISTED;
  /** Writes lines, without blank lines at the beginning or several in a row. */
  const print = (lines: readonly string[]): void => {
    const kept: string[] = [];
    for (const line of lines) {
      if (line !== "" || !isAfterBlank) kept.push(`${line}\n`);
      isAfterBlank = line === "";
    }
    if (kept.length > 0) write(kept.join(""));
  };
  return {
    started: (given) => {
      plan = given;
    },
    finished: (result) => {
      if (isSummed() && result.status !== "failed") return;
      const own = folderOf(result.file);
      const heading = own === folder ? [] : ["", paint.bold(endOf(visible(own), width))];
      folder = own;
      print([...heading, ...scenarioLines(result, paint, width - INDENT)]);
    },
    ended: (suite) => {
      if (isSummed()) print(["", ...folderLines(suite.results, paint)]);
      print(["", ...failedLines(suite.results, paint, width)]);
      print(["", ...totalLines(suite, plan, options)]);
    },
    wrong: (files) => {
      const lines = files.flatMap(({ problems }) => problems.map(problemText));
      print([...lines.map(oneLine), "", wrongFilesText(files)]);
    },
  };
};

/** Columns before the name and the details of a scenario. */
export const INDENT = 4;

export function markOf(status: ScenarioResult["status"], paint: Paint): string {
  if (status === "passed") return paint.green("✓");
  return status === "failed" ? paint.red("✗") : paint.yellow("-");
}

const marked = (status: ScenarioResult["status"], lines: readonly string[], paint: Paint): string[] =>
  lines.map((line, index) => `  ${index === 0 ? markOf(status, paint) : " "} ${line}`);

function headLines({ name, status, reason, durationMs }: ScenarioResult, paint: Paint, width: number) {
  if (status === "skipped") {
    const why = reason === null ? "skipped" : `skipped: ${oneLine(reason)}`;
    return wrapped(`${title(name)}  ${why}`, width);
  }
  const duration = durationText(durationMs);
  const lines = wrapped(title(name), width - duration.length - 2);
  return [...lines.slice(0, -1), `${lines.at(-1)}  ${paint.dim(duration)}`];
}

/** Returns the line of a scenario, then its races, the files it wrote, and its failure between blank lines. */
function scenarioLines(result: ScenarioResult, paint: Paint, width: number): string[] {
  const { status, races, written, failure } = result;
  const details = [
    ...races.flatMap((race) => raceLines(race, paint, width)),
    ...written.flatMap((file) => hung("wrote ", oneLine(file), width)),
    ...(failure === null ? [] : ["", ...failureLines(failure, paint, width), ""]),
  ];
  return [...marked(status, headLines(result, paint, width), paint), ...indented(details, INDENT)];
}

export const DIFF_MARKS: Readonly<Record<DiffLine["kind"], string>> = {
  same: " ",
  expected: "-",
  found: "+",
  note: "#",
};

function diffLines(diff: readonly DiffLine[], paint: Paint, width: number): string[] {
  const paints: Readonly<Record<DiffLine["kind"], (line: string) => string>> = {
    same: (line) => line,
    expected: paint.red,
    found: paint.green,
    note: paint.dim,
  };
  return diff.flatMap(({ kind, text }) => {
    const lines = hung(`${DIFF_MARKS[kind]} `, visible(text), width);
    return lines.map((line) => (line === "" ? "" : paints[kind](line)));
  });
}

/** Returns the lines of a failure. Its place and its command are not wrapped, so that they can be copied. */
export function failureLines(failure: Failure, paint: Paint, width: number): string[] {
  const { place, step, text, message, diff, recent, repeat } = failure;
  const part = (lines: readonly string[]): string[] => (lines.length === 0 ? [] : ["", ...lines]);
  const events = recent.flatMap((line) => hung("", visible(line), width - 2));
  return [
    paint.bold(oneLine(placeText(place))),
    ...hung(`step ${step}  `, oneLine(text), width),
    ...wrapped(oneLine(message), width).map(paint.red),
    ...part(indented(diffLines(diff, paint, width - 2), 2)),
    ...part(events.length === 0 ? [] : [paint.dim("what happened last"), ...indented(events, 2)]),
    ...part([`${paint.dim("repeat")}  ${oneLine(repeat)}`]),
  ];
}

const MAX_SHOWN = 12;

/** Returns `2 orders, 2 outcomes`, then for each outcome the first order that led to it, and its summary. */
function raceLines({ step, outcomes }: RaceReport, paint: Paint, width: number): string[] {
  const groups = [...groupsOf(outcomes, ({ after }) => JSON.stringify(after)).values()];
  const shown = groups.slice(0, MAX_SHOWN);
  const digits = String(shown.length).length;
  const lines = shown.flatMap((orders, index) => {
    const room = width - digits - 4;
    const [first] = orders;
    const orderLines = (first?.lines ?? []).flatMap((line) => hung("", visible(line), room));
    if (orders.length > 1)
      orderLines.push(paint.dim(`and the same after ${count(orders.length - 1, "other order")}`));
    const after = (first?.after ?? []).flatMap((line) => hung("= ", visible(line), room).map(paint.dim));
    const number = String(index + 1).padStart(digits);
    return [...orderLines, ...after].map((line, at) =>
      `  ${at === 0 ? number : " ".repeat(digits)}  ${line}`.trimEnd(),
    );
  });
  const more = groups.length - shown.length;
  const rest = `  and ${count(more, "more outcome")}: the json report lists them all`;
  const counts = `${count(outcomes.length, "order")}, ${count(groups.length, "outcome")}`;
  return [`race at step ${step}: ${counts}`, ...lines, ...(more > 0 ? [rest] : [])];
}

const FOLDER_WIDTH = 36;
const STATUSES = ["passed", "failed", "skipped"] as const;

/** Returns a table of the counts of each folder, then why scenarios were skipped. */
function folderLines(results: readonly ScenarioResult[], paint: Paint): string[] {
  const folders = [...byFolder(results)];
  const cells = folders.map(([folder, own]) => [
    endOf(visible(folder), FOLDER_WIDTH),
    ...STATUSES.map((status) => {
      const number = countOf(own, status);
      return number === 0 ? "" : `${grouped(number)} ${status}`;
    }),
    durationText(durationOf(own)),
  ]);
  const lines = aligned(cells, (column) => column >= 1).map((row, index) => {
    const own = folders[index]?.[1] ?? [];
    const status = (["failed", "passed"] as const).find((each) => countOf(own, each) > 0) ?? "skipped";
    return `${markOf(status, paint)} ${[...row.slice(0, -1), paint.dim(row.at(-1) ?? "")].join("  ")}`;
  });
  return [...lines, ...skippedLines(results, paint)];
}

function skippedLines(results: readonly ScenarioResult[], paint: Paint): string[] {
  const skipped = results.filter(({ status }) => status === "skipped");
  const reasons = groupsOf(skipped, ({ reason }) => oneLine(reason ?? ""));
  const lines = [...reasons].flatMap(([reason, { length }]) =>
    hung("  ", `${grouped(length)} skipped${reason === "" ? "" : `: ${reason}`}`, WIDTH),
  );
  return lines.length === 0 ? [] : ["", ...lines.map(paint.yellow)];
}

export function failedLines(results: readonly ScenarioResult[], paint: Paint, width = WIDTH): string[] {
  const failed = results.filter(({ status }) => status === "failed");
  if (failed.length === 0) return [];
  const lines = failed.flatMap(({ name, place, failure }) => [
    ...marked("failed", wrapped(title(name), width - INDENT), paint),
    `${" ".repeat(INDENT)}${paint.dim(oneLine(placeText(failure?.place ?? place)))}`,
  ]);
  return [paint.bold("failed"), ...lines];
}

/** Returns counts, wall time, seed, and the command that repeats the suite. */
function totalLines(suite: SuiteResult, plan: SuitePlan, options: ReporterOptions): string[] {
  const { seed, repeat, paint } = options;
  const { results, passed, failed, skipped, durationMs } = suite;
  const of = `${count(results.length, "scenario")} in ${count(plan.files, "file")}`;
  const { times = 1 } = plan;
  const missing = plan.scenarios - results.length;
  const counts = [
    ...(passed === 0 ? [] : [paint.green(`${grouped(passed)} passed`)]),
    ...(failed === 0 ? [] : [paint.red(`${grouped(failed)} failed`)]),
    ...(skipped === 0 ? [] : [paint.yellow(`${grouped(skipped)} skipped`)]),
    ...(missing > 0 ? [`${grouped(missing)} not run`] : []),
  ];
  const written = results.reduce((sum, result) => sum + result.written.length, 0);
  const seeds = seed === null ? "each scenario its own seed" : `seed ${oneLine(seed)}`;
  const repeats = `each passed scenario was run ${grouped(times)} times with equal results`;
  return [
    counts.length === 0 ? of : `${of}: ${counts.join(", ")}`,
    ...(times === 1 || passed === 0 ? [] : [repeats]),
    ...(written === 0 ? [] : [`wrote ${count(written, "file")}`]),
    `in ${durationText(durationMs)} · ${seeds}`,
    `${paint.dim("repeat")}  ${oneLine(repeat)}`,
  ];
}

/** Returns the folder of a file with a trailing separator, or `./`. */
export const folderOf = (file: string): string =>
  file.slice(0, Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\")) + 1) || "./";

/** Groups items by a text; groups and items keep their order. */
function groupsOf<Item>(items: readonly Item[], textOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(textOf(item)) ?? [];
    groups.set(textOf(item), group);
    group.push(item);
  }
  return groups;
}

export const byFolder = (results: readonly ScenarioResult[]): Map<string, ScenarioResult[]> =>
  groupsOf(results, ({ file }) => folderOf(file));

/** Returns the total in milliseconds. */
export const durationOf = (results: readonly ScenarioResult[]): number =>
  results.reduce((sum, { durationMs }) => sum + durationMs, 0);

export const countOf = (results: readonly ScenarioResult[], status: ScenarioResult["status"]): number =>
  results.filter((result) => result.status === status).length;
