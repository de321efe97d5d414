import { dirname, join } from "node:path";
import type { Millis } from "../core/units.ts";
import type { Exchange } from "../engine/exchange.ts";
import { PersistenceError } from "../engine/journal.ts";
import type { Disk, DiskFile } from "./disk.ts";
import {
  assertNothingKept,
  assertOwnFolder,
  JOURNAL_FILE,
  PREVIOUS_STATE_FILE,
  removeBesideJournal,
  removeDrafts,
  STATE_FILE,
} from "./files.ts";
import { lockFolder } from "./folder-lock.ts";
import { JournalFile, type WhenBroken } from "./journal-file.ts";
import {
  BEGINNING,
  type ControlRecords,
  type Durability,
  isControl,
  type JournalEnd,
  type Line,
  type OpeningData,
} from "./journal-line.ts";
import {
  assertTorn,
  cutOff,
  openingDamage,
  openingIn,
  type ScanEnd,
  scan,
  type TornEnd,
} from "./journal-scan.ts";
import { type KnownClock, Replayer } from "./replayer.ts";
import {
  baseAmong,
  type Checkpoint,
  endOf,
  isClosedAt,
  readStateFile,
  standingIn,
  stateDatabase,
} from "./state-file.ts";
import { assertEngine, assertKnown, assertNotNewer } from "./store-error.ts";

/** What a program is told when it opens a folder. */
export interface FolderTerms {
  /** The version of the program. */
  readonly engine: string;
  readonly durability: Durability;
  /** Whether what the folder holds is removed first. */
  readonly reset?: boolean;
}

/** What a program says when it begins to use a journal, and the moment up to which time has passed. */
export interface Start {
  readonly data: ControlRecords["start"];
  readonly at: Millis;
}

/** What has come of opening a folder in which an exchange was kept. */
export interface Resumed {
  /** How the clock ran; null when no line says it. */
  readonly clock: KnownClock | null;
  /** Where in the journal the state stands from which it went on, and how many commands were decided anew. */
  readonly from: JournalEnd;
  readonly commands: number;
  readonly torn: TornEnd | null;
  /** Why a state that was there could not be used. */
  readonly warnings: readonly string[];
}

/** A folder that keeps one exchange, in the hands of this process until it is closed. */
export class DataFolder {
  readonly path: string;
  /** What the journal begins with; null of a new folder. */
  readonly opening: OpeningData | null;
  readonly #disk: Disk;
  readonly #terms: FolderTerms;
  readonly #unlock: () => void;
  readonly #file: DiskFile;
  #removed: readonly string[] = [];
  #end: JournalEnd = BEGINNING;
  #journal: JournalFile | null = null;

  /** @throws StoreError when the folder cannot be used; nothing in it has then been touched. */
  constructor(disk: Disk, path: string, terms: FolderTerms) {
    this.path = path;
    this.#disk = disk;
    this.#terms = terms;
    assertOwnFolder(disk, path);
    disk.makeFolder(path);
    this.#unlock = lockFolder(disk, path);
    try {
      const isThere = disk.names(path)?.includes(JOURNAL_FILE) === true;
      if (!isThere && terms.reset !== true) assertNothingKept(disk, path);
      this.#file = disk.open(this.#journalPath, "write");
    } catch (error) {
      this.#unlock();
      throw error;
    }
    try {
      this.opening = terms.reset === true ? null : this.#opening();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** The names of the files that `begin` has removed first. */
  get removed(): readonly string[] {
    return this.#removed;
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
    if (damage === null) assertNothingKept(this.#disk, this.path);
    else assertTorn(damage, this.path);
    return null;
  }

  /** Begins the journal of a new folder, or of one whose content is to be removed. @throws PersistenceError */
  begin(opening: OpeningData, start: Start, whenBroken: WhenBroken): JournalFile {
    const { size } = this.#file;
    if (this.#terms.reset === true) this.#removeAll();
    else if (size > 0) cutOff(this.#disk, this.path, this.#file, { offset: 0, bytes: size });
    const journal = new JournalFile(this.#file, this.#terms.durability, BEGINNING, whenBroken);
    this.#journal = journal;
    journal.control("opening", opening, opening.start);
    journal.sync();
    this.#disk.syncFolder(this.path);
    this.#disk.syncFolder(dirname(this.path));
    return started(journal, start);
  }

  /**
   * Brings a new exchange to where the journal says it stood, and cuts off what a crash has torn. `reopen` brings it to
   * where it stood at the opening.
   * @throws StoreError `corrupt`, `newer`; ReplayDiffers. Nothing has then been touched.
   */
  async resume(exchange: Exchange, reopen: () => void): Promise<Resumed> {
    const warnings: string[] = [];
    const latest = stateDatabase(this.#disk, this.path);
    const failure: unknown = await latest.read().then(
      () => null,
      (error: unknown) => error,
    );
    const readLatest = (): Checkpoint | null => {
      if (failure !== null) throw failure;
      return latest.data;
    };
    const base = this.#base(readLatest, warnings);
    const { replayer, damage, ...end } = this.#bring(exchange, reopen, base);
    if (damage !== null) assertTorn(damage, this.path);
    const torn = damage === null ? null : cutOff(this.#disk, this.path, this.#file, damage);
    if (this.#file.size > end.offset) this.#file.cut(end.offset);
    removeDrafts(this.#disk, this.path);
    this.#end = end;
    this.#file.sync();
    const from = base === null ? BEGINNING : endOf(base);
    return { clock: replayer.clock, from, commands: replayer.commands, torn, warnings };
  }

  /** Brings an exchange to where all that the journal holds leads. @throws as `resume` */
  replay(exchange: Exchange, reopen: () => void): void {
    const base = this.#base(() => readStateFile(this.#disk, join(this.path, STATE_FILE)), []);
    const { damage } = this.#bring(exchange, reopen, base);
    if (damage !== null) assertTorn(damage, this.path);
  }

  #bring(
    exchange: Exchange,
    reopen: () => void,
    base: Checkpoint | null,
  ): ScanEnd & { readonly replayer: Replayer } {
    const from = base === null ? BEGINNING : endOf(base);
    const journal = { path: this.#journalPath, file: this.#file };
    const replayer = new Replayer(exchange, reopen, journal, from, base?.header.clock);
    if (base === null) reopen();
    else {
      exchange.restore(standingIn(base));
      replayer.keep(base.header.line);
    }
    const before = {
      durability: base?.header.durability ?? "process",
      wasClosed: isClosedAt(this.#file, from.offset),
    };
    let refused = base?.header.refused ?? 0;
    const end = scan(
      this.#file,
      from,
      (line) => {
        this.#take(line, replayer);
        if (isControl(line, "refused") || isControl(line, "refusedFull")) refused += 1;
      },
      before,
    );
    return { ...end, refused, replayer };
  }

  /** Goes on with the journal where `resume` has found its end. @throws PersistenceError */
  goOn(start: Start, whenBroken: WhenBroken): JournalFile {
    this.#journal = new JournalFile(this.#file, this.#terms.durability, this.#end, whenBroken);
    return started(this.#journal, start);
  }

  /** Writes a state to the folder's database. It must not change meanwhile. */
  async write(kept: Checkpoint): Promise<void> {
    const database = stateDatabase(this.#disk, this.path);
    database.data = kept;
    await database.write();
  }

  /** Brings what waits to the disk, unless its journal is `broken` by then, and lets others have the folder. */
  close(): void {
    try {
      if (this.#journal === null) this.#file.close();
      else this.#journal.close();
    } catch (error) {
      if (!(error instanceof PersistenceError)) throw error;
    } finally {
      this.#unlock();
    }
  }

  #take(line: Line, replayer: Replayer): void {
    assertNotNewer(line, this.#journalPath, this.#terms.engine);
    replayer.take(line);
  }

  #base(readLatest: () => Checkpoint | null, warnings: string[]): Checkpoint | null {
    const readPrevious = (): Checkpoint | null =>
      readStateFile(this.#disk, join(this.path, PREVIOUS_STATE_FILE));
    const base = baseAmong([readLatest, readPrevious], this.#file, this.#journalPath, (message) => {
      warnings.push(message);
    });
    if (base !== null) assertEngine(base.header.engine, this.path, this.#terms.engine);
    return base;
  }

  /** Until the last step, the journal has everything. */
  #removeAll(): void {
    const beside = removeBesideJournal(this.#disk, this.path);
    this.#removed = this.#file.size === 0 ? beside : [...beside, JOURNAL_FILE];
    this.#file.cut(0);
    this.#file.sync();
  }
}

/** On the disk itself before anything follows: what is torn is judged by how the lines before it say that they are kept. */
function started(journal: JournalFile, { data, at }: Start): JournalFile {
  journal.control("start", data, at);
  journal.sync();
  return journal;
}
