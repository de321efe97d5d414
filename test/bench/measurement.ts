import { median } from "./rounds.ts";
import type { Measurement } from "./section.ts";

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
