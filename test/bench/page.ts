import { readFileSync, writeFileSync } from "node:fs";
import { inCheckout } from "./programs.ts";
import type { Section, SectionReport } from "./section.ts";
import { baselineText, readable } from "./table.ts";

/** Sections of the page in the guide. */
export const PAGE_SECTIONS = ["book", "peers"];
const PAGE = "docs/guide/benchmarks.md";
const MEASURED = /(<!-- measured -->\n)[\s\S]*(<!-- \/measured -->)/;

/** Writes the results into the guide. */
export function writePage(where: string, measured: ReadonlyMap<Section, SectionReport>): void {
  const path = inCheckout(PAGE);
  const parts = [...measured].map(([section, report]) => markdownOf(section, report));
  const content = [`Measured on: ${where}.`, ...parts].join("\n\n");
  writeFileSync(
    path,
    readFileSync(path, "utf8").replace(MEASURED, (_all, begin, end) => `${begin}\n${content}\n\n${end}`),
  );
}

function markdownOf(section: Section, report: SectionReport): string {
  const rows = report.measurements.map(({ workload, subject, median, ratio }) =>
    [workload, subject, readable(median), ratio === null ? "" : readable(ratio)].join(" | "),
  );
  return [
    `## ${section.about.charAt(0).toUpperCase()}${section.about.slice(1)}`,
    "",
    `| workload | subject | ${report.unit} | ratio |`,
    "|---|---|--:|--:|",
    ...rows.map((row) => `| ${row} |`),
    "",
    [baselineText(report), ...report.notes].join(" "),
  ].join("\n");
}
