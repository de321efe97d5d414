import { grouped } from "../scenario/report/text.ts";
import type { Given } from "../setting.ts";

/** How far some work is. */
export interface Counts {
  readonly done: number;
  /** How much there is to do; 0 where nobody knows. */
  readonly total: number;
}

/** Reports the progress of a command. */
export interface Progress {
  update(counts: Counts): void;
  /** Removes the line for good. */
  end(): void;
}

export const NO_PROGRESS: Progress = { update: () => {}, end: () => {} };

/** What work takes long, and what it counts. */
export interface Busy {
  readonly what: string;
  readonly unit?: string;
}

/** Whether a person sees what is written to a stream: at a terminal, not in the log of a CI job. */
export const isWatched = (
  environment: Given["environment"],
  { isTTY }: Pick<NodeJS.WriteStream, "isTTY"> = process.stderr,
): boolean => isTTY === true && environment.TERM !== "dumb" && (environment.CI ?? "") === "";

const BAR = 20;

/**
 * `running scenarios  [=====               ]  25 %  70 of 281 scenarios  3 s`, cut to so many columns.
 * @param ms since the work began
 */
export function progressText(
  { what, unit = "" }: Busy,
  { done, total }: Counts,
  ms: number,
  columns: number,
): string {
  const seconds = `${Math.floor(ms / 1000)} s`;
  const parts = [what];
  if (total > 0) {
    const share = Math.min(1, done / total);
    parts.push(`[${"=".repeat(Math.floor(share * BAR)).padEnd(BAR)}]`);
    parts.push(
      `${Math.floor(share * 100)} %`.padStart(5),
      `${grouped(done)} of ${grouped(total)} ${unit}`.trimEnd(),
    );
  } else if (done > 0) parts.push(`${grouped(done)} ${unit}`.trimEnd());
  // A line as wide as the terminal would go on in the next.
  return [...parts, seconds].join("  ").slice(0, Math.max(0, columns - 1));
}
