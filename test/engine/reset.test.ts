import { expect, it } from "vitest";
import { DataFileError } from "../../src/engine/journal.ts";
import { type DiskImage, SimulatedDisk } from "../support/simulated-disk.ts";
import { stateHashes } from "../support/state-hashes.ts";
import { crashesAt } from "./support/crashes.ts";
import { FOLDER, openOn, withoutLock } from "./support/persisted.ts";
import { takeSteps } from "./support/short-history.ts";

/** Stops an exchange twice, so that both state files exist. */
async function stoppedTwice(): Promise<[image: DiskImage, hash: string]> {
  const disk = new SimulatedDisk();
  let hash = "";
  for (let start = 0; start < 2; start += 1) {
    const opened = await openOn(disk);
    takeSteps(opened, 10);
    hash = stateHashes(opened.exchange);
    await opened.close();
  }
  return [disk.image, hash];
}

it("a crash at any call of --reset leaves the complete old exchange, or a new one", async () => {
  const [image, old] = await stoppedTwice();
  const disk = new SimulatedDisk(image);
  const left: DiskImage[] = [];
  let calls = 0;
  disk.before = () => {
    calls += 1;
    left.push(...crashesAt(disk, calls).map((crash) => withoutLock(crash.image)));
  };
  const fresh = await openOn(disk, { reset: true });
  expect(fresh.folder?.removed).toEqual(["db.json", "db.previous.json", "journal.ndjson"]);
  const found = new Set<string>();
  for (const each of left) {
    const opened = await openOn(new SimulatedDisk(each)).catch((error: unknown) => {
      if (error instanceof DataFileError) throw new Error(`refused: ${error.message}`);
      throw error;
    });
    found.add(stateHashes(opened.exchange));
  }
  expect([...found].sort()).toEqual([old, stateHashes(fresh.exchange)].sort());
  expect(disk.names(FOLDER)).toEqual(["journal.ndjson", "lock"]);
});
