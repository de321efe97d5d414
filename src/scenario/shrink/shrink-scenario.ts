import type { Scenario } from "../language/scenario.ts";
import type { Failure } from "../run/result.ts";
import { filesNamedIn } from "../run/source-files.ts";
import {
  behindFailure,
  consequencesOf,
  isAligned,
  ofHeaders,
  otherExpectations,
  refusedAsExpected,
  removable,
} from "./candidates.ts";
import { ddmin } from "./ddmin.ts";
import { Draft, type Part } from "./draft.ts";
import { fewerRounds } from "./fewer-rounds.ts";
import { withFlowsInline } from "./inline-flows.ts";
import { withIncludesInline } from "./inline-includes.ts";
import { openedRaces } from "./open-races.ts";
import { References } from "./references.ts";
import { isInvariant, type Signature } from "./signature.ts";
import { type Failed, type Place, Trial } from "./trial.ts";

/** How far a reduction goes, and who is told. */
export interface ShrinkOptions {
  /** Told of how many steps are left, each time that there are fewer. */
  readonly progress?: (steps: number) => void;
  /** Whether to stop with what there is. */
  readonly isOver?: () => boolean;
}

/** A scenario that fails as another one does. */
export interface ShrunkScenario {
  /** Its file's YAML. */
  readonly text: string;
  /** How it fails. */
  readonly signature: Signature;
  readonly failure: Failure;
  /** How many steps there were, and are: rows of flows count where they became steps. */
  readonly before: number;
  readonly steps: number;
  /** Whether nothing more can be left out on its own; false where time was over. */
  readonly isMinimal: boolean;
  /** Absolute paths of the files that it still speaks of. */
  readonly files: readonly string[];
  /** What could not be reduced, a sentence each. */
  readonly remarks: readonly string[];
}

/** So often a candidate may lose something more that only what is gone had made right. */
const MOST_REPAIRS = 16;

/**
 * Reduces the text of a scenario that fails to one that fails in the same way and in which nothing can be left out.
 * What remains keeps its words, comments and layout. Null when the text does not fail, or is no scenario.
 */
export async function shrinkScenario(
  text: string,
  place: Place,
  options: ShrinkOptions = {},
): Promise<ShrunkScenario | null> {
  const trial = new Trial(place);
  const plain = text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  const outcome = await trial.run(plain);
  if (outcome.kind !== "failed") return null;
  // Invariants cost as much as all the rest; where none of them is what fails, they are judged in the end alone.
  trial.judges = isInvariant(outcome.signature);
  let shrunk = await new Shrinking(trial, plain, outcome, options).shrunk();
  if (!trial.judges && !(await trial.failsJudged(shrunk.text, outcome.signature))) {
    shrunk = await new Shrinking(new Trial(place), plain, outcome, options).shrunk();
  }
  return text.includes("\r\n") ? { ...shrunk, text: shrunk.text.replaceAll("\n", "\r\n") } : shrunk;
}

/** One reduction under way: the smallest text so far. */
class Shrinking {
  readonly #trial: Trial;
  readonly #signature: Signature;
  readonly #options: ShrinkOptions;
  readonly #isOver: () => boolean;
  readonly #remarks = new Set<string>();
  #before: number;
  #draft: Draft;
  #failed: Failed;

  constructor(trial: Trial, text: string, failed: Failed, options: ShrinkOptions) {
    this.#trial = trial;
    this.#draft = new Draft(text);
    this.#failed = failed;
    this.#signature = failed.signature;
    this.#options = options;
    this.#isOver = options.isOver ?? (() => false);
    this.#before = failed.scenario.steps.length;
    options.progress?.(this.#before);
  }

  async shrunk(): Promise<ShrunkScenario> {
    await this.#accept(withIncludesInline(this.#draft, this.#trial.place));
    await this.#reduce();
    const flows = await withFlowsInline(this.#draft, this.#failed.scenario, this.#trial);
    for (const remark of flows.remarks) this.#remarks.add(remark);
    if (await this.#accept(flows.text)) {
      this.#before += flows.added;
      await this.#reduce();
    }
    for (let text = ""; text !== this.#draft.text && !this.#isOver(); ) {
      text = this.#draft.text;
      await this.#openRaces();
      await this.#repeatLess();
      await this.#sweep();
    }
    return {
      text: this.#draft.text,
      signature: this.#signature,
      failure: this.#failed.failure,
      before: this.#before,
      steps: this.#draft.steps.length,
      isMinimal: !this.#isOver(),
      files: [...new Set(filesNamedIn(this.#failed.scenario))],
      remarks: [...this.#remarks],
    };
  }

  /** Takes out the great mass: what comes after the failure, what is expected beside it, then steps and headers. */
  async #reduce(): Promise<void> {
    await this.#leaveOut(behindFailure(this.#draft, this.#failed));
    await this.#minimize(otherExpectations(this.#draft, this.#failed));
    await this.#leaveOut(refusedAsExpected(this.#draft, this.#failed));
    await this.#minimize(this.#draft.steps);
    await this.#minimize(ofHeaders(this.#draft, "account"));
    await this.#minimize(ofHeaders(this.#draft, "market"));
  }

  /** Leaves out as many of some parts as can be. */
  async #minimize(parts: readonly Part[]): Promise<void> {
    if (await this.#leaveOut(parts)) return;
    // Parts are those of one text: until all is tried, they are left out of that one.
    const { draft, scenario } = this.#here();
    await ddmin(
      parts,
      async (kept) => {
        const keeps = new Set(kept);
        const gone = new Set(parts.filter((part) => !keeps.has(part)));
        const all = await this.#without(draft, scenario, gone);
        return all === null ? null : kept.filter((part) => !all.has(part));
      },
      this.#isOver,
    );
  }

  #here() {
    return { draft: this.#draft, scenario: this.#failed.scenario };
  }

  /** Leaves out all of some parts; answers whether it still fails in the same way. */
  async #leaveOut(parts: readonly Part[]): Promise<boolean> {
    if (parts.length === 0) return true;
    const { draft, scenario } = this.#here();
    return (await this.#without(draft, scenario, new Set(parts))) !== null;
  }

  /**
   * Tries a text without some parts and what depends on them, with what else must go for it to fail in the same way.
   */
  async #without(
    draft: Draft,
    scenario: Scenario,
    parts: ReadonlySet<Part>,
  ): Promise<ReadonlySet<Part> | null> {
    const isKnown = isAligned(draft, scenario);
    const references = isKnown ? new References(draft.steps, scenario.steps) : null;
    let gone: ReadonlySet<Part> = parts;
    for (let repairs = 0; repairs <= MOST_REPAIRS && !this.#isOver(); repairs += 1) {
      gone = references?.closed(gone) ?? gone;
      const text = draft.without(gone);
      const outcome = await this.#trial.attempt(text);
      if (outcome?.kind === "failed" && outcome.signature.key === this.#signature.key) {
        this.#keep(new Draft(text), outcome);
        return gone;
      }
      this.#trial.reject(text);
      if (outcome?.kind !== "failed" || !isKnown) return null;
      const more = consequencesOf({ draft, scenario }, gone, outcome, this.#signature);
      if (more.length === 0) return null;
      gone = new Set([...gone, ...more]);
    }
    return null;
  }

  /** Goes on with another text, if it fails in the same way. */
  async #accept(text: string | null): Promise<boolean> {
    if (text === null || text === this.#draft.text) return false;
    const outcome = await this.#trial.fails(text, this.#signature);
    if (outcome !== null) this.#keep(new Draft(text), outcome);
    return outcome !== null;
  }

  #keep(draft: Draft, failed: Failed): void {
    const isFewer = draft.steps.length !== this.#draft.steps.length;
    this.#draft = draft;
    this.#failed = failed;
    if (isFewer) this.#options.progress?.(draft.steps.length);
  }

  async #openRaces(): Promise<void> {
    for (const text of openedRaces(this.#draft)) {
      if (this.#isOver() || (await this.#accept(text))) return;
    }
  }

  /** Repeats steps less often, as long as that fails in the same way. */
  async #repeatLess(): Promise<void> {
    for (const text of fewerRounds(this.#draft)) {
      if (this.#isOver()) return;
      if (await this.#accept(text)) return this.#repeatLess();
    }
  }

  /** Tries every part on its own, from the end to the beginning, what is within a part before it. */
  async #sweep(): Promise<void> {
    for (let index = Number.POSITIVE_INFINITY; index > 0 && !this.#isOver(); ) {
      const parts = removable(this.#draft);
      index = Math.min(index, parts.length) - 1;
      const part = parts[index];
      if (part !== undefined) await this.#leaveOut([part]);
    }
  }
}
