import { dirname, resolve } from "node:path";
import {
  type ShrinkOptions,
  type ShrunkScenario,
  shrinkScenario,
} from "../history/shrink/shrink-scenario.ts";
import { venueOpener } from "../history/shrink/trial.ts";
import { worldMarkets } from "../scenario/language/header.ts";
import { readScenario } from "../scenario/language/read-scenario.ts";
import type { Scenario } from "../scenario/language/scenario.ts";
import { readTextFile } from "../scenario/language/scenario-files.ts";
import { count } from "../scenario/report/text.ts";
import { needsHttp } from "../scenario/run/needs.ts";
import { shellWord } from "../scenario/run/run-scenario.ts";
import { startScenarioServer } from "../scenario-server.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";
import { save } from "./output.ts";

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
      const read = readTextFile(out);
      return read.ok ? readScenario(out, read.text, { folder, worldMarkets }).scenario : null;
    },
  };
}

/** How it fails now, and how to run it. */
function closing(shrunk: ShrunkScenario, more: readonly string[], out: string | null): string[] {
  const { before, steps, fingerprint, failure, isMinimal, remarks } = shrunk;
  const place = `step ${failure.step}, ${failure.text}`;
  return [
    `clobsim: ${count(before, "step")} → ${count(steps, "step")}${isMinimal ? "" : ", and perhaps fewer: the time was over"}`,
    `  it fails at ${place}: ${fingerprint.sentence}`,
    ...remarks.map((remark) => `  ${remark}`),
    ...more,
    ...(out === null ? [] : [`  clobsim run ${shellWord(out)}`]),
  ];
}
