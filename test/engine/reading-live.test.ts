import { describe, expect, it } from "vitest";
import type { DiskFile } from "../../src/engine/disk.ts";
import { Exchange } from "../../src/engine/exchange.ts";
import { BEGINNING, type OpeningData } from "../../src/engine/journal-line.ts";
import { hasLine, restoreTargets, scan } from "../../src/engine/journal-scan.ts";
import { MemoryFile } from "../../src/engine/memory-disk.ts";
import { exchangeAt, originOfJournal } from "../../src/engine/origin.ts";
import { replayJournal } from "../../src/engine/replayer.ts";
import type { Durability } from "../../src/setting.ts";
import { linesIn, withChecksums } from "../cli/journal-lines.ts";
import { stateHashes } from "../support/state-hashes.ts";
import { flush, journalIn, openNew } from "./support/persisted.ts";
import { takeSteps } from "./support/short-history.ts";

const LINE_FEED = 10;
const ZEROS = 1 << 14;

/** Returns the journal of a short history, which is not stopped. */
async function journalOf(durability: Durability): Promise<Buffer> {
  const { disk, opened } = await openNew({ durability });
  takeSteps(opened, 44);
  await flush(opened);
  return journalIn(disk.image);
}

/** A journal that has 20 lines at first, and `growth` more after each read; with `power`, zeros follow them. */
function growingFile(journal: Buffer, durability: Durability, growth: "a line" | "some bytes"): DiskFile {
  const ends = [...journal.keys()].filter((at) => journal[at] === LINE_FEED).map((at) => at + 1);
  let length = ends[19] ?? 0;
  const current = (): DiskFile => {
    const lines = journal.subarray(0, length);
    return new MemoryFile(durability === "power" ? Buffer.concat([lines, Buffer.alloc(ZEROS)]) : lines);
  };
  return {
    ...current(),
    get size() {
      return current().size;
    },
    read: (into, position) => {
      const count = current().read(into, position);
      length = growth === "a line" ? (ends.find((end) => end > length) ?? length) : length + 40;
      return count;
    },
  };
}

describe.each(["process", "power"] as const)("a journal that a server writes with %s", (durability) => {
  it("is not damaged if lines are written between two reads", async () => {
    const journal = await journalOf(durability);
    const numbers: number[] = [];
    const file = growingFile(journal, durability, "a line");
    const { number, damage } = scan(file, BEGINNING, ({ n }) => void numbers.push(n));
    expect([damage, number]).toEqual([null, numbers.length]);
    expect(number).toBeGreaterThanOrEqual(20);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });

  it("is at most torn if a line is written in parts", async () => {
    const file = growingFile(await journalOf(durability), durability, "some bytes");
    const { number, damage } = scan(file, BEGINNING, () => {});
    expect(number).toBeGreaterThanOrEqual(20);
    expect(damage?.proof ?? null).toBe(null);
  });
});

describe("a damaged journal", () => {
  it("is read once, however many short lines or parts of a line the damage has", async () => {
    const journal = await journalOf("process");
    const lines = Buffer.alloc(1 << 25, "\n");
    const damage = Buffer.concat([Buffer.from("\0\n"), lines]);
    const { damage: found } = scan(new MemoryFile(Buffer.concat([journal, damage])), BEGINNING, () => {});
    expect(found).toMatchObject({ offset: journal.length, bytes: damage.length, proof: null });
    const line = `{${',"k":"restore","d":{'.repeat(200_000)}","c":"00000000"}\n`;
    expect(restoreTargets(new MemoryFile(Buffer.from(line)), BEGINNING)).toEqual(new Set());
  });

  it("is a journal if one line is undamaged, and ends with a line feed", async () => {
    const [first = "", second = ""] = (await journalOf("process")).toString("utf8").split("\n");
    const found = [`${first}\n`, `x\n${second}\n`, `x${second}\n`, second, "\n".repeat(1 << 24)].map((text) =>
      hasLine(new MemoryFile(Buffer.from(text))),
    );
    expect(found).toEqual([true, true, false, false, false]);
  });
});

it("a journal with any number of resets plays its opening at the start and at the first reset", async () => {
  const lines = linesIn((await journalOf("process")).toString("utf8"));
  const reset = { ...lines.at(-1), k: "reset", d: {}, r: "00000000" };
  const numbered = (more: readonly object[]) =>
    [...lines, ...more].map((line, at) => ({ ...line, n: at + 1 }));
  const file = new MemoryFile(Buffer.from(withChecksums(numbered([reset, reset, reset]))));
  const origin = originOfJournal(lines[0]?.d as OpeningData, "journal");
  let plays = 0;
  const play = (at: Exchange): void => {
    plays += 1;
    origin.play(at);
  };
  const exchange = new Exchange(origin.config, origin.start);
  const { damage } = replayJournal(exchange, { ...origin, play }, { path: "journal", file }, null);
  expect([damage, plays, stateHashes(exchange)]).toEqual([null, 2, stateHashes(exchangeAt(origin))]);
});
