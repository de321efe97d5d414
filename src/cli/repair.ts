import { join } from "node:path";
import { VERSION } from "../config.ts";
import { toIso } from "../core/time.ts";
import { nodeDisk } from "../engine/disk.ts";
import { PREVIOUS_STATE_FILE, STATE_FILE } from "../engine/files.ts";
import { StoreError } from "../engine/journal.ts";
import { readStateFile } from "../engine/state-file.ts";
import { type JournalCandidate, openCandidate } from "../history/journal-source.ts";
import { copyIntact, type Loss, planRepair, type RepairPlan } from "../history/repair-plan.ts";
import { FileRefused } from "../regular-file.ts";
import { count, grouped } from "../scenario/report/text.ts";
import type { Run } from "./commands.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";
import { failed, print } from "./output.ts";
import { unwritable } from "./output-file.ts";

/** `clobsim repair`: copies the undamaged part of a data directory into a new one. */
export const run: Run<"repair"> = async ({ acceptLoss, out }, [name = ""]) => {
  const place = openCandidate(nodeDisk, name);
  // Read before the journal, to which a server may be writing.
  const state = latestState(place);
  const plan = planRepair(place, VERSION);
  if (plan.fault !== null) return printUnrepairable(place, plan.fault, state);
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
  print([`  ${out} has the undamaged part, ${place.name} is unchanged: clobsim serve --data ${out}`]);
  return EXIT.ok;
};

/** Reports a journal without a valid first line, of which only a state file can be saved. */
function printUnrepairable(place: JournalCandidate, fault: string, state: SavedState | null): ExitCode {
  print([
    fault,
    "  no line can be copied: line 1 has the world and the seed, on which every other line depends",
    state === null
      ? `  there is no valid state file${place.isFolder ? `, neither ${STATES.join(" nor ")}` : ""}: nothing can be saved`
      : `  ${savingText(state)}`,
  ]);
  return failed("nothing was written", EXIT.corrupt);
}

/** Describes the undamaged part, the loss, and the latest state file if it is later than the undamaged part. */
function planText(
  { path }: JournalCandidate,
  { damage, lines, bytes, until, lost }: RepairPlan,
  state: SavedState | null,
): string[] {
  const later = state !== null && state.line > lines ? state : null;
  const missing = later === null ? "nothing is lost: no line is damaged" : missingText(later, lines);
  return [
    ...(damage === null ? [] : [damage]),
    `${path} is undamaged up to line ${grouped(lines)} at ${toIso(until)}, ${grouped(bytes)} bytes`,
    `  ${lost === null ? missing : lossText(lost, lines + 1)}`,
    ...(later === null ? [] : [`  ${savingText(later)}`]),
  ];
}

/** Describes the lines that a state includes and the journal has lost. */
const missingText = ({ line }: SavedState, lines: number): string =>
  `lost: ${count(line - lines, "line")} after that, which the journal had when the state was written`;

/** A state file. */
interface SavedState {
  readonly path: string;
  /** The last line of the journal that is in the state. */
  readonly line: number;
}

const STATES = [STATE_FILE, PREVIOUS_STATE_FILE];

const savingText = ({ path, line }: SavedState): string =>
  `${path} has the state after line ${grouped(line)}: clobsim serve --world ${path} --data NEW opens it`;

/** Returns the latest valid state file of a data directory; null if there is none. */
function latestState({ name, isFolder }: JournalCandidate): SavedState | null {
  for (const path of isFolder ? STATES.map((state) => join(name, state)) : []) {
    try {
      const state = readStateFile(nodeDisk, path);
      if (state !== null) return { path, line: state.header.line };
    } catch (error) {
      if (!(error instanceof StoreError || error instanceof FileRefused)) throw error;
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
