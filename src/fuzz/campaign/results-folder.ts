import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, renameSync, rmdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { nodeDisk, writeWhole } from "../../engine/disk.ts";
import { draftOf } from "../../engine/files.ts";
import { StoreError } from "../../engine/store-error.ts";
import type { Shard } from "../../setting.ts";
import type { FailureFiles } from "../outcome.ts";
import { type CampaignSettings, type Results, resultsText } from "./results.ts";
import type { SeedRange } from "./seeds.ts";

/** The files of a folder that hold results. */
export const RESULTS_FILE = /^fuzz.*\.json$/;

/** How many commands a seed has unless another number is asked for: names of files leave it out. */
export const DEFAULT_COMMANDS = 300;

/** What the results of a part of a campaign are called: nothing else that lies in the same folder is. */
export const resultsName = ({ from, to }: SeedRange, { index, count }: Shard, settings: CampaignSettings) =>
  `${["fuzz", from, to, ...(count === 1 ? [] : [index, "of", count]), ...named(settings)].join("-")}.json`;

/** What the names of the files begin with that tell the failure of a seed. */
export const seedName = (seed: number, settings: CampaignSettings): string =>
  ["seed", seed, ...named(settings)].join("-");

const named = ({ via, commands }: CampaignSettings): string[] => [
  ...(via === "process" ? [] : [via]),
  ...(commands === DEFAULT_COMMANDS ? [] : [`${commands}-commands`]),
];

/** Writes a file that is there whole or not at all, whatever happens meanwhile. @throws the system's error */
export function saveWhole(path: string, text: string): void {
  const draft = draftOf(path, randomUUID());
  const file = nodeDisk.open(draft, "new");
  try {
    writeWhole(file, new TextEncoder().encode(text), 0);
    file.sync();
    nodeDisk.rename(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    file.close();
  }
  nodeDisk.syncFolder(dirname(path));
}

/** Where a campaign writes what it finds. */
export class ResultsFolder {
  readonly path: string;
  /** The file of the results. */
  readonly file: string;
  readonly #isWanted: boolean;

  /**
   * Sees that the folder can be written to.
   * @param isWanted whether there are to be results where nothing is found; else the folder stays away, too.
   * @throws StoreError `usage`
   */
  constructor(path: string, name: string, isWanted: boolean) {
    this.path = path;
    this.file = join(path, name);
    this.#isWanted = isWanted;
    try {
      const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined;
      nodeDisk.makeFolder(path);
      rmdirSync(mkdtempSync(join(path, ".clobsim-fuzz-")));
      if (!isThere && !isWanted) rmdirSync(path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined) throw error;
      throw new StoreError(
        "usage",
        `--out expects a directory that can be written to, found ${path} (${code})`,
      );
    }
  }

  /** Whether there are results in the folder. */
  get isWritten(): boolean {
    return statSync(this.file, { throwIfNoEntry: false }) !== undefined;
  }

  /** Writes the results, where there is something to say or something older that would contradict them. */
  save(results: Results): void {
    if (!this.#isWanted && results.failures.length === 0 && !this.isWritten) return;
    nodeDisk.makeFolder(this.path);
    saveWhole(this.file, resultsText(results));
  }

  /** Has files written, which are in the folder afterwards, whole, or not at all; answers their names there. */
  async place(write: (draft: string) => Promise<FailureFiles>): Promise<FailureFiles> {
    nodeDisk.makeFolder(this.path);
    const draft = mkdtempSync(join(this.path, ".clobsim-fuzz-"));
    try {
      const { scenario, report, remark } = await write(draft);
      for (const name of readdirSync(draft)) renameSync(join(draft, name), join(this.path, name));
      const nameOf = (path: string | null): string | null => (path === null ? null : basename(path));
      return { scenario: nameOf(scenario), report: nameOf(report), remark };
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  }
}
