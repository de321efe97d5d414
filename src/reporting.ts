import { ApiError } from "./api/errors.ts";
import { VERSION } from "./config.ts";
import type { OpenedExchange, Warn } from "./engine/open-exchange.ts";
import {
  defectOf,
  historyOf,
  type ReportContent,
  ReportTooLong,
  reportBytes,
  reportInPieces,
  saveReport,
} from "./history/report.ts";

/** Bug reports of one exchange. */
export interface Reporting {
  /** A report, piece by piece. @throws ApiError `SESSION_TOO_LONG` */
  readonly pieces: (reason: string) => Promise<Iterable<Uint8Array>>;
  /** Writes the report of a defect; that it cannot be written harms nothing else. */
  readonly defect: (error: unknown, reason: string) => void;
}

/** `defects` is the directory that reports of defects are written to; null writes none. */
export function reportingOf(opened: OpenedExchange, defects: string | null, warn: Warn): Reporting {
  const { exchange, persistence, folder } = opened;
  /** All that was done; all of it is written by now. */
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
        const kept = persistence.flush(persistence.position);
        if (kept === undefined) break;
        await kept;
      }
      try {
        return reportInPieces(contentOf(reason));
      } catch (error) {
        if (!(error instanceof ReportTooLong)) throw error;
        const reset = "POST /sim/reset begins a new session, which can be reported";
        const hint = folder === null ? reset : `clobsim report ${folder.path} writes it to a file`;
        throw new ApiError("SESSION_TOO_LONG", error.message, { hint });
      }
    },
    defect: (error, reason) => {
      if (defects === null) return;
      const fail = (failure: unknown): void =>
        warn(`no report could be written to ${defects}: ${(failure as Error).message}`);
      try {
        const kept = persistence.flush(persistence.position);
        if (kept === undefined) write(defects, error, reason);
        else kept.then(() => write(defects, error, reason)).catch(fail);
      } catch (failure) {
        fail(failure);
      }
    },
  };
}
