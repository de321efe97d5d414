import { type Scenario, stepCount } from "../../scenario/language/scenario.ts";
import { OTHER_GOLDEN } from "../../scenario/run/expectations.ts";
import { filesNamedIn } from "../../scenario/run/files.ts";
import type { Failure } from "../../scenario/run/result.ts";
import { RunStopped } from "../../scenario/run/session.ts";
import { Draft } from "./draft.ts";
import type { FailureFingerprint } from "./fingerprint.ts";
import { differingLines, type GoldenCut, goldenCutOf, withoutGolden } from "./golden-cut.ts";
import { type InlineFlows, isFlow, recordRun, withFlowsInline } from "./inline-flows.ts";
import { type FailingText, isAligned, Reduction } from "./reduction.ts";
import { withIncludesInline } from "./rewrites.ts";
import { type Environment, type Failed, Trial } from "./trial.ts";

export interface ShrinkOptions {
  /** Called with the number of steps, each time it becomes smaller. */
  readonly progress?: (steps: number) => void;
  /** Whether the time is up, apart from a reserve for remaining work, in milliseconds. */
  readonly isOver?: (reserveMs: number) => boolean;
  /** Writes the text to its final place and reads it from there; default: reads the text. */
  readonly written?: (text: string) => Promise<Scenario | null>;
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
/** Number of runs at the end: of the result in its final place, and perhaps of the original in its stead. */
const LAST_RUNS = 2;

/** The time was up before the first run of a scenario ended, so that it is unknown whether it fails. */
export class NotRunInTime extends Error {
  override readonly name = "NotRunInTime";
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
  const { written = async (result) => trial.read(result).scenario } = options;
  const isGraceOver = () => isOver(-GRACE_MS);
  trial.stop = isGraceOver;
  const plain = text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  const failed = await trial.run(plain);
  if (failed.kind === "stopped") throw new NotRunInTime("the time was up before it failed once");
  if (failed.kind !== "failed") return null;
  const before = stepCount(failed.scenario);
  const first: FailingText = { draft: new Draft(plain), failed, before, remarks: [], kept: [] };
  const isTimeOver = () => isOver(LAST_RUNS * reduction.current.failed.ms);
  const reduction = new Reduction(trial, first, isTimeOver, progress);
  trial.stop = isTimeOver;
  const smallest = await smallestOf(reduction, trial, isTimeOver);
  const isMinimal = !isTimeOver();
  trial.stop = isGraceOver;
  for (const result of smallest.draft === first.draft ? [smallest] : [smallest, first]) {
    const { draft, failed } = result;
    const final = text.includes("\r\n") ? draft.text.replaceAll("\n", "\r\n") : draft.text;
    const scenario = await written(final);
    const again = scenario === null ? null : await trial.runScenario(scenario);
    const isSame = again?.kind === "failed" && again.fingerprint.key === failed.fingerprint.key;
    // If the time is up, the earlier run of the text is sufficient.
    if (isSame || again?.kind === "stopped") return { ...resultOf(result), text: final, isMinimal };
  }
  throw new Error("a scenario that failed does not fail again");
}

function resultOf(result: FailingText): Omit<ShrunkScenario, "text" | "isMinimal"> {
  const { draft, failed, before, remarks } = result;
  const canInline = isAligned(draft, failed) || !hasFlows(failed);
  return {
    fingerprint: failed.fingerprint,
    failure: failed.failure,
    before,
    steps: stepCount(failed.scenario),
    files: [...new Set(filesNamedIn(failed.scenario))],
    remarks: canInline ? remarks : [...remarks, NOT_INLINED],
  };
}

/** Returns the smallest text found before the time is up. */
async function smallestOf(reduction: Reduction, trial: Trial, isOver: () => boolean): Promise<FailingText> {
  await reduction.accept(withIncludesInline(reduction.current.draft, trial.environment));
  await reduction.reduce();
  const withFlows = reduction.current;
  try {
    if (await inlineFlows(reduction, trial)) await reduction.reduce();
    if (!isOver()) await reduction.polish();
  } catch (error) {
    if (!(error instanceof RunStopped)) throw error;
  }
  const { failed, before } = reduction.current;
  if (stepCount(failed.scenario) <= before) return reduction.current;
  return { ...withFlows, remarks: ["its flows stay flows: as steps there would be more of them than rows"] };
}

/**
 * Replaces flows by their rows as steps, and a golden file by an expectation of its first difference. Returns whether the
 * text still fails in the same way; else it is unchanged.
 */
async function inlineFlows(reduction: Reduction, trial: Trial): Promise<boolean> {
  const { draft, failed } = reduction.current;
  if (!isAligned(draft, failed) || !hasFlows(failed)) return false;
  const run = await recordRun(failed, trial, reduction.checks);
  const cut = isOfGolden(failed) ? await goldenCutOf(failed, run) : null;
  for (const withTimes of [false, true]) {
    const expected = cut === null ? null : withoutGolden(draft, failed, run, cut, withTimes);
    if (expected !== null && (await accept(reduction, trial, expected, cut))) return true;
    const inline = withFlowsInline(draft, failed.scenario, run, { withTimes, lastRow: () => null });
    if (await accept(reduction, trial, inline, null)) return true;
    reduction.current = { ...reduction.current, remarks: inline.remarks };
  }
  return false;
}

/** Continues with a text with flows as steps, if it fails in the same way or, without the golden file, as `cut` expects. */
async function accept(
  reduction: Reduction,
  trial: Trial,
  { text, added, remarks, kept }: InlineFlows,
  cut: GoldenCut | null,
): Promise<boolean> {
  const { current } = reduction;
  if (text === current.draft.text) return false;
  const failed = await trial.run(text);
  if (failed.kind !== "failed") return false;
  if (cut === null ? !reduction.isSame(failed) : !isDifference(failed, cut)) return false;
  reduction.current = {
    draft: new Draft(text),
    failed,
    before: current.before + added,
    remarks: cut === null ? remarks : [...remarks, cut.remark],
    kept,
  };
  return true;
}

const NOT_INLINED = "flows and golden files stay as they are if steps are repeated, or are in another file";

/** Whether there are flows or a golden file to replace. */
const hasFlows = (failed: Failed): boolean => isOfGolden(failed) || failed.scenario.steps.some(isFlow);

const isOfGolden = ({ failure }: Failed): boolean => failure.message.startsWith(OTHER_GOLDEN);

/** Whether the last step fails with the difference from the golden file. */
const isDifference = ({ scenario, failure }: Failed, { difference }: GoldenCut): boolean =>
  failure.step === scenario.steps.at(-1)?.number &&
  differingLines(failure.diff).join("\n") === difference.join("\n");
