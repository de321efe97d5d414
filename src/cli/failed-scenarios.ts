import { Buffer } from "node:buffer";
import { basename } from "node:path";
import { VERSION } from "../config.ts";
import { defectOf, type ReportContent, reportBytes, sessionDeeds, withScenario } from "../history/report.ts";
import { saveReport } from "../history/report-file.ts";
import type { Scenario } from "../scenario/language/scenario.ts";
import { oneLine } from "../scenario/report/text.ts";
import { shownPath, sourceFilesOf } from "../scenario/run/files.ts";
import type { Failed } from "../scenario/run/run-scenario.ts";
import type { VenueDeeds } from "../scenario/venue/venue.ts";
import { UsageError } from "./usage-error.ts";

const MOST_REASON = 200;

/** Writes a report of each failed scenario into a directory, and says so. */
export const reportFailedTo =
  (folder: string): Failed =>
  async (venue, scenario, { step, message }) => {
    const { place } = scenario;
    const file = shownPath(place.file);
    const reason = oneLine(`${file} fails at step ${step}: ${message}`).slice(0, MOST_REASON);
    const deeds = await venue.deeds(reason);
    if (deeds === null) {
      process.stderr.write(`clobsim: no report of ${file}: nobody has kept all that was done\n`);
      return;
    }
    const path = written(folder, scenario, reason, deeds);
    process.stderr.write(
      `clobsim: a report of ${file} is in ${path}, try clobsim replay or shrink ${path}\n`,
    );
  };

/** @throws UsageError when it cannot be written. */
function written(folder: string, scenario: Scenario, reason: string, deeds: VenueDeeds): string {
  const subject = basename(scenario.place.file).replace(/\.[^.]*$/, "");
  const sources = sourceFilesOf(scenario);
  try {
    return saveReport(folder, subject, (name) => {
      const report =
        deeds.kind === "session" ? reportBytes(contentOf(deeds, reason), name) : Buffer.from(deeds.text);
      return sources === null ? report : withScenario(report, sources);
    });
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
