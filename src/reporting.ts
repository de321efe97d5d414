import { ApiError } from "./api/errors.ts";
import { VERSION } from "./config.ts";
import type { Slices } from "./engine/clock.ts";
import { StoreError } from "./engine/journal.ts";
import type { OpenedExchange, Warn } from "./engine/open-exchange.ts";
import {
  defectOf,
  historyOf,
  type ReportContent,
  ReportTooLong,
  reportBytes,
  reportInPieces,
  saveReport,
  verifyHistory,
} from "./history/report.ts";

/** Bug reports of one exchange. */
export interface Reporting {
  /** Returns a report in pieces. @throws ApiError `SESSION_TOO_LONG`, `UNAVAILABLE` if the journal is damaged */
  readonly pieces: (reason: string) => Promise<Iterable<Uint8Array>>;
  /** Writes the report of a defect; warns if it cannot be written. */
  readonly defect: (error: unknown, reason: string) => void;
}

/** `folder` is the directory for reports of defects; null writes none. */
export function reportingOf(
  opened: OpenedExchange,
  folder: string | null,
  slices: Slices,
  warn: Warn,
): Reporting {
  const { exchange, persistence, folder: dataFolder } = opened;
  /** Must be called after the journal is flushed. */
  const contentOf = (reason: string): ReportContent => ({
    ...{ history: historyOf(opened), engine: VERSION, reason },
    ...{ now: exchange.now, hash: exchange.hash, defect: null },
  });
  const write = (into: string, error: unknown, reason: string): void => {
    const defect = defectOf(exchange, error);
    const content = { ...contentOf(`${reason}: ${defect.message}`), defect };
    const path = saveReport(into, "defect", (name) => reportBytes(content, name));
    warn(`a report of this defect is in ${path}, try clobsim replay ${path}`);
  };
  return {
    pieces: async (reason) => {
      for (;;) {
        const flushed = persistence.flush(persistence.position);
        if (flushed === undefined) break;
        await flushed;
      }
      try {
        const content = contentOf(reason);
        await slices.run(verifyHistory(content.history));
        return reportInPieces(content);
      } catch (error) {
        const copying = dataFolder === null ? null : `clobsim report ${dataFolder.path} writes`;
        if (error instanceof ReportTooLong) {
          const reset = "POST /sim/reset begins a new session, which can be reported";
          const hint = copying === null ? reset : `${copying} it to a file`;
          throw new ApiError("SESSION_TOO_LONG", error.message, { hint });
        }
        if (!(error instanceof StoreError)) throw error;
        const hint = `${copying} a report of the lines before the damage`;
        throw new ApiError("UNAVAILABLE", error.message, { hint, status: 503 });
      }
    },
    defect: (error, reason) => {
      if (folder === null) return;
      const fail = (failure: unknown): void =>
        warn(`no report could be written to ${folder}: ${(failure as Error).message}`);
      try {
        const flushed = persistence.flush(persistence.position);
        if (flushed === undefined) write(folder, error, reason);
        else flushed.then(() => write(folder, error, reason)).catch(fail);
      } catch (failure) {
        fail(failure);
      }
    },
  };
}
