import { type Config, VERSION } from "../config.ts";
import { Clock, type ClockSetting } from "../runtime/clock.ts";
import { Exchange } from "../runtime/exchange.ts";
import { type Keeper, noJournal, noKeeper } from "../runtime/journal.ts";
import { SessionLog } from "../runtime/session-log.ts";
import { DataFolder, type Resumed } from "../store/data-folder.ts";
import { nodeDisk } from "../store/disk.ts";
import { FORMAT, type OpeningData } from "../store/journal-line.ts";
import { BEGINNING } from "../store/journal-scan.ts";
import { TeeJournal } from "../store/tee-journal.ts";
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
  readonly broken: () => Error | null;
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
  /** Goes back to the origin: state, clock, time. */
  readonly reopen: () => void;
  /** Null of one that nothing keeps. */
  readonly keeping: Keeping | null;
  readonly close: () => Promise<void>;
}

/** Told of what went wrong and does no harm yet. */
export type Warn = (message: string) => void;

const wallNow = Date.now;

/**
 * Opens the exchange that is asked for: from its directory, where it was kept before, else from its origin.
 * @throws ConfigError, StoreError, ReplayDiffers when it cannot be.
 */
export async function openExchange(config: Config, warn: Warn): Promise<OpenedExchange> {
  const { data, durability, reset } = config;
  if (data === null) return openUnkept(config, await loadOrigin(config, wallNow()));
  const folder = new DataFolder(nodeDisk, data, { engine: VERSION, durability, reset });
  try {
    return folder.opening === null
      ? openNew(config, folder, await loadOrigin(config, wallNow()), warn)
      : await openKept(config, folder, folder.opening, warn);
  } catch (error) {
    folder.close();
    throw error;
  }
}

/** An exchange that nothing keeps. @throws ConfigError when its origin cannot be played. */
export function openUnkept(config: Config, origin: Origin): OpenedExchange {
  const parts = partsOf(origin);
  const { tee, exchange } = parts;
  origin.play(exchange);
  tee.begin(null);
  const clock = new Clock(exchange, settingOf(config), wallNow, followsWall(config));
  return opened({ ...parts, clock }, noKeeper, null, async () => {});
}

function openNew(config: Config, folder: DataFolder, origin: Origin, warn: Warn): OpenedExchange {
  const parts = partsOf(origin);
  const { tee, exchange } = parts;
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
  const journal = folder.begin(opening, () => kept.undo());
  journal.note(
    "start",
    { engine: VERSION, durability: config.durability, ...setting, wall: wallNow() },
    exchange.now,
  );
  tee.begin(journal);
  const clock = new Clock(exchange, setting, wallNow, followsWall(config));
  const kept = new KeptExchange({ ...parts, engine: VERSION, clock, folder, wallNow, warn }, BEGINNING);
  kept.begin(journal);
  return opened({ ...parts, clock }, kept, keepingOf(folder, kept, null), () => kept.close());
}

async function openKept(
  config: Config,
  folder: DataFolder,
  opening: OpeningData,
  warn: Warn,
): Promise<OpenedExchange> {
  const origin = originOf(opening);
  await demandSameOrigin(config, origin, folder.path, () => loadOrigin(config, wallNow()));
  const parts = partsOf(origin);
  const { tee, exchange } = parts;
  const resumed = await folder.resume(exchange, () => origin.play(exchange));
  const known = resumed.clock ?? { setting: opening.clock, virtual: opening.start, wall: wallNow() };
  const setting = config.given.has("clock") ? settingOf(config) : known.setting;
  // What the wall clock showed when virtual time was what it is now.
  const wall = known.wall + (exchange.now - known.virtual);
  const journal = folder.goOn(() => kept.undo());
  journal.note("start", { engine: VERSION, durability: config.durability, ...setting, wall }, exchange.now);
  tee.begin(journal);
  const clock = new Clock(exchange, opening.clock, wallNow, opening.clock.followsWall, "later");
  const kept = new KeptExchange({ ...parts, engine: VERSION, clock, folder, wallNow, warn }, resumed.from);
  kept.begin(journal);
  clock.catchUp(setting, wallNow() - wall);
  for (const warning of resumed.warnings) warn(warning);
  return opened({ ...parts, clock }, kept, keepingOf(folder, kept, resumed), () => kept.close());
}

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
  let began = keeping?.resumed == null ? null : exchange.snapshot();
  return {
    exchange,
    clock,
    origin,
    session,
    atSessionStart: () => {
      const another = new Exchange(origin.config, origin.start, noJournal);
      if (began === null) origin.play(another);
      else another.restore(began);
      return another;
    },
    keeper,
    reopen: () => {
      exchange.restart(origin.start);
      origin.play(exchange);
      tee.begin();
      began = null;
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
});

function settingOf({ clock }: Config): ClockSetting {
  return { mode: clock.mode, rate: clock.mode === "scaled" ? clock.rate : 1 };
}

/** Whether the clock shows the wall clock's own time. */
const followsWall = ({ clock, start }: Config): boolean => start === null && clock.mode !== "frozen";
