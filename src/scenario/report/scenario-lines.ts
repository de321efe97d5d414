import type { ScenarioResult } from "../run/result.ts";
import { hung, indented, WIDTH, wrapped } from "./columns.ts";
import { failureLines } from "./failure-lines.ts";
import { durationText } from "./figures.ts";
import type { Paint } from "./paint.ts";
import { oneLine, title } from "./printable.ts";
import { raceLines } from "./race-lines.ts";

/** Columns before a scenario's name, and before what belongs to it. */
export const INDENT = 4;

/** What stands before a scenario, or a folder of them. */
export function markOf(status: ScenarioResult["status"], paint: Paint): string {
  if (status === "passed") return paint.green("✓");
  return status === "failed" ? paint.red("✗") : paint.yellow("-");
}

/** The lines of a name, the mark before the first. */
export const marked = (status: ScenarioResult["status"], lines: readonly string[], paint: Paint): string[] =>
  lines.map((line, index) => `  ${index === 0 ? markOf(status, paint) : " "} ${line}`);

function headLines(
  { name, status, reason, durationMs }: ScenarioResult,
  paint: Paint,
  width: number,
): string[] {
  if (status === "skipped") {
    const why = reason === null ? "skipped" : `skipped: ${oneLine(reason)}`;
    return wrapped(`${title(name)}  ${why}`, width);
  }
  const duration = durationText(durationMs);
  const lines = wrapped(title(name), width - duration.length - 2);
  return [...lines.slice(0, -1), `${lines.at(-1)}  ${paint.dim(duration)}`];
}

/** A scenario's own line, and what belongs to it: its races, the files it wrote, its failure between blank lines. */
export function scenarioLines(result: ScenarioResult, paint: Paint): string[] {
  const width = WIDTH - INDENT;
  const { status, races, written, failure } = result;
  const belongings = [
    ...races.flatMap((race) => raceLines(race, paint, width)),
    ...written.flatMap((file) => hung("wrote ", oneLine(file), width)),
    ...(failure === null ? [] : ["", ...failureLines(failure, paint, width), ""]),
  ];
  return [...marked(status, headLines(result, paint, width), paint), ...indented(belongings, INDENT)];
}
