import { NEXT_ORDER } from "../../scenario/language/order-line.ts";
import { type Step, stepCount, stepsOf } from "../../scenario/language/steps.ts";
import { filesNamedIn } from "../../scenario/run/files.ts";
import type { Failure } from "../../scenario/run/result.ts";
import { RunStopped } from "../../scenario/run/session.ts";
import type { Checks } from "../../scenario/venue/views.ts";
import { type Draft, fewerRounds, type Part, unrolledRaces, withIncludesInline, withParts } from "./draft.ts";
import { type GoldenDifference, goldenDifferenceOf, withoutGolden } from "./golden-difference.ts";
import { type InlineFlows, isFlow, recordRun, withFlowsInline } from "./inline-flows.ts";
import {
  causeOf,
  differingLines,
  type Environment,
  type Failed,
  type FailureFingerprint,
  Trial,
  type TrialResult,
} from "./trial.ts";

/**
 * Delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input"): leaves out all parts, then
 * halves, and so on down to single parts. `leaveOut` returns whether the rest still fails, and `remaining` then has only
 * the rest. Only complements are tried, so that a long list needs a few attempts for each part that matters. At the end no
 * single part can be left out, unless `isOver` stopped it. Last parts are tried first, because they depend on earlier ones.
 * `first` is the number of parts to leave out at first.
 */
export async function ddmin<T>(
  remaining: () => readonly T[],
  leaveOut: (parts: readonly T[]) => Promise<boolean>,
  isOver: () => boolean,
  first = remaining().length,
): Promise<void> {
  for (let size = first; size >= 1 && !isOver(); ) {
    const before = remaining().length;
    for (let end = before; end > 0 && !isOver(); ) {
      const start = Math.max(0, end - size);
      await leaveOut(remaining().slice(start, end));
      end = Math.min(start, remaining().length);
    }
    // Single parts are tried until all are needed: a part may have been needed only by one that was left out after it.
    if (size > 1) size = Math.ceil(size / 2);
    else if (remaining().length === before) break;
  }
}

/** Whether the steps of a text are those of the scenario: not if a file is included or steps are repeated. */
const isAligned = ({ draft, scenario }: Failed): boolean => draft.steps.length === scenario.steps.length;

/** Returns every expectation except the failing one; none if that is in another file. */
function otherExpectations({ draft, scenario, failure }: Failed): readonly Part[] {
  if (failure.place.file !== scenario.place.file) return [];
  const failing = draft.partAt(failure.place);
  const needed = failing?.kind === "expectation" ? withParts(failing) : [];
  for (let part = failing; part !== undefined; part = part.parent ?? undefined) needed.push(part);
  const parts = draft.steps.flatMap(withParts);
  return parts.filter((part) => part.kind === "expectation" && !needed.includes(part));
}

/** Returns the removable parts, in the order of the file. */
const removable = ({ draft }: Failed): Part[] =>
  draft.headers.flatMap(withParts).filter(({ kind }) => kind !== "fixed" && kind !== "line");

/**
 * Returns the parts to remove as well, if a text without some parts does not fail as wanted: parts that refer to removed
 * ones; a step that is refused now, or depends on a refused one; lines of an expected list that removed steps caused. None
 * if it fails for another reason.
 */
function consequencesOf(result: TrialResult, wanted: FailureFingerprint): readonly Part[] {
  if (result.kind === "unreadable")
    return result.problems.flatMap(({ place }) => result.draft?.partAt(place) ?? []);
  if (result.kind !== "failed" || !isAligned(result)) return [];
  const { draft, scenario, failure, fingerprint } = result;
  const index = scenario.steps.findIndex(({ number }) => number === failure.step);
  const part = draft.steps[index];
  if (part === undefined) return [];
  const cause = causeOf(result);
  const isRefusedStep = cause === "refused" && !isFlow(scenario.steps[index] as Step);
  if (isRefusedStep || cause === "accepted" || cause === "unplaced") return [part];
  return linesToDrop(part, wanted, fingerprint);
}

/** Adds the steps that refer to an order or a snapshot that no earlier step creates without the removed parts. */
function withDependents(failed: Failed, removed: readonly Part[]): readonly Part[] {
  if (!isAligned(failed)) return removed;
  const all = new Set(removed);
  const created = new Set<string>();
  for (const [index, step] of failed.scenario.steps.entries()) {
    const part = failed.draft.steps[index] as Part;
    if (referencesOf(step).some((name) => !created.has(name))) all.add(part);
    if (all.has(part)) continue;
    for (const each of stepsOf([step]))
      if ((each.kind === "order" || each.kind === "snapshot") && each.name !== null) created.add(each.name);
  }
  return [...all];
}

/** Returns the orders and snapshots that a step needs. Expectations are not included: reading the text finds wrong ones. */
function referencesOf(step: Step): readonly string[] {
  switch (step.kind) {
    case "cancel":
      return step.rejects === null ? [step.order] : [];
    case "at":
      return "expiryOf" in step.moment ? [step.moment.expiryOf] : [];
    case "chainFault":
      return step.of === null || step.of === NEXT_ORDER ? [] : [step.of];
    case "restore":
      return [step.name];
    default:
      return [];
  }
}

/**
 * Returns the expected lines of lists (trades, fills, levels of a book) that are missing in a new failure, if there is no
 * other difference: without them, the failure is the wanted one.
 */
function linesToDrop(part: Part, wanted: FailureFingerprint, found: FailureFingerprint): readonly Part[] {
  const [wantedHead, ...wantedLines] = wanted.key.split("\n");
  const [foundHead, ...extra] = found.key.split("\n");
  if (wantedHead !== foundHead) return [];
  for (const line of wantedLines) {
    const index = extra.indexOf(line);
    if (index < 0) return [];
    extra.splice(index, 1);
  }
  const left = withParts(part).filter(({ kind }) => kind === "line");
  const dropped: Part[] = [];
  for (const line of extra) {
    const index = left.findIndex((each) => `- ${lineText(each)}` === line);
    if (index < 0) return [];
    dropped.push(...left.splice(index, 1));
  }
  return dropped;
}

/** Formats a line of a list as in a diff: numbers without trailing zeros, levels of a book with their side. */
function lineText({ node, parent }: Part): string {
  const side = parent?.name === "bids" ? "bid " : parent?.name === "asks" ? "ask " : "";
  const text = node.text.trim().replace(/\s+/g, " ");
  return side + text.replace(/\d+\.\d+/g, (figure) => String(Number(figure)));
}

/** Maximum number of times that consequences are removed from a candidate. */
const MAX_REPAIRS = 16;

interface FailingText extends Pick<InlineFlows, "remarks" | "requiredSteps"> {
  readonly failed: Failed;
  /** Number of steps before the reduction; includes rows of flows that are steps in it. */
  readonly before: number;
}

/** Removes from a text what is not needed to fail in the same way. */
class Reduction {
  /** The smallest so far, which was run with all checks. */
  #current: FailingText;
  readonly #trial: Trial;
  readonly #isOver: () => boolean;
  readonly #progress: (steps: number) => void;
  /** Texts that do not fail in the same way. */
  readonly #rejected = new Set<string>();
  /** Checks in the first run of a text: all of them only if fewer do not find the failure. */
  #checks: Checks = "fills";

  constructor(trial: Trial, first: FailingText, isOver: () => boolean, progress: (steps: number) => void) {
    this.#trial = trial;
    this.#current = first;
    this.#isOver = isOver;
    this.#progress = progress;
    progress(stepCount(first.failed.scenario));
  }

  /** The failure of the smallest text so far. */
  get failed(): Failed {
    return this.#current.failed;
  }

  get #draft(): Draft {
    return this.failed.draft;
  }

  /** Returns the smallest text found before the time is up. */
  async smallest(): Promise<FailingText> {
    await this.#accept(withIncludesInline(this.#draft, this.#trial.environment.folder));
    await this.#reduce();
    const withFlows = this.#current;
    try {
      if (await this.#inlineFlows()) await this.#reduce();
      if (!this.#isOver()) await this.#polish();
    } catch (error) {
      if (!(error instanceof RunStopped)) throw error;
    }
    if (stepCount(this.failed.scenario) <= this.#current.before) return this.#current;
    return {
      ...withFlows,
      remarks: ["its flows stay flows: as steps there would be more of them than rows"],
    };
  }

  /** Continues with another text, which may fail in another way. */
  #continueWith(text: FailingText): void {
    const count = stepCount(text.failed.scenario);
    const isOther = count !== stepCount(this.failed.scenario);
    this.#current = text;
    if (isOther) this.#progress(count);
  }

  /** Whether a result is the failure of the current text. */
  #isSame(result: TrialResult): result is Failed {
    return result.kind === "failed" && result.fingerprint.key === this.failed.fingerprint.key;
  }

  /** Continues with another text if it fails in the same way; returns whether it does. */
  async #accept(text: string): Promise<boolean> {
    return text !== this.#draft.text && (await this.#attempt(text)) === "same";
  }

  /** Like `#accept`, but returns another result; null if the text was rejected before. */
  async #attempt(text: string): Promise<TrialResult | "same" | null> {
    if (this.#rejected.has(text)) return null;
    let result = await this.#trial.run(text, this.#checks);
    if (this.#isSame(result) && this.#checks === "fills") result = await this.#trial.run(text);
    if (!this.#isSame(result)) {
      this.#rejected.add(text);
      return result;
    }
    this.#continueWith({ ...this.#current, failed: result });
    return "same";
  }

  /**
   * Replaces flows by their rows as steps, and a golden file by an expectation of its first difference. Returns whether the
   * text still fails in the same way; else it is unchanged.
   */
  async #inlineFlows(): Promise<boolean> {
    const { failed } = this;
    if (!isAligned(failed) || !hasFlows(failed)) return false;
    const run = await recordRun(failed, this.#trial, this.#checks);
    const difference = goldenDifferenceOf(failed, run);
    for (const withTimes of [false, true]) {
      const expected = difference === null ? null : withoutGolden(failed, run, difference, withTimes);
      if (expected !== null && (await this.#acceptFlows(expected, difference))) return true;
      const inline = withFlowsInline(failed.draft, failed.scenario, run, withTimes);
      if (await this.#acceptFlows(inline, null)) return true;
      this.#current = { ...this.#current, remarks: inline.remarks };
    }
    return false;
  }

  /** Continues with a text with flows as steps, if it fails in the same way or, without the golden file, as `difference` expects. */
  async #acceptFlows(inline: InlineFlows, difference: GoldenDifference | null): Promise<boolean> {
    const { text, added, remarks, requiredSteps } = inline;
    if (text === this.#draft.text) return false;
    const failed = await this.#trial.run(text);
    if (failed.kind !== "failed") return false;
    if (difference === null ? !this.#isSame(failed) : !isDifference(failed, difference)) return false;
    this.#continueWith({ failed, before: this.#current.before + added, remarks, requiredSteps });
    return true;
  }

  /** Removes large parts: steps after the failure, other expectations, then steps, rounds, accounts and markets. */
  async #reduce(): Promise<void> {
    const isInvariant = causeOf(this.failed) === "invariant";
    const areFillsEnough = !isInvariant || this.#isSame(await this.#trial.run(this.#draft.text, "fills"));
    this.#checks = areFillsEnough ? "fills" : "all";
    this.#rejected.clear();
    await this.#leaveOut(this.#stepsThat((step, last) => step.number > last));
    await this.#minimize(otherExpectations);
    // Steps that expect to be refused have no effect.
    const isRefused = (step: Step): boolean => "rejects" in step && step.rejects !== null;
    await this.#leaveOut(this.#stepsThat((step, last) => isRefused(step) && step.number !== last));
    await this.#minimize(({ draft }) => draft.steps);
    await this.#repeatLess();
    for (const kind of ["account", "market"]) {
      await this.#minimize((failed) => removable(failed).filter((part) => part.kind === kind));
    }
  }

  /** Returns the wanted steps; none if the steps of the text are not those of the scenario. */
  #stepsThat(isWanted: (step: Step, failing: number) => boolean): readonly Part[] {
    const { draft, scenario, failure } = this.failed;
    if (!isAligned(this.failed)) return [];
    return draft.steps.filter((_part, index) => isWanted(scenario.steps[index] as Step, failure.step));
  }

  /** Unrolls races, reduces repeats, and removes single parts, until nothing can be removed. */
  async #polish(): Promise<void> {
    for (let text = ""; text !== this.#draft.text && !this.#isOver(); ) {
      text = this.#draft.text;
      for (const unrolled of unrolledRaces(this.#draft)) {
        if (this.#isOver() || (await this.#accept(unrolled))) break;
      }
      await this.#repeatLess();
      await this.#minimize(removable, 1);
    }
  }

  /** Removes as many parts as possible; `first` is the number removed together at first. */
  #minimize(partsOf: (failed: Failed) => readonly Part[], first?: number): Promise<void> {
    const remaining = () => partsOf(this.failed).filter((part) => this.#isRemovable(part));
    return ddmin(remaining, (parts) => this.#leaveOut(parts), this.#isOver, first);
  }

  /** Removes parts with their dependents and consequences, if the text then fails in the same way; returns whether it does. */
  async #leaveOut(parts: readonly Part[]): Promise<boolean> {
    const { failed } = this;
    let draft: Draft | null = failed.draft;
    let removed = withDependents(failed, parts);
    for (let repairs = 0; repairs <= MAX_REPAIRS && !this.#isOver(); repairs += 1) {
      if (draft === null || removed.length === 0 || !removed.every((part) => this.#isRemovable(part)))
        return false;
      const result = await this.#attempt(draft.without(removed));
      if (result === "same") return true;
      if (result === null) return false;
      draft = "draft" in result ? result.draft : null;
      removed = consequencesOf(result, failed.fingerprint);
    }
    return false;
  }

  #isRemovable({ kind, text }: Part): boolean {
    const { requiredSteps } = this.#current;
    return kind !== "step" || !requiredSteps.some((start) => start !== "" && text.startsWith(start));
  }

  /** Reduces the rounds of repeats as far as possible. */
  async #repeatLess(): Promise<void> {
    for (const text of fewerRounds(this.#draft)) {
      if (this.#isOver()) return;
      if (await this.#accept(text)) return this.#repeatLess();
    }
  }
}

export interface ShrinkOptions {
  /** Called with the number of steps, each time it becomes smaller. */
  readonly progress?: (steps: number) => void;
  /** Whether the time is up, apart from a reserve for remaining work, in milliseconds. */
  readonly isOver?: (reserveMs: number) => boolean;
}

/** A reduced scenario that fails in the same way. */
export interface ShrunkScenario {
  /** YAML of the file. */
  readonly text: string;
  readonly fingerprint: FailureFingerprint;
  readonly failure: Failure;
  /**
   * Numbers of steps before and after the reduction, as a run counts them: with rows that became steps, each round of a
   * repeat, and the steps of races. The second is not larger.
   */
  readonly before: number;
  readonly steps: number;
  /** Whether no single part can be removed; false if the time was up. */
  readonly isMinimal: boolean;
  /** Absolute paths of the files that it needs. */
  readonly files: readonly string[];
  /** Parts that could not be reduced, a sentence each. */
  readonly remarks: readonly string[];
}

/** Extra time for the first and the last run, without which there is no result. */
const GRACE_MS = 700;
/** Number of runs at the end: of the result as it is written, and perhaps of the original in its stead. */
const LAST_RUNS = 2;

/** The time was up before the first run of a scenario ended, so that it is unknown whether it fails. */
export class NotRunInTime extends Error {
  override readonly name = "NotRunInTime";
  override readonly message = "the time was up before it failed once";
}

/**
 * Reduces the text of a failing scenario to a minimal one that fails in the same way. The rest keeps its words, comments
 * and layout. The result was run as it is written. Null if the text does not fail, or is no scenario.
 * @throws NotRunInTime
 */
export async function shrinkScenario(
  text: string,
  environment: Environment,
  options: ShrinkOptions = {},
): Promise<ShrunkScenario | null> {
  const trial = new Trial(environment);
  const { isOver = () => false, progress = () => {} } = options;
  const isGraceOver = () => isOver(-GRACE_MS);
  trial.stop = isGraceOver;
  const failed = await trial.run(text);
  if (failed.kind === "stopped") throw new NotRunInTime();
  if (failed.kind !== "failed") return null;
  const before = stepCount(failed.scenario);
  const first: FailingText = { failed, before, remarks: [], requiredSteps: [] };
  const isTimeOver = () => isOver(LAST_RUNS * reduction.failed.ms);
  const reduction = new Reduction(trial, first, isTimeOver, progress);
  trial.stop = isTimeOver;
  const smallest = await reduction.smallest();
  const isMinimal = !isTimeOver();
  trial.stop = isGraceOver;
  for (const result of smallest.failed === first.failed ? [smallest] : [smallest, first]) {
    const { failed } = result;
    const plain = failed.draft.text;
    const final = text.includes("\r\n") ? plain.replaceAll("\n", "\r\n") : plain;
    const again = await trial.run(final);
    const isSame = again.kind === "failed" && again.fingerprint.key === failed.fingerprint.key;
    // If the time is up, the earlier run of the text is sufficient.
    if (!isSame && again.kind !== "stopped") continue;
    const canInline = isAligned(failed) || !hasFlows(failed);
    return {
      text: final,
      fingerprint: failed.fingerprint,
      failure: failed.failure,
      before: result.before,
      steps: stepCount(failed.scenario),
      isMinimal,
      files: [...new Set(filesNamedIn(failed.scenario))],
      remarks: canInline ? result.remarks : [...result.remarks, NOT_INLINED],
    };
  }
  throw new Error("a scenario that failed does not fail again");
}

const NOT_INLINED = "flows and golden files stay as they are if steps are repeated, or are in another file";

/** Whether there are flows or a golden file to replace. */
const hasFlows = (failed: Failed): boolean =>
  causeOf(failed) === "golden" || failed.scenario.steps.some(isFlow);

/** Whether the last step fails with the difference from the golden file. */
const isDifference = ({ scenario, failure }: Failed, { lines }: GoldenDifference): boolean =>
  failure.step === scenario.steps.at(-1)?.number &&
  differingLines(failure.diff).join("\n") === lines.join("\n");
