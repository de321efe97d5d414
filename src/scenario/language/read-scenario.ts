import { basename, dirname, join } from "node:path";
import { readHeader, type WorldMarkets, worldMarkets } from "./header.ts";
import { attempt } from "./page.ts";
import { type Problem, ProblemList } from "./problem.ts";
import { StepsReader } from "./read-steps.ts";
import type { Scenario } from "./scenario.ts";
import { IncludeChain, readTextFile, ScenarioFiles } from "./scenario-files.ts";
import { SourceText } from "./source-text.ts";

export interface ReadOptions {
  /** Where the file lies, else the folder of its name: its paths are relative to it and never lead out of it. */
  readonly folder?: string;
  /** How to know the markets of a world; left out, its file is read. */
  readonly worldMarkets?: WorldMarkets;
}

/** A scenario; or what is wrong with its file, and then the scenario is null. */
interface ReadScenario {
  readonly scenario: Scenario | null;
  /** In the order of the file, 20 at most. */
  readonly problems: readonly Problem[];
}

/** Reads a scenario from the text of its file, `file` as the user named it. Never throws because of what the text says. */
export function readScenario(file: string, text: string, options: ReadOptions = {}): ReadScenario {
  const problems = new ProblemList();
  const scenario = attempt((): Scenario => {
    const files = new ScenarioFiles(file, options.folder ?? dirname(file), problems);
    const open = files.open(text);
    const {
      declared,
      steps: list,
      ...header
    } = readHeader(open, files, options.worldMarkets ?? worldMarkets);
    const chain = new IncludeChain(join(open.folder, basename(file)), file);
    const steps = list === undefined ? [] : new StepsReader(files, declared, chain).read(open, list);
    return { ...header, steps };
  });
  if (scenario !== undefined && problems.isEmpty) return { scenario, problems: [] };
  return { scenario: null, problems: problems.inOrder(file) };
}

/** Reads the scenario of a file, in whose folder its paths stay. Never throws because of what the file is. */
export function loadScenario(file: string, options: Omit<ReadOptions, "folder"> = {}): ReadScenario {
  const read = readTextFile(file);
  if (read.ok) return readScenario(file, read.text, options);
  const place = new SourceText(file, read.before).placeOf(read.before.length);
  return { scenario: null, problems: [{ place, message: read.message, hint: null }] };
}
