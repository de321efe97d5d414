import { Buffer } from "node:buffer";
import { dirname, join } from "node:path";
import type { Exchange } from "../runtime/exchange.ts";
import { copyFrom, type Disk, type DiskFile } from "./disk.ts";
import {
  demandOwnFolder,
  JOURNAL_FILE,
  nextTornFile,
  PREVIOUS_STATE_FILE,
  removeDrafts,
  removeOwnFiles,
} from "./files.ts";
import { lockFolder } from "./folder-lock.ts";
import { type Durability, type JournalEnd, JournalFile, type WhenBroken } from "./journal-file.ts";
import type { Line, OpeningData } from "./journal-line.ts";
import { BEGINNING, type Damage, linesGoneBackTo, openingIn, scan } from "./journal-scan.ts";
import { type KnownClock, Replayer } from "./replayer.ts";
import { type KeptState, readStateFile, type StateHeader, stateDatabase } from "./state-file.ts";
import { StoreError } from "./store-error.ts";
import { demandNotNewer } from "./version.ts";

/** What a program is told when it opens a folder. */
export interface FolderTerms {
  /** The version of the program. */
  readonly engine: string;
  readonly durability: Durability;
  /** Whether what the folder holds is removed first. */
  readonly reset?: boolean;
}

/** The end of a journal that a crash has torn off. */
export interface TornEnd {
  /** Where what was cut off is kept. */
  readonly file: string;
  readonly bytes: number;
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
  /** The names of the files that were removed first. */
  readonly removed: readonly string[];
  readonly #disk: Disk;
  readonly #terms: FolderTerms;
  readonly #unlock: () => void;
  readonly #file: DiskFile;
  #end: JournalEnd = BEGINNING;
  #journal: JournalFile | null = null;

  /** @throws StoreError when the folder cannot be used; nothing in it has then been touched. */
  constructor(disk: Disk, path: string, terms: FolderTerms) {
    this.path = path;
    this.#disk = disk;
    this.#terms = terms;
    demandOwnFolder(disk, path);
    disk.makeFolder(path);
    this.#unlock = lockFolder(disk, path);
    try {
      this.removed = terms.reset === true ? removeOwnFiles(disk, path) : [];
      this.#file = disk.open(join(path, JOURNAL_FILE), "write");
      this.opening = openingIn(this.#file);
    } catch (error) {
      this.#unlock();
      throw error;
    }
  }

  get #journalPath(): string {
    return join(this.path, JOURNAL_FILE);
  }

  /** Begins the journal of a new folder. */
  begin(opening: OpeningData, whenBroken: WhenBroken): JournalFile {
    if (this.#file.size > 0) this.#cutOff({ offset: 0, line: 1, bytes: this.#file.size, proof: null });
    const journal = new JournalFile(this.#file, this.#terms.durability, BEGINNING, whenBroken);
    this.#journal = journal;
    journal.note("opening", opening, opening.start);
    journal.sync();
    this.#disk.syncFolder(this.path);
    this.#disk.syncFolder(dirname(this.path));
    return journal;
  }

  /**
   * Brings a new exchange to where the journal says it stood, and cuts off what a crash has torn. `reopen` brings it to
   * where it stood at the opening.
   * @throws StoreError `corrupt`, `newer`; ReplayDiffers. Nothing has then been touched.
   */
  async resume(exchange: Exchange, reopen: () => void): Promise<Resumed> {
    const warnings: string[] = [];
    const base = await this.#latestState(warnings);
    const from = base === null ? BEGINNING : endOf(base);
    const replayer = new Replayer(exchange, reopen, linesGoneBackTo(this.#file, from), base?.header.clock);
    if (base === null) reopen();
    else {
      const { state, header } = base;
      exchange.restore({ state, now: header.now, sequence: header.sequence, hash: null, mark: null });
      replayer.keep(header.line);
    }
    const durability = base?.header.durability ?? "process";
    const { damage, ...end } = scan(this.#file, from, (line) => this.#take(line, replayer), durability);
    const torn = damage === null ? null : this.#cutOff(this.#judged(damage));
    removeDrafts(this.#disk, this.path);
    this.#end = end;
    this.#file.sync();
    return { clock: replayer.clock, from, commands: replayer.commands, torn, warnings };
  }

  /** Brings an exchange to where all that the journal holds leads; nothing else may be in it by then. */
  replay(exchange: Exchange, reopen: () => void): void {
    const replayer = new Replayer(exchange, reopen, linesGoneBackTo(this.#file, BEGINNING));
    reopen();
    scan(this.#file, BEGINNING, (line) => replayer.take(line));
  }

  /** Goes on with the journal where `resume` has found its end. */
  goOn(whenBroken: WhenBroken): JournalFile {
    this.#journal = new JournalFile(this.#file, this.#terms.durability, this.#end, whenBroken);
    return this.#journal;
  }

  /** Writes a state to the folder's database. It must not change meanwhile. */
  async write(kept: KeptState): Promise<void> {
    const database = stateDatabase(this.#disk, this.path);
    database.data = kept;
    await database.write();
  }

  /** Brings what waits to the disk, and lets others have the folder. */
  close(): void {
    try {
      if (this.#journal === null) this.#file.close();
      else this.#journal.close();
    } finally {
      this.#unlock();
    }
  }

  #take(line: Line, replayer: Replayer): void {
    demandNotNewer(line, this.#journalPath, this.#terms.engine);
    replayer.take(line);
  }

  /** The newest state that fits the journal; null when there is none, and all begins at the opening. */
  async #latestState(warnings: string[]): Promise<KeptState | null> {
    const latest = stateDatabase(this.#disk, this.path);
    const readers = [
      async () => {
        await latest.read();
        return latest.data;
      },
      () => readStateFile(this.#disk, join(this.path, PREVIOUS_STATE_FILE)),
    ];
    for (const read of readers) {
      try {
        const kept = await read();
        if (kept !== null && this.#leadsOn(kept.header)) return kept;
      } catch (error) {
        if (!(error instanceof StoreError) || error.problem !== "corrupt") throw error;
        warnings.push(error.message);
      }
    }
    return null;
  }

  /**
   * Whether all that comes after a state can be told from it: nothing goes back to what was before.
   * @throws StoreError when the state is of another journal, or the journal has lost what the state has seen of it.
   */
  #leadsOn({ line, check, offset }: StateHeader): boolean {
    const end = Buffer.from(`,"c":"${check}"}\n`, "latin1");
    const found = Buffer.alloc(end.length);
    if (offset > this.#file.size) {
      throw new StoreError(
        "corrupt",
        `${this.#journalPath} ends at byte ${this.#file.size}, and its line ${line} was on the disk up to byte ${offset}: ${REPAIR}`,
      );
    }
    this.#file.read(found, offset - end.length);
    if (!found.equals(end)) {
      throw new StoreError(
        "corrupt",
        `${this.#journalPath} has another line ${line}, up to byte ${offset}, than the state that was made after it: ${REPAIR}`,
      );
    }
    const earliest = Math.min(...linesGoneBackTo(this.#file, { number: line, check: 0, offset }));
    return earliest >= line;
  }

  /** @throws StoreError when what stands at the end of the journal is more than torn. */
  #judged(damage: Damage): Damage {
    if (damage.proof === null) return damage;
    throw new StoreError(
      "corrupt",
      `${this.#journalPath} is damaged at byte ${damage.offset}, where line ${damage.line} should begin: ${damage.proof}. Nothing was touched; ${REPAIR}`,
    );
  }

  /** Keeps what a crash has torn in a file of its own, and takes it off the journal. */
  #cutOff({ offset, bytes }: Damage): TornEnd {
    const file = nextTornFile(this.#disk, this.path);
    copyFrom(this.#disk, this.#file, offset, file);
    this.#disk.syncFolder(this.path);
    this.#file.cut(offset);
    this.#file.sync();
    return { file, bytes };
  }
}

const REPAIR = "clobsim repair --accept-loss DIR --out NEW makes a new directory of what is whole";

const endOf = ({ header: { line, check, offset } }: KeptState): JournalEnd => ({
  number: line,
  check: Number.parseInt(check, 16),
  offset,
});
