import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { lengthWithoutZeros } from "../../src/engine/journal-scan.ts";
import type { OpenedExchange } from "../../src/engine/open-exchange.ts";
import { StoreError } from "../../src/engine/store-error.ts";
import type { Durability } from "../../src/setting.ts";
import { type Crash, crashesAt, digestOf } from "../engine/support/crashes.ts";
import { FOLDER, openOn, withoutLock, withoutStart } from "../engine/support/kept.ts";
import { takeStep } from "../engine/support/short-history.ts";
import { type DiskImage, SimulatedDisk } from "../support/simulated-disk.ts";
import { stateHashes } from "../support/state-hashes.ts";

const JOURNAL = `${FOLDER}/journal.ndjson`;
const STEPS = 200;
/** After so many commands the program is stopped, which writes the state, and started again. */
const STEPS_OF_A_START = 40;

/** What is written of the journal, without the room ahead. */
function journalIn(image: DiskImage): Buffer {
  const bytes = Buffer.from(image.get(JOURNAL) ?? new Uint8Array());
  return bytes.subarray(0, lengthWithoutZeros(bytes));
}

/** Takes commands in pairs, as two clients at once would have it; `kept` is told of each that is acknowledged. */
async function run(
  disk: SimulatedDisk,
  durability: Durability,
  kept: () => void,
  afterwards: (opened: OpenedExchange) => Promise<void>,
): Promise<void> {
  const keep = async ({ persistence }: OpenedExchange): Promise<void> => {
    const pending = persistence.flush(persistence.position);
    if (pending !== undefined) await pending;
    kept();
  };
  for (let step = 0; step < STEPS; ) {
    const opened = await openOn(disk, { durability });
    for (const end = step + STEPS_OF_A_START; step < end; step += 2) {
      takeStep(opened, step);
      const first = keep(opened);
      takeStep(opened, step + 1);
      await Promise.all([first, keep(opened)]);
      await afterwards(opened);
    }
    await opened.close();
    await afterwards(opened);
  }
}

/** The journal of a run that nothing disturbs, and the hash of the state at the sizes it had. */
async function undisturbed(durability: Durability): Promise<[Buffer, Map<number, string>]> {
  const disk = new SimulatedDisk();
  const hashes = new Map<number, string>();
  const note = async ({ exchange }: OpenedExchange): Promise<void> => {
    hashes.set(journalIn(disk.image).length, stateHashes(exchange));
  };
  await run(disk, durability, () => {}, note);
  return [journalIn(disk.image), hashes];
}

/** Opens what crashes have left, and compares it with the run that nothing disturbed. */
class Judge {
  readonly #whole: Buffer;
  readonly #hashes: Map<number, string>;
  readonly #durability: Durability;
  /** What has come of what was opened already. */
  readonly #sizes = new Map<string, number | null>();
  cases = 0;
  refusals = 0;

  constructor(whole: Buffer, hashes: Map<number, string>, durability: Durability) {
    this.#whole = whole;
    this.#hashes = hashes;
    this.#durability = durability;
  }

  /** @param acknowledged the size up to which the journal was acknowledged at the crash. */
  async judge({ how, image }: Crash, acknowledged: number): Promise<void> {
    this.cases += 1;
    const left = withoutLock(image);
    const digest = digestOf(left);
    let size = this.#sizes.get(digest);
    if (size === undefined) {
      size = await this.#sizeOf(left, how);
      this.#sizes.set(digest, size);
    }
    if (size === null) this.refusals += 1;
    const isKept = how === "process" || this.#durability === "power";
    if (isKept && (size === null || size < acknowledged))
      throw new Error(`${acknowledged} bytes were told of`);
  }

  /** The size of the journal that is gone on with; null when it is refused. */
  async #sizeOf(left: DiskImage, how: Crash["how"]): Promise<number | null> {
    const disk = new SimulatedDisk(left);
    try {
      const { exchange } = await openOn(disk, { durability: this.#durability });
      const size = this.#prefix(disk);
      const known = this.#hashes.get(size);
      if (known === undefined) this.#hashes.set(size, stateHashes(exchange));
      else if (known !== stateHashes(exchange)) throw new Error(`another state after ${size} bytes`);
      return size;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      // Holes in what was never synced may look like damage: it is refused, then, and left alone.
      expect([how, this.#durability, error.problem]).toEqual(["sectors", "process", "corrupt"]);
      expect(digestOf(disk.image)).toBe(digestOf(left));
      return null;
    }
  }

  #prefix(disk: SimulatedDisk): number {
    const found = withoutStart(journalIn(disk.image));
    const isPrefix = found.equals(this.#whole.subarray(0, found.length));
    if (!isPrefix || found.at(-1) !== 10) throw new Error(`no prefix: ${found.length} bytes`);
    return found.length;
  }
}

describe("after a crash at any call of 200 commands and five starts", () => {
  it.each<Durability>(["process", "power"])(
    "%s: what opens is a prefix of what was accepted, with all that was acknowledged",
    async (durability) => {
      const [whole, hashes] = await undisturbed(durability);
      const judge = new Judge(whole, hashes, durability);
      const disk = new SimulatedDisk();
      let acknowledged = 0;
      let calls = 0;
      let waiting: [Crash, number][] = [];
      disk.before = () => {
        calls += 1;
        for (const crash of crashesAt(disk, calls)) waiting.push([crash, acknowledged]);
      };
      const kept = (): void => {
        acknowledged = journalIn(disk.image).length;
      };
      await run(disk, durability, kept, async () => {
        for (const [crash, size] of waiting) await judge.judge(crash, size);
        waiting = [];
      });
      expect(journalIn(disk.image).equals(whole)).toBe(true);
      expect(judge.cases).toBeGreaterThan(2000);
      if (durability === "power") expect(judge.refusals).toBe(0);
    },
    60_000,
  );
});
