import { join } from "node:path";
import { toIso } from "../core/time.ts";
import type { JournalSource } from "../history/journal-source.ts";
import type { Loss, Salvage } from "../history/salvage.ts";
import { type Given, readOne, truth } from "../setting.ts";
import { nodeDisk } from "../store/disk.ts";
import { STATE_FILE } from "../store/files.ts";
import { StoreError } from "../store/store-error.ts";
import type { Command } from "./command.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { sourceNamed } from "./history-arguments.ts";
import { OUT } from "./output-file.ts";
import { UsageError } from "./usage-error.ts";

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
  const source = sourceNamed("repair", words);
  const { copyWhole, salvageOf } = await import("../history/salvage.ts");
  const salvage = salvageOf(source);
  const lines = [...salvageText(source.path, salvage), ...(await stateText(source, salvage))];
  process.stdout.write(`${lines.join("\n")}\n`);
  if (!isAccepted || out === null) {
    throw new UsageError(
      "nothing was written: repair expects --accept-loss and --out NEW, the directory to make (see clobsim repair --help)",
    );
  }
  copyWhole(nodeDisk, source, salvage.bytes, out);
  process.stdout.write(
    `  ${out} holds what is whole, ${source.name} is as it was: clobsim serve --data ${out}\n`,
  );
  return EXIT.ok;
}

function salvageText(path: string, { lines, bytes, until, lost }: Salvage): string[] {
  return [
    `${path} is whole up to line ${count(lines)} at ${toIso(until)}, ${count(bytes)} bytes`,
    lost === null ? "  nothing is lost: no line is damaged" : `  ${lossText(lost, lines + 1)}`,
  ];
}

/** What the latest state holds that is lost from the journal. */
async function stateText(
  { name, isFolder }: JournalSource,
  { lines, lost }: Salvage,
): Promise<readonly string[]> {
  if (lost === null || !isFolder) return [];
  const path = join(name, STATE_FILE);
  const line = await lineOf(path);
  if (line === null || line <= lines) return [];
  return [
    `  ${path} has the exchange as it stood after line ${count(line)}: clobsim serve --world ${path} --data NEW saves that`,
  ];
}

/** The last line of the journal that a state is of; null when it cannot be read. */
async function lineOf(path: string): Promise<number | null> {
  const { readStateFile } = await import("../store/state-file.ts");
  try {
    return readStateFile(nodeDisk, path)?.header.line ?? null;
  } catch (error) {
    if (error instanceof StoreError) return null;
    throw error;
  }
}

function lossText({ bytes, lines, whole, until }: Loss, first: number): string {
  const behind =
    until === null
      ? "none of them is whole"
      : `${count(whole)} of them whole, the last at ${toIso(until)}, but what came before them is not`;
  return `lost: ${count(bytes)} bytes from line ${count(first)} on, ${count(lines)} line${lines === 1 ? "" : "s"}, ${behind}`;
}

const count = (number: number): string => number.toLocaleString("en-US");
