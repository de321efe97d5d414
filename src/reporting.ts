import { ApiError } from "./api/errors.ts";
import { type Config, VERSION } from "./config.ts";
import type { OpenedExchange } from "./engine/open-exchange.ts";
import {
  defectOf,
  historyOf,
  type ReportContent,
  ReportTooLong,
  reportBytes,
  reportInPieces,
  saveReport,
} from "./history/report.ts";

/** Makes bug reports of one exchange. */
export class Reporting {
  readonly #opened: OpenedExchange;
  /** The directory that reports of defects are written to; null writes none. */
  readonly #folder: string | null;
  readonly #warn: (message: string) => void;

  constructor(opened: OpenedExchange, { report }: Config, warn: (message: string) => void) {
    this.#opened = opened;
    this.#folder = report;
    this.#warn = warn;
  }

  /** A report, piece by piece. @throws ApiError `SESSION_TOO_LONG` */
  async pieces(reason: string): Promise<Iterable<Uint8Array>> {
    const { persistence, folder } = this.#opened;
    for (;;) {
      const kept = persistence.flush(persistence.position);
      if (kept === undefined) break;
      await kept;
    }
    try {
      return reportInPieces(this.#content(reason));
    } catch (error) {
      if (!(error instanceof ReportTooLong)) throw error;
      throw new ApiError("SESSION_TOO_LONG", error.message, {
        hint:
          folder === null
            ? "POST /sim/reset begins a new session, which can be reported"
            : `clobsim report ${folder.path} writes it to a file`,
      });
    }
  }

  /** Writes the report of a defect; that it cannot be written harms nothing else. */
  defect(error: unknown, reason: string): void {
    const folder = this.#folder;
    if (folder === null) return;
    const fail = (failure: unknown): void =>
      this.#warn(`no report could be written to ${folder}: ${(failure as Error).message}`);
    try {
      const write = (): void => this.#write(folder, error, reason);
      const { persistence } = this.#opened;
      const kept = persistence.flush(persistence.position);
      if (kept === undefined) write();
      else kept.then(write).catch(fail);
    } catch (failure) {
      fail(failure);
    }
  }

  #write(folder: string, error: unknown, reason: string): void {
    const defect = defectOf(this.#opened.exchange, error);
    const content = this.#content(`${reason}: ${defect.message}`);
    const path = saveReport(folder, "defect", (name) => reportBytes({ ...content, defect }, name));
    this.#warn(`a report of this defect is in ${path}, try clobsim replay ${path}`);
  }

  /** All that was done; all of it is written by now. */
  #content(reason: string): ReportContent {
    const { exchange } = this.#opened;
    const history = historyOf(this.#opened);
    return { history, engine: VERSION, reason, now: exchange.now, hash: exchange.hash, defect: null };
  }
}
