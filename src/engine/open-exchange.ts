import { join } from "node:path";
import { type Config, VERSION } from "../config.ts";
import type { RefusedRequest } from "../core/refusals.ts";
import { Clock, type ClockSetting } from "../engine/clock.ts";
import { DataFolder, type Resumed, type Start } from "../engine/data-folder.ts";
import { type Disk, nodeDisk } from "../engine/disk.ts";
import { Exchange } from "../engine/exchange.ts";
import { JOURNAL_FILE } from "../engine/files.ts";
import { type Keeper, NotKeptError, noJournal, noKeeper } from "../engine/journal.ts";
import type { JournalEnd } from "../engine/journal-end.ts";
import { FORMAT, type OpeningData } from "../engine/journal-line.ts";
import { BEGINNING } from "../engine/journal-scan.ts";
import { SessionLog } from "../engine/session-log.ts";
import { StoreError } from "../engine/store-error.ts";
import { TeeJournal } from "../engine/tee-journal.ts";
import { FileRefused } from "../regular-file.ts";
import { ConfigError } from "../setting.ts";
import { KeptExchange } from "./kept-exchange.ts";
import { loadOrigin } from "./load-origin.ts";
import { demandSameOrigin, type Origin, originOf } from "./origin.ts";

/** What keeps an exchange on disk. */
export interface Keeping {
  /** The directory. */
  readonly path: string;
  /** What has come of what it had kept; null of a new one. */
  readonly resumed: Resumed | null;
  /** What `--reset` has removed. */
  readonly removed: readonly string[];
  /** Why nothing more is accepted; null while all is well. */
  readonly broken: () => NotKeptError | null;
  /** Where the journal's lines end, all of which are kept; null once it is broken. */
  readonly end: () => JournalEnd | null;
}

/** An exchange that is ready to be used. */
export interface OpenedExchange {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly origin: Origin;
  /** What was done since this program has opened it. */
  readonly session: SessionLog;
  /** A new exchange that stands where the session began. */
  readonly atSessionStart: () => Exchange;
  readonly keeper: Keeper;
  /** Notes a request that was refused now. */
  readonly noteRefused: (request: RefusedRequest) => void;
  /** Goes back to the origin: state, clock, time. */
  readonly reopen: () => void;
  /** Null of one that nothing keeps. */
  readonly keeping: Keeping | null;
  readonly close: () => Promise<void>;
}

/** Told of what went wrong and does no harm yet. */
export type Warn = (message: string) => void;

/** What an exchange is kept on, and what its clock is set by. */
export interface Machine {
  readonly disk: Disk;
  /** Unix ms. */
  readonly wallNow: () => number;
}

const THIS_MACHINE: Machine = { disk: nodeDisk, wallNow: Date.now };

/**
 * Opens the exchange that is asked for: from its directory, where it was kept before, else from its origin; from `begun`
 * where there is one, which no directory has kept before.
 * @throws ConfigError, StoreError, ReplayDiffers when it cannot be.
 */
export async function openExchange(
  config: Config,
  warn: Warn,
  machine: Machine = THIS_MACHINE,
  begun: Origin | null = null,
): Promise<OpenedExchange> {
  const { data, durability, reset } = config;
  const { disk, wallNow } = machine;
  if (data === null) return openUnkept(config, begun ?? (await loadOrigin(config, wallNow())), wallNow);
  try {
    const folder = new DataFolder(disk, data, { engine: VERSION, durability, reset });
    try {
      const place = { config, folder, wallNow, warn };
      if (folder.opening === null) return openNew(place, begun ?? (await loadOrigin(config, wallNow())));
      if (begun === null) return await openKept(place, folder.opening);
      throw new ConfigError(
        `${data} holds an exchange already, and --from begins another: name a new directory with --data`,
      );
    } catch (error) {
      folder.close();
      throw error;
    }
  } catch (error) {
    throw diskTrouble(error, data);
  }
}

/** What the system says of the disk as a sentence for the person who wants the directory open. */
function diskTrouble(error: unknown, data: string): unknown {
  if (error instanceof FileRefused) return new StoreError("corrupt", `${error.path}: ${error.message}`);
  const isOfSystem = error instanceof Error && "code" in error && "syscall" in error;
  if (!isOfSystem && !(error instanceof NotKeptError)) return error;
  return new StoreError("disk", `${data} cannot be used: ${error.message}`, { cause: error });
}

/** An exchange that nothing keeps. @throws ConfigError when its origin cannot be played. */
export function openUnkept(config: Config, origin: Origin, wallNow = THIS_MACHINE.wallNow): OpenedExchange {
  const parts = partsOf(origin);
  const { tee, exchange } = parts;
  origin.play(exchange);
  tee.begin(null);
  const clock = new Clock(exchange, settingOf(config), wallNow, followsWall(config));
  return opened({ ...parts, clock }, noKeeper, null, async () => {});
}

/** A folder, and what an exchange is to be like that is kept there. */
interface Place {
  readonly config: Config;
  readonly folder: DataFolder;
  readonly wallNow: () => number;
  readonly warn: Warn;
}

function openNew({ config, folder, wallNow, warn }: Place, origin: Origin): OpenedExchange {
  const parts = partsOf(origin);
  const { exchange } = parts;
  origin.play(exchange);
  const setting = settingOf(config);
  const opening: OpeningData = {
    format: FORMAT,
    engine: VERSION,
    config: origin.config,
    start: origin.start,
    clock: { ...setting, followsWall: followsWall(config) },
    base: origin.base,
    sequence: exchange.sequence,
    hash: exchange.hash,
  };
  const clock = new Clock(exchange, setting, wallNow, followsWall(config), "later");
  const kept = new KeptExchange({ ...parts, engine: VERSION, clock, folder, wallNow, warn }, BEGINNING);
  kept.begin(folder.begin(opening, startOf(config, setting, wallNow(), exchange), () => kept.undo()));
  clock.open();
  return opened({ ...parts, clock }, kept, keepingOf(folder, kept, null), () => kept.close());
}

async function openKept(
  { config, folder, wallNow, warn }: Place,
  opening: OpeningData,
): Promise<OpenedExchange> {
  const origin = originOf(opening, join(folder.path, JOURNAL_FILE));
  await demandSameOrigin(config, origin, folder.path, () => loadOrigin(config, wallNow()));
  const parts = partsOf(origin);
  const { exchange } = parts;
  const resumed = await folder.resume(exchange, () => origin.play(exchange));
  const { followsWall: follows, ...first } = opening.clock;
  const known = resumed.clock ?? { setting: first, virtual: opening.start, wall: wallNow() };
  const setting = config.given.has("clock") ? settingOf(config) : known.setting;
  // What the wall clock showed when virtual time was what it is now.
  const wall = known.wall + (exchange.now - known.virtual);
  const clock = new Clock(exchange, first, wallNow, follows, "later");
  const kept = new KeptExchange({ ...parts, engine: VERSION, clock, folder, wallNow, warn }, resumed.from);
  kept.begin(folder.goOn(startOf(config, setting, wall, exchange), () => kept.undo()));
  clock.catchUp(setting, known.setting.mode === "real" ? wallNow() - wall : 0);
  for (const warning of warningsOf(resumed)) warn(warning);
  return opened({ ...parts, clock }, kept, keepingOf(folder, kept, resumed), () => kept.close());
}

const startOf = ({ durability }: Config, setting: ClockSetting, wall: number, { now }: Exchange): Start => ({
  data: { engine: VERSION, durability, ...setting, wall },
  at: now,
});

const warningsOf = ({ torn, warnings }: Resumed): readonly string[] =>
  torn === null
    ? warnings
    : [
        ...warnings,
        `a crash had torn the end of the journal: its ${torn.bytes} bytes are kept in ${torn.file}`,
      ];

interface Parts {
  readonly origin: Origin;
  readonly exchange: Exchange;
  readonly session: SessionLog;
  readonly tee: TeeJournal;
}

function partsOf(origin: Origin): Parts {
  const session = new SessionLog();
  const tee = new TeeJournal(session);
  return { origin, session, tee, exchange: new Exchange(origin.config, origin.start, tee) };
}

function opened(
  { origin, exchange, session, tee, clock }: Parts & { readonly clock: Clock },
  keeper: Keeper,
  keeping: Keeping | null,
  close: () => Promise<void>,
): OpenedExchange {
  let began = exchange.snapshot();
  /** Where everything began; unknown of an exchange that goes on from a directory, until it is opened anew. */
  let opening = keeping?.resumed == null ? began : null;
  return {
    exchange,
    clock,
    origin,
    session,
    atSessionStart: () => {
      const another = new Exchange(origin.config, origin.start, noJournal);
      another.restore(began);
      return another;
    },
    keeper,
    noteRefused: (request) => tee.refuse({ sequence: exchange.sequence, at: exchange.now, request }),
    reopen: () => {
      exchange.restart(opening ?? origin.start);
      if (opening === null) {
        origin.play(exchange);
        opening = exchange.snapshot();
      }
      tee.begin();
      began = exchange.snapshot();
      clock.open();
    },
    keeping,
    close,
  };
}

const keepingOf = (folder: DataFolder, kept: KeptExchange, resumed: Resumed | null): Keeping => ({
  path: folder.path,
  resumed,
  removed: folder.removed,
  broken: () => kept.broken,
  end: () => kept.end,
});

function settingOf({ clock }: Config): ClockSetting {
  return { mode: clock.mode, rate: clock.mode === "scaled" ? clock.rate : 1 };
}

/** Whether the clock shows the wall clock's own time. */
const followsWall = ({ clock, start }: Config): boolean => start === null && clock.mode !== "frozen";
