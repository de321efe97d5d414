import { readFileSync } from "node:fs";
import { SimulatedDisk } from "../../support/simulated-disk.ts";
import { stateHashes } from "../../support/state-hashes.ts";
import { FOLDER, openOn } from "./kept.ts";

/*
 * A program of its own: goes on with each journal that it is given, stops, and prints all that is kept then, so that two
 * runs can be compared byte by byte.
 */
for (const path of process.argv.slice(2)) {
  const disk = new SimulatedDisk(new Map([[`${FOLDER}/journal.ndjson`, readFileSync(path)]]));
  const opened = await openOn(disk);
  process.stdout.write(`${stateHashes(opened.exchange)}\n`);
  await opened.close();
  for (const [file, bytes] of disk.image)
    process.stdout.write(`${file}\n${Buffer.from(bytes).toString("utf8")}`);
}
