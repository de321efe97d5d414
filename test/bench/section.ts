import { median } from "./rounds.ts";

/** Result of one subject with one workload, over all rounds. */
export interface Measurement {
  readonly workload: string;
  readonly subject: string;
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
  /** Median divided by that of the baseline; null if there is no baseline. */
  readonly ratio: number | null;
}

/** Results of a section. */
export interface SectionReport {
  /** Unit of median, lowest and highest. */
  readonly unit: string;
  /** Subject with ratio 1; null if no row has a ratio. */
  readonly baseline: string | null;
  readonly rounds: number;
  readonly measurements: readonly Measurement[];
  /** Notes about how to read the figures. */
  readonly notes: readonly string[];
}

/** Part of the benchmark, selected by name. */
export interface Section {
  readonly name: string;
  readonly about: string;
  /** @throws Error if a subject gives wrong results. */
  measure(rounds: number): SectionReport | Promise<SectionReport>;
}

/** Summarizes the rounds of a subject; `baseline` is the median with ratio 1. */
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
