import { readFileSync, writeFileSync } from "node:fs";
import { arch, cpus, loadavg, platform, totalmem } from "node:os";
import { aligned } from "../../src/scenario/report/text.ts";
import { inCheckout } from "./programs.ts";
import type { Results, Section } from "./rounds.ts";

/** Describes the machine of this process. */
export function machine() {
  const processors = cpus();
  return {
    processor: processors[0]?.model.trim() ?? "unknown",
    processors: processors.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${arch()}`,
    node: process.version,
    v8: process.versions.v8,
    /** Load average of the last minute; above 0 before a run, other processes disturb it. */
    load: loadavg()[0] as number,
  };
}

/** Formats the machine on one line. */
export const machineLine = (where: ReturnType<typeof machine>): string =>
  `${where.processor}, ${where.processors} processors, ${where.memoryGiB} GiB, ${where.system}, ` +
  `node ${where.node.slice(1)} (V8 ${where.v8}), load ${where.load.toFixed(1)} at the start`;

/** Formats a figure with three significant digits: 0.0712, 24.6, 1,230. */
export const readable = (figure: number): string =>
  figure.toLocaleString("en-US", { maximumSignificantDigits: 3 });

/** Formats a count: 1,234. */
export const whole = (count: number): string => count.toLocaleString("en-US");

/** What was measured of a section. */
export interface Report extends Results, Pick<Section, "unit" | "baseline"> {
  readonly rounds: number;
}

const ratioText = (ratio: number | null): string => (ratio === null ? "" : readable(ratio));

/** Formats the results of a section. */
export function sectionText({ name, about }: Pick<Section, "name" | "about">, report: Report): string {
  const head = ["workload", "subject", report.unit, "lowest", "highest", "ratio"];
  const rows = report.measurements.map(({ workload, subject, median, lowest, highest, ratio }) => [
    ...[workload, subject, readable(median), readable(lowest), readable(highest), ratioText(ratio)],
  ]);
  const lines = aligned([head, ...rows], (column) => column >= 2).map((cells) => cells.join("  ").trimEnd());
  return [`${name}: ${about}`, ...lines, baselineText(report), ...report.notes].join("\n");
}

/** Describes the rounds and the baseline. */
function baselineText({ rounds, baseline }: Report): string {
  const medians = rounds === 1 ? "One round" : `Medians of ${rounds} rounds`;
  return `${medians}${baseline === null ? "" : `; ratio: to ${baseline}`}.`;
}

/** Sections of the page in the guide. */
export const PAGE_SECTIONS = ["book", "peers"];
const PAGE = "docs/guide/benchmarks.md";
const MEASURED = /(<!-- measured -->\n)[\s\S]*(<!-- \/measured -->)/;

/** Writes the results into the guide. */
export function writePage(where: string, reports: ReadonlyMap<Section, Report>): void {
  const parts = [...reports].map(([section, report]) => markdownOf(section, report));
  const content = [`Measured on: ${where}.`, ...parts].join("\n\n");
  const page = readFileSync(inCheckout(PAGE), "utf8");
  const written = page.replace(MEASURED, (_all, begin, end) => `${begin}\n${content}\n\n${end}`);
  writeFileSync(inCheckout(PAGE), written);
}

function markdownOf({ about }: Section, report: Report): string {
  const rows = report.measurements.map(({ workload, subject, median, ratio }) =>
    [workload, subject, readable(median), ratioText(ratio)].join(" | "),
  );
  return [
    `## ${about.charAt(0).toUpperCase()}${about.slice(1)}`,
    "",
    `| workload | subject | ${report.unit} | ratio |`,
    "|---|---|--:|--:|",
    ...rows.map((row) => `| ${row} |`),
    "",
    [baselineText(report), ...report.notes].join(" "),
  ].join("\n");
}
