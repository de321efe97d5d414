import { Buffer } from "node:buffer";
import { beforeAll, describe, expect, it } from "vitest";
import type { DiskFile } from "../../src/engine/disk.ts";
import { DataFileError } from "../../src/engine/journal.ts";
import { BEGINNING } from "../../src/engine/journal-line.ts";
import { lengthWithoutZeros, scan } from "../../src/engine/journal-scan.ts";
import type { OpenedExchange } from "../../src/engine/open-exchange.ts";
import type { Durability } from "../../src/setting.ts";
import { digestOf } from "../engine/support/crashes.ts";
import {
  FOLDER,
  flush,
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
  /** States of prefixes of complete lines, by their number. The hash is compared once. */
  readonly prefixes: Map<number, { readonly hash: string; readonly sequence: number; isCompared: boolean }>;
}

const originalOf = (image: DiskImage, proven: number): Original => {
  const journal = journalIn(image);
  const room = (image.get(JOURNAL)?.length ?? 0) - journal.length;
  const ends = [...journal.entries()].filter(([, byte]) => byte === LINE_FEED).map(([index]) => index + 1);
  return { image: withoutLock(image), journal, room, starts: [0, ...ends], proven, prefixes: new Map() };
};

const linesOn = (disk: SimulatedDisk): number =>
  disk.image.get(JOURNAL)?.filter((byte) => byte === LINE_FEED).length ?? 0;

/** Runs a history, then some steps that are written but not synced, and kills or closes it. */
async function runHistory(durability: Durability, end: "killed" | "closed", steps = 44): Promise<Original> {
  const disk = new SimulatedDisk();
  const opened = await openOn(disk, { durability });
  for (let step = 0; step < steps; step += 1) {
    takeStep(opened, step);
    await flush(opened);
  }
  if (end === "closed") {
    await opened.close();
    return originalOf(disk.image, linesOn(disk));
  }
  const proven = durability === "power" ? linesOn(disk) : 1;
  takeSteps(opened, steps + 8, steps);
  let { image } = disk;
  disk.before = ({ kind }) => {
    if (kind === "sync") image = disk.image;
  };
  await flush(opened);
  return originalOf(durability === "power" ? image : disk.image, proven);
}

/** Requires that an exchange has the state after a number of lines. */
async function assertState({ exchange }: OpenedExchange, original: Original, lines: number): Promise<void> {
  let expected = original.prefixes.get(lines);
  if (expected === undefined) {
    const prefix = original.journal.subarray(0, original.starts[lines]);
    const alone = (await openOn(new SimulatedDisk(new Map([[JOURNAL, prefix]])))).exchange;
    expected = { hash: stateHashes(alone), sequence: alone.sequence, isCompared: false };
    original.prefixes.set(lines, expected);
  }
  const isSame = expected.isCompared || stateHashes(exchange) === expected.hash;
  if (exchange.sequence !== expected.sequence || !isSame)
    throw new Error(`line ${lines} leads to ${exchange.sequence}, expected ${expected.sequence}`);
  expected.isCompared = true;
}

/** Opens a damaged journal. Returns the number of lines that it still has; null if it is refused. */
async function opensAs(original: Original, damaged: Buffer): Promise<number | null> {
  const before: DiskImage = new Map([...original.image, [JOURNAL, damaged]]);
  const disk = new SimulatedDisk(before);
  try {
    const opened = await openOn(disk);
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
    await assertState(opened, original, lines);
    return lines;
  } catch (error) {
    if (!(error instanceof DataFileError) || error.problem !== "corrupt") throw error;
    if (digestOf(disk.image) !== digestOf(before)) throw new Error("refused, but changed");
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
      const original = { ...process_, prefixes: new Map() };
      for (let at = firstOf(original, 3); at < original.journal.length; at += 1)
        expect(await opensAs(original, damage(original.journal, at))).toBe(lineAt(original, at) - 1);
    },
  );

  it("with one bit flipped: refused because no crash causes it, except in the last byte", async () => {
    const original = { ...process_, prefixes: new Map() };
    const { journal, starts } = original;
    for (let at = firstOf(original, 3); at < journal.length; at += 1) {
      const lines = await opensAs(original, flipped(journal, at, at % 8));
      expect(lines).toBe(at === journal.length - 1 ? starts.length - 2 : null);
    }
  });

  it("with other line endings, or without a complete line: refused instead of opened as new", async () => {
    const { image, journal } = process_;
    const alone = new Map([...image].filter(([path]) => path === JOURNAL));
    const original = { ...process_, image: alone, prefixes: new Map() };
    const text = journal.toString("latin1");
    for (const damaged of [text.replaceAll("\n", "\r\n"), text.replaceAll('"p"', '"q"'), `x${text}`])
      expect(await opensAs(original, Buffer.from(damaged, "latin1"))).toBe(null);
  });

  it("with durability power: acknowledged commands are restored, or it is refused", async () => {
    const room = Buffer.alloc(power.room);
    const open = (bytes: Buffer, behind = room) => opensAs(power, Buffer.concat([bytes, behind]));
    expect(room.length).toBeGreaterThan(1_000);
    expect(await open(power.journal)).toBe(power.starts.length - 1);
    for (let at = firstOf(power, 10); at < power.journal.length; at += 4) {
      const line = lineAt(power, at);
      const isProven = line <= power.proven;
      const found = await open(flipped(power.journal, at, (at >> 2) % 8));
      expect(found).toBe(at === power.journal.length - 1 ? line - 1 : null);
      if (isProven || at % 8 !== 0) continue;
      for (const behind of [room, Buffer.alloc(0)])
        expect(await open(cut(power.journal, at), behind)).toBe(line - 1);
    }
    for (const [lines, start] of power.starts.entries()) {
      if (lines >= power.proven) expect(await open(cut(power.journal, start))).toBe(lines);
    }
  });

  it("after a clean close, with the state file: unchanged, or refused", async () => {
    const whole = closed.starts.length - 1;
    for (let at = firstOf(closed, 2); at < closed.journal.length; at += 2) {
      expect(await opensAs(closed, cut(closed.journal, at))).toBe(null);
      expect(await opensAs(closed, zeroed(closed.journal, at))).toBe(null);
      if (at % 8 !== 0) continue;
      for (const garbage of [Buffer.alloc(1 + (at % 600), 120), closed.journal.subarray(at)])
        expect(await opensAs(closed, Buffer.concat([closed.journal, garbage]))).toBe(null);
      const zeros = Buffer.concat([closed.journal, Buffer.alloc(1 + (at % 600))]);
      expect(await opensAs(closed, zeros)).toBe(whole);
    }
  });

  it("after a clean close, without the state file: the same for bytes after the last line", async () => {
    const alone: Original = { ...closed, image: new Map(), proven: 1, prefixes: new Map() };
    const whole = alone.starts.length - 1;
    for (let at = firstOf(alone, 1); at < alone.journal.length; at += 1) {
      expect(await opensAs(alone, cut(alone.journal, at))).toBe(lineAt(alone, at) - 1);
      const garbage = alone.journal.subarray(at);
      expect(await opensAs(alone, Buffer.concat([alone.journal, garbage]))).toBe(null);
      const zeros = Buffer.concat([alone.journal, Buffer.alloc(1 + (at % 600))]);
      expect(await opensAs(alone, zeros)).toBe(whole);
    }
  });
});

describe("reading a journal with a damaged end", () => {
  /** Reads the last lines of a journal. Returns the last valid line, and whether a crash may have torn the next. */
  function readFrom({ starts, journal }: Original, from: number, bytes: Buffer): [number, boolean] {
    const read: DiskFile["read"] = (into, position) => bytes.copy(into, 0, position);
    const file = { size: bytes.length, read } as Partial<DiskFile> as DiskFile;
    const offset = starts[from] ?? 0;
    const check = Number.parseInt(journal.toString("latin1", offset - 11), 16);
    const begin = from === 0 ? BEGINNING : { number: from, offset, check };
    const end = scan(file, begin, () => {}, { durability: "process", wasClosed: false });
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
