import { Buffer } from "node:buffer";
import { beforeAll, describe, expect, it } from "vitest";
import type { DiskFile } from "../../src/engine/disk.ts";
import { StoreError } from "../../src/engine/journal.ts";
import { BEGINNING } from "../../src/engine/journal-line.ts";
import { lengthWithoutZeros, scan } from "../../src/engine/journal-scan.ts";
import type { Durability } from "../../src/setting.ts";
import {
  FOLDER,
  JOURNAL,
  journalIn,
  openOn,
  withoutLock,
  withoutStart,
} from "../engine/support/persisted.ts";
import { takeStep, takeSteps } from "../engine/support/short-history.ts";
import { type DiskImage, SimulatedDisk } from "../support/simulated-disk.ts";
import { stateHashes } from "../support/state-hashes.ts";

const TORN = `${FOLDER}/journal.torn-1`;
const LINE_FEED = 10;

/** An undamaged data directory. */
interface Original {
  readonly image: DiskImage;
  readonly journal: Buffer;
  /** Number of preallocated zeros after it. */
  readonly room: number;
  /** Start of each line, and the end of the last. */
  readonly starts: readonly number[];
  /** Number of lines that were acknowledged as synced. */
  readonly proven: number;
}

const originalOf = (image: DiskImage, proven: number): Original => {
  const journal = journalIn(image);
  const starts = [0];
  for (const [index, byte] of journal.entries()) if (byte === LINE_FEED) starts.push(index + 1);
  return {
    image: withoutLock(image),
    journal,
    room: (image.get(JOURNAL)?.length ?? 0) - journal.length,
    starts,
    proven,
  };
};

const linesIn = (bytes: Uint8Array): number => bytes.filter((byte) => byte === LINE_FEED).length;

/** Runs a history of `steps`, then some that are written but not synced, and kills or closes it. */
async function runHistory(durability: Durability, end: "killed" | "closed", steps = 44): Promise<Original> {
  const disk = new SimulatedDisk();
  const opened = await openOn(disk, { durability });
  for (let step = 0; step < steps; step += 1) {
    takeStep(opened, step);
    await opened.persistence.flush(opened.persistence.position);
  }
  if (end === "closed") {
    await opened.close();
    return originalOf(disk.image, linesIn(disk.image.get(JOURNAL) ?? new Uint8Array()));
  }
  const proven = durability === "power" ? linesIn(disk.image.get(JOURNAL) ?? new Uint8Array()) : 1;
  takeSteps(opened, steps + 8, steps);
  let { image } = disk;
  disk.before = ({ kind }) => {
    if (kind === "sync") image = disk.image;
  };
  await opened.persistence.flush(opened.persistence.position);
  return originalOf(durability === "power" ? image : disk.image, proven);
}

const withJournal = ({ image }: Original, bytes: Uint8Array): DiskImage =>
  new Map([...image, [JOURNAL, bytes]]);

/** Computes and caches the state of each prefix of complete lines. */
class Prefixes {
  readonly #original: Original;
  readonly #known = new Map<number, readonly [hash: string, sequence: number]>();
  readonly #seen = new Set<number>();

  constructor(original: Original) {
    this.#original = original;
  }

  async stateAfter(lines: number): Promise<readonly [hash: string, sequence: number]> {
    let found = this.#known.get(lines);
    if (found === undefined) {
      const prefix = this.#original.journal.subarray(0, this.#original.starts[lines]);
      const { exchange } = await openOn(new SimulatedDisk(new Map([[JOURNAL, prefix]])));
      found = [stateHashes(exchange), exchange.sequence];
      this.#known.set(lines, found);
    }
    return found;
  }

  /** Whether this is the first check of a prefix. */
  isNew(lines: number): boolean {
    const isNew = !this.#seen.has(lines);
    this.#seen.add(lines);
    return isNew;
  }
}

/** Opens a damaged journal. Returns the number of lines that it still has; null if it is refused. */
async function opensAs(original: Original, prefixes: Prefixes, damaged: Buffer): Promise<number | null> {
  const before = withJournal(original, damaged);
  const disk = new SimulatedDisk(before);
  try {
    const { exchange } = await openOn(disk);
    const after = disk.image;
    const found = withoutStart(Buffer.from(after.get(JOURNAL) ?? []));
    const lines = original.starts.indexOf(found.length);
    if (lines < original.proven || !found.equals(original.journal.subarray(0, found.length)))
      throw new Error(`${found.length} bytes of ${lines} lines`);
    const behind = damaged.subarray(found.length);
    const rest = original.room === 0 ? behind : behind.subarray(0, lengthWithoutZeros(behind));
    const torn = after.get(TORN);
    if (rest.length === 0 ? torn !== undefined : !rest.equals(torn ?? Buffer.alloc(0)))
      throw new Error("the torn bytes were not saved");
    const [hash, sequence] = await prefixes.stateAfter(lines);
    if (exchange.sequence !== sequence || (prefixes.isNew(lines) && stateHashes(exchange) !== hash))
      throw new Error(`line ${lines} leads to ${exchange.sequence}, expected ${sequence}`);
    return lines;
  } catch (error) {
    if (!(error instanceof StoreError) || error.problem !== "corrupt") throw error;
    const after = disk.image;
    if (
      after.size !== before.size ||
      [...before].some(([path, bytes]) => !Buffer.from(bytes).equals(after.get(path) ?? new Uint8Array()))
    )
      throw new Error("refused, but changed");
    return null;
  }
}

const cut = (journal: Buffer, from: number): Buffer => journal.subarray(0, from);
const zeroed = (journal: Buffer, from: number): Buffer => Buffer.from(journal).fill(0, from);
const flipped = (journal: Buffer, at: number, bit: number): Buffer => {
  const bytes = Buffer.from(journal);
  bytes[at] = (bytes[at] as number) ^ (1 << bit);
  return bytes;
};

/** Returns the line of a byte, from 1. */
const lineAt = ({ starts }: Original, at: number): number => starts.findLastIndex((start) => start <= at) + 1;

let process_: Original;
let power: Original;
let closed: Original;
beforeAll(async () => {
  process_ = await runHistory("process", "killed");
  power = await runHistory("power", "killed");
  closed = await runHistory("process", "closed");
});

const firstOf = ({ starts }: Original, lines: number): number => starts.at(-1 - lines) ?? 0;

describe("opening a journal with a damaged end", () => {
  it.each([["cut", cut] as const, ["zeroed", zeroed] as const])(
    "%s from any byte on: all complete lines before are restored, and the torn bytes are saved",
    async (_how, damage) => {
      const prefixes = new Prefixes(process_);
      for (let at = firstOf(process_, 3); at < process_.journal.length; at += 1) {
        expect(await opensAs(process_, prefixes, damage(process_.journal, at))).toBe(
          lineAt(process_, at) - 1,
        );
      }
    },
  );

  it("with one bit flipped: refused because no crash causes it, except in the last byte", async () => {
    const prefixes = new Prefixes(process_);
    const last = process_.starts.length - 1;
    for (let at = firstOf(process_, 3); at < process_.journal.length; at += 1) {
      const lines = await opensAs(process_, prefixes, flipped(process_.journal, at, at % 8));
      expect(lines).toBe(at === process_.journal.length - 1 ? last - 1 : null);
    }
  });

  it("with other line endings, or without a complete line: refused instead of opened as new", async () => {
    const { image, journal } = process_;
    const original = { ...process_, image: new Map([...image].filter(([path]) => path === JOURNAL)) };
    const text = journal.toString("latin1");
    for (const damaged of [text.replaceAll("\n", "\r\n"), text.replaceAll('"p"', '"q"'), `x${text}`]) {
      expect(await opensAs(original, new Prefixes(original), Buffer.from(damaged, "latin1"))).toBe(null);
    }
  });

  it("with durability power: acknowledged commands are restored, or it is refused", async () => {
    const prefixes = new Prefixes(power);
    const room = Buffer.alloc(power.room);
    const open = (bytes: Buffer, behind = room) => opensAs(power, prefixes, Buffer.concat([bytes, behind]));
    expect(room.length).toBeGreaterThan(1_000);
    expect(await open(power.journal)).toBe(power.starts.length - 1);
    for (let at = firstOf(power, 10); at < power.journal.length; at += 4) {
      const line = lineAt(power, at);
      const isProven = line <= power.proven;
      const found = await open(flipped(power.journal, at, (at >> 2) % 8));
      expect(found).toBe(at === power.journal.length - 1 ? line - 1 : null);
      if (isProven || at % 8 !== 0) continue;
      for (const behind of [room, Buffer.alloc(0)]) {
        expect(await open(cut(power.journal, at), behind)).toBe(line - 1);
      }
    }
    for (const [lines, start] of power.starts.entries()) {
      if (lines >= power.proven) expect(await open(cut(power.journal, start))).toBe(lines);
    }
  });

  it("after a clean close, with the state file: unchanged, or refused", async () => {
    const prefixes = new Prefixes(closed);
    const whole = closed.starts.length - 1;
    for (let at = firstOf(closed, 2); at < closed.journal.length; at += 2) {
      expect(await opensAs(closed, prefixes, cut(closed.journal, at))).toBe(null);
      expect(await opensAs(closed, prefixes, zeroed(closed.journal, at))).toBe(null);
      if (at % 8 !== 0) continue;
      for (const garbage of [Buffer.alloc(1 + (at % 600), 120), closed.journal.subarray(at)]) {
        const more = Buffer.concat([closed.journal, garbage]);
        expect(await opensAs(closed, prefixes, more)).toBe(null);
      }
      const zeros = Buffer.concat([closed.journal, Buffer.alloc(1 + (at % 600))]);
      expect(await opensAs(closed, prefixes, zeros)).toBe(whole);
    }
  });

  it("after a clean close, without the state file: the same for bytes after the last line", async () => {
    const alone: Original = { ...closed, image: new Map(), proven: 1 };
    const prefixes = new Prefixes(alone);
    const whole = alone.starts.length - 1;
    for (let at = firstOf(alone, 1); at < alone.journal.length; at += 1) {
      expect(await opensAs(alone, prefixes, cut(alone.journal, at))).toBe(lineAt(alone, at) - 1);
      const garbage = Buffer.concat([alone.journal, alone.journal.subarray(at)]);
      expect(await opensAs(alone, prefixes, garbage)).toBe(null);
      const zeros = Buffer.concat([alone.journal, Buffer.alloc(1 + (at % 600))]);
      expect(await opensAs(alone, prefixes, zeros)).toBe(whole);
    }
  });
});

describe("reading a journal with a damaged end", () => {
  const fileOf = (bytes: Buffer): DiskFile =>
    ({
      size: bytes.length,
      read: (into, position) => bytes.copy(into, 0, position),
    }) as Partial<DiskFile> as DiskFile;

  /** Reads the last lines of a journal. Returns the last valid line, and whether a crash may have torn the next. */
  function readFrom(original: Original, from: number, bytes: Buffer): [line: number, isTorn: boolean] {
    const file = fileOf(bytes);
    const before = { durability: "process" as const, wasClosed: false };
    const begin = {
      number: from,
      offset: original.starts[from] ?? 0,
      check: Number.parseInt(original.journal.toString("latin1", (original.starts[from] ?? 0) - 11), 16),
    };
    const end = scan(file, from === 0 ? BEGINNING : begin, () => {}, before);
    return [end.number, end.damage?.proof === null];
  }

  it("at any byte and bit of its last 40 lines: valid lines end just before, and only the end may be torn", () => {
    const last = process_.starts.length - 1;
    const { journal, starts } = process_;
    const requireEnd = (damaged: Buffer, at: number, mayBeTorn: boolean): void => {
      const line = lineAt(process_, at);
      const [found, isTorn] = readFrom(process_, line - 1, damaged);
      const isWhole = damaged.length === starts[line - 1];
      if (found !== line - 1 || (isTorn !== mayBeTorn && !isWhole))
        throw new Error(`byte ${at}: line ${found}`);
    };
    for (let at = starts[last - 40] ?? 0; at < journal.length; at += 1) {
      requireEnd(cut(journal, at), at, true);
      requireEnd(zeroed(journal, at), at, true);
      const isEnd = at === journal.length - 1;
      const byte = journal[at] as number;
      for (let bit = 0; bit < 8; bit += 1) {
        journal[at] = byte ^ (1 << bit);
        requireEnd(journal, at, isEnd || (lineAt(process_, at) === last && journal[at] === 0));
      }
      journal[at] = byte;
    }
  });
});
