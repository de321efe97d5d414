import { accountStepOf } from "./account-step.ts";
import { countOf, itemsOf, units, valuesBy, valuesOf } from "./fields.ts";
import { attempt, type Entry, type Node } from "./page.ts";
import type { Step } from "./scenario.ts";
import type { Source } from "./scenario-files.ts";
import { readStep, type StepInfo, type StepSource } from "./step-source.ts";
import { BESIDE_WORDS, isReserved, STEP_OF_KEY, STEP_WORDS, STEPS } from "./steps.ts";

const NOT_IN_A_RACE: readonly string[] = ["race", "repeat", "include", "snapshot", "restore"];
const MAX_STEPS = 100_000;
const MAX_RUNS = 5_040;
const MAX_LEVELS = 16;
/** In total, because files that include each other many times would take too long. */
const MAX_INCLUDES = 1_000;

/** Reads the steps of a scenario in order, included files in place. */
export class StepsReader {
  readonly #source: Source;
  /** The files being read: the scenario's file, then each file that the previous one includes. */
  readonly #openFiles: { readonly path: string; readonly name: string }[];
  #includes = 0;
  #number = 0;
  /** Number of runs that the races so far need: the product of their numbers of orders. */
  #runs = 1;

  /** `path`: of the scenario's file; `name`: as the user named it. */
  constructor(source: Source, path: string, name: string) {
    this.#source = source;
    this.#openFiles = [{ path, name }];
  }

  read(list: Node, into: Step[] = []): Step[] {
    const nodes = itemsOf(list, "a list of steps");
    if (nodes.length === 0) throw list.wrong("expected at least one step, found an empty list");
    for (const node of nodes) this.#read(node, into);
    return into;
  }

  #read(node: Node, into: Step[]): void {
    const keys = attempt(() => stepKeysOf(node, this.#source));
    const word = keys?.head.key.text;
    if (keys !== undefined && word === "include") attempt(() => this.#include(keys, into));
    else if (keys !== undefined && word === "repeat") attempt(() => this.#repeat(keys, into));
    else {
      this.#number += 1;
      if (this.#number === MAX_STEPS + 1) node.wrong(`more than ${MAX_STEPS} steps`);
      if (keys === undefined || this.#number > MAX_STEPS) return;
      const step = attempt(() => this.#stepOf(keys));
      if (step !== undefined) into.push(step);
    }
  }

  #stepOf(keys: StepKeys): Step {
    const { key } = keys.head;
    const number = this.#number;
    const source = {
      ...this.#source,
      ...keys,
      number,
      readRacing: (nodes: readonly Node[]) => this.#racing(nodes),
    };
    const kind = STEP_OF_KEY.get(key.text) ?? accountStepOf(source);
    const step = readStep(kind, STEPS[kind] as StepInfo, source) as Step;
    if (step.kind !== "race") return step;
    for (let count = 2; count <= step.steps.length; count += 1) this.#runs *= count;
    if (this.#runs <= MAX_RUNS) return step;
    throw key.wrong(`expected at most ${MAX_RUNS} runs, found races with ${this.#runs} orders`);
  }

  #racing(nodes: readonly Node[]): Step[] {
    const steps: Step[] = [];
    for (const node of nodes) {
      const entries = node.kind === "mapping" ? node.entries : [];
      const key = entries.find((entry) => NOT_IN_A_RACE.includes(entry.key.text))?.key;
      if (key === undefined) this.#read(node, steps);
      else key.wrong(`${key.text} cannot be in a race`);
    }
    return steps;
  }

  /** Reads the steps of a repeat once for each round. */
  #repeat({ head, beside }: StepKeys, into: Step[]): void {
    const { steps } = valuesBy(beside, { steps: (node) => node });
    if (steps === undefined) head.key.wrong("expected the key steps beside repeat, found none");
    const times = units(countOf("a number of times", 1, MAX_STEPS))(head.value);
    if (steps === undefined) return;
    this.#source.declared.rounds.repeat(times, () => {
      const before = this.#number;
      attempt(() => this.read(steps, into));
      return this.#number > before && this.#number <= MAX_STEPS;
    });
  }

  #include({ head: { value }, beside }: StepKeys, into: Step[]): void {
    const { files } = this.#source;
    valuesBy(beside, {});
    const path = files.pathAt(value);
    const name = files.nameOf(path);
    this.#includes += 1;
    const chain = [...this.#openFiles, { name }].map((file) => file.name).join(" → ");
    if (this.#openFiles.some((file) => file.path === path))
      throw value.wrong(`the file includes itself: ${chain}`);
    if (this.#openFiles.length > MAX_LEVELS)
      throw value.wrong(`more than ${MAX_LEVELS} levels of include: ${chain}`);
    if (this.#includes > MAX_INCLUDES) throw value.wrong(`more than ${MAX_INCLUDES} includes`);
    this.#openFiles.push({ path, name });
    attempt(() => {
      const part = files.part(path);
      const readers = { steps: (node: Node) => node };
      const isList = part.kind === "list";
      const list = isList ? part : valuesOf(part, "a list of steps, or steps", readers, "steps").steps;
      this.read(list, into);
    });
    this.#openFiles.pop();
  }
}

type StepKeys = Pick<StepSource, "head" | "beside">;

const STEP_RULE = "a step such as `alice: BUY 10 YES @ 0.5` or `advance: 30s`";
const ACTS = /^\s*(?:buy|sell|cancel|fund|split|merge|redeem)(?:\s|$)/i;

/** Finds the key of a step. No such key, two of them, or an unknown key is a problem. */
function stepKeysOf(node: Node, { declared: { accounts, accountsText } }: Source): StepKeys {
  if (node.kind !== "mapping") throw node.unexpected(STEP_RULE);
  const entries = node.own;
  const isKnown = ({ key: { text } }: Entry): boolean =>
    !BESIDE_WORDS.has(text) && (isReserved(text) || accounts === null || accounts.has(text));
  const head = entries.find(isKnown);
  if (head === undefined) {
    const stranger = entries.find(({ key }) => !BESIDE_WORDS.has(key.text));
    if (stranger === undefined) throw node.wrong(`expected ${STEP_RULE}, found none`);
    // The key of an order was meant to be an account.
    const isAccount = ACTS.test(stranger.value.text);
    const known = [...(accounts ?? []), ...(isAccount ? [] : STEP_WORDS)];
    throw stranger.key.unknown(isAccount ? "account" : "step or account", known, accountsText);
  }
  const beside = entries.filter((entry) => entry !== head);
  const second = accounts === null ? undefined : beside.find(isKnown)?.key;
  if (second === undefined) return { head, beside };
  throw second.wrong(`expected one step, found ${second.text} as well`, "begin each step with a dash");
}
