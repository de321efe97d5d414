import { placeText } from "../language/problem.ts";
import type { ScenarioResult, SuiteResult } from "../run/result.ts";
import { columnsOf, endOf, hung, padded, WIDTH, wrapped } from "./columns.ts";
import { count, durationText, grouped } from "./figures.ts";
import { byFolder, countOf, durationOf } from "./folder.ts";
import type { Paint } from "./paint.ts";
import { oneLine, title, visible } from "./printable.ts";
import type { ReporterOptions, SuitePlan } from "./reporter.ts";
import { INDENT, marked, markOf } from "./scenario-lines.ts";

/** Columns that a folder's name fills at most. */
const FOLDER_WIDTH = 36;
const STATUSES = ["passed", "failed", "skipped"] as const;

/** A table of the folders: what passed, failed and was skipped in each; then why scenarios were skipped. */
export function folderLines(results: readonly ScenarioResult[], paint: Paint): string[] {
  const rows = [...byFolder(results)].map(([folder, own]) => {
    const numbers = STATUSES.map((status) => countOf(own, status));
    const status = (numbers[1] ?? 0) > 0 ? "failed" : (numbers[0] ?? 0) > 0 ? "passed" : "skipped";
    const cells = numbers.map((number, index) =>
      number === 0 ? "" : `${grouped(number)} ${STATUSES[index]}`,
    );
    return {
      mark: markOf(status, paint),
      folder: endOf(visible(folder), FOLDER_WIDTH),
      cells,
      time: durationText(durationOf(own)),
    };
  });
  const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(columnsOf));
  const folderWidth = widest(rows.map(({ folder }) => folder));
  const cellWidths = STATUSES.map((_status, index) => widest(rows.map(({ cells }) => cells[index] ?? "")));
  const timeWidth = widest(rows.map(({ time }) => time));
  const lines = rows.map(({ mark, folder, cells, time }) => {
    const shown = cells.flatMap((cell, index) => {
      const width = cellWidths[index] ?? 0;
      return width === 0 ? [] : [cell.padStart(width)];
    });
    return `${mark} ${[padded(folder, folderWidth), ...shown, paint.dim(time.padStart(timeWidth))].join("  ")}`;
  });
  return [...lines, ...skippedLines(results, paint)];
}

function skippedLines(results: readonly ScenarioResult[], paint: Paint): string[] {
  const reasons = new Map<string, number>();
  for (const { status, reason } of results) {
    if (status !== "skipped") continue;
    const text = oneLine(reason ?? "");
    reasons.set(text, (reasons.get(text) ?? 0) + 1);
  }
  if (reasons.size === 0) return [];
  const lines = [...reasons].flatMap(([reason, number]) =>
    hung("  ", `${grouped(number)} skipped${reason === "" ? "" : `: ${reason}`}`, WIDTH),
  );
  return ["", ...lines.map(paint.yellow)];
}

/** The names of what failed, each with its place. */
export function failedLines(results: readonly ScenarioResult[], paint: Paint): string[] {
  const failed = results.filter(({ status }) => status === "failed");
  if (failed.length === 0) return [];
  const lines = failed.flatMap(({ name, place, failure }) => [
    ...marked("failed", wrapped(title(name), WIDTH - INDENT), paint),
    `${" ".repeat(INDENT)}${paint.dim(oneLine(placeText(failure?.place ?? place)))}`,
  ]);
  return [paint.bold("failed"), ...lines];
}

/** Counts, wall time, seed, and how to repeat all of it. */
export function totalLines(
  suite: SuiteResult,
  plan: SuitePlan,
  { seed, repeat, paint }: Pick<ReporterOptions, "seed" | "repeat" | "paint">,
): string[] {
  const { results, passed, failed, skipped, durationMs } = suite;
  const counts = [
    ...(passed === 0 ? [] : [paint.green(`${grouped(passed)} passed`)]),
    ...(failed === 0 ? [] : [paint.red(`${grouped(failed)} failed`)]),
    ...(skipped === 0 ? [] : [paint.yellow(`${grouped(skipped)} skipped`)]),
  ];
  const of = `${count(results.length, "scenario")} in ${count(plan.files, "file")}`;
  const missing = plan.scenarios - results.length;
  if (missing > 0) counts.push(`${grouped(missing)} not run`);
  const written = results.reduce((sum, result) => sum + result.written.length, 0);
  const seeds = seed === null ? "each scenario its own seed" : `seed ${oneLine(seed)}`;
  return [
    counts.length === 0 ? of : `${of}: ${counts.join(", ")}`,
    ...(written === 0 ? [] : [`wrote ${count(written, "file")}`]),
    `in ${durationText(durationMs)} · ${seeds}`,
    `${paint.dim("repeat")}  ${oneLine(repeat)}`,
  ];
}
