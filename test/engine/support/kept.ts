import type { Buffer } from "node:buffer";
import { fileURLToPath } from "node:url";
import { type Config, DEFAULT_CONFIG } from "../../../src/config.ts";
import type { Disk } from "../../../src/engine/disk.ts";
import { parseLine } from "../../../src/engine/journal-codec.ts";
import { type OpenedExchange, openExchange } from "../../../src/engine/open-exchange.ts";
import type { DiskImage } from "../../support/simulated-disk.ts";

/** The directory of every exchange on a disk in memory. */
export const FOLDER = "/data";

/** What a wall clock shows that nobody moves: 2026-01-01T12:00:00Z. */
export const NOON = 1_767_268_800_000;

/** A world that holds nothing. */
const EMPTY_WORLD = fileURLToPath(new URL("./empty-world.json", import.meta.url));

/** What an exchange is kept with that begins without anything, unless told otherwise. */
export const keptConfig = (config: Partial<Config> = {}): Config => ({
  ...DEFAULT_CONFIG,
  clock: { mode: "frozen" },
  world: EMPTY_WORLD,
  data: FOLDER,
  ...config,
});

/** An exchange that is kept on a disk; `said` gathers its warnings. */
export const openOn = (
  disk: Disk,
  config: Partial<Config> = {},
  said: string[] = [],
  wallNow: () => number = () => NOON,
): Promise<OpenedExchange> =>
  openExchange(keptConfig(config), (message) => void said.push(message), { disk, wallNow });

/** A journal without its last line, which says that a program has started. @throws Error when it is another one. */
export function withoutStart(journal: Buffer): Buffer {
  const end = journal.lastIndexOf(10, journal.length - 2) + 1;
  const line = parseLine(journal.subarray(end, -1));
  if (line?.k === "start") return journal.subarray(0, end);
  throw new Error(`ends with ${line?.k}`);
}

/** The files of a process that is gone, for another one. */
export const withoutLock = (image: DiskImage): DiskImage =>
  new Map([...image].filter(([path]) => !path.startsWith(`${FOLDER}/lock`)));
