import type { Clock, ClockSetting } from "../engine/clock.ts";
import type { DataFolder } from "../engine/data-folder.ts";
import type { Exchange } from "../engine/exchange.ts";
import { hex8 } from "../engine/hex8.ts";
import { type Keeper, NotKeptError } from "../engine/journal.ts";
import type { JournalEnd, Mark } from "../engine/journal-end.ts";
import type { JournalFile } from "../engine/journal-file.ts";
import { STATE_FORMAT, type StateHeader } from "../engine/state-header.ts";
import type { TeeJournal } from "../engine/tee-journal.ts";
import type { Origin } from "./origin.ts";

/** A state is written when so much has been added to the journal since the last, or more where that was bigger. */
const LEAST_LINES = 10_000;
const LEAST_BYTES = 8 * 1024 * 1024;

/** An exchange with all that it is kept with. */
export interface Kept {
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
export class KeptExchange implements Keeper {
  readonly #kept: Kept;
  #journal: JournalFile | null = null;
  /** The end of the journal when a state was written last. */
  #stated: Mark;
  #writing: Promise<void> | null = null;
  /** Why not even reading goes on: nobody knows what is kept. */
  #lost: NotKeptError | null = null;

  /** `stated` is the line of the latest state that is on the disk, 0 when there is none. */
  constructor(kept: Kept, stated: Mark) {
    this.#kept = kept;
    this.#stated = stated;
  }

  get position(): number {
    return this.#journal?.position ?? 0;
  }

  get broken(): NotKeptError | null {
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
      if (journal.broken === null) journal.note("clock", { ...setting, wall: wallNow() }, exchange.now);
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
      this.#lost = new NotKeptError(`the journal can be neither written nor read: ${message}`, "disk", cause);
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
      journal.note("close", { hash: exchange.hash, wall: wallNow() }, exchange.now);
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
