import { median } from "./rounds.ts";

/** One figure: what a subject does with a workload, over the rounds. */
export interface Measurement {
  readonly workload: string;
  readonly subject: string;
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
  /** The median over that of the section's baseline, or null when there is nothing to compare with. */
  readonly ratio: number | null;
}

/** What a section found. */
export interface SectionReport {
  /** Of median, lowest and highest. */
  readonly unit: string;
  /** What a ratio of 1 is; null when no row has one. */
  readonly baseline: string | null;
  readonly rounds: number;
  readonly measurements: readonly Measurement[];
  /** What a reader must know to read the figures. */
  readonly notes: readonly string[];
}

/** A part of the benchmark that can be asked for by name. */
export interface Section {
  readonly name: string;
  readonly about: string;
  /** @throws Error when an engine answers wrongly: a wrong engine has no speed. */
  measure(rounds: number): SectionReport | Promise<SectionReport>;
}

/** What the rounds of a subject come to; `baseline` is the median that the ratio is to. */
export const measurementOf = (
  workload: string,
  subject: string,
  figures: readonly number[],
  baseline: number | null,
): Measurement => ({
  workload,
  subject,
  median: median(figures),
  lowest: Math.min(...figures),
  highest: Math.max(...figures),
  ratio: baseline === null ? null : median(figures) / baseline,
});
