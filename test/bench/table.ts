import { arch, cpus, loadavg, platform, totalmem } from "node:os";
import type { Section, SectionReport } from "./section.ts";

/** Machine of a measurement. */
interface Machine {
  readonly processor: string;
  readonly processors: number;
  readonly memoryGiB: number;
  readonly system: string;
  readonly node: string;
  readonly v8: string;
  /** Load average of the last minute; above 0 before a run, other processes disturb it. */
  readonly load: number;
}

/** Describes the machine of this process. */
export function machine(): Machine {
  const processors = cpus();
  return {
    processor: processors[0]?.model.trim() ?? "unknown",
    processors: processors.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${arch()}`,
    node: process.version,
    v8: process.versions.v8,
    load: loadavg()[0] as number,
  };
}

/** Formats rows as a table; the first two columns are left-aligned, figures right-aligned. */
export function alignedTable(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    });
  }
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => {
        const width = widths[column] as number;
        return column < 2 ? cell.padEnd(width) : cell.padStart(width);
      })
      .join("  ")
      .trimEnd();
  return rows.map(line).join("\n");
}

/** Formats a figure with three significant digits: 0.0712, 24.6, 1,230. */
export function readable(figure: number): string {
  return figure.toLocaleString("en-US", { maximumSignificantDigits: 3 });
}

/** Formats the machine on one line. */
export function machineLine(where: Machine): string {
  return (
    `${where.processor}, ${where.processors} processors, ${where.memoryGiB} GiB, ${where.system}, ` +
    `node ${where.node.slice(1)} (V8 ${where.v8}), load ${where.load.toFixed(1)} at the start`
  );
}

/** Formats the results of a section. */
export function sectionText(section: Section, report: SectionReport): string {
  const head = ["workload", "subject", report.unit, "lowest", "highest", "ratio"];
  const rows = report.measurements.map((each) => [
    each.workload,
    each.subject,
    readable(each.median),
    readable(each.lowest),
    readable(each.highest),
    each.ratio === null ? "" : readable(each.ratio),
  ]);
  return [
    `${section.name}: ${section.about}`,
    alignedTable([head, ...rows]),
    baselineText(report),
    ...report.notes,
  ].join("\n");
}

/** Describes the rounds and the baseline. */
export function baselineText({ rounds, baseline }: SectionReport): string {
  const medians = rounds === 1 ? "One round" : `Medians of ${rounds} rounds`;
  return `${medians}${baseline === null ? "" : `; ratio: to ${baseline}`}.`;
}
