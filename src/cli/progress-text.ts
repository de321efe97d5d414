import { grouped } from "../scenario/report/text.ts";
import type { Given } from "../setting.ts";

/** Progress of a command. */
export interface Counts {
  readonly done: number;
  /** 0 if unknown. */
  readonly total: number;
}

/** Reports the progress of a command. */
export interface Progress {
  update(counts: Counts): void;
  /** Removes the line and draws no other. */
  end(): void;
}

export const NO_PROGRESS: Progress = { update: () => {}, end: () => {} };

/** Description of a command that takes long, and the unit that it counts. */
export interface Busy {
  readonly what: string;
  readonly unit?: string;
}

/** Whether a stream is an interactive terminal, not the log of a CI job. */
export const isInteractive = (
  environment: Given["environment"],
  { isTTY }: Pick<NodeJS.WriteStream, "isTTY"> = process.stderr,
): boolean => isTTY === true && environment.TERM !== "dumb" && (environment.CI ?? "") === "";

const BAR_WIDTH = 20;

/**
 * Formats `running scenarios  [=====               ]  25 %  70 of 281 scenarios  3 s`, truncated to the terminal's width.
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
    parts.push(`[${"=".repeat(Math.floor(share * BAR_WIDTH)).padEnd(BAR_WIDTH)}]`);
    parts.push(
      `${Math.floor(share * 100)} %`.padStart(5),
      `${grouped(done)} of ${grouped(total)} ${unit}`.trimEnd(),
    );
  } else if (done > 0) parts.push(`${grouped(done)} ${unit}`.trimEnd());
  // A line as wide as the terminal would wrap.
  return [...parts, seconds].join("  ").slice(0, Math.max(0, columns - 1));
}
