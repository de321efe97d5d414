import { Buffer } from "node:buffer";
import { dirname, join, resolve } from "node:path";
import { DEFAULT_DATA } from "../config.ts";
import { shellOption } from "../core/format.ts";
import { toIso } from "../core/time.ts";
import { nodeDisk } from "../engine/disk.ts";
import { STATES } from "../engine/files.ts";
import { DataFileError } from "../engine/journal.ts";
import { asDataFileError } from "../engine/open-exchange.ts";
import { readStateFile } from "../engine/state-file.ts";
import {
  checkDataDir,
  copyIntact,
  type Finding,
  type JournalCandidate,
  type Loss,
  openCandidate,
  openingProblem,
  planRepair,
  type RepairPlan,
} from "../history/journal-files.ts";
import { isForbidden, statOf } from "../regular-file.ts";
import { count, grouped } from "../scenario/report/text.ts";
import type { Run } from "./commands.ts";
import { failed, paintOf, print, unwritable } from "./output.ts";
import { EXIT, UsageError } from "./process.ts";

/** `clobsim doctor`: checks whether a data directory can be opened, and measures a sync on its disk. */
export const doctor: Run<"doctor"> = async (_values, [folder = DEFAULT_DATA], { environment }) => {
  const isThere = isFolder(folder);
  const checked = checkDataDir(nodeDisk, folder);
  const isOwn = isThere && checked.every(({ problem }) => problem !== "usage");
  const findings = [
    diskFinding(isThere ? folder : nearestFolder(folder)),
    ...checked,
    ...(isOwn ? modeFindings(folder) : []),
  ];
  const { red, yellow, green, bold } = paintOf(environment);
  const lines = findings.map(({ part, text, problem, isNotable }) => {
    const mark = problem !== null ? red("✗") : isNotable === true ? yellow("!") : green("✓");
    return `${mark} ${bold(part.padEnd(10))}  ${text}`;
  });
  print(lines);
  return EXIT[findings.find(({ problem }) => problem !== null)?.problem ?? "ok"];
};

/** A sync below this time has not reached a disk. */
const NO_DISK_MS = 0.01;
const APPENDS = 25;
/** About the size of a journal line. */
const LINE = Buffer.alloc(256, "x");

/** Returns the median and the longest time of appending a few bytes to a temporary file and syncing it, in milliseconds. */
function measureSyncs(folder: string): readonly [median: number, longest: number] {
  const path = join(folder, `.clobsim-doctor-${process.pid}`);
  const file = nodeDisk.open(path, "new");
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
    nodeDisk.remove(path);
  }
  times.sort((a, b) => a - b);
  return [times[times.length >> 1] ?? 0, times.at(-1) ?? 0];
}

const isFolder = (path: string): boolean => statOf(path)?.isDirectory() === true;

/** Returns the nearest existing parent folder of a path. */
function nearestFolder(path: string): string {
  let folder = dirname(resolve(path));
  while (!isFolder(folder)) folder = dirname(folder);
  return folder;
}

function diskFinding(folder: string): Finding {
  try {
    const [median, longest] = measureSyncs(folder);
    const cost = `a sync takes ${median.toFixed(3)} ms, ${longest.toFixed(3)} ms at the longest`;
    const isMemory = median < NO_DISK_MS;
    const meaning = isMemory
      ? "this is memory, or a disk that ignores syncs; no --durability survives a power failure here"
      : `--durability power answers one client at most ${grouped(Math.round(1000 / median))} times a second`;
    return { part: "disk", text: `${cost}: ${meaning}`, problem: null, isNotable: isMemory };
  } catch (error) {
    const text = `${folder} cannot be written to: ${(error as Error).message}`;
    return { part: "disk", text, problem: isForbidden(error) ? "usage" : "disk" };
  }
}

/** Checks that only the owner may access the files. Windows has no such modes. */
function modeFindings(folder: string): Finding[] {
  if (process.platform === "win32") return [];
  const names = nodeDisk.names(folder) ?? [];
  const open = [folder, ...names.map((name) => join(folder, name))].flatMap(wrongMode);
  const text = open.length === 0 ? "only the owner has access" : `others have access: ${open.join("; ")}`;
  return [{ part: "modes", text, problem: null, isNotable: open.length > 0 }];
}

function wrongMode(path: string): string[] {
  const found = statOf(path);
  if (found === undefined || (found.mode & 0o077) === 0) return [];
  const mode = (found.mode & 0o777).toString(8).padStart(4, "0");
  return [`${path} has mode ${mode}, chmod ${found.isDirectory() ? "0700" : "0600"} ${path}`];
}

/** `clobsim repair`: copies the undamaged part of a data directory into a new one. */
export const repair: Run<"repair"> = async ({ acceptLoss, out }, [name = DEFAULT_DATA]) => {
  const place = openCandidate(nodeDisk, name);
  // Read before the journal, to which a server may be writing.
  const state = latestState(place);
  const problem = openingProblem(place);
  if (problem !== null) {
    print(unrepairableText(place, problem, state));
    return failed("nothing was written", EXIT.corrupt);
  }
  const plan = planRepair(place);
  print(planText(place, plan, state));
  if (!acceptLoss || out === null) {
    throw new UsageError(
      "nothing was written: repair expects --accept-loss and --out NEW, the directory to make (see clobsim repair --help)",
    );
  }
  try {
    copyIntact(nodeDisk, place, plan.bytes, out);
  } catch (error) {
    throw unwritable("--out expects a directory that can be written", out, error);
  }
  print([
    `  ${out} has the undamaged part, ${place.name} is unchanged: clobsim serve ${shellOption("data", out)}`,
  ]);
  return EXIT.ok;
};

/** Describes a journal without a valid first line, of which only a state file can be saved. */
const unrepairableText = ({ isFolder }: JournalCandidate, problem: string, state: SavedState | null) => [
  problem,
  "  no line can be copied: line 1 has the world and the seed, on which every other line depends",
  state === null
    ? `  there is no valid state file${isFolder ? `, neither ${STATES.join(" nor ")}` : ""}: nothing can be saved`
    : `  ${savingText(state)}`,
];

/** Describes the undamaged part, the loss, and the latest state file if it is later than the undamaged part. */
function planText(
  { path }: JournalCandidate,
  { damage, lines, bytes, until, lost }: RepairPlan,
  state: SavedState | null,
): string[] {
  const later = state !== null && state.line > lines ? state : null;
  const missing =
    later === null
      ? "nothing is lost: no line is damaged"
      : `lost: ${count(later.line - lines, "line")} after that, which the journal had when the state was written`;
  return [
    ...(damage === null ? [] : [damage]),
    `${path} is undamaged up to line ${grouped(lines)} at ${toIso(until)}, ${grouped(bytes)} bytes`,
    `  ${lost === null ? missing : lossText(lost, lines + 1)}`,
    ...(later === null ? [] : [`  ${savingText(later)}`]),
  ];
}

type SavedState = NonNullable<ReturnType<typeof latestState>>;

const savingText = ({ path, line }: SavedState): string =>
  `${path} has the state after line ${grouped(line)}: clobsim serve ${shellOption("world", path)} --data NEW opens it`;

/** Returns the latest valid state file of a data directory, and the last line of the journal in it; null if there is none. */
function latestState({ name, isFolder }: JournalCandidate) {
  for (const path of isFolder ? STATES.map((state) => join(name, state)) : []) {
    try {
      const state = readStateFile(nodeDisk, path);
      if (state !== null) return { path, line: state.header.line };
    } catch (error) {
      // It is damaged, or cannot be read; the journal alone can be repaired, too.
      if (!(asDataFileError(error, path) instanceof DataFileError)) throw error;
    }
  }
  return null;
}

function lossText({ bytes, lines, intact, until }: Loss, first: number): string {
  if (lines === 1) return `lost: ${count(bytes, "byte")}, line ${grouped(first)}`;
  const undamaged =
    until === null
      ? "none of them undamaged"
      : `${grouped(intact)} of them undamaged but after the damage, up to ${toIso(until)}`;
  return `lost: ${count(bytes, "byte")} from line ${grouped(first)} on, ${count(lines, "line")}, ${undamaged}`;
}
