import { join } from "node:path";
import { VERSION } from "../config.ts";
import { toIso } from "../core/time.ts";
import { nodeDisk } from "../engine/disk.ts";
import { PREVIOUS_STATE_FILE, STATE_FILE } from "../engine/files.ts";
import { readStateFile } from "../engine/state-file.ts";
import { StoreError } from "../engine/store-error.ts";
import { type JournalPlace, openPlace } from "../history/journal-source.ts";
import { copyWhole, type Loss, type RepairPlan, repairPlanOf } from "../history/repair-plan.ts";
import { FileRefused } from "../regular-file.ts";
import { count, grouped } from "../scenario/report/text.ts";
import type { Run } from "./commands.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";
import { failed, print } from "./output.ts";

/** `clobsim repair`: copies the undamaged part of a directory into a new one. */
export const run: Run<"repair"> = async ({ acceptLoss, out }, [name = ""]) => {
  const place = openPlace(nodeDisk, name);
  const salvage = repairPlanOf(place, VERSION);
  if (salvage.fault !== null) return nothingWhole(place, salvage.fault);
  const lines = [...planText(place.path, salvage), ...stateText(place, salvage)];
  print(lines);
  if (!acceptLoss || out === null) {
    throw new UsageError(
      "nothing was written: repair expects --accept-loss and --out NEW, the directory to make (see clobsim repair --help)",
    );
  }
  copyWhole(nodeDisk, place, salvage.bytes, out);
  print([`  ${out} holds what is whole, ${place.name} is as it was: clobsim serve --data ${out}`]);
  return EXIT.ok;
};

/** Without its first line a journal tells nothing; what can be saved is a state that lies beside it. */
function nothingWhole(place: JournalPlace, fault: string): ExitCode {
  const state = latestState(place);
  const lines = [
    fault,
    "  no line can be copied: line 1 holds the world and the seed, and every other line goes on from there",
    state === null
      ? `  no whole state lies beside it${place.isFolder ? `, neither ${STATES.join(" nor ")}` : ""}: nothing can be saved`
      : `  ${savingText(state)}`,
  ];
  print(lines);
  return failed("nothing was written", EXIT.corrupt);
}

function planText(path: string, { damage, lines, bytes, until, lost }: RepairPlan): string[] {
  return [
    ...(damage === null ? [] : [damage]),
    `${path} is whole up to line ${grouped(lines)} at ${toIso(until)}, ${grouped(bytes)} bytes`,
    lost === null ? "  nothing is lost: no line is damaged" : `  ${lossText(lost, lines + 1)}`,
  ];
}

/** What the latest state holds that is lost from the journal. */
function stateText(place: JournalPlace, { lines, lost }: RepairPlan): readonly string[] {
  const state = lost === null ? null : latestState(place);
  return state === null || state.line <= lines ? [] : [`  ${savingText(state)}`];
}

/** A state in a file, and the last line of the journal that is in it. */
interface WholeState {
  readonly path: string;
  readonly line: number;
}

const STATES = [STATE_FILE, PREVIOUS_STATE_FILE];

const savingText = ({ path, line }: WholeState): string =>
  `${path} has the exchange as it stood after line ${grouped(line)}: clobsim serve --world ${path} --data NEW saves that`;

/** The latest state beside a journal that can be read; null when there is none. */
function latestState({ name, isFolder }: JournalPlace): WholeState | null {
  for (const path of isFolder ? STATES.map((state) => join(name, state)) : []) {
    try {
      const kept = readStateFile(nodeDisk, path);
      if (kept !== null) return { path, line: kept.header.line };
    } catch (error) {
      if (!(error instanceof StoreError || error instanceof FileRefused)) throw error;
    }
  }
  return null;
}

function lossText({ bytes, lines, whole, until }: Loss, first: number): string {
  const behind =
    until === null
      ? "none of them is whole"
      : `${grouped(whole)} of them whole, the last at ${toIso(until)}, but what came before them is not`;
  return `lost: ${grouped(bytes)} bytes from line ${grouped(first)} on, ${count(lines, "line")}, ${behind}`;
}
