import { OTHER_GOLDEN } from "../run/expectations.ts";
import { filesNamedIn } from "../run/files.ts";
import { stepCount } from "../run/needs.ts";
import { RunStopped } from "../run/session.ts";
import { isAligned } from "./candidates.ts";
import { Draft } from "./draft.ts";
import { differingLines, type GoldenCut } from "./golden-cut.ts";
import { goldenCutOf, withoutGolden } from "./golden-steps.ts";
import { type InlineFlows, isFlow, withFlowsInline } from "./inline-flows.ts";
import { withIncludesInline } from "./inline-includes.ts";
import { noteRun } from "./noted-run.ts";
import { type FailingText, Reduction } from "./reduction.ts";
import type { ShrinkOptions, ShrunkScenario } from "./shrink-scenario.ts";
import { isInvariant } from "./signature.ts";
import type { Failed, Trial } from "./trial.ts";

/** A text that is known to fail in the same way with everything judged. */
interface Verified extends FailingText {
  /** How many steps there were before: rows count where they are steps in it. */
  readonly before: number;
  /** What could not be reduced, a sentence each. */
  readonly remarks: readonly string[];
}

/** The result is run once more where it lies, and perhaps another in its place. */
const LAST_RUNS = 2;

/** One scenario that is being reduced, with what is known to fail with everything judged. */
export class Shrinking {
  readonly #trial: Trial;
  readonly #options: ShrinkOptions;
  readonly #reduction: Reduction;
  /** Of the current text. */
  #before: number;
  #remarks: readonly string[] = [];
  #verified: Verified;
  /** What was verified before flows became steps. */
  #unopened: Verified;

  constructor(trial: Trial, text: string, failed: Failed, options: ShrinkOptions) {
    const first = { draft: new Draft(text), failed, before: stepCount(failed.scenario), remarks: [] };
    this.#trial = trial;
    this.#options = options;
    this.#before = first.before;
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

  #resultOf({ draft, failed, before, remarks }: Verified): ShrunkScenario {
    const { scenario } = failed;
    const mayOpen = isAligned(draft, scenario) || (!isOfGolden(failed) && !scenario.steps.some(isFlow));
    return {
      text: draft.text,
      signature: failed.signature,
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
      !isInvariant(failed.signature) || this.#reduction.same(await this.#trial.run(draft.text)) !== null;
    if (!isEnough) this.#trial.judges = "all";
  }

  /**
   * Sees with everything judged whether the text still fails in the same way; else goes back to the last that does, and
   * judges everything from there on.
   */
  async #verify(): Promise<boolean> {
    const { draft } = this.#reduction.current;
    if (draft === this.#verified.draft) return true;
    const { judges } = this.#trial;
    this.#trial.judges = "all";
    this.#trial.stop = () => this.#options.isOver?.(this.#verified.failed.ms) ?? false;
    const failed = this.#reduction.same(await this.#trial.run(draft.text));
    this.#trial.stop = () => this.#isOver;
    if (failed === null) {
      this.#reduction.current = this.#verified;
      this.#before = this.#verified.before;
      this.#remarks = this.#verified.remarks;
    } else {
      this.#verified = { draft, failed, before: this.#before, remarks: this.#remarks };
      this.#trial.judges = judges;
    }
    return failed !== null;
  }

  /** Makes steps of the rows of flows; of a golden file, an expectation of what differs first. */
  async #openFlows(): Promise<boolean> {
    const { draft, failed } = this.#reduction.current;
    const { scenario, failure } = failed;
    const isGolden = isOfGolden(failed);
    if (!isAligned(draft, scenario) || (!isGolden && !scenario.steps.some(isFlow))) return false;
    const noted = await noteRun(scenario, failure, this.#trial);
    const cut = isGolden ? await goldenCutOf(failed, noted) : null;
    for (const withTimes of [false, true]) {
      const cutOff = cut === null ? null : withoutGolden(draft, failed, noted, cut, withTimes);
      if (cutOff !== null && (await this.#open(cutOff, cut))) return true;
      const inline = withFlowsInline(draft, scenario, noted, { withTimes, lastRow: () => null });
      if (await this.#open(inline, null)) return true;
      this.#remarks = inline.remarks;
      this.#verified = { ...this.#verified, remarks: inline.remarks };
    }
    return false;
  }

  /** Goes on with a text in which flows are steps, where it fails as they do, or by a golden file's first difference. */
  async #open({ text, added, remarks, keeps }: InlineFlows, cut: GoldenCut | null): Promise<boolean> {
    if (text === this.#reduction.current.draft.text) return false;
    const outcome = await this.#trial.run(text);
    if (outcome.kind !== "failed") return false;
    if (cut === null ? this.#reduction.same(outcome) === null : !isDifference(outcome, cut)) return false;
    this.#before += added;
    this.#remarks = cut === null ? remarks : [...remarks, cut.remark];
    this.#reduction.current = { draft: new Draft(text), failed: outcome };
    this.#reduction.keeps = keeps;
    return true;
  }
}

const NOT_OPENED =
  "flows and golden files stay as they are where steps are repeated, or stand in another file";

const isOfGolden = ({ failure }: Failed): boolean => failure.message.startsWith(OTHER_GOLDEN);

/** Whether what fails is the last step's expectation, just as the golden file's did. */
const isDifference = ({ scenario, failure }: Failed, { difference }: GoldenCut): boolean =>
  failure.step === scenario.steps.at(-1)?.number &&
  differingLines(failure.diff).join("\n") === difference.join("\n");
