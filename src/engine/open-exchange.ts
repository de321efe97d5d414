import { join } from "node:path";
import type { Config } from "../config.ts";
import type { RefusedRequest } from "../core/refusals.ts";
import { FileRefused, isForbidden, isSystemError } from "../regular-file.ts";
import { ConfigError } from "../setting.ts";
import { VERSION } from "../version.ts";
import { Clock, type ClockSetting } from "./clock.ts";
import { DataFolder, type ExchangeRuntime } from "./data-folder.ts";
import { type Disk, nodeDisk } from "./disk.ts";
import { Exchange, type Snapshot } from "./exchange.ts";
import { JOURNAL_FILE } from "./files.ts";
import { DataFileError, noPersistence, type Persistence, PersistenceError, SessionLog } from "./journal.ts";
import { FORMAT, type OpeningData } from "./journal-line.ts";
import { loadOrigin, type Origin, originOfJournal, requireSameOrigin, restartAt } from "./origin.ts";

/** An exchange that is ready for use. */
export type OpenedExchange = ReturnType<typeof opened>;

/** Called with problems that are harmless so far. */
export type Warn = (message: string) => void;

/** The disk, and the wall clock in Unix ms. */
const THIS_MACHINE = { disk: nodeDisk, wallNow: Date.now };

/**
 * Opens the configured exchange: from its data directory if that has a journal, else from its origin. `givenOrigin` is
 * an origin to use instead; the directory must be new then.
 * @throws ConfigError, DataFileError, ReplayDiffers
 */
export async function openConfigured(
  config: Config,
  warn: Warn,
  machine = THIS_MACHINE,
  givenOrigin: Origin | null = null,
): Promise<OpenedExchange> {
  const { data, durability, reset } = config;
  const { disk, wallNow } = machine;
  if (data === null)
    return openAtOrigin(config, givenOrigin ?? (await loadOrigin(config, wallNow())), null, wallNow);
  // The world is read before the directory is made, because it may be invalid.
  const first = givenOrigin ?? (hasJournal(disk, data) ? null : await loadOrigin(config, wallNow()));
  try {
    const folder = new DataFolder(disk, data, { durability, reset, wallNow, warn });
    try {
      if (folder.opening === null)
        return openAtOrigin(config, first ?? (await loadOrigin(config, wallNow())), folder, wallNow);
      if (givenOrigin === null) return await openExisting(config, folder, folder.opening, { wallNow, warn });
      throw new ConfigError(
        `${data} already contains an exchange, and --from needs a new directory: name one with --data`,
      );
    } catch (error) {
      await folder.close();
      throw error;
    }
  } catch (error) {
    throw asDataFileError(error, data);
  }
}

/** Whether a directory has a journal; true also if it cannot be listed. */
function hasJournal(disk: Disk, data: string): boolean {
  try {
    return disk.names(data)?.includes(JOURNAL_FILE) === true;
  } catch {
    return true;
  }
}

/** Turns an error of the file system into a message about the data directory. */
export function asDataFileError(error: unknown, data: string): unknown {
  if (error instanceof FileRefused) return new DataFileError("corrupt", `${error.path}: ${error.message}`);
  const isOfSystem = error instanceof Error && "code" in error && "syscall" in error;
  if (!isOfSystem && !(error instanceof PersistenceError)) return error;
  const isOfPath = isForbidden(error) || isSystemError(error, "ELOOP", "ENAMETOOLONG", "EEXIST");
  const remedy = isOfPath ? ": name another directory with --data, or use --ephemeral" : "";
  const what = `${data} cannot be used: ${error.message}${remedy}`;
  return new DataFileError(isOfPath ? "usage" : "disk", what, { cause: error });
}

/**
 * Opens an exchange at its origin: in an empty data directory, or in memory. @throws ConfigError if the origin cannot be
 * played
 */
export function openAtOrigin(
  config: Config,
  origin: Origin,
  folder: DataFolder | null = null,
  wallNow = THIS_MACHINE.wallNow,
): OpenedExchange {
  const session = new SessionLog();
  const exchange = new Exchange(origin.config, origin.start, session);
  const opening = restartAt(origin, exchange);
  const setting = settingOf(config);
  // Whether the clock starts at the wall clock's time.
  const followsWall = config.start === null && setting.mode !== "frozen";
  const runtime = { origin, exchange, session, clock: new Clock(exchange, setting, wallNow, followsWall) };
  if (folder === null) session.begin();
  folder?.begin(runtime, {
    format: FORMAT,
    engine: VERSION,
    config: origin.config,
    start: origin.start,
    clock: { ...setting, followsWall },
    base: origin.base,
    sequence: exchange.sequence,
    hash: exchange.hash,
  });
  runtime.clock.open();
  return opened(runtime, folder, { snapshot: opening, isOrigin: true });
}

async function openExisting(
  config: Config,
  folder: DataFolder,
  opening: OpeningData,
  { wallNow, warn }: { readonly wallNow: () => number; readonly warn: Warn },
): Promise<OpenedExchange> {
  const origin = originOfJournal(opening, join(folder.path, JOURNAL_FILE));
  await requireSameOrigin(config, origin, folder.path, () => loadOrigin(config, wallNow()));
  const session = new SessionLog();
  const exchange = new Exchange(origin.config, origin.start, session);
  const resumed = folder.resume(exchange, origin);
  const { followsWall, ...first } = opening.clock;
  const known = resumed.clock ?? { setting: first, virtual: opening.start, wall: wallNow() };
  const setting = config.given.has("clock") ? settingOf(config) : known.setting;
  // The wall time at which virtual time was what it is now.
  const wall = known.wall + (exchange.now - known.virtual);
  const runtime = { origin, exchange, session, clock: new Clock(exchange, first, wallNow, followsWall) };
  folder.start(runtime, setting, wall);
  // The session begins here: it includes what becomes due while the clock catches up.
  const began = exchange.snapshot();
  runtime.clock.catchUp(setting, known.setting.mode === "real" ? wallNow() - wall : 0);
  for (const warning of resumed.warnings) warn(warning);
  return opened(runtime, folder, { snapshot: began, isOrigin: false });
}

/** `start` is the snapshot at which the session began, and whether that is the origin. */
function opened(
  runtime: ExchangeRuntime,
  folder: DataFolder | null,
  start: { readonly snapshot: Snapshot; readonly isOrigin: boolean },
) {
  const { origin, exchange, session, clock } = runtime;
  let began = start;
  return {
    ...runtime,
    /** Returns a new exchange in the state in which the session began. */
    atSessionStart: () => {
      const another = new Exchange(origin.config, origin.start);
      another.restore(began.snapshot);
      return another;
    },
    /** Whether the session began at the origin: false for a resumed journal, until the exchange is reopened. */
    beganAtOrigin: () => began.isOrigin,
    persistence: (folder ?? noPersistence) as Persistence,
    /** Records a request that was refused now. */
    recordRefused: (request: RefusedRequest) =>
      session.refuse({ sequence: exchange.sequence, at: exchange.now, request }),
    /** Restarts at the origin: state, clock, time. */
    reopen: () => {
      began = { snapshot: restartAt(origin, exchange), isOrigin: true };
      session.begin();
      clock.open();
    },
    /** Its data directory; null if it is in memory only. */
    folder,
    close: async () => folder?.close(),
  };
}

export function settingOf({ clock }: Config): ClockSetting {
  return { mode: clock.mode, rate: clock.mode === "scaled" ? clock.rate : 1 };
}
