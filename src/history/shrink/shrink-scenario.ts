import { type Scenario, stepCount } from "../../scenario/language/scenario.ts";
import { OTHER_GOLDEN } from "../../scenario/run/expectations.ts";
import { filesNamedIn } from "../../scenario/run/files.ts";
import type { Failure } from "../../scenario/run/result.ts";
import { RunStopped } from "../../scenario/run/session.ts";
import { Draft } from "./draft.ts";
import type { FailureFingerprint } from "./fingerprint.ts";
import { differingLines, type GoldenCut, goldenCutOf, withoutGolden } from "./golden-cut.ts";
import { type InlineFlows, isFlow, noteRun, withFlowsInline } from "./inline-flows.ts";
import { type FailingText, isAligned, Reduction } from "./reduction.ts";
import { withIncludesInline } from "./rewrites.ts";
import { type Environment, type Failed, Trial } from "./trial.ts";

/** How far a reduction goes, and who is told. */
export interface ShrinkOptions {
  /** Called with how many steps are left, each time that there are fewer. */
  readonly progress?: (steps: number) => void;
  /** Whether the time is over but for so many milliseconds, which are kept for what must still be done. */
  readonly isOver?: (reserveMs: number) => boolean;
  /** Writes the text where it will lie, and reads it as whoever runs it will; default: reads the text as it is. */
  readonly written?: (text: string) => Promise<Scenario | null>;
}

/** A scenario that fails as another one does. */
export interface ShrunkScenario {
  /** Its file's YAML. */
  readonly text: string;
  /** How it fails. */
  readonly fingerprint: FailureFingerprint;
  readonly failure: Failure;
  /**
   * How many steps there were, and are, never more, as runs number them: rows of flows count where they became steps, each
   * round of what is repeated, and the steps of races.
   */
  readonly before: number;
  readonly steps: number;
  /** Whether nothing more can be left out on its own; false where time was over. */
  readonly isMinimal: boolean;
  /** Absolute paths of the files that it still speaks of. */
  readonly files: readonly string[];
  /** What could not be reduced, a sentence each. */
  readonly remarks: readonly string[];
}

/** The first run and the last, without which there is no result, may take so much longer. */
const GRACE_MS = 700;
/** The result is run once more where it lies, and perhaps another in its place. */
const LAST_RUNS = 2;

/** The time was over before a scenario had come to its end once: nobody knows whether it fails. */
export class NotRunInTime extends Error {
  override readonly name = "NotRunInTime";
}

/**
 * Reduces the text of a scenario that fails to one that fails in the same way and in which nothing can be left out.
 * What remains keeps its words, comments and layout. What comes out has been run as it is written. Null when the text
 * does not fail, or is no scenario.
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
  const outcome = await trial.run(plain);
  if (outcome.kind === "stopped") throw new NotRunInTime("the time was up before it failed once");
  if (outcome.kind !== "failed") return null;
  const before = stepCount(outcome.scenario);
  const first: FailingText = { draft: new Draft(plain), failed: outcome, before, remarks: [], keeps: [] };
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
    // Each of them has been run already; where time has run out all the same, that must do.
    if (isSame || again?.kind === "stopped") return { ...resultOf(result), text: final, isMinimal };
  }
  throw new Error("a scenario that failed does not fail again");
}

function resultOf(result: FailingText): Omit<ShrunkScenario, "text" | "isMinimal"> {
  const { draft, failed, before, remarks } = result;
  const mayOpen = isAligned(draft, failed) || !hasFlows(failed);
  return {
    fingerprint: failed.fingerprint,
    failure: failed.failure,
    before,
    steps: stepCount(failed.scenario),
    files: [...new Set(filesNamedIn(failed.scenario))],
    remarks: mayOpen ? remarks : [...remarks, NOT_OPENED],
  };
}

/** The smallest text that is found before the time is over. */
async function smallestOf(reduction: Reduction, trial: Trial, isOver: () => boolean): Promise<FailingText> {
  await reduction.accept(withIncludesInline(reduction.current.draft, trial.environment));
  await reduction.reduce();
  const unopened = reduction.current;
  try {
    if (await openFlows(reduction, trial)) await reduction.reduce();
    if (!isOver()) await reduction.polish();
  } catch (error) {
    if (!(error instanceof RunStopped)) throw error;
  }
  const { failed, before } = reduction.current;
  if (stepCount(failed.scenario) <= before) return reduction.current;
  return { ...unopened, remarks: ["its flows stay flows: as steps there would be more of them than rows"] };
}

/** Makes steps of the rows of flows; of a golden file, an expectation of what differs first. */
async function openFlows(reduction: Reduction, trial: Trial): Promise<boolean> {
  const { draft, failed } = reduction.current;
  if (!isAligned(draft, failed) || !hasFlows(failed)) return false;
  const noted = await noteRun(failed, trial, reduction.checks);
  const cut = isOfGolden(failed) ? await goldenCutOf(failed, noted) : null;
  for (const withTimes of [false, true]) {
    const cutOff = cut === null ? null : withoutGolden(draft, failed, noted, cut, withTimes);
    if (cutOff !== null && (await open(reduction, trial, cutOff, cut))) return true;
    const inline = withFlowsInline(draft, failed.scenario, noted, { withTimes, lastRow: () => null });
    if (await open(reduction, trial, inline, null)) return true;
    reduction.current = { ...reduction.current, remarks: inline.remarks };
  }
  return false;
}

/** Goes on with a text in which flows are steps, where it fails as they do, or by a golden file's first difference. */
async function open(
  reduction: Reduction,
  trial: Trial,
  { text, added, remarks, keeps }: InlineFlows,
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
    keeps,
  };
  return true;
}

const NOT_OPENED =
  "flows and golden files stay as they are where steps are repeated, or stand in another file";

/** Whether rows or a golden file may become steps. */
const hasFlows = (failed: Failed): boolean => isOfGolden(failed) || failed.scenario.steps.some(isFlow);

const isOfGolden = ({ failure }: Failed): boolean => failure.message.startsWith(OTHER_GOLDEN);

/** Whether what fails is the last step's expectation, just as the golden file's did. */
const isDifference = ({ scenario, failure }: Failed, { difference }: GoldenCut): boolean =>
  failure.step === scenario.steps.at(-1)?.number &&
  differingLines(failure.diff).join("\n") === difference.join("\n");
