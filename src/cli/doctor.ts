import { Buffer } from "node:buffer";
import { statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { DEFAULT_DATA, VERSION } from "../config.ts";
import { type Disk, nodeDisk } from "../engine/disk.ts";
import { checkDataDir, type Finding } from "../history/data-dir-check.ts";
import { isForbidden } from "../regular-file.ts";
import { grouped, type Paint } from "../scenario/report/text.ts";
import type { Run } from "./commands.ts";
import { EXIT } from "./exit-code.ts";
import { paintOf, print } from "./output.ts";

const APPENDS = 25;
/** About the size of a journal line. */
const LINE = Buffer.alloc(256, "x");

/** Time of appending and syncing a few bytes, in milliseconds. */
interface SyncCost {
  readonly median: number;
  readonly longest: number;
}

/** Measures syncs of a temporary file in a folder. */
function measureSyncs(disk: Disk, folder: string): SyncCost {
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

/** A sync below this time has not reached a disk. */
const NO_DISK_MS = 0.01;
const PART_WIDTH = 10;
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** `clobsim doctor`: checks whether a data directory can be opened, and measures a sync on its disk. */
export const run: Run<"doctor"> = async (_values, [folder = DEFAULT_DATA], { environment }) => {
  const isThere = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  const findings = [
    diskFinding(isThere ? folder : nearestFolder(folder)),
    ...checkDataDir(nodeDisk, folder, VERSION),
    ...(isThere ? modeFindings(folder) : []),
  ];
  const paint = paintOf(environment);
  print(findings.map((finding) => findingText(finding, paint)));
  const problem = findings.find((finding) => finding.problem !== null)?.problem ?? null;
  return problem === null ? EXIT.ok : EXIT[problem];
};

function findingText({ part, text, problem, isNotable }: Finding, paint: Paint): string {
  const mark = problem !== null ? paint.red("✗") : isNotable === true ? paint.yellow("!") : paint.green("✓");
  return `${mark} ${paint.bold(part.padEnd(PART_WIDTH))}  ${text}`;
}

/** Returns the nearest existing parent folder of a path. */
function nearestFolder(path: string): string {
  let folder = dirname(resolve(path));
  while (statSync(folder, { throwIfNoEntry: false }) === undefined) folder = dirname(folder);
  return folder;
}

function diskFinding(folder: string): Finding {
  try {
    const { median, longest } = measureSyncs(nodeDisk, folder);
    const cost = `a sync takes ${median.toFixed(3)} ms, ${longest.toFixed(3)} ms at the longest`;
    if (median < NO_DISK_MS) {
      const text = `${cost}: this is memory, or a disk that ignores syncs; no --durability survives a power failure here`;
      return { part: "disk", text, problem: null, isNotable: true };
    }
    const rate = grouped(Math.round(1000 / median));
    const text = `${cost}: --durability power answers one client at most ${rate} times a second`;
    return { part: "disk", text, problem: null };
  } catch (error) {
    return {
      part: "disk",
      text: `${folder} cannot be written to: ${(error as Error).message}`,
      problem: isForbidden(error) ? "usage" : "disk",
    };
  }
}

/** Checks that only the owner may access the files. Windows has no such modes. */
function modeFindings(folder: string): Finding[] {
  if (process.platform === "win32") return [];
  const names = nodeDisk.names(folder) ?? [];
  const open = [...[folder, ...names.map((name) => join(folder, name))].flatMap(wrongMode)];
  if (open.length > 0) {
    return [
      { part: "modes", text: `others have access: ${open.join("; ")}`, problem: null, isNotable: true },
    ];
  }
  return [{ part: "modes", text: "only the owner has access", problem: null }];
}

function wrongMode(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || (found.mode & 0o077) === 0) return [];
  const octal = (bits: number): string => (bits & 0o777).toString(8).padStart(4, "0");
  const right = octal(found.isDirectory() ? FOLDER_MODE : FILE_MODE);
  return [`${path} has mode ${octal(found.mode)}, chmod ${right} ${path}`];
}
