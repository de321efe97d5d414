import { setImmediate as endOfTurn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { millis } from "../../src/core/units.ts";
import type { DiskFile } from "../../src/engine/disk.ts";
import { JournalFile } from "../../src/engine/journal-file.ts";
import { BEGINNING } from "../../src/engine/journal-line.ts";
import { runs } from "../support/runs.ts";

/** A file whose syncs end when they are told to. */
class SlowFile implements DiskFile {
  size = 0;
  /** The lines that are written, and that are on the disk itself. */
  written = 0;
  synced = 0;
  syncs = 0;
  /** Lines that say of more than is on the disk that it is there. */
  readonly boasting: number[] = [];
  /** What the file was cut to; -1 before. */
  cutTo = -1;
  #ends: { readonly end: () => void; readonly fail: () => void }[] = [];

  read(): number {
    return 0;
  }

  write(bytes: Uint8Array): number {
    for (const text of Buffer.from(bytes).toString().split("\n").slice(0, -1)) {
      this.written += 1;
      // Zeros ahead of the lines are none.
      if (text.startsWith("{") && (JSON.parse(text) as { s: number }).s > this.synced)
        this.boasting.push(this.written);
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

  /** The sync that is under way ends; false when there is none. */
  end(): boolean {
    const sync = this.#ends.shift();
    sync?.end();
    return sync !== undefined;
  }

  /** The sync that is under way fails. */
  fail(): void {
    this.#ends.shift()?.fail();
  }

  close(): void {}
}

class Run {
  readonly file = new SlowFile();
  readonly journal = new JournalFile(this.file, "power", BEGINNING);
  /** Lines that were acknowledged before they were on the disk. */
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

  keep(): void {
    const needed = this.lines;
    const kept = this.journal.flush(this.journal.position);
    const check = (): void => {
      if (this.file.synced < needed) this.early.push(needed);
    };
    if (kept === undefined) check();
    else {
      this.waiting += 1;
      kept.then(() => {
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

const action = fc.constantFrom("append", "append", "keep", "keep", "many", "turn", "turn", "end");

describe("group commit", () => {
  it("acknowledges all that is on the disk and nothing else, in whatever order things happen", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
        const run = new Run();
        for (const each of actions) {
          if (each === "append") run.append();
          else if (each === "many") run.append(400);
          else if (each === "keep") run.keep();
          else if (each === "end") run.file.end();
          else await turns();
        }
        await run.endAll();
        expect([run.early, run.waiting, run.file.boasting]).toEqual([[], 0, []]);
      }),
      runs(300, 45),
    );
  });

  it("counts nothing as kept that was written while the disk was busy", async () => {
    const run = new Run();
    run.append();
    run.keep();
    await turns();
    const { offset } = run.journal.written;
    // So much that most of it is written at once, with the sync still under way.
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
    expect(run.file.boasting).toEqual([]);
    run.file.fail();
    await expect(kept).rejects.toThrow("the journal cannot be written: EIO");
    expect(run.file.cutTo).toBe(offset);
  });

  it("takes along all who come while the disk is busy: 64 at a time are one sync", async () => {
    const run = new Run();
    for (const round of [1, 2, 3]) {
      for (let client = 0; client < 64; client += 1) {
        run.append();
        run.keep();
      }
      await turns();
      expect([run.file.syncs, run.waiting]).toEqual([round, 64]);
      run.file.end();
      await turns();
      expect([run.file.syncs, run.waiting]).toEqual([round, 0]);
    }
  });

  it("lets one who only reads wait for the sync under way, and not for another", async () => {
    const run = new Run();
    run.append();
    run.keep();
    await turns();
    run.keep();
    expect(run.waiting).toBe(2);
    run.file.end();
    await turns();
    expect([run.file.syncs, run.waiting]).toEqual([1, 0]);
  });
});
