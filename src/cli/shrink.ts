import { dirname, relative, resolve } from "node:path";
import { parseDuration } from "../core/time.ts";
import { nodeDisk } from "../engine/disk.ts";
import type { ShrinkOptions, ShrunkScenario } from "../history/shrink/shrink-scenario.ts";
import type { Scenario } from "../scenario/language/scenario.ts";
import { readTextFile } from "../scenario/language/scenario-files.ts";
import { shownPath } from "../scenario/run/files.ts";
import { needsHttp } from "../scenario/run/needs.ts";
import { shellWord } from "../scenario/run/run-scenario.ts";
import { startScenarioServer } from "../scenario-server.ts";
import { type Given, LINE, LINE_OR_MOMENT, readOne, type Setting } from "../setting.ts";
import type { Command } from "./command.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";
import { OUT, save } from "./output.ts";
import { readScenarios } from "./read-scenarios.ts";

const DEFAULT_COLUMNS = 80;

/** One line on a terminal that grows, `1,204 steps → 37 → 9`, until it is full: `1,204 steps → … → 9`. */
class Progress {
  #first = "";
  #line = "";

  show(steps: number): void {
    if (process.stderr.isTTY !== true) return;
    const count = steps.toLocaleString("en-US");
    const isFirst = this.#line === "";
    if (isFirst) this.#first = `${count} steps`;
    const longer = isFirst ? this.#first : `${this.#line} → ${count}`;
    const isFull = longer.length >= (process.stderr.columns || DEFAULT_COLUMNS);
    this.#line = isFull ? `${this.#first} → … → ${count}` : longer;
    process.stderr.write(`\r\u001b[K${this.#line}`);
  }

  end(): void {
    if (this.#line !== "") process.stderr.write("\n");
  }
}

/** How long something may take, and how that was typed. */
export const BUDGET: Setting<{ readonly ms: number; readonly text: string }> = {
  expected: "a duration such as 60s or 5m",
  read: (text) => {
    const ms = parseDuration(text);
    return ms === null || ms === 0 ? null : { ms, text };
  },
};

const EXPECTATION: Setting<string> = {
  expected: "what must be true, such as orders: { o4116: LIVE 5/10 }",
  read: (text) => text || null,
};

/** The time begins to run here. */
function limitsOf(given: Given): Limits {
  const budget = readOne("budget", BUDGET, given);
  const end = budget === null ? Number.POSITIVE_INFINITY : performance.now() + budget.ms;
  return { isOver: (reserveMs) => performance.now() + reserveMs >= end, budget: budget?.text ?? null };
}

/** `clobsim shrink`: reduces a failing scenario to the few steps that it takes to fail. */
export const shrinkCommand: Command = {
  name: "shrink",
  summary: "Reduce a failing scenario to the few steps that still make it fail in the same way.",
  takes: "FILE|REPORT|DIR",
  flags: [
    {
      name: "expect",
      group: "Journal:",
      text: "What should be true at the end of a report or a directory, as behind expect: in a scenario",
      otherwise: "what fails by itself",
    },
    {
      name: "refused",
      group: "Journal:",
      text: "The line of a refused order or cancel that should have been accepted",
      otherwise: "the only one, where nothing else fails",
    },
    {
      name: "at",
      group: "Journal:",
      text: "Where it ends: after this line, or at this moment",
      otherwise: "the end",
    },
    { name: "out", group: "Output:", text: "File to write", otherwise: "stdout" },
    {
      name: "budget",
      group: "Limits:",
      text: "How long it may take, such as 60s; then the smallest so far is written",
      otherwise: "until nothing more can be left out",
    },
  ],
  examples: [
    ["shrink failing.yaml", "print the smallest scenario that fails just so"],
    ["shrink failing.yaml --out small.yaml", "write it to a file beside the other"],
    ["shrink report.ndjson --out small.yaml", "a bug report, as a scenario of a few steps"],
    [
      "shrink report.ndjson --expect 'orders: { o4116: LIVE 5/10 }'",
      "what it takes for the order 4116 of the journal to be anything else",
    ],
    ["shrink report.ndjson --refused 12", "what it takes for the order of the 12th line to be refused"],
    ["shrink long.yaml --budget 60s --out small.yaml", "what can be done in a minute"],
  ],
  run: shrink,
};

async function shrink(given: Given, words: readonly string[]): Promise<ExitCode> {
  const out = readOne("out", OUT, given);
  const limits = limitsOf(given);
  const expectation = readOne("expect", EXPECTATION, given);
  const at = readOne("at", LINE_OR_MOMENT, given);
  const refused = readOne("refused", LINE, given);
  const [file, ...others] = words;
  if (file === undefined || others.length > 0) {
    throw new UsageError(
      `shrink expects one file, found ${words.length || "none"} (see clobsim shrink --help)`,
    );
  }
  if (out !== null && resolve(out) === resolve(file)) {
    throw new UsageError(`--out expects another file than the one that is shrunk, found ${out}`);
  }
  const { isJournal } = await import("./on-histories.ts");
  if (isJournal(nodeDisk, file)) {
    const { shrinkReport } = await import("./on-shrinking.ts");
    return shrinkReport(file, limits, out, { expectation, refused, at: at ?? {} });
  }
  const flag = expectation !== null ? "expect" : refused !== null ? "refused" : at !== null ? "at" : null;
  if (flag !== null) {
    throw new UsageError(`--${flag} goes with a report or a data directory, found ${file}`);
  }
  const { scenarios, isWrong } = await readScenarios([file]);
  if (isWrong) return EXIT.usage;
  const [scenario] = scenarios;
  if (scenario === undefined || scenarios.length > 1) {
    throw new UsageError(`shrink expects one file, found ${scenarios.length} scenarios at ${file}`);
  }
  const shrunk = await shrunkOf(scenario, limits, out);
  if (shrunk === null) return notFailed(scenario);
  return printShrunk(shrunk, out, missing(shrunk, scenario, out));
}

function notFailed({ place }: Scenario): ExitCode {
  process.stderr.write(`clobsim: ${shownPath(place.file)} does not fail, nothing was written\n`);
  return EXIT.failed;
}

/** Says how the shrunk scenario fails, which is written already where it has a file; `remarks` are what else is to be said. */
export function printShrunk(
  shrunk: ShrunkScenario,
  out: string | null,
  remarks: readonly string[] = [],
): ExitCode {
  if (out === null) process.stdout.write(shrunk.text);
  process.stderr.write(`${closing(shrunk, remarks, out).join("\n")}\n`);
  return EXIT.ok;
}

/** A scenario reduced, and written where a file is named; null when it does not fail. */
export async function shrunkOf(
  scenario: Scenario,
  limits: Limits,
  out: string | null,
): Promise<ShrunkScenario | null> {
  const { file } = scenario.place;
  const read = readTextFile(file);
  if (!read.ok) throw new UsageError(`${file}: ${read.message}`);
  const { shrinkScenario, venueOpener } = await import("./on-shrinking.ts");
  const open = venueOpener(needsHttp(scenario) ? startScenarioServer : null);
  const folder = dirname(resolve(file));
  return watched(limits, (options) =>
    shrinkScenario(read.text, { file, folder, open }, { ...options, ...writing(out, folder) }),
  );
}

/** How long shrinking may take. */
export interface Limits {
  readonly isOver: (reserveMs: number) => boolean;
  /** As it was typed; null for no limit. */
  readonly budget: string | null;
}

/** Shows how far a reduction is. @throws UsageError where the time was over before it began */
export async function watched<T>(
  { isOver, budget }: Limits,
  shrinking: (options: Pick<ShrinkOptions, "isOver" | "progress">) => Promise<T>,
): Promise<T> {
  const progress = new Progress();
  try {
    return await shrinking({ isOver, progress: (steps) => progress.show(steps) });
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "NotRunInTime") throw error;
    throw new UsageError(
      `--budget expects time enough for one run to its failure, found ${budget}: nothing was written`,
    );
  } finally {
    progress.end();
  }
}

/** Writes what comes out, and reads it from there to be run once more; its paths begin in the folder of the original. */
export function writing(out: string | null, folder: string): Pick<ShrinkOptions, "written"> {
  if (out === null) return {};
  return {
    written: async (text) => {
      await save(out, text);
      const { readScenario, worldMarkets } = await import("./on-scenarios.ts");
      const read = readTextFile(out);
      return read.ok ? readScenario(out, read.text, { folder, worldMarkets }).scenario : null;
    },
  };
}

/** How it fails now, and how to run it. */
function closing(shrunk: ShrunkScenario, more: readonly string[], out: string | null): string[] {
  const { before, steps, signature, failure, isMinimal, remarks } = shrunk;
  const place = `step ${failure.step}, ${failure.text}`;
  return [
    `clobsim: ${counted(before)} → ${counted(steps)}${isMinimal ? "" : ", and perhaps fewer: the time was over"}`,
    `  it fails at ${place}: ${signature.sentence}`,
    ...remarks.map((remark) => `  ${remark}`),
    ...more,
    ...(out === null ? [] : [`  clobsim run ${shellWord(out)}`]),
  ];
}

/** The files that it speaks of, where they do not lie beside it any more. */
function missing({ files }: ShrunkScenario, { place }: Scenario, out: string | null): string[] {
  const folder = dirname(resolve(place.file));
  if (files.length === 0 || out === null || dirname(resolve(out)) === folder) return [];
  const names = files.map((path) => relative(folder, path));
  return [`  it names ${names.join(", ")}, which must be copied from ${dirname(place.file)} to beside it`];
}

const counted = (steps: number): string => `${steps.toLocaleString("en-US")} step${steps === 1 ? "" : "s"}`;
