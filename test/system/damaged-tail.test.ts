import { Buffer } from "node:buffer";
import { beforeAll, describe, expect, it } from "vitest";
import type { DiskFile } from "../../src/engine/disk.ts";
import { BEGINNING } from "../../src/engine/journal-line.ts";
import { lengthWithoutZeros, scan } from "../../src/engine/journal-scan.ts";
import { StoreError } from "../../src/engine/store-error.ts";
import type { Durability } from "../../src/setting.ts";
import { FOLDER, openOn, withoutLock, withoutStart } from "../engine/support/kept.ts";
import { takeStep } from "../engine/support/short-history.ts";
import { type DiskImage, SimulatedDisk } from "../support/simulated-disk.ts";
import { stateHashes } from "../support/state-hashes.ts";

const JOURNAL = `${FOLDER}/journal.ndjson`;
const TORN = `${FOLDER}/journal.torn-1`;
const LINE_FEED = 10;

/** What was kept, undamaged. */
interface Kept {
  readonly image: DiskImage;
  readonly journal: Buffer;
  /** How many zeros stand behind it. */
  readonly room: number;
  /** Where each line begins, and where the last ends. */
  readonly starts: readonly number[];
  /** Lines that were acknowledged as being on the disk itself. */
  readonly proven: number;
}

const keptOf = (image: DiskImage, proven: number): Kept => {
  const file = Buffer.from(image.get(JOURNAL) ?? []);
  const journal = file.subarray(0, lengthWithoutZeros(file));
  const starts = [0];
  for (const [index, byte] of journal.entries()) if (byte === LINE_FEED) starts.push(index + 1);
  return { image: withoutLock(image), journal, room: file.length - journal.length, starts, proven };
};

const linesIn = (bytes: Uint8Array): number => bytes.filter((byte) => byte === LINE_FEED).length;

/** A history of so many steps, then some that were written and not synced; closed in good order or not. */
async function keep(durability: Durability, end: "killed" | "closed", steps = 44): Promise<Kept> {
  const disk = new SimulatedDisk();
  const opened = await openOn(disk, { durability });
  for (let step = 0; step < steps; step += 1) {
    takeStep(opened, step);
    await opened.persistence.flush(opened.persistence.position);
  }
  if (end === "closed") {
    await opened.close();
    return keptOf(disk.image, linesIn(disk.image.get(JOURNAL) ?? new Uint8Array()));
  }
  const proven = durability === "power" ? linesIn(disk.image.get(JOURNAL) ?? new Uint8Array()) : 1;
  for (let step = steps; step < steps + 8; step += 1) takeStep(opened, step);
  let { image } = disk;
  disk.before = ({ kind }) => {
    if (kind === "sync") image = disk.image;
  };
  await opened.persistence.flush(opened.persistence.position);
  return keptOf(durability === "power" ? image : disk.image, proven);
}

const withJournal = ({ image }: Kept, bytes: Uint8Array): DiskImage => new Map([...image, [JOURNAL, bytes]]);

/** How each prefix of whole lines stands, worked out once. */
class Prefixes {
  readonly #kept: Kept;
  readonly #known = new Map<number, readonly [hash: string, sequence: number]>();
  readonly #seen = new Set<number>();

  constructor(kept: Kept) {
    this.#kept = kept;
  }

  async standing(lines: number): Promise<readonly [hash: string, sequence: number]> {
    let found = this.#known.get(lines);
    if (found === undefined) {
      const prefix = this.#kept.journal.subarray(0, this.#kept.starts[lines]);
      const { exchange } = await openOn(new SimulatedDisk(new Map([[JOURNAL, prefix]])));
      found = [stateHashes(exchange), exchange.sequence];
      this.#known.set(lines, found);
    }
    return found;
  }

  /** Whether it is the first time that this prefix is looked at. */
  isNew(lines: number): boolean {
    const isNew = !this.#seen.has(lines);
    this.#seen.add(lines);
    return isNew;
  }
}

/** Opens what was damaged, and answers how many lines are still there; null when it was refused. */
async function opensAs(kept: Kept, prefixes: Prefixes, damaged: Buffer): Promise<number | null> {
  const before = withJournal(kept, damaged);
  const disk = new SimulatedDisk(before);
  try {
    const { exchange } = await openOn(disk);
    const after = disk.image;
    const found = withoutStart(Buffer.from(after.get(JOURNAL) ?? []));
    const lines = kept.starts.indexOf(found.length);
    if (lines < kept.proven || !found.equals(kept.journal.subarray(0, found.length)))
      throw new Error(`${found.length} bytes of ${lines} lines`);
    const behind = damaged.subarray(found.length);
    const rest = kept.room === 0 ? behind : behind.subarray(0, lengthWithoutZeros(behind));
    const torn = after.get(TORN);
    if (rest.length === 0 ? torn !== undefined : !rest.equals(torn ?? Buffer.alloc(0)))
      throw new Error("what was torn is not kept");
    const [hash, sequence] = await prefixes.standing(lines);
    if (exchange.sequence !== sequence || (prefixes.isNew(lines) && stateHashes(exchange) !== hash))
      throw new Error(`line ${lines} leads to ${exchange.sequence}, and should to ${sequence}`);
    return lines;
  } catch (error) {
    if (!(error instanceof StoreError) || error.problem !== "corrupt") throw error;
    const after = disk.image;
    if (
      after.size !== before.size ||
      [...before].some(([path, bytes]) => !Buffer.from(bytes).equals(after.get(path) ?? new Uint8Array()))
    )
      throw new Error("refused, and touched all the same");
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

/** The line in which a byte stands, from 1. */
const lineAt = ({ starts }: Kept, at: number): number => starts.findLastIndex((start) => start <= at) + 1;

let process_: Kept;
let power: Kept;
let closed: Kept;
beforeAll(async () => {
  process_ = await keep("process", "killed");
  power = await keep("power", "killed");
  closed = await keep("process", "closed");
});

const firstOf = ({ starts }: Kept, lines: number): number => starts.at(-1 - lines) ?? 0;

describe("a journal whose end is damaged, as it opens", () => {
  it.each([["cut", cut] as const, ["zeroed", zeroed] as const])(
    "%s from any byte on: all whole lines before are there, and what was torn is kept",
    async (_how, damage) => {
      const prefixes = new Prefixes(process_);
      for (let at = firstOf(process_, 3); at < process_.journal.length; at += 1) {
        expect(await opensAs(process_, prefixes, damage(process_.journal, at))).toBe(
          lineAt(process_, at) - 1,
        );
      }
    },
  );

  it("with one bit flipped: refused, for no crash leaves that, but where the last line has lost its end", async () => {
    const prefixes = new Prefixes(process_);
    const last = process_.starts.length - 1;
    for (let at = firstOf(process_, 3); at < process_.journal.length; at += 1) {
      const lines = await opensAs(process_, prefixes, flipped(process_.journal, at, at % 8));
      expect(lines).toBe(at === process_.journal.length - 1 ? last - 1 : null);
    }
  });

  it("with other ends of lines, or without any whole line, is refused and not taken for a new one", async () => {
    const { image, journal } = process_;
    const kept = { ...process_, image: new Map([...image].filter(([path]) => path === JOURNAL)) };
    const text = journal.toString("latin1");
    for (const damaged of [text.replaceAll("\n", "\r\n"), text.replaceAll('"p"', '"q"'), `x${text}`]) {
      expect(await opensAs(kept, new Prefixes(kept), Buffer.from(damaged, "latin1"))).toBe(null);
    }
  });

  it("kept for power failures: whatever is damaged, what was acknowledged is there, or it is refused", async () => {
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

  it("after a clean close, with the state beside it: as it was, or refused", async () => {
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

  it("after a clean close, without the state: the same of what stands behind the last line", async () => {
    const alone: Kept = { ...closed, image: new Map(), proven: 1 };
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

describe("a journal whose end is damaged, as it is read", () => {
  const fileOf = (bytes: Buffer): DiskFile =>
    ({
      size: bytes.length,
      read: (into, position) => bytes.copy(into, 0, position),
    }) as Partial<DiskFile> as DiskFile;

  /** Reads a journal from its last lines on, and answers where the good ones end and whether that may be a crash. */
  function verdictOf(kept: Kept, from: number, bytes: Buffer): [line: number, isTorn: boolean] {
    const file = fileOf(bytes);
    const before = { durability: "process" as const, wasClosed: false };
    const begin = {
      number: from,
      offset: kept.starts[from] ?? 0,
      check: Number.parseInt(kept.journal.toString("latin1", (kept.starts[from] ?? 0) - 11), 16),
    };
    const end = scan(file, from === 0 ? BEGINNING : begin, () => {}, before);
    return [end.number, end.damage?.proof === null];
  }

  it("at any byte and bit of its last 40 lines: the good ones end just before, and only the end may be torn", () => {
    const last = process_.starts.length - 1;
    const { journal, starts } = process_;
    const demand = (damaged: Buffer, at: number, mayBeTorn: boolean): void => {
      const line = lineAt(process_, at);
      const [found, isTorn] = verdictOf(process_, line - 1, damaged);
      const isWhole = damaged.length === starts[line - 1];
      if (found !== line - 1 || (isTorn !== mayBeTorn && !isWhole))
        throw new Error(`byte ${at}: line ${found}`);
    };
    for (let at = starts[last - 40] ?? 0; at < journal.length; at += 1) {
      demand(cut(journal, at), at, true);
      demand(zeroed(journal, at), at, true);
      const isEnd = at === journal.length - 1;
      const byte = journal[at] as number;
      for (let bit = 0; bit < 8; bit += 1) {
        journal[at] = byte ^ (1 << bit);
        demand(journal, at, isEnd || (lineAt(process_, at) === last && journal[at] === 0));
      }
      journal[at] = byte;
    }
  });
});
