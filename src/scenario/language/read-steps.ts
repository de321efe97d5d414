import { readAccountStep } from "./account-step.ts";
import type { Declarations } from "./declarations.ts";
import { readExpectations } from "./expectations.ts";
import { type DecimalRule, entriesBy, fieldsOf, itemsOf, unitsAt } from "./fields.ts";
import type { Node } from "./page.ts";
import {
  readAdvance,
  readAt,
  readBump,
  readChainFault,
  readClose,
  readFailSettlement,
  readFault,
  readGenerate,
  readMine,
  readReorg,
  readReplay,
  readResolve,
  readRestore,
  readSnapshot,
} from "./plain-steps.ts";
import { readRequest } from "./request-step.ts";
import type { ExpectStep, RaceStep, Step } from "./scenario.ts";
import type { IncludeChain, OpenFile, ScenarioFiles } from "./scenario-files.ts";
import { baseOf, type StepKeys, type StepSource, stepKeysOf } from "./step-source.ts";
import type { StepWord } from "./vocabulary.ts";

/** Steps that stand for themselves; what others do depends on what is around them. */
const READERS: ReadonlyMap<string, (step: StepSource) => Step | null> = new Map<
  Exclude<StepWord, "race" | "repeat" | "include">,
  (step: StepSource) => Step | null
>([
  ["advance", readAdvance],
  ["at", readAt],
  ["close", readClose],
  ["resolve", readResolve],
  ["fault", readFault],
  ["snapshot", readSnapshot],
  ["restore", readRestore],
  ["replay", readReplay],
  ["generate", readGenerate],
  ["expect", readExpect],
  ["request", readRequest],
  ["mine", readMine],
  ["fail settlement", readFailSettlement],
  ["chain fault", readChainFault],
  ["bump", readBump],
  ["reorg", readReorg],
]);
const NOT_IN_A_RACE: readonly string[] = ["race", "repeat", "include", "snapshot", "restore"];
const MAX_STEPS = 100_000;
const TIMES: DecimalRule = { what: "a number of times", places: 0, least: 1, most: MAX_STEPS };
const MAX_RUNS = 5_040;

/** Reads the steps of a scenario in order, those of included files in their places. */
export class StepsReader {
  readonly #files: ScenarioFiles;
  readonly #declared: Declarations;
  readonly #chain: IncludeChain;
  #number = 0;
  /** In how many orders the races so far can go. */
  #runs = 1;

  constructor(files: ScenarioFiles, declared: Declarations, chain: IncludeChain) {
    this.#files = files;
    this.#declared = declared;
    this.#chain = chain;
  }

  /** Reads the steps of a list, at least one, and answers them behind those that are read already. */
  read(file: OpenFile, list: Node, into: Step[] = []): Step[] {
    const nodes = itemsOf(file.page, list, "a list of steps");
    if (nodes?.length === 0) file.page.wrong(list.start, "expected at least one step, found an empty list");
    for (const node of nodes ?? []) this.#read(file, node, into);
    return into;
  }

  #read(file: OpenFile, node: Node, into: Step[]): void {
    const keys = stepKeysOf(file.page, node, this.#declared);
    if (keys?.head.key.value === "include") {
      entriesBy(file.page, keys.beside, []);
      this.#include(file, keys.head.value, into);
      return;
    }
    if (keys?.head.key.value === "repeat") {
      this.#repeat(file, keys, into);
      return;
    }
    this.#number += 1;
    if (this.#number === MAX_STEPS + 1) file.page.wrong(node.start, `more than ${MAX_STEPS} steps`);
    if (keys === null || this.#number > MAX_STEPS) return;
    const source = { file, files: this.#files, declared: this.#declared, number: this.#number, ...keys };
    const step = this.#stepOf(source);
    if (step !== null) into.push(step);
  }

  #stepOf(source: StepSource): Step | null {
    const { key } = source.head;
    const read = READERS.get(key.value);
    if (read !== undefined) return read(source);
    if (key.value === "race") return this.#race(source);
    return readAccountStep(source);
  }

  #race(source: StepSource): Step | null {
    const { page } = source.file;
    const race = readRace(source, (nodes) => {
      const steps: Step[] = [];
      for (const node of nodes) if (this.#mayRace(source, node)) this.#read(source.file, node, steps);
      return steps;
    });
    if (race === null) return null;
    this.#runs *= ordersOf(race.steps.length);
    if (this.#runs <= MAX_RUNS) return race;
    const { start } = source.head.key;
    return page.wrong(start, `expected at most ${MAX_RUNS} runs, found ${this.#runs} orders of what races`);
  }

  #mayRace({ file }: StepSource, node: Node): boolean {
    const key =
      node.kind === "mapping"
        ? node.entries.find((entry) => NOT_IN_A_RACE.includes(entry.key.value))?.key
        : undefined;
    if (key !== undefined) file.page.wrong(key.start, `${key.value} cannot stand in a race`);
    return key === undefined;
  }

  /** Reads the steps of a repeat round by round: they stand there so often. */
  #repeat(file: OpenFile, { head, beside }: StepKeys, into: Step[]): void {
    const { page } = file;
    const { steps } = entriesBy(page, beside, ["steps"]);
    const times = unitsAt(page, head.value, TIMES);
    if (steps === undefined) page.wrong(head.key.start, "expected the key steps beside repeat, found none");
    if (steps === undefined || times === null) return;
    this.#declared.rounds.repeat(times, () => {
      const before = this.#number;
      this.read(file, steps.value, into);
      return this.#number > before && this.#number <= MAX_STEPS;
    });
  }

  #include(file: OpenFile, value: Node, into: Step[]): void {
    const path = this.#files.pathAt(file, value);
    if (path === null) return;
    this.#chain.within(file.page, value.start, path, this.#files.nameOf(path), () => {
      const part = this.#files.part(path);
      if (part === null) return;
      const { root, page } = part;
      const list =
        root.kind === "list"
          ? root
          : fieldsOf(page, root, "a list of steps, or steps", ["steps"])?.steps?.value;
      if (list !== undefined) this.read(part, list, into);
      else if (root.kind === "mapping") page.wrong(root.start, "expected the key steps, found none");
    });
  }
}

function readExpect(step: StepSource): ExpectStep {
  entriesBy(step.file.page, step.beside, []);
  return { ...baseOf(step), kind: "expect", expectations: readExpectations(step, step.head) };
}

/** With one more the orders would be 5,040 for this race alone. */
const MAX_RACING = 6;

/** Reads `race: [{ bob: cancel ask }, { alice: BUY 10 YES @ 0.60 }]`; `readSteps` reads what races. */
function readRace(step: StepSource, readSteps: (nodes: readonly Node[]) => readonly Step[]): RaceStep | null {
  const { file, head, beside } = step;
  const { page } = file;
  const { after } = entriesBy(page, beside, ["after"]);
  const nodes = itemsOf(page, head.value, `a list of 2 to ${MAX_RACING} steps`);
  if (nodes !== null && (nodes.length < 2 || nodes.length > MAX_RACING)) {
    return page.wrong(head.value.start, `expected 2 to ${MAX_RACING} steps, found ${nodes.length}`);
  }
  const steps = nodes === null ? [] : readSteps(nodes);
  const expectations = after === undefined ? [] : readExpectations(step, after);
  return { ...baseOf(step), kind: "race", steps, after: expectations };
}

/** In how many orders some steps can be taken. */
function ordersOf(steps: number): number {
  let orders = 1;
  for (let count = 2; count <= steps; count += 1) orders *= count;
  return orders;
}
