import { readFileSync } from "node:fs";
import { SimulatedDisk } from "../../support/simulated-disk.ts";
import { stateHashes } from "../../support/state-hashes.ts";
import { FOLDER, openOn } from "./persisted.ts";

/*
 * A program that resumes each journal in its arguments, stops, and prints the hashes and files, so that two
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
