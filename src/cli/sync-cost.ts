import { Buffer } from "node:buffer";
import { join } from "node:path";
import type { Disk } from "../engine/disk.ts";

const APPENDS = 25;
/** About a line of a journal. */
const LINE = Buffer.alloc(256, "x");

/** What bringing a small append to the disk itself takes, in milliseconds. */
export interface SyncCost {
  readonly median: number;
  readonly longest: number;
}

/** Tries it in a folder, with a file that is gone afterwards. */
export function syncCostIn(disk: Disk, folder: string): SyncCost {
  const path = join(folder, `.clobsim-doctor-${process.pid}`);
  const file = disk.open(path, "new");
  const times: number[] = [];
  try {
    for (let done = 0; done < APPENDS; done += 1) {
      const began = performance.now();
      file.write(LINE, done * LINE.length);
      file.sync();
      times.push(performance.now() - began);
    }
  } finally {
    file.close();
    disk.remove(path);
  }
  times.sort((a, b) => a - b);
  return { median: times[times.length >> 1] ?? 0, longest: times.at(-1) ?? 0 };
}
