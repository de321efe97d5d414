import { dirname, join } from "node:path";
import type { Durability } from "../setting.ts";
import { hex8 } from "./checksum.ts";
import type { Clock, ClockSetting } from "./clock.ts";
import type { Disk, DiskFile } from "./disk.ts";
import type { Exchange } from "./exchange.ts";
import {
  assertNoStateFile,
  assertOwnFolder,
  ignoreInGit,
  JOURNAL_FILE,
  PREVIOUS_STATE_FILE,
  removeBesideJournal,
  removeDrafts,
  STATE_FILE,
} from "./files.ts";
import { lockFolder } from "./folder-lock.ts";
import { type Persistence, PersistenceError } from "./journal.ts";
import { JournalFile, type Mark } from "./journal-file.ts";
import { BEGINNING, isControl, type JournalEnd, type OpeningData } from "./journal-line.ts";
import { assertTorn, cutOff, openingDamage, openingIn, type ScanEnd, type TornEnd } from "./journal-scan.ts";
import type { Origin } from "./origin.ts";
import { type ClockState, type Replayer, replayJournal } from "./replayer.ts";
import type { SessionLog } from "./session-log.ts";
import { findCheckpoint, readStateFile, STATE_FORMAT, stateDatabase } from "./state-file.ts";
import { assertEngine, assertKnown, assertNotNewer } from "./store-error.ts";

/** A state is written when so much has been added to the journal since the last, or more where that was bigger. */
const LEAST_LINES = 10_000;
const LEAST_BYTES = 8 * 1024 * 1024;

/** What a program opens a folder with. */
interface DataFolderOptions {
  /** The version of the program. */
  readonly engine: string;
  readonly durability: Durability;
  /** Whether what the folder holds is removed first. */
  readonly reset: boolean;
  /** Unix ms. */
  readonly wallNow: () => number;
  /** Told of what went wrong and does no harm yet. */
  readonly warn: (message: string) => void;
}

/** An exchange with what brings it to its beginning, drives it and notes what it does. */
export interface ExchangeRuntime {
  readonly origin: Origin;
  readonly exchange: Exchange;
  readonly session: SessionLog;
  readonly clock: Clock;
}

/** What has come of opening a folder in which an exchange was kept. */
interface ResumeResult {
  /** How the clock ran; null when no line says it. */
  readonly clock: ClockState | null;
  /** Where in the journal the state stands from which it went on, and how many commands were decided anew. */
  readonly from: JournalEnd;
  readonly commands: number;
  readonly torn: TornEnd | null;
  /** Why a state that was there could not be used. */
  readonly warnings: readonly string[];
}

/** What can be told of an exchange that is kept on disk. */
export interface PersistenceStatus {
  /** The directory that keeps it. */
  readonly path: string;
  /** What it went on from: the line of its journal at which a state was kept, and the commands after it; null of one that began anew. */
  readonly resumed: { readonly from: { readonly number: number }; readonly commands: number } | null;
  /** The names of the files that were removed before it began. */
  readonly removed: readonly string[];
  /** Why nothing can be kept any more; null while all is well. */
  readonly broken: PersistenceError | null;
}

/**
 * A folder in the hands of this process until it is closed, and the one exchange that is kept there: its journal before
 * every answer, its state now and then.
 */
export class DataFolder implements Persistence, PersistenceStatus {
  readonly path: string;
  /** What the journal begins with; null of a new folder. */
  readonly opening: OpeningData | null;
  readonly #disk: Disk;
  readonly #terms: DataFolderOptions;
  readonly #unlock: () => void;
  readonly #file: DiskFile;
  #removed: readonly string[] = [];
  #resumed: ResumeResult | null = null;
  #end: JournalEnd = BEGINNING;
  #parts: ExchangeRuntime | null = null;
  #journal: JournalFile | null = null;
  /** The end of the journal when a state was written last. */
  #stated: Mark = BEGINNING;
  #writing: Promise<void> | null = null;
  /** Why not even reading goes on: nobody knows what is kept. */
  #lost: PersistenceError | null = null;

  /** @throws StoreError when the folder cannot be used; nothing in it has then been touched. */
  constructor(disk: Disk, path: string, terms: DataFolderOptions) {
    this.path = path;
    this.#disk = disk;
    this.#terms = terms;
    assertOwnFolder(disk, path);
    disk.makeFolder(path);
    this.#unlock = lockFolder(disk, path);
    try {
      const isThere = disk.names(path)?.includes(JOURNAL_FILE) === true;
      if (!isThere && !terms.reset) assertNoStateFile(disk, path);
      if (!isThere) ignoreInGit(disk, path);
      this.#file = disk.open(this.#journalPath, "write");
    } catch (error) {
      this.#unlock();
      throw error;
    }
    try {
      this.opening = terms.reset ? null : this.#opening();
    } catch (error) {
      this.#release();
      throw error;
    }
  }

  /** The names of the files that `begin` has removed first. */
  get removed(): readonly string[] {
    return this.#removed;
  }

  /** What has come of what was kept here; null of a new folder. */
  get resumed(): ResumeResult | null {
    return this.#resumed;
  }

  get position(): number {
    return this.#journal?.position ?? 0;
  }

  get broken(): PersistenceError | null {
    return this.#journal?.broken ?? null;
  }

  /** Where the journal's lines end, all of which are kept; null once it is broken. */
  get end(): JournalEnd | null {
    return this.broken === null ? (this.#journal?.end ?? null) : null;
  }

  get #journalPath(): string {
    return join(this.path, JOURNAL_FILE);
  }

  #opening(): OpeningData | null {
    const opening = openingIn(this.#file);
    if (opening !== null) {
      assertKnown(opening, this.#journalPath, this.#terms.engine);
      return opening;
    }
    const damage = openingDamage(this.#disk, this.path, this.#file);
    if (damage === null) assertNoStateFile(this.#disk, this.path);
    else assertTorn(damage, this.path);
    return null;
  }

  /** Begins the journal of a new folder, or of one whose content is to be removed. @throws PersistenceError */
  begin(parts: ExchangeRuntime, opening: OpeningData): void {
    const { size } = this.#file;
    if (this.#terms.reset) this.#removeAll();
    else if (size > 0) cutOff(this.#disk, this.path, this.#file, { offset: 0, bytes: size });
    const journal = this.#openJournal();
    journal.control("opening", opening, opening.start);
    journal.sync();
    this.#disk.syncFolder(this.path);
    this.#disk.syncFolder(dirname(this.path));
    this.#start(parts, journal, parts.clock.setting, this.#terms.wallNow());
  }

  /** Goes on with the journal where `resume` has found its end. @throws PersistenceError */
  continueJournal(parts: ExchangeRuntime, setting: ClockSetting, wall: number): void {
    this.#start(parts, this.#openJournal(), setting, wall);
  }

  #openJournal(): JournalFile {
    const undo = (): void => this.#undo();
    this.#journal = new JournalFile(this.#file, this.#terms.durability, this.#end, undo);
    return this.#journal;
  }

  /** On the disk itself before anything follows: what is torn is judged by how the lines before it say that they are kept. */
  #start(parts: ExchangeRuntime, journal: JournalFile, setting: ClockSetting, wall: number): void {
    const { engine, durability, wallNow } = this.#terms;
    const { clock, exchange, session } = parts;
    journal.control("start", { engine, durability, ...setting, wall }, exchange.now);
    journal.sync();
    this.#parts = parts;
    session.begin(journal);
    clock.watch((setting) => {
      if (journal.broken === null) journal.control("clock", { ...setting, wall: wallNow() }, exchange.now);
    });
  }

  /**
   * Brings a new exchange to where the journal says it stood, and cuts off what a crash has torn.
   * @throws StoreError `corrupt`, `newer`; ReplayDiffers. Nothing has then been touched.
   */
  resume(exchange: Exchange, origin: Origin): ResumeResult {
    const { from, replayer, damage, warnings, ...end } = this.#replay(exchange, origin);
    const torn = damage === null ? null : cutOff(this.#disk, this.path, this.#file, damage);
    if (this.#file.size > end.offset) this.#file.truncate(end.offset);
    removeDrafts(this.#disk, this.path);
    this.#end = end;
    this.#stated = from;
    this.#file.sync();
    this.#resumed = { clock: replayer.clock, from, commands: replayer.commands, torn, warnings };
    return this.#resumed;
  }

  /** Brings an exchange to where all that the journal holds leads. @throws as `resume` */
  #replay(
    exchange: Exchange,
    origin: Origin,
  ): ScanEnd & { readonly replayer: Replayer } & Pick<ResumeResult, "from" | "warnings"> {
    const warnings: string[] = [];
    const states = [STATE_FILE, PREVIOUS_STATE_FILE].map((name) => join(this.path, name));
    const readers = states.map((path) => () => readStateFile(this.#disk, path));
    const base = findCheckpoint(
      readers,
      this.#file,
      this.#journalPath,
      (message) => void warnings.push(message),
    );
    if (base !== null) assertEngine(base.header.engine, this.path, this.#terms.engine);
    let refused = base?.header.refused ?? 0;
    const reopen = (): void => origin.play(exchange);
    const journal = { path: this.#journalPath, file: this.#file };
    const end = replayJournal(exchange, reopen, journal, base, (line) => {
      assertNotNewer(line, this.#journalPath, this.#terms.engine);
      if (isControl(line, "refused") || isControl(line, "refusedFull")) refused += 1;
    });
    if (end.damage !== null) assertTorn(end.damage, this.path);
    return { ...end, refused, warnings };
  }

  /** Until the last step, the journal has everything. */
  #removeAll(): void {
    const beside = removeBesideJournal(this.#disk, this.path);
    this.#removed = this.#file.size === 0 ? beside : [...beside, JOURNAL_FILE];
    this.#file.truncate(0);
    this.#file.sync();
  }

  flush(position: number): Promise<void> | undefined {
    if (this.#lost !== null) throw this.#lost;
    const [parts, journal] = [this.#parts, this.#journal];
    if (parts === null || journal === null) return undefined;
    const done = journal.flush(position);
    if (journal.broken === null && this.#writing === null && this.#isStateDue(journal.written)) {
      this.#writing = this.#writeState(parts, journal, parts.clock.setting).finally(() => {
        this.#writing = null;
      });
    }
    return done;
  }

  /** The journal cannot be written: what was not acknowledged is undone, and time stands still. */
  #undo(): void {
    if (this.#parts === null) return;
    const { clock, exchange, origin, session } = this.#parts;
    clock.halt();
    session.pause();
    try {
      this.#replay(exchange, origin);
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
    session.begin();
  }

  #isStateDue({ number, offset }: Mark): boolean {
    const { number: line, offset: size } = this.#stated;
    return number - line >= Math.max(LEAST_LINES, line) || offset - size >= Math.max(LEAST_BYTES, size);
  }

  /** Writes the state of this moment; what stands in it is on the disk before it is. */
  async #writeState(
    { exchange, clock, origin }: ExchangeRuntime,
    journal: JournalFile,
    setting: ClockSetting,
  ): Promise<void> {
    const { engine, wallNow, warn } = this.#terms;
    try {
      clock.settle();
      journal.sync();
      const { end } = journal;
      const { state, now, sequence, digest } = exchange.snapshot();
      const header = {
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
      const database = stateDatabase(this.#disk, this.path);
      database.data = { header, state };
      await database.write();
    } catch (error) {
      // The journal has everything: the next state is written when it has grown again.
      warn(`the state could not be written to ${this.path}: ${(error as Error).message}`);
    }
  }

  /** Keeps all of it, and lets others have the folder. */
  async close(): Promise<void> {
    try {
      await this.#writing;
      const [parts, journal] = [this.#parts, this.#journal];
      if (parts === null || journal === null || journal.broken !== null) return;
      const { clock, exchange } = parts;
      clock.settle();
      const { setting } = clock;
      // The line that closes is the last, and the state stands there.
      clock.halt();
      journal.control("close", { hash: exchange.hash, wall: this.#terms.wallNow() }, exchange.now);
      await this.#writeState(parts, journal, setting);
    } finally {
      this.#release();
    }
  }

  /** Brings what waits to the disk, unless its journal is `broken` by then, and lets others have the folder. */
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
}
