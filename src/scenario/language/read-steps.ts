import { accountStepOf } from "./account-step.ts";
import type { Declarations } from "./declarations.ts";
import { countOf, itemsOf, notThis, unitsAt, valuesBy, valuesOf } from "./fields.ts";
import { attempt, type Entry, type Node, type Page } from "./page.ts";
import type { RaceStep, Step } from "./scenario.ts";
import type { IncludeChain, OpenFile, ScenarioFiles } from "./scenario-files.ts";
import { readStep, type StepSource } from "./step-source.ts";
import { BESIDE_WORDS, isReserved, STEP_OF_KEY, STEP_WORDS } from "./steps.ts";

const NOT_IN_A_RACE: readonly string[] = ["race", "repeat", "include", "snapshot", "restore"];
const MAX_STEPS = 100_000;
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
    if (nodes.length === 0)
      throw file.page.wrong(list.start, "expected at least one step, found an empty list");
    for (const node of nodes) this.#read(file, node, into);
    return into;
  }

  #read(file: OpenFile, node: Node, into: Step[]): void {
    const keys = attempt(() => stepKeysOf(file.page, node, this.#declared));
    const word = keys?.head.key.value;
    if (keys !== undefined && word === "include") attempt(() => this.#include(file, keys, into));
    else if (keys !== undefined && word === "repeat") attempt(() => this.#repeat(file, keys, into));
    else {
      this.#number += 1;
      if (this.#number === MAX_STEPS + 1) file.page.wrong(node.start, `more than ${MAX_STEPS} steps`);
      if (keys === undefined || this.#number > MAX_STEPS) return;
      const step = attempt(() => this.#stepOf(file, keys));
      if (step !== undefined) into.push(step);
    }
  }

  #stepOf(file: OpenFile, keys: StepKeys): Step {
    const source: StepSource = {
      ...file,
      ...keys,
      files: this.#files,
      declared: this.#declared,
      number: this.#number,
      readRacing: (nodes) => this.#racing(file, nodes),
    };
    const { key } = keys.head;
    const step = readStep(STEP_OF_KEY.get(key.value) ?? accountStepOf(source), source);
    if (step.kind === "race") this.#countRuns(file, key, step);
    return step;
  }

  #racing(file: OpenFile, nodes: readonly Node[]): Step[] {
    const steps: Step[] = [];
    for (const node of nodes) {
      const entries = node.kind === "mapping" ? node.entries : [];
      const key = entries.find((entry) => NOT_IN_A_RACE.includes(entry.key.value))?.key;
      if (key === undefined) this.#read(file, node, steps);
      else file.page.wrong(key.start, `${key.value} cannot stand in a race`);
    }
    return steps;
  }

  #countRuns({ page }: OpenFile, { start }: Entry["key"], { steps }: RaceStep): void {
    for (let count = 2; count <= steps.length; count += 1) this.#runs *= count;
    if (this.#runs > MAX_RUNS)
      throw page.wrong(start, `expected at most ${MAX_RUNS} runs, found ${this.#runs} orders of what races`);
  }

  /** Reads the steps of a repeat round by round: they stand there so often. */
  #repeat(file: OpenFile, { head, beside }: StepKeys, into: Step[]): void {
    const { page } = file;
    const { steps } = valuesBy(page, beside, { steps: (node) => node });
    if (steps === undefined) page.wrong(head.key.start, "expected the key steps beside repeat, found none");
    const times = unitsAt(page, head.value, countOf("a number of times", 1, MAX_STEPS));
    if (steps === undefined) return;
    this.#declared.rounds.repeat(times, () => {
      const before = this.#number;
      attempt(() => this.read(file, steps, into));
      return this.#number > before && this.#number <= MAX_STEPS;
    });
  }

  #include(file: OpenFile, { head: { value }, beside }: StepKeys, into: Step[]): void {
    const { page } = file;
    valuesBy(page, beside, {});
    const path = this.#files.pathAt(file, value);
    this.#chain.within(page, value.start, path, this.#files.nameOf(path), () => {
      const part = this.#files.part(path);
      const readers = { steps: (node: Node) => node };
      const isList = part.root.kind === "list";
      const list = isList
        ? part.root
        : valuesOf(part.page, part.root, "a list of steps, or steps", readers, "steps").steps;
      this.read(part, list, into);
    });
  }
}

/** A step's keys: the one that says what it does, and those beside it. */
type StepKeys = Pick<StepSource, "head" | "beside">;

const STEP_RULE = "a step such as `alice: BUY 10 YES @ 0.5` or `advance: 30s`";
const ACTS = /^\s*(?:buy|sell|cancel|fund|split|merge|redeem)(?:\s|$)/i;

/** Finds out what a step does; nothing, two things at once, or an unknown one is a problem. */
function stepKeysOf(page: Page, node: Node, { accounts, accountsText }: Declarations): StepKeys {
  if (node.kind !== "mapping") throw notThis(page, node, STEP_RULE);
  const isKnown = ({ key: { value } }: Entry): boolean =>
    !BESIDE_WORDS.has(value) && (isReserved(value) || accounts === null || accounts.has(value));
  const head = node.entries.find(isKnown);
  if (head === undefined) {
    const stranger = node.entries.find(({ key }) => !BESIDE_WORDS.has(key.value));
    if (stranger === undefined) throw page.wrong(node.start, `expected ${STEP_RULE}, found none`);
    const { start, value } = stranger.key;
    // Whatever places an order was meant to be an account, not a step.
    const isAccount = ACTS.test(stranger.value.kind === "text" ? stranger.value.value : "");
    const known = [...(accounts ?? []), ...(isAccount ? [] : STEP_WORDS)];
    throw page.unknown(start, isAccount ? "account" : "step or account", value, known, accountsText);
  }
  const beside = node.entries.filter((entry) => entry !== head);
  const second = accounts === null ? undefined : beside.find(isKnown)?.key;
  if (second === undefined) return { head, beside };
  throw page.wrong(
    second.start,
    `expected one step, found ${second.value} as well`,
    "begin each step with a dash",
  );
}
