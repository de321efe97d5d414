import { join } from "node:path";
import { nodeDisk } from "../../../src/engine/disk.ts";
import { BEGINNING } from "../../../src/engine/journal-line.ts";
import { scan } from "../../../src/engine/journal-scan.ts";
import { Replayer } from "../../../src/engine/replayer.ts";
import { readStateFile, standingIn } from "../../../src/engine/state-file.ts";
import type { Part } from "../apart.ts";
import { garbageCollector } from "../rounds.ts";
import { bareFloor } from "../submit/floor.ts";

/** What a benchmark has kept, and the hash of the state that it leads to. */
export interface KeptHistory {
  readonly folder: string;
  readonly hash: string;
}

/** Seconds that it takes to decide a whole journal anew. */
export const replayedJournal: Part<KeptHistory> = ({ folder, hash }) => {
  const collectGarbage = garbageCollector();
  return () => {
    collectGarbage();
    const exchange = bareFloor();
    const start = performance.now();
    const path = join(folder, "journal");
    const file = nodeDisk.open(path, "read");
    const replayer = new Replayer(exchange, () => {}, { path, file }, BEGINNING);
    const { damage } = scan(file, BEGINNING, (line) => replayer.take(line));
    file.close();
    const seconds = (performance.now() - start) / 1_000;
    if (damage !== null || exchange.hash !== hash) throw new Error("the journal leads to another state");
    return [seconds];
  };
};

/** Seconds that it takes to read a state from its file. */
export const readState: Part<KeptHistory> = ({ folder, hash }) => {
  const collectGarbage = garbageCollector();
  return () => {
    collectGarbage();
    const start = performance.now();
    const kept = readStateFile(nodeDisk, join(folder, "db.json"));
    const seconds = (performance.now() - start) / 1_000;
    if (kept === null) throw new Error("there is no state");
    const exchange = bareFloor();
    exchange.restore(standingIn(kept));
    if (exchange.hash !== hash) throw new Error("the file holds another state");
    return [seconds];
  };
};
