import { join } from "node:path";
import { VERSION } from "../config.ts";
import { toIso } from "../core/time.ts";
import { nodeDisk } from "../engine/disk.ts";
import { PREVIOUS_STATE_FILE, STATE_FILE } from "../engine/files.ts";
import { StoreError } from "../engine/store-error.ts";
import type { JournalPlace } from "../history/journal-source.ts";
import type { Loss, Salvage } from "../history/salvage.ts";
import { FileRefused } from "../regular-file.ts";
import { type Given, readOne, truth } from "../setting.ts";
import type { Command } from "./command.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";
import { placeNamed } from "./history-arguments.ts";
import { OUT } from "./output.ts";

/** `clobsim repair`: what is whole of a damaged directory, in a new one. */
export const repairCommand: Command = {
  name: "repair",
  summary: "Copy what is whole of a damaged data directory into a new one, and say what is lost.",
  takes: "DIR",
  flags: [
    {
      name: "accept-loss",
      group: "Repair:",
      text: "Needed: all from the damage on is left out",
      toggle: "on",
    },
    { name: "out", group: "Repair:", text: "Directory to make; DIR itself is never touched" },
  ],
  examples: [
    ["repair .clobsim", "say what would be lost, and do nothing"],
    ["repair --accept-loss .clobsim --out .clobsim-repaired", "do it"],
  ],
  run: repair,
};

async function repair(given: Given, words: readonly string[]): Promise<ExitCode> {
  const isAccepted = readOne("accept-loss", truth, given) ?? false;
  const out = readOne("out", OUT, given);
  const place = placeNamed("repair", words);
  const { copyWhole, salvageOf } = await import("./on-histories.ts");
  const salvage = salvageOf(place, VERSION);
  if (salvage.fault !== null) return nothingWhole(place, salvage.fault);
  const lines = [...salvageText(place.path, salvage), ...(await stateText(place, salvage))];
  process.stdout.write(`${lines.join("\n")}\n`);
  if (!isAccepted || out === null) {
    throw new UsageError(
      "nothing was written: repair expects --accept-loss and --out NEW, the directory to make (see clobsim repair --help)",
    );
  }
  copyWhole(nodeDisk, place, salvage.bytes, out);
  process.stdout.write(
    `  ${out} holds what is whole, ${place.name} is as it was: clobsim serve --data ${out}\n`,
  );
  return EXIT.ok;
}

/** Without its first line a journal tells nothing; what can be saved is a state that lies beside it. */
async function nothingWhole(place: JournalPlace, fault: string): Promise<ExitCode> {
  const state = await latestState(place);
  const lines = [
    fault,
    "  no line can be copied: line 1 holds the world and the seed, and every other line goes on from there",
    state === null
      ? `  no whole state lies beside it${place.isFolder ? `, neither ${STATES.join(" nor ")}` : ""}: nothing can be saved`
      : `  ${savingText(state)}`,
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
  process.stderr.write("clobsim: nothing was written\n");
  return EXIT.corrupt;
}

function salvageText(path: string, { damage, lines, bytes, until, lost }: Salvage): string[] {
  return [
    ...(damage === null ? [] : [damage]),
    `${path} is whole up to line ${count(lines)} at ${toIso(until)}, ${count(bytes)} bytes`,
    lost === null ? "  nothing is lost: no line is damaged" : `  ${lossText(lost, lines + 1)}`,
  ];
}

/** What the latest state holds that is lost from the journal. */
async function stateText(place: JournalPlace, { lines, lost }: Salvage): Promise<readonly string[]> {
  const state = lost === null ? null : await latestState(place);
  return state === null || state.line <= lines ? [] : [`  ${savingText(state)}`];
}

/** A state in a file, and the last line of the journal that is in it. */
interface WholeState {
  readonly path: string;
  readonly line: number;
}

const STATES = [STATE_FILE, PREVIOUS_STATE_FILE];

const savingText = ({ path, line }: WholeState): string =>
  `${path} has the exchange as it stood after line ${count(line)}: clobsim serve --world ${path} --data NEW saves that`;

/** The latest state beside a journal that can be read; null when there is none. */
async function latestState({ name, isFolder }: JournalPlace): Promise<WholeState | null> {
  const { readStateFile } = await import("./on-histories.ts");
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
      : `${count(whole)} of them whole, the last at ${toIso(until)}, but what came before them is not`;
  return `lost: ${count(bytes)} bytes from line ${count(first)} on, ${count(lines)} line${lines === 1 ? "" : "s"}, ${behind}`;
}

const count = (number: number): string => number.toLocaleString("en-US");
