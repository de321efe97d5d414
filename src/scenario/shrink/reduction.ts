import type { Scenario } from "../language/scenario.ts";
import { stepCount } from "../run/needs.ts";
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
import { openedRaces } from "./open-races.ts";
import { References } from "./references.ts";
import type { Failed, Outcome, Trial } from "./trial.ts";

/** So often a candidate may lose something more that only what is gone had made right. */
const MOST_REPAIRS = 16;

/** A text that fails, as it was read, and how. */
export interface FailingText {
  readonly draft: Draft;
  readonly failed: Failed;
}

/** Leaves out of a text what it does not take to fail in the same way. */
export class Reduction {
  /** The smallest so far. */
  #current: FailingText;
  /** How steps begin that must stay. */
  keeps: readonly string[] = [];
  readonly #trial: Trial;
  readonly #isOver: () => boolean;
  readonly #progress: (steps: number) => void;

  constructor(
    trial: Trial,
    first: FailingText,
    isOver: () => boolean,
    progress: (steps: number) => void = () => {},
  ) {
    this.#trial = trial;
    this.#current = first;
    this.#isOver = isOver;
    this.#progress = progress;
    progress(stepCount(first.failed.scenario));
  }

  get current(): FailingText {
    return this.#current;
  }

  /** Goes on with another text, whatever it fails by. */
  set current(text: FailingText) {
    const count = stepCount(text.failed.scenario);
    const isOther = count !== stepCount(this.#current.failed.scenario);
    this.#current = text;
    if (isOther) this.#progress(count);
  }

  /** How another text failed, if it did so in the same way; else null. */
  same(outcome: Outcome | null): Failed | null {
    if (outcome?.kind !== "failed") return null;
    return outcome.signature.key === this.#current.failed.signature.key ? outcome : null;
  }

  /** Goes on with another text, if it fails in the same way. */
  async accept(text: string | null): Promise<boolean> {
    if (text === null || text === this.#current.draft.text) return false;
    const failed = this.same(await this.#trial.attempt(text));
    if (failed === null) this.#trial.reject(text);
    else this.current = { draft: new Draft(text), failed };
    return failed !== null;
  }

  /** Takes out the great mass: what comes after the failure, what is expected beside it, then steps, rounds and headers. */
  async reduce(): Promise<void> {
    await this.#leaveOut(({ draft, failed }) => behindFailure(draft, failed));
    await this.#minimize(({ draft, failed }) => otherExpectations(draft, failed));
    await this.#leaveOut(({ draft, failed }) => refusedAsExpected(draft, failed));
    await this.#minimize(({ draft }) => draft.steps);
    await this.#repeatLess();
    await this.#minimize(({ draft }) => ofHeaders(draft, "account"));
    await this.#minimize(({ draft }) => ofHeaders(draft, "market"));
  }

  /** Tries races in one order and repeats of fewer rounds, then every part on its own, until no single one can go. */
  async polish(): Promise<void> {
    for (let text = ""; text !== this.#current.draft.text && !this.#isOver(); ) {
      text = this.#current.draft.text;
      await this.#openRaces();
      await this.#repeatLess();
      await this.#sweep();
    }
  }

  /** Leaves out as many of some parts as can be. */
  async #minimize(partsOf: (text: FailingText) => readonly Part[]): Promise<void> {
    const parts = partsOf(this.#current).filter((part) => this.#mayGo(part, this.#current.draft));
    if (await this.#leaveOut(() => parts)) return;
    // Parts are those of one text: until all is tried, they are left out of that one.
    const { draft, failed } = this.#current;
    await ddmin(
      parts,
      async (kept) => {
        const keeps = new Set(kept);
        const gone = new Set(parts.filter((part) => !keeps.has(part)));
        const all = await this.#without(draft, failed.scenario, gone);
        return all === null ? null : kept.filter((part) => !all.has(part));
      },
      this.#isOver,
    );
  }

  /** Leaves out all of some parts; answers whether it still fails in the same way. */
  async #leaveOut(partsOf: (text: FailingText) => readonly Part[]): Promise<boolean> {
    const { draft, failed } = this.#current;
    const parts = partsOf(this.#current);
    if (parts.length === 0) return true;
    return (await this.#without(draft, failed.scenario, new Set(parts))) !== null;
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
      if ([...gone].some((part) => !this.#mayGo(part, draft))) return null;
      const text = draft.without(gone);
      const outcome = await this.#trial.attempt(text);
      const failed = this.same(outcome);
      if (failed !== null) {
        this.current = { draft: new Draft(text), failed };
        return gone;
      }
      this.#trial.reject(text);
      if (outcome?.kind !== "failed" || !isKnown) return null;
      const more = consequencesOf({ draft, scenario }, gone, outcome, this.#current.failed.signature);
      if (more.length === 0) return null;
      gone = new Set([...gone, ...more]);
    }
    return null;
  }

  #mayGo({ kind, span }: Part, draft: Draft): boolean {
    if (kind !== "step" || this.keeps.length === 0) return true;
    const text = draft.textOf(span);
    return !this.keeps.some((begins) => begins !== "" && text.startsWith(begins));
  }

  async #openRaces(): Promise<void> {
    for (const text of openedRaces(this.#current.draft)) {
      if (this.#isOver() || (await this.accept(text))) return;
    }
  }

  /** Repeats steps less often, as long as that fails in the same way. */
  async #repeatLess(): Promise<void> {
    for (const text of fewerRounds(this.#current.draft)) {
      if (this.#isOver()) return;
      if (await this.accept(text)) return this.#repeatLess();
    }
  }

  /** Tries every part on its own, from the end to the beginning, what is within a part before it. */
  async #sweep(): Promise<void> {
    for (let index = Number.POSITIVE_INFINITY; index > 0 && !this.#isOver(); ) {
      const parts = removable(this.#current.draft);
      index = Math.min(index, parts.length) - 1;
      const part = parts[index];
      if (part !== undefined) await this.#leaveOut(() => [part]);
    }
  }
}
