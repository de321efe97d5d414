import type { Scenario } from "../../scenario/language/scenario.ts";
import { OTHER_GOLDEN } from "../../scenario/run/expectations.ts";
import { filesNamedIn } from "../../scenario/run/files.ts";
import { stepCount } from "../../scenario/run/needs.ts";
import type { Failure } from "../../scenario/run/result.ts";
import { RunStopped } from "../../scenario/run/session.ts";
import { Draft } from "./draft.ts";
import { type FailureFingerprint, isInvariant } from "./fingerprint.ts";
import { differingLines, type GoldenCut, goldenCutOf, withoutGolden } from "./golden-cut.ts";
import { type InlineFlows, isFlow, noteRun, withFlowsInline } from "./inline-flows.ts";
import { type FailingText, isAligned, Reduction } from "./reduction.ts";
import { withIncludesInline } from "./rewrites.ts";
import { type Failed, type Place, Trial } from "./trial.ts";

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
  place: Place,
  options: ShrinkOptions = {},
): Promise<ShrunkScenario | null> {
  const trial = new Trial(place);
  const { isOver = () => false, written = async (result) => trial.read(result) } = options;
  trial.stop = () => isOver(-GRACE_MS);
  const hasWindowsEnds = text.includes("\r\n");
  const plain = text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  const outcome = await trial.run(plain);
  if (outcome.kind === "stopped") throw new NotRunInTime("the time was over before it had failed once");
  if (outcome.kind !== "failed") return null;
  const results = await new Shrinking(trial, plain, outcome, options).results();
  trial.judges = "all";
  trial.stop = () => isOver(-GRACE_MS);
  for (const result of results) {
    const final = hasWindowsEnds ? result.text.replaceAll("\n", "\r\n") : result.text;
    const scenario = await written(final);
    const again = scenario === null ? null : await trial.runScenario(scenario);
    const isSame = again?.kind === "failed" && again.fingerprint.key === result.fingerprint.key;
    // Each of them has been run already; where time has run out all the same, that must do.
    if (isSame || again?.kind === "stopped") return { ...result, text: final };
  }
  throw new Error("a scenario that failed does not fail again");
}

/** The result is run once more where it lies, and perhaps another in its place. */
const LAST_RUNS = 2;

/** One scenario that is being reduced, with what is known to fail with everything judged. */
class Shrinking {
  readonly #trial: Trial;
  readonly #options: ShrinkOptions;
  readonly #reduction: Reduction;
  #verified: FailingText;
  /** What was verified before flows became steps. */
  #unopened: FailingText;

  constructor(trial: Trial, text: string, failed: Failed, options: ShrinkOptions) {
    const before = stepCount(failed.scenario);
    const first = { draft: new Draft(text), failed, before, remarks: [], keeps: [] };
    this.#trial = trial;
    this.#options = options;
    this.#verified = first;
    this.#unopened = first;
    this.#reduction = new Reduction(trial, first, () => this.#isOver, options.progress);
  }

  /** The smallest text first; then the original, in case that the smallest fails otherwise as it is written. */
  async results(): Promise<readonly ShrunkScenario[]> {
    const original = this.#verified;
    const first = this.#resultOf(original);
    try {
      await this.#shrink();
    } catch (error) {
      if (!(error instanceof RunStopped)) throw error;
    }
    if (stepCount(this.#verified.failed.scenario) > this.#verified.before) {
      const remarks = ["its flows stay flows: as steps there would be more of them than rows"];
      this.#verified = { ...this.#unopened, remarks };
    }
    const smallest = this.#resultOf(this.#verified);
    return this.#verified.draft === original.draft ? [smallest] : [smallest, first];
  }

  async #shrink(): Promise<void> {
    const reduction = this.#reduction;
    await this.#judgeFillsAlone();
    await reduction.accept(withIncludesInline(reduction.current.draft, this.#trial.place));
    await reduction.reduce();
    await this.#verify();
    this.#unopened = this.#verified;
    if (await this.#openFlows()) {
      await this.#verify();
      await reduction.reduce();
    }
    do await reduction.polish();
    while (!(await this.#verify()) && !this.#isOver);
  }

  get #isOver(): boolean {
    return this.#options.isOver?.(LAST_RUNS * this.#verified.failed.ms) ?? false;
  }

  #resultOf(text: FailingText): ShrunkScenario {
    const { draft, failed, before, remarks } = text;
    const mayOpen = isAligned(text) || !hasFlows(failed);
    return {
      text: draft.text,
      fingerprint: failed.fingerprint,
      failure: failed.failure,
      before,
      steps: stepCount(failed.scenario),
      isMinimal: !this.#isOver,
      files: [...new Set(filesNamedIn(failed.scenario))],
      remarks: mayOpen ? remarks : [...remarks, NOT_OPENED],
    };
  }

  /** Judging every invariant costs as much as all the rest: it is done only where nothing else fails in the same way. */
  async #judgeFillsAlone(): Promise<void> {
    const { draft, failed } = this.#reduction.current;
    this.#trial.stop = () => this.#isOver;
    this.#trial.judges = "fills";
    const isEnough =
      !isInvariant(failed.fingerprint) || this.#reduction.same(await this.#trial.run(draft.text)) !== null;
    if (!isEnough) this.#trial.judges = "all";
  }

  /**
   * Sees with everything judged whether the text still fails in the same way; else goes back to the last that does, and
   * judges everything from there on.
   */
  async #verify(): Promise<boolean> {
    const { current } = this.#reduction;
    if (current.draft === this.#verified.draft) return true;
    const { judges } = this.#trial;
    this.#trial.judges = "all";
    this.#trial.stop = () => this.#options.isOver?.(this.#verified.failed.ms) ?? false;
    const failed = this.#reduction.same(await this.#trial.run(current.draft.text));
    this.#trial.stop = () => this.#isOver;
    if (failed === null) this.#reduction.current = this.#verified;
    else {
      this.#verified = { ...current, failed };
      this.#trial.judges = judges;
    }
    return failed !== null;
  }

  /** Makes steps of the rows of flows; of a golden file, an expectation of what differs first. */
  async #openFlows(): Promise<boolean> {
    const { draft, failed } = this.#reduction.current;
    const { scenario, failure } = failed;
    if (!isAligned(this.#reduction.current) || !hasFlows(failed)) return false;
    const noted = await noteRun(scenario, failure, this.#trial);
    const cut = isOfGolden(failed) ? await goldenCutOf(failed, noted) : null;
    for (const withTimes of [false, true]) {
      const cutOff = cut === null ? null : withoutGolden(draft, failed, noted, cut, withTimes);
      if (cutOff !== null && (await this.#open(cutOff, cut))) return true;
      const inline = withFlowsInline(draft, scenario, noted, { withTimes, lastRow: () => null });
      if (await this.#open(inline, null)) return true;
      const { remarks } = inline;
      this.#reduction.current = { ...this.#reduction.current, remarks };
      this.#verified = { ...this.#verified, remarks };
    }
    return false;
  }

  /** Goes on with a text in which flows are steps, where it fails as they do, or by a golden file's first difference. */
  async #open({ text, added, remarks, keeps }: InlineFlows, cut: GoldenCut | null): Promise<boolean> {
    const { current } = this.#reduction;
    if (text === current.draft.text) return false;
    const failed = await this.#trial.run(text);
    if (failed.kind !== "failed") return false;
    if (cut === null ? this.#reduction.same(failed) === null : !isDifference(failed, cut)) return false;
    this.#reduction.current = {
      draft: new Draft(text),
      failed,
      before: current.before + added,
      remarks: cut === null ? remarks : [...remarks, cut.remark],
      keeps,
    };
    return true;
  }
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
