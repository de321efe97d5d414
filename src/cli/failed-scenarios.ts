import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { VERSION } from "../config.ts";
import { defectOf, type ReportContent, sessionDeeds } from "../history/report.ts";
import { freeName, saveReport } from "../history/report-file.ts";
import { oneLine } from "../scenario/report/printable.ts";
import type { Failed } from "../scenario/run/run-scenario.ts";
import { shownPath } from "../scenario/run/shown-path.ts";
import type { VenueDeeds } from "../scenario/venue/venue.ts";
import { UsageError } from "./usage-error.ts";

const MOST_REASON = 200;

/** Writes a report of each failed scenario into a directory, and says so. */
export const reportFailedTo =
  (folder: string): Failed =>
  async (venue, { place }, { step, message }) => {
    const file = shownPath(place.file);
    const reason = oneLine(`${file} fails at step ${step}: ${message}`).slice(0, MOST_REASON);
    const deeds = await venue.deeds(reason);
    if (deeds === null) {
      process.stderr.write(`clobsim: no report of ${file}: nobody has kept all that was done\n`);
      return;
    }
    const path = written(folder, basename(place.file).replace(/\.[^.]*$/, ""), reason, deeds);
    process.stderr.write(`clobsim: a report of ${file} is in ${path}, try clobsim replay ${path}\n`);
  };

/** @throws UsageError when it cannot be written. */
function written(folder: string, subject: string, reason: string, deeds: VenueDeeds): string {
  try {
    if (deeds.kind === "session") return saveReport(folder, subject, contentOf(deeds, reason));
    mkdirSync(folder, { recursive: true });
    const path = join(folder, freeName(folder, subject));
    writeFileSync(path, deeds.text, { flag: "wx", mode: 0o600 });
    return path;
  } catch (error) {
    const { code }: Partial<NodeJS.ErrnoException> = error instanceof Error ? error : {};
    if (code === undefined) throw error;
    throw new UsageError(`--report expects a directory that can be written to, found ${folder} (${code})`);
  }
}

function contentOf(
  { world, exchange, opening, entries }: Extract<VenueDeeds, { kind: "session" }>,
  reason: string,
): ReportContent {
  const { thrown, now, hash } = exchange;
  return {
    deeds: sessionDeeds(world, opening, entries),
    engine: VERSION,
    reason,
    now,
    hash,
    defect: thrown === null ? null : defectOf(exchange, thrown.error),
  };
}
