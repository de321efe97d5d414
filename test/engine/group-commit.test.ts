import { setImmediate as endOfTurn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { millis } from "../../src/core/units.ts";
import type { DiskFile } from "../../src/engine/disk.ts";
import { PersistenceError } from "../../src/engine/journal.ts";
import { JournalFile } from "../../src/engine/journal-file.ts";
import { BEGINNING } from "../../src/engine/journal-line.ts";
import { forAllAsync, runs } from "../support/runs.ts";
import { FULL } from "./support/failing-disk.ts";

/** A file whose syncs are ended by the test. */
class SlowFile implements DiskFile {
  size = 0;
  /** Numbers of lines that are written, and durable. */
  written = 0;
  synced = 0;
  syncs = 0;
  /** Lines whose `s` is greater than the number of durable lines. */
  readonly wrong: number[] = [];
  /** Size to which the file was truncated; -1 before. */
  cutTo = -1;
  #ends: { readonly end: () => void; readonly fail: () => void }[] = [];

  read(): number {
    return 0;
  }

  write(bytes: Uint8Array): number {
    for (const text of Buffer.from(bytes).toString().split("\n").slice(0, -1)) {
      this.written += 1;
      // Preallocated zeros are not lines.
      if (text.startsWith("{") && (JSON.parse(text) as { s: number }).s > this.synced)
        this.wrong.push(this.written);
    }
    return bytes.length;
  }

  truncate(size: number): void {
    this.cutTo = size;
  }

  sync(): void {
    this.synced = this.written;
  }

  syncAsync(): Promise<void> {
    const reached = this.written;
    this.syncs += 1;
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.synced = Math.max(this.synced, reached);
        resolve();
      };
      this.#ends.push({ end, fail: () => reject(new Error("EIO: i/o error, fdatasync")) });
    });
  }

  /** Ends the running sync; returns false if there is none. */
  end(): boolean {
    const sync = this.#ends.shift();
    sync?.end();
    return sync !== undefined;
  }

  /** Makes the running sync fail. */
  fail(): void {
    this.#ends.shift()?.fail();
  }

  close(): void {}
}

class Run {
  readonly file = new SlowFile();
  readonly journal = new JournalFile(this.file, "power", BEGINNING);
  /** Lines that were acknowledged before they were durable. */
  readonly early: number[] = [];
  lines = 0;
  waiting = 0;

  append(count = 1): void {
    for (let more = 0; more < count; more += 1) {
      this.lines += 1;
      const command = { kind: "deriveCredentials", address: "a".repeat(count > 1 ? 2_000 : 10) } as const;
      this.journal.append({ sequence: this.lines, at: millis(0), command }, []);
    }
  }

  flush(): void {
    const needed = this.lines;
    const done = this.journal.flush(this.journal.position);
    const check = (): void => {
      if (this.file.synced < needed) this.early.push(needed);
    };
    if (done === undefined) check();
    else {
      this.waiting += 1;
      done.then(() => {
        this.waiting -= 1;
        check();
      });
    }
  }

  async endAll(): Promise<void> {
    do await turns();
    while (this.file.end());
  }
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await endOfTurn();
}

const action = fc.constantFrom("append", "append", "flush", "flush", "many", "turn", "turn", "end");

describe("group commit", () => {
  it("acknowledges all durable lines and no others, in any order of events", async () => {
    await forAllAsync(runs(150, 45), [fc.array(action, { maxLength: 40 })], async (actions) => {
      const run = new Run();
      for (const each of actions) {
        if (each === "append") run.append();
        else if (each === "many") run.append(400);
        else if (each === "flush") run.flush();
        else if (each === "end") run.file.end();
        else await turns();
      }
      await run.endAll();
      expect([run.early, run.waiting, run.file.wrong]).toEqual([[], 0, []]);
    });
  });

  it("does not acknowledge lines that were written during a sync", async () => {
    const run = new Run();
    run.append();
    run.flush();
    await turns();
    const { offset } = run.journal.written;
    // Enough to be written at once, while the sync runs.
    run.append(400);
    const writtenMeanwhile = run.file.written;
    expect(writtenMeanwhile).toBeGreaterThan(1);
    run.file.end();
    await turns();
    expect(run.journal.flush(1)).toBe(undefined);
    expect(run.journal.flush(writtenMeanwhile)).toBeInstanceOf(Promise);
    run.append();
    const kept = run.journal.flush(run.journal.position);
    await turns();
    expect(run.file.wrong).toEqual([]);
    run.file.fail();
    await expect(kept).rejects.toThrow("the journal cannot be written: EIO");
    expect(run.file.cutTo).toBe(offset);
  });

  it("makes all lines that arrive during a sync durable with one: 64 at a time", async () => {
    const run = new Run();
    for (const round of [1, 2, 3]) {
      for (let client = 0; client < 64; client += 1) {
        run.append();
        run.flush();
      }
      await turns();
      expect([run.file.syncs, run.waiting]).toEqual([round, 64]);
      run.file.end();
      await turns();
      expect([run.file.syncs, run.waiting]).toEqual([round, 0]);
    }
  });

  it("lets a read wait for the running sync, and for no other", async () => {
    const run = new Run();
    run.append();
    run.flush();
    await turns();
    run.flush();
    expect(run.waiting).toBe(2);
    run.file.end();
    await turns();
    expect([run.file.syncs, run.waiting]).toEqual([1, 0]);
  });

  it("acknowledges nothing with a running sync if the journal then cannot be written", async () => {
    const run = new Run();
    run.append();
    const kept = expect(run.journal.flush(run.journal.position)).rejects.toBeInstanceOf(PersistenceError);
    await turns();
    run.file.sync = () => {
      throw FULL;
    };
    expect(() => run.journal.sync()).toThrow(PersistenceError);
    expect(run.file.cutTo).toBe(0);
    run.file.end();
    await kept;
  });
});
