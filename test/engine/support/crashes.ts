import { createHash } from "node:crypto";
import { mulberry32 } from "../../bench/flow.ts";
import type { DataChange, DiskImage, Outcome, SimulatedDisk } from "../../support/simulated-disk.ts";

const SECTOR = 512;

/** An integer from 0 to below a bound. */
type Random = (bound: number) => number;

/** Nothing that was not synced is persisted. */
const nothing: Outcome = { names: () => 0, data: () => [] };
const all: Outcome = { names: (waiting) => waiting, data: (waiting) => waiting };

/** The first changes are persisted, the last of them in part. */
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

/** Random sectors are persisted. */
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

/** Disk after a crash of the process, or a power failure of some kind. */
export interface Crash {
  readonly how: "process" | "nothing" | "all" | "prefix" | "sectors";
  readonly image: DiskImage;
}

/** Returns the disks that a crash at this moment can leave. */
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

/** Returns a digest of the content of a disk. */
export function digestOf(image: DiskImage): string {
  const hash = createHash("sha1");
  for (const path of [...image.keys()].sort()) {
    const bytes = image.get(path) ?? new Uint8Array();
    hash.update(`${path}\n${bytes.length}\n`).update(bytes);
  }
  return hash.digest("hex");
}
