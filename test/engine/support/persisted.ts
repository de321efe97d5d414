import { Buffer } from "node:buffer";
import { fileURLToPath } from "node:url";
import { type Config, DEFAULT_CONFIG } from "../../../src/config.ts";
import type { Disk } from "../../../src/engine/disk.ts";
import { parseLine } from "../../../src/engine/journal-codec.ts";
import type { Line } from "../../../src/engine/journal-line.ts";
import { lengthWithoutZeros } from "../../../src/engine/journal-scan.ts";
import { type OpenedExchange, openConfigured } from "../../../src/engine/open-exchange.ts";
import { type DiskImage, SimulatedDisk } from "../../support/simulated-disk.ts";

/** Data directory of exchanges on a simulated disk, and its journal. */
export const FOLDER = "/data";
export const JOURNAL = `${FOLDER}/journal.ndjson`;

/** Wall time of a stopped clock: 2026-01-01T12:00:00Z. */
export const NOON = 1_767_268_800_000;

const EMPTY_WORLD = fileURLToPath(new URL("./empty-world.json", import.meta.url));

/** Configuration of a persisted exchange with a frozen clock and an empty world. */
export const persistedConfig = (config: Partial<Config> = {}): Config => ({
  ...DEFAULT_CONFIG,
  clock: { mode: "frozen" },
  world: EMPTY_WORLD,
  data: FOLDER,
  ...config,
});

/** Opens an exchange on a disk; its warnings are added to `warnings`. */
export const openOn = (
  disk: Disk,
  config: Partial<Config> = {},
  warnings: string[] = [],
  wallNow: () => number = () => NOON,
): Promise<OpenedExchange> =>
  openConfigured(persistedConfig(config), (message) => void warnings.push(message), { disk, wallNow });

/** Writes all lines so far to the journal. Returns what `Persistence.flush` does. */
export const flush = ({ persistence }: OpenedExchange): Promise<void> | undefined =>
  persistence.flush(persistence.position);

/** Opens an exchange on a new disk, at a wall time that the test moves. `resume` opens what a crash of it now would leave. */
export async function openNew(config: Partial<Config> = {}) {
  const [disk, wall, warnings] = [new SimulatedDisk(), { now: NOON }, [] as string[]];
  const wallNow = (): number => wall.now;
  const opened = await openOn(disk, config, warnings, wallNow);
  const resume = (changed = config) =>
    openOn(new SimulatedDisk(withoutLock(disk.image)), changed, warnings, wallNow);
  return { disk, wall, warnings, opened, exchange: opened.exchange, resume };
}

/** Returns the journal on a disk, without preallocated zeros. */
export function journalIn(image: DiskImage): Buffer {
  const bytes = Buffer.from(image.get(JOURNAL) ?? []);
  return bytes.subarray(0, lengthWithoutZeros(bytes));
}

/** Returns the lines of a journal. @throws Error if one is invalid */
export const journalLines = (journal: Buffer): Line[] =>
  journal
    .toString("utf8")
    .split("\n")
    .slice(0, -1)
    .map((text) => {
      const line = parseLine(Buffer.from(text));
      if (line === null) throw new Error(`not a line: ${text}`);
      return line;
    });

/** Returns a journal without its last line, a `start`. @throws Error if it is another one */
export function withoutStart(journal: Buffer): Buffer {
  const end = journal.lastIndexOf(10, journal.length - 2) + 1;
  const line = parseLine(journal.subarray(end, -1));
  if (line?.k === "start") return journal.subarray(0, end);
  throw new Error(`ends with ${line?.k}`);
}

/** Returns the files of a process that has ended, without its lock. */
export const withoutLock = (image: DiskImage): DiskImage =>
  new Map([...image].filter(([path]) => !path.startsWith(`${FOLDER}/lock`)));
