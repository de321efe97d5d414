import { join } from "node:path";
import { type Config, VERSION } from "../config.ts";
import type { RefusedRequest } from "../core/refusals.ts";
import { FileRefused } from "../regular-file.ts";
import { ConfigError } from "../setting.ts";
import { hex8 } from "./checksum.ts";
import { Clock, type ClockSetting } from "./clock.ts";
import { DataFolder, type Resumed, type Start } from "./data-folder.ts";
import { type Disk, nodeDisk } from "./disk.ts";
import { Exchange } from "./exchange.ts";
import { JOURNAL_FILE } from "./files.ts";
import { type Keeper, noJournal, noKeeper, PersistenceError } from "./journal.ts";
import type { JournalFile, Mark } from "./journal-file.ts";
import { BEGINNING, FORMAT, type JournalEnd, type OpeningData } from "./journal-line.ts";
import { loadOrigin, type Origin, originOf, requireSameOrigin } from "./origin.ts";
import { SessionLog } from "./session-log.ts";
import { STATE_FORMAT, type StateHeader } from "./state-file.ts";
import { StoreError } from "./store-error.ts";
import { TeeJournal } from "./tee-journal.ts";

/** A state is written when so much has been added to the journal since the last, or more where that was bigger. */
const LEAST_LINES = 10_000;
const LEAST_BYTES = 8 * 1024 * 1024;

/** An exchange with all that it is kept with. */
interface Kept {
  readonly engine: string;
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly origin: Origin;
  readonly tee: TeeJournal;
  readonly folder: DataFolder;
  readonly wallNow: () => number;
  /** Told of what went wrong and does no harm yet. */
  readonly warn: (message: string) => void;
}

/** Sees to it that an exchange is kept: its journal before every answer, its state now and then. */
class KeptExchange implements Keeper {
  readonly #kept: Kept;
  #journal: JournalFile | null = null;
  /** The end of the journal when a state was written last. */
  #stated: Mark;
  #writing: Promise<void> | null = null;
  /** Why not even reading goes on: nobody knows what is kept. */
  #lost: PersistenceError | null = null;

  /** `stated` is the line of the latest state that is on the disk, 0 when there is none. */
  constructor(kept: Kept, stated: Mark) {
    this.#kept = kept;
    this.#stated = stated;
  }

  get position(): number {
    return this.#journal?.position ?? 0;
  }

  get broken(): PersistenceError | null {
    return this.#journal?.broken ?? null;
  }

  /** Where the journal ends; null once it is broken. */
  get end(): JournalEnd | null {
    return this.broken === null ? (this.#journal?.end ?? null) : null;
  }

  /** Begins to keep. */
  begin(journal: JournalFile): void {
    const { clock, exchange, tee, wallNow } = this.#kept;
    this.#journal = journal;
    tee.begin(journal);
    clock.whenSet = (setting) => {
      if (journal.broken === null) journal.control("clock", { ...setting, wall: wallNow() }, exchange.now);
    };
  }

  keep(position: number): Promise<void> | undefined {
    if (this.#lost !== null) throw this.#lost;
    const journal = this.#journal;
    const done = journal?.keep(position);
    if (journal?.broken === null && this.#writing === null && this.#isStateDue(journal.written)) {
      this.#writing = this.#writeState(journal, this.#kept.clock.setting).finally(() => {
        this.#writing = null;
      });
    }
    return done;
  }

  /** The journal cannot be written: what was not acknowledged is undone, and time stands still. */
  undo(): void {
    const { clock, exchange, folder, origin, tee } = this.#kept;
    clock.halt();
    tee.pause();
    try {
      folder.replay(exchange, () => origin.play(exchange));
    } catch (cause) {
      const { message } = cause as Error;
      this.#lost = new PersistenceError(
        `the journal can be neither written nor read: ${message}`,
        "disk",
        cause,
      );
      throw this.#lost;
    }
    // What must follow at the same moment follows again when the folder is opened.
    exchange.advanceTo(exchange.now);
    tee.begin();
  }

  /** Keeps all of it and lets go of the folder. */
  async close(): Promise<void> {
    const { exchange, folder, clock, wallNow } = this.#kept;
    const journal = this.#journal;
    try {
      await this.#writing;
      if (journal === null || journal.broken !== null) return;
      clock.settle();
      const { setting } = clock;
      // The line that closes is the last, and the state stands there.
      clock.halt();
      journal.control("close", { hash: exchange.hash, wall: wallNow() }, exchange.now);
      await this.#writeState(journal, setting);
    } finally {
      folder.close();
    }
  }

  #isStateDue({ number, offset }: Mark): boolean {
    const { number: line, offset: size } = this.#stated;
    return number - line >= Math.max(LEAST_LINES, line) || offset - size >= Math.max(LEAST_BYTES, size);
  }

  /** Writes the state of this moment; what stands in it is on the disk before it is. */
  async #writeState(journal: JournalFile, setting: ClockSetting): Promise<void> {
    const { exchange, folder, clock, origin, engine, wallNow, warn } = this.#kept;
    try {
      clock.settle();
      journal.sync();
      const { end } = journal;
      const { state, now, sequence, digest } = exchange.snapshot();
      const header: StateHeader = {
        format: STATE_FORMAT,
        engine,
        line: end.number,
        check: hex8(end.check),
        offset: end.offset,
        sequence,
        now,
        digest,
        devAccounts: origin.devAccounts,
        clock: { setting, virtual: now, wall: wallNow() },
        durability: journal.durability,
        refused: journal.refused,
      };
      this.#stated = end;
      await folder.write({ header, state });
    } catch (error) {
      // The journal has everything: the next state is written when it has grown again.
      warn(`the state could not be written to ${folder.path}: ${(error as Error).message}`);
    }
  }
}

/** What keeps an exchange on disk. */
export interface Keeping {
  /** The directory. */
  readonly path: string;
  /** What has come of what it had kept; null of a new one. */
  readonly resumed: Resumed | null;
  /** What `--reset` has removed. */
  readonly removed: readonly string[];
  /** Why nothing more is accepted; null while all is well. */
  readonly broken: () => PersistenceError | null;
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
interface Machine {
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
  if (!isOfSystem && !(error instanceof PersistenceError)) return error;
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
  await requireSameOrigin(config, origin, folder.path, () => loadOrigin(config, wallNow()));
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
