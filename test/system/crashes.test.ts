import type { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { DataFileError } from "../../src/engine/journal.ts";
import type { OpenedExchange } from "../../src/engine/open-exchange.ts";
import type { Durability } from "../../src/setting.ts";
import { type Crash, crashesAt, digestOf } from "../engine/support/crashes.ts";
import { flush, journalIn, openOn, withoutLock, withoutStart } from "../engine/support/persisted.ts";
import { takeStep } from "../engine/support/short-history.ts";
import { type DiskImage, SimulatedDisk } from "../support/simulated-disk.ts";
import { stateHashes } from "../support/state-hashes.ts";

const STEPS = 200;
/** Commands per start. Each stop writes the state. */
const STEPS_PER_START = 40;

/** Submits commands in pairs, like two concurrent clients. Calls `acknowledged` after each acknowledged command. */
async function run(
  disk: SimulatedDisk,
  durability: Durability,
  acknowledged: () => void,
  afterwards: (opened: OpenedExchange) => Promise<void>,
): Promise<void> {
  const acknowledge = async (opened: OpenedExchange): Promise<void> => {
    const pending = flush(opened);
    if (pending !== undefined) await pending;
    acknowledged();
  };
  for (let step = 0; step < STEPS; ) {
    const opened = await openOn(disk, { durability });
    for (const end = step + STEPS_PER_START; step < end; step += 2) {
      takeStep(opened, step);
      const first = acknowledge(opened);
      takeStep(opened, step + 1);
      await Promise.all([first, acknowledge(opened)]);
      await afterwards(opened);
    }
    await opened.close();
    await afterwards(opened);
  }
}

/** Runs without a crash. Returns the journal, and the hashes of the state by size of the journal. */
async function runUndisturbed(durability: Durability): Promise<[Buffer, Map<number, string>]> {
  const disk = new SimulatedDisk();
  const hashes = new Map<number, string>();
  const note = async ({ exchange }: OpenedExchange): Promise<void> => {
    hashes.set(journalIn(disk.image).length, stateHashes(exchange));
  };
  await run(disk, durability, () => {}, note);
  return [journalIn(disk.image), hashes];
}

/** Opens the disks after crashes, and compares them with the undisturbed run. */
class CrashCheck {
  readonly #whole: Buffer;
  readonly #hashes: Map<number, string>;
  readonly #durability: Durability;
  /** Results for disks that were opened before. */
  readonly #sizes = new Map<string, number | null>();
  cases = 0;
  refusals = 0;

  constructor([whole, hashes]: [Buffer, Map<number, string>], durability: Durability) {
    this.#whole = whole;
    this.#hashes = hashes;
    this.#durability = durability;
  }

  /** @param acknowledged size of the acknowledged part of the journal at the crash. */
  async check({ how, image }: Crash, acknowledged: number): Promise<void> {
    this.cases += 1;
    const files = withoutLock(image);
    const digest = digestOf(files);
    const known = this.#sizes.get(digest);
    const size = known === undefined ? await this.#sizeOf(files, digest, how) : known;
    this.#sizes.set(digest, size);
    if (size === null) this.refusals += 1;
    const mustPersist = how === "process" || this.#durability === "power";
    if (mustPersist && (size ?? -1) < acknowledged)
      throw new Error(`${acknowledged} bytes were acknowledged`);
  }

  /** Returns the size of the opened journal; null if it is refused. */
  async #sizeOf(files: DiskImage, digest: string, how: Crash["how"]): Promise<number | null> {
    const disk = new SimulatedDisk(files);
    try {
      const { exchange } = await openOn(disk, { durability: this.#durability });
      const found = withoutStart(journalIn(disk.image));
      const isPrefix = found.equals(this.#whole.subarray(0, found.length));
      if (!isPrefix || found.at(-1) !== 10) throw new Error(`not a prefix: ${found.length} bytes`);
      const hash = stateHashes(exchange);
      const known = this.#hashes.get(found.length) ?? hash;
      if (known !== hash) throw new Error(`another state after ${found.length} bytes`);
      this.#hashes.set(found.length, hash);
      return found.length;
    } catch (error) {
      if (!(error instanceof DataFileError)) throw error;
      // Missing sectors in unsynced data may look like damage. Then it is refused and not changed.
      expect([how, this.#durability, error.problem]).toEqual(["sectors", "process", "corrupt"]);
      expect(digestOf(disk.image)).toBe(digest);
      return null;
    }
  }
}

describe("after a crash at any call of 200 commands and five starts", () => {
  it.each<Durability>(["process", "power"])(
    "%s: it opens with a prefix of the accepted commands that has all acknowledged ones",
    async (durability) => {
      const undisturbed = await runUndisturbed(durability);
      const check = new CrashCheck(undisturbed, durability);
      const disk = new SimulatedDisk();
      let acknowledged = 0;
      let calls = 0;
      let waiting: [Crash, number][] = [];
      disk.before = () => {
        calls += 1;
        for (const crash of crashesAt(disk, calls)) waiting.push([crash, acknowledged]);
      };
      const acknowledge = (): void => {
        acknowledged = journalIn(disk.image).length;
      };
      await run(disk, durability, acknowledge, async () => {
        for (const [crash, size] of waiting) await check.check(crash, size);
        waiting = [];
      });
      expect(journalIn(disk.image).equals(undisturbed[0])).toBe(true);
      expect(check.cases).toBeGreaterThan(2000);
      if (durability === "power") expect(check.refusals).toBe(0);
    },
  );
});
