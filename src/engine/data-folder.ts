import { dirname, join } from "node:path";
import { hex8 } from "../core/hash.ts";
import type { Durability } from "../setting.ts";
import { VERSION } from "../version.ts";
import type { Clock, ClockSetting } from "./clock.ts";
import type { Disk, DiskFile } from "./disk.ts";
import type { Exchange } from "./exchange.ts";
import {
  assertNoStateFile,
  assertOwnFolder,
  type FolderLock,
  ignoreInGit,
  JOURNAL_FILE,
  lockFolder,
  removeBesideJournal,
  removeDrafts,
} from "./files.ts";
import { type Persistence, PersistenceError, type SessionLog } from "./journal.ts";
import { JournalFile, type LinePosition } from "./journal-file.ts";
import {
  assertEngine,
  assertKnown,
  assertNotNewer,
  BEGINNING,
  isControl,
  type JournalEnd,
  type OpeningData,
} from "./journal-line.ts";
import { assertTorn, cutOff, openingDamage, openingIn } from "./journal-scan.ts";
import type { Origin } from "./origin.ts";
import { type ClockState, replayJournal } from "./replayer.ts";
import { findCheckpoint, STATE_FORMAT, writeState } from "./state-file.ts";

/** A state is written when the journal has grown by this much, and at least doubled, since the latest state. */
const MIN_LINES = 10_000;
const MIN_BYTES = 8 * 1024 * 1024;

/** Time between two checks whether the directory is still locked by this process, and has its journal. */
const CHECK_MS = 100;

interface DataFolderOptions {
  readonly durability: Durability;
  /** Whether the content of the directory is removed first. */
  readonly reset: boolean;
  /** Unix ms. */
  readonly wallNow: () => number;
  /** Called with problems that are harmless so far. */
  readonly warn: (message: string) => void;
}

/** An exchange with its origin, session log and clock. */
export interface ExchangeRuntime {
  readonly origin: Origin;
  readonly exchange: Exchange;
  readonly session: SessionLog;
  readonly clock: Clock;
}

interface ResumeResult {
  /** State of the clock; null if no line records it. */
  readonly clock: ClockState | null;
  /** Position of the state file in the journal, and the number of commands replayed after it. */
  readonly from: JournalEnd;
  readonly commands: number;
  /** Why a state file could not be used, and what was cut off the journal. */
  readonly warnings: readonly string[];
}

// Not derived from the class: the package publishes this type, and would publish the whole engine with it.
/** Persistence of an exchange, as the program reports it. */
export interface PersistenceStatus {
  /** The data directory. */
  readonly path: string;
  /** The journal line of the state file that it resumed from, and the commands after it; null for a new exchange. */
  readonly resumed: { readonly from: { readonly number: number }; readonly commands: number } | null;
  /** Names of the files that `reset` removed. */
  readonly removed: readonly string[];
  /** Why nothing can be persisted any more; null while persistence works. */
  readonly broken: PersistenceError | null;
}

/**
 * A locked data directory with one exchange. Writes the journal before each answer, and a state file from time to time.
 */
export class DataFolder implements Persistence {
  readonly path: string;
  /** First record of the journal; null for a new directory. */
  readonly opening: OpeningData | null;
  readonly #disk: Disk;
  readonly #options: DataFolderOptions;
  readonly #lock: FolderLock;
  readonly #file: DiskFile;
  /** Identity of the journal. */
  readonly #identity: unknown;
  /** Names of the files that `begin` removed. */
  removed: readonly string[] = [];
  /** Result of `resume`; null for a new directory. */
  resumed: ResumeResult | null = null;
  #end: JournalEnd = BEGINNING;
  #runtime: ExchangeRuntime | null = null;
  #journal: JournalFile | null = null;
  /** End of the journal at the latest written state. */
  #lastState: LinePosition = BEGINNING;
  #writing: Promise<void> | null = null;
  /** Wall time of the latest check. */
  #checked = 0;
  #whenBroken: (error: PersistenceError) => void = () => {};

  /** @throws DataFileError if the directory cannot be used; nothing in it has been changed then. */
  constructor(disk: Disk, path: string, options: DataFolderOptions) {
    this.path = path;
    this.#disk = disk;
    this.#options = options;
    assertOwnFolder(disk, path);
    disk.makeFolder(path);
    this.#lock = lockFolder(disk, path);
    try {
      const isThere = disk.names(path)?.includes(JOURNAL_FILE) === true;
      if (!isThere && !options.reset) assertNoStateFile(disk, path);
      if (!isThere) ignoreInGit(disk, path);
      this.#file = disk.open(this.#journalPath, "write");
      this.#identity = disk.identity(this.#journalPath);
    } catch (error) {
      this.#unlock();
      throw error;
    }
    try {
      this.opening = options.reset ? null : this.#opening();
    } catch (error) {
      this.#release();
      throw error;
    }
  }

  get position(): number {
    return this.#journal?.position ?? 0;
  }

  get broken(): PersistenceError | null {
    return this.#journal?.broken ?? null;
  }

  /** Sets what is called once when nothing can be persisted any more. */
  whenBroken(act: (error: PersistenceError) => void): void {
    this.#whenBroken = act;
    if (this.broken !== null) act(this.broken);
  }

  /** End of the journal, which is persisted if `flush` was called before; null after a failure. */
  get end(): JournalEnd | null {
    return this.broken === null ? (this.#journal?.end ?? null) : null;
  }

  get #journalPath(): string {
    return join(this.path, JOURNAL_FILE);
  }

  #opening(): OpeningData | null {
    const opening = openingIn(this.#file);
    if (opening !== null) {
      assertKnown(opening, this.#journalPath);
      return opening;
    }
    const damage = openingDamage(this.#disk, this.path, this.#file);
    if (damage === null) assertNoStateFile(this.#disk, this.path);
    else assertTorn(damage, this.path);
    return null;
  }

  /** Starts the journal of a new directory, or of one that is reset. @throws PersistenceError */
  begin(runtime: ExchangeRuntime, opening: OpeningData): void {
    const torn = { offset: 0, bytes: this.#file.size };
    if (this.#options.reset) this.#removeAll();
    else if (torn.bytes > 0) this.#options.warn(cutOff(this.#disk, this.path, this.#file, torn));
    this.start(runtime, runtime.clock.setting, this.#options.wallNow(), opening);
  }

  /**
   * Continues the journal at the end that `resume` found. Writes and syncs the start record first: recovery decides by its
   * durability whether an incomplete end is acceptable. @throws PersistenceError
   */
  start(runtime: ExchangeRuntime, setting: ClockSetting, wall: number, opening?: OpeningData): void {
    const { durability, wallNow } = this.#options;
    const { clock, exchange, session } = runtime;
    const journal = new JournalFile(this.#file, durability, this.#end, (failure) => this.#rollBack(failure));
    this.#journal = journal;
    if (opening !== undefined) {
      journal.control("opening", opening, opening.start);
      journal.sync();
      this.#disk.syncFolder(this.path);
      this.#disk.syncFolder(dirname(this.path));
    }
    journal.control("start", { engine: VERSION, durability, ...setting, wall }, exchange.now);
    journal.sync();
    this.#runtime = runtime;
    session.begin(journal);
    clock.watch((setting) => journal.control("clock", { ...setting, wall: wallNow() }, exchange.now));
  }

  /**
   * Recovers a new exchange from state and journal, and removes a torn end.
   * @throws DataFileError `corrupt`, `newer`; ReplayDiffers. Nothing has been changed then.
   */
  resume(exchange: Exchange, origin: Origin): ResumeResult {
    const { from, replayer, damage, warnings, ...end } = this.#replay(exchange, origin);
    if (damage !== null) warnings.push(cutOff(this.#disk, this.path, this.#file, damage));
    if (this.#file.size > end.offset) this.#file.truncate(end.offset);
    removeDrafts(this.#disk, this.path);
    this.#end = end;
    this.#lastState = from;
    this.#file.sync();
    this.resumed = { clock: replayer.clock, from, commands: replayer.commands, warnings };
    return this.resumed;
  }

  /** Recovers the state at the end of the journal. @throws as `resume` */
  #replay(exchange: Exchange, origin: Origin) {
    const warnings: string[] = [];
    // Another directory at this path has states of another journal.
    const base = this.#lock.isHeld()
      ? findCheckpoint(this.#disk, this.path, this.#file, (message) => void warnings.push(message))
      : null;
    if (base !== null) assertEngine(base.header.engine, this.path);
    let refused = base?.header.refused ?? 0;
    const journal = { path: this.#journalPath, file: this.#file };
    const end = replayJournal(exchange, origin, journal, base, (line) => {
      assertNotNewer(line, this.#journalPath);
      if (isControl(line, "refused") || isControl(line, "refusedFull")) refused += 1;
    });
    if (end.damage !== null) assertTorn(end.damage, this.path);
    return { ...end, refused, warnings };
  }

  /** Empties the journal last: as long as it is there, the exchange can be recovered. */
  #removeAll(): void {
    const beside = removeBesideJournal(this.#disk, this.path);
    this.removed = this.#file.size === 0 ? beside : [...beside, JOURNAL_FILE];
    this.#file.truncate(0);
    this.#file.sync();
  }

  flush(position: number): Promise<void> | undefined {
    const [runtime, journal] = [this.#runtime, this.#journal];
    if (runtime === null || journal === null) return undefined;
    if (Math.abs(this.#options.wallNow() - this.#checked) >= CHECK_MS) this.#checkFiles(journal);
    // What is persisted is unknown: all requests fail.
    if (journal.broken?.reason === "unreadable") throw journal.broken;
    const done = journal.flush(position);
    if (journal.broken === null && this.#writing === null && this.#isStateDue(journal.written)) {
      this.#writing = this.#writeState(runtime, journal, runtime.clock.setting).finally(() => {
        this.#writing = null;
      });
    }
    return done;
  }

  /** Stops persisting if the directory or its journal was removed or changed, or cannot be read; false then. */
  #checkFiles(journal: JournalFile): boolean {
    this.#checked = this.#options.wallNow();
    try {
      const change = this.#changeByOthers(journal);
      if (change !== null) {
        const what = `${change} while it was in use, and nothing more is written there`;
        journal.abandon(new PersistenceError(what, "removed"));
      }
    } catch (error) {
      const what = `${this.path} cannot be read: ${(error as Error).message}`;
      journal.abandon(new PersistenceError(what, "disk", error));
    }
    return journal.broken === null;
  }

  /** What somebody else did to the files, in words; null if nothing. */
  #changeByOthers(journal: JournalFile): string | null {
    if (!this.#lock.isHeld()) return `${this.path} or its lock was removed or replaced`;
    const path = this.#journalPath;
    if (this.#disk.identity(path) !== this.#identity) return `${path} was removed or replaced`;
    return journal.checkEnd() ? null : `${path} was truncated`;
  }

  /**
   * Called when the journal cannot be written: halts the clock, and rolls back what was not acknowledged. Returns the
   * error for later requests: another one if the journal cannot be read either.
   */
  #rollBack(failure: PersistenceError): PersistenceError {
    if (this.#runtime === null) return failure;
    const { clock, exchange, origin, session } = this.#runtime;
    clock.halt();
    session.pause();
    const broken = this.#replayAfter(failure, exchange, origin);
    clock.halt(broken);
    this.#whenBroken(broken);
    if (broken !== failure) return broken;
    // Executes what is still due now. It is not journaled, because it is executed again when the directory is opened.
    exchange.advanceTo(exchange.now);
    session.begin();
    return failure;
  }

  #replayAfter(failure: PersistenceError, exchange: Exchange, origin: Origin): PersistenceError {
    try {
      const missing = this.position - this.#replay(exchange, origin).number;
      if (missing > 0) throw new Error(`${missing} of its ${this.position} lines are missing`);
      return failure;
    } catch (cause) {
      const what = `${failure.message}; nor can the journal be read: ${(cause as Error).message}`;
      return new PersistenceError(what, "unreadable", cause);
    }
  }

  #isStateDue({ number, offset }: LinePosition): boolean {
    const { number: line, offset: size } = this.#lastState;
    return number - line >= Math.max(MIN_LINES, line) || offset - size >= Math.max(MIN_BYTES, size);
  }

  /** Writes the state of this moment, after syncing the journal up to it. */
  async #writeState(
    { exchange, clock, origin }: ExchangeRuntime,
    journal: JournalFile,
    setting: ClockSetting,
  ): Promise<void> {
    const { wallNow, warn } = this.#options;
    if (!this.#checkFiles(journal)) return;
    try {
      clock.advanceToNow();
      journal.sync();
      const { end } = journal;
      const { state, now, sequence, digest } = exchange.snapshot();
      const header = {
        format: STATE_FORMAT,
        engine: VERSION,
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
      this.#lastState = end;
      await writeState(this.#disk, this.path, { header, state });
    } catch (error) {
      // The journal has everything; the next state is written after it has grown again.
      warn(`the state could not be written to ${this.path}: ${(error as Error).message}`);
    }
  }

  /** Persists everything, and unlocks the directory. */
  async close(): Promise<void> {
    try {
      await this.#writing;
      const [runtime, journal] = [this.#runtime, this.#journal];
      if (runtime === null || journal === null || !this.#checkFiles(journal)) return;
      const { clock, exchange } = runtime;
      clock.advanceToNow();
      const { setting } = clock;
      // The `close` line is the last one, and the state includes it.
      clock.halt();
      journal.control("close", { hash: exchange.hash, wall: this.#options.wallNow() }, exchange.now);
      await this.#writeState(runtime, journal, setting);
    } finally {
      this.#release();
    }
  }

  /** Syncs and closes the journal, unless it is `broken`, and unlocks the directory. */
  #release(): void {
    try {
      if (this.#journal === null) this.#file.close();
      else this.#journal.close();
    } catch (error) {
      if (!(error instanceof PersistenceError)) throw error;
    } finally {
      this.#unlock();
    }
  }

  /** A lock that cannot be removed holds until this process ends. */
  #unlock(): void {
    try {
      this.#lock.release();
    } catch (error) {
      this.#options.warn(`${this.path} could not be unlocked: ${(error as Error).message}`);
    }
  }
}
