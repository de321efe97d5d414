import { dirname, relative, resolve } from "node:path";
import { nodeDisk } from "../engine/disk.ts";
import { isJournal } from "../history/journal-source.ts";
import type { ShrunkScenario } from "../history/shrink/shrink-scenario.ts";
import type { Scenario } from "../scenario/language/scenario.ts";
import { shownPath } from "../scenario/run/files.ts";
import type { Run, Values } from "./commands.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";
import { warn } from "./output.ts";
import { readScenarios } from "./read-scenarios.ts";
import { type Limits, printShrunk, shrunkOf } from "./shrinking.ts";

/** The time begins to run here. */
function limitsOf({ budget }: Values<"shrink">): Limits {
  const end = budget === null ? Number.POSITIVE_INFINITY : performance.now() + budget.ms;
  return { isOver: (reserveMs) => performance.now() + reserveMs >= end, budget: budget?.text ?? null };
}

/** `clobsim shrink`: reduces a failing scenario to the few steps that it takes to fail. */
export const run: Run<"shrink"> = async (values, words) => {
  const { out, expect: expectation, at, refused } = values;
  const limits = limitsOf(values);
  const [file, ...others] = words;
  if (file === undefined || others.length > 0) {
    throw new UsageError(
      `shrink expects one file, found ${words.length || "none"} (see clobsim shrink --help)`,
    );
  }
  if (out !== null && resolve(out) === resolve(file)) {
    throw new UsageError(`--out expects another file than the one that is shrunk, found ${out}`);
  }
  if (isJournal(nodeDisk, file)) {
    const { shrinkReport } = await import("./shrink-report.ts");
    return shrinkReport(file, limits, out, { expectation, refused, at: at ?? {} });
  }
  const flag = expectation !== null ? "expect" : refused !== null ? "refused" : at !== null ? "at" : null;
  if (flag !== null) {
    throw new UsageError(`--${flag} goes with a report or a data directory, found ${file}`);
  }
  const { scenarios, isWrong } = readScenarios([file]);
  if (isWrong) return EXIT.usage;
  const [scenario] = scenarios;
  if (scenario === undefined || scenarios.length > 1) {
    throw new UsageError(`shrink expects one file, found ${scenarios.length} scenarios at ${file}`);
  }
  const shrunk = await shrunkOf(scenario, limits, out);
  if (shrunk === null) return notFailed(scenario);
  return printShrunk(shrunk, out, missing(shrunk, scenario, out));
};

function notFailed({ place }: Scenario): ExitCode {
  warn(`${shownPath(place.file)} does not fail, nothing was written`);
  return EXIT.failed;
}

/** The files that it speaks of, where they do not lie beside it any more. */
function missing({ files }: ShrunkScenario, { place }: Scenario, out: string | null): string[] {
  const folder = dirname(resolve(place.file));
  if (files.length === 0 || out === null || dirname(resolve(out)) === folder) return [];
  const names = files.map((path) => relative(folder, path));
  return [`  it names ${names.join(", ")}, which must be copied from ${dirname(place.file)} to beside it`];
}
