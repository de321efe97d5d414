import { createHash } from "node:crypto";
import { mulberry32 } from "../../bench/flow.ts";
import type { DataChange, DiskImage, Outcome, SimulatedDisk } from "../../support/simulated-disk.ts";

const SECTOR = 512;

/** An integer from 0 to below a bound. */
type Random = (bound: number) => number;

/** Only what was synced is there. */
const nothing: Outcome = { names: () => 0, data: () => [] };
const all: Outcome = { names: (waiting) => waiting, data: (waiting) => waiting };

/** What was told first was carried out, the last of it in part. */
const prefix = (random: Random): Outcome => ({
  names: (waiting) => random(waiting + 1),
  data: (waiting) => {
    const count = random(waiting.length + 1);
    const next = waiting[count];
    const whole = waiting.slice(0, count);
    if (next?.kind !== "write") return whole;
    return [...whole, { ...next, bytes: next.bytes.slice(0, random(next.bytes.length)) }];
  },
});

/** Any of the disk's sectors were written, in any order. */
const sectors = (random: Random): Outcome => ({
  names: (waiting) => random(waiting + 1),
  data: (waiting) =>
    waiting.flatMap((change) => (change.kind === "cut" ? [change] : partsOf(change, random))),
});

function partsOf({ position, bytes }: DataChange & { kind: "write" }, random: Random): DataChange[] {
  const parts: DataChange[] = [];
  for (let from = 0; from < bytes.length; ) {
    const length = Math.min(bytes.length - from, SECTOR - ((position + from) % SECTOR));
    if (random(2) === 0) {
      parts.push({ kind: "write", position: position + from, bytes: bytes.slice(from, from + length) });
    }
    from += length;
  }
  return parts;
}

/** What a crash at one moment may leave: of the process, or of the machine in several ways. */
export interface Crash {
  readonly how: "process" | "nothing" | "all" | "prefix" | "sectors";
  readonly image: DiskImage;
}

/** All that a crash at this moment may leave. */
export function crashesAt(disk: SimulatedDisk, seed: number): Crash[] {
  const random = mulberry32(seed);
  return [
    { how: "process", image: disk.image },
    { how: "nothing", image: disk.afterPowerFailure(nothing) },
    { how: "all", image: disk.afterPowerFailure(all) },
    { how: "prefix", image: disk.afterPowerFailure(prefix(random)) },
    { how: "prefix", image: disk.afterPowerFailure(prefix(random)) },
    { how: "sectors", image: disk.afterPowerFailure(sectors(random)) },
    { how: "sectors", image: disk.afterPowerFailure(sectors(random)) },
  ];
}

/** What two disks that hold the same have in common, and no others. */
export function digestOf(image: DiskImage): string {
  const hash = createHash("sha1");
  for (const path of [...image.keys()].sort()) {
    const bytes = image.get(path) ?? new Uint8Array();
    hash.update(`${path}\n${bytes.length}\n`).update(bytes);
  }
  return hash.digest("hex");
}
