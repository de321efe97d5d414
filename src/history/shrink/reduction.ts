import { isScalar } from "yaml";
import { NEXT_ORDER } from "../../scenario/language/parts.ts";
import { type Step, stepCount, stepsOf } from "../../scenario/language/scenario.ts";
import { Draft, type Part, withParts } from "./draft.ts";
import { type FailureFingerprint, isInvariant } from "./fingerprint.ts";
import { fewerRounds, openedRaces } from "./rewrites.ts";
import type { Checks, Failed, Trial, TrialResult } from "./trial.ts";

/**
 * Delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input"): leaves out all, then
 * halves, and so on down to single parts, as long as `leaveOut` says that what is `left` is enough. Only complements are
 * tried: what remains goes on behind the part left out, so that a long list of which little matters costs a few attempts
 * for each part that does. In the end no single part can be left out, unless `isOver` ended it before. Parts at the end
 * are tried first, for the later ones depend on those before.
 */
export async function ddmin<T>(
  left: () => readonly T[],
  leaveOut: (parts: readonly T[]) => Promise<boolean>,
  isOver: () => boolean,
  first = left().length,
): Promise<void> {
  for (let size = first; size >= 1 && !isOver(); ) {
    const before = left().length;
    for (let end = before; end > 0 && !isOver(); ) {
      const start = Math.max(0, end - size);
      await leaveOut(left().slice(start, end));
      end = Math.min(start, left().length);
    }
    // One by one until nothing more can go: a part may be needed only for one that went after it.
    if (size > 1) size = Math.ceil(size / 2);
    else if (left().length === before) break;
  }
}

/** Whether each step of a text is one of the scenario: not so where a file is included, or steps are repeated. */
export const isAligned = (draft: Draft, { scenario }: Pick<Failed, "scenario">): boolean =>
  draft.steps.length === scenario.steps.length;

/** Every expectation but the one that fails; none where that stands in another file. */
function otherExpectations({ draft, failed: { scenario, failure } }: FailingText): readonly Part[] {
  if (failure.place.file !== scenario.place.file) return [];
  const failing = draft.partAt(failure.place);
  const own = failing?.kind === "expectation" ? withParts(failing) : [];
  for (let part = failing; part !== undefined; part = part.parent ?? undefined) own.push(part);
  return draft.steps.flatMap(withParts).filter((part) => part.kind === "expectation" && !own.includes(part));
}

/** Every part that may go, as it stands in the file. */
const removable = ({ draft }: FailingText): Part[] =>
  draft.headers.flatMap(withParts).filter(({ kind }) => kind !== "keep" && kind !== "line");

const UNEXPECTED = /^(?:refused: |order .* was never placed|accepted, expected)/;

/**
 * What else must go from a text that does not fail as wanted since something is gone: what speaks of what is not there; the
 * step that is refused now, or needed one that was; or what is expected in a list and came of what is gone. None where
 * another thing is wrong.
 */
function consequencesOf(draft: Draft, outcome: TrialResult, wanted: FailureFingerprint): readonly Part[] {
  if (outcome.kind === "unreadable") {
    return outcome.problems.flatMap(({ place }) => draft.partAt(place) ?? []);
  }
  if (outcome.kind !== "failed" || !isAligned(draft, outcome)) return [];
  const { scenario, failure, fingerprint } = outcome;
  const part = draft.steps[scenario.steps.findIndex(({ number }) => number === failure.step)];
  if (part === undefined) return [];
  return UNEXPECTED.test(failure.message) ? [part] : linesToDrop(part, wanted, fingerprint);
}

/** Some parts with the steps that speak of an order or a snapshot that nothing has named before them then. */
function withDependents({ draft, failed }: FailingText, gone: readonly Part[]): readonly Part[] {
  if (!isAligned(draft, failed)) return gone;
  const all = new Set(gone);
  const given = new Set<string>();
  for (const [index, step] of failed.scenario.steps.entries()) {
    const part = draft.steps[index] as Part;
    if (needsOf(step).some((name) => !given.has(name))) all.add(part);
    if (all.has(part)) continue;
    for (const each of stepsOf([step])) {
      if ((each.kind === "order" || each.kind === "snapshot") && each.name !== null) given.add(each.name);
    }
  }
  return [...all];
}

/** The orders and snapshots that a step cannot be without; what it expects of others is found out by reading. */
function needsOf(step: Step): readonly string[] {
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
 * The lines of lists (trades, fills, levels of a book) that are expected and are not found any more since something else
 * is gone, when that is all that is different; none when it is not. Without them the list differs as it did.
 */
function linesToDrop(part: Part, wanted: FailureFingerprint, seen: FailureFingerprint): readonly Part[] {
  const [wantedHead, ...wantedLines] = wanted.key.split("\n");
  const [seenHead, ...extra] = seen.key.split("\n");
  if (wantedHead !== seenHead) return [];
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

/** A line of a list as a difference shows it: figures without needless digits, levels of a book with their side. */
function lineText({ node, parent }: Part): string {
  const side = parent?.name === "bids" ? "bid " : parent?.name === "asks" ? "ask " : "";
  const text = isScalar(node) ? String(node.value) : "";
  return (
    side +
    text
      .trim()
      .replace(/\s+/g, " ")
      .replace(/\d+\.\d+/g, (figure) => String(Number(figure)))
  );
}

/** So often a candidate may lose something more that only what is gone had made right. */
const MAX_REPAIRS = 16;

/** A text that fails, as it was read, and how. */
export interface FailingText {
  readonly draft: Draft;
  readonly failed: Failed;
  /** How many steps there were before: rows count where they are steps in it. */
  readonly before: number;
  /** What could not be reduced, a sentence each. */
  readonly remarks: readonly string[];
  /** How steps begin that must stay. */
  readonly keeps: readonly string[];
}

/** Leaves out of a text what it does not take to fail in the same way. */
export class Reduction {
  /** The smallest so far, which was run with everything judged. */
  #current: FailingText;
  readonly #trial: Trial;
  readonly #isOver: () => boolean;
  readonly #progress: (steps: number) => void;
  /** Texts that do not fail as wanted. */
  readonly #rejected = new Set<string>();
  /** What is judged first: invariants only where nothing else fails in the same way. */
  checks: Checks = "fills";

  constructor(trial: Trial, first: FailingText, isOver: () => boolean, progress: (steps: number) => void) {
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

  /** Whether a text fails as this one does. */
  isSame(outcome: TrialResult): outcome is Failed {
    return outcome.kind === "failed" && outcome.fingerprint.key === this.#current.failed.fingerprint.key;
  }

  /** Goes on with another text, if it fails in the same way; answers whether it does. */
  async accept(text: string): Promise<boolean> {
    return text !== this.#current.draft.text && (await this.#attempt(text)) === "same";
  }

  /** The same; else answers what the text came to, null where that is known not to be wanted. */
  async #attempt(text: string): Promise<TrialResult | "same" | null> {
    if (this.#rejected.has(text)) return null;
    let outcome = await this.#trial.run(text, this.checks);
    if (this.isSame(outcome) && this.checks === "fills") outcome = await this.#trial.run(text);
    if (!this.isSame(outcome)) {
      this.#rejected.add(text);
      return outcome;
    }
    this.current = { ...this.#current, draft: new Draft(text), failed: outcome };
    return "same";
  }

  /** Takes out the great mass: what comes after the failure, what is expected beside it, then steps, rounds and headers. */
  async reduce(): Promise<void> {
    const { draft, failed } = this.#current;
    const areFillsEnough =
      !isInvariant(failed.fingerprint) || this.isSame(await this.#trial.run(draft.text, "fills"));
    this.checks = areFillsEnough ? "fills" : "all";
    this.#rejected.clear();
    await this.#leaveOut(this.#stepsThat((step, last) => step.number > last));
    await this.#minimize(otherExpectations);
    // They do nothing.
    await this.#leaveOut(this.#stepsThat((step, last) => isRefused(step) && step.number !== last));
    await this.#minimize((text) => text.draft.steps);
    await this.#repeatLess();
    for (const kind of ["account", "market"]) {
      await this.#minimize((text) => removable(text).filter((part) => part.kind === kind));
    }
  }

  /** Steps by what they are and the number of the one that fails; none where they are not those of the scenario. */
  #stepsThat(isWanted: (step: Step, failing: number) => boolean): readonly Part[] {
    const { draft, failed } = this.#current;
    const { scenario, failure } = failed;
    if (!isAligned(draft, failed)) return [];
    return draft.steps.filter((_part, index) => isWanted(scenario.steps[index] as Step, failure.step));
  }

  /** Tries races in one order and repeats of fewer rounds, then every part on its own, until no single one can go. */
  async polish(): Promise<void> {
    for (let text = ""; text !== this.#current.draft.text && !this.#isOver(); ) {
      text = this.#current.draft.text;
      await this.#openRaces();
      await this.#repeatLess();
      await this.#minimize(removable, 1);
    }
  }

  /** Leaves out as many of some parts as can be, so many at once to begin with. */
  #minimize(partsOf: (text: FailingText) => readonly Part[], first?: number): Promise<void> {
    const left = () => partsOf(this.#current).filter((part) => this.#mayGo(part));
    return ddmin(left, (parts) => this.#leaveOut(parts), this.#isOver, first);
  }

  /** Leaves out some parts with what depends on them and what else must go then; answers whether it fails in the same way. */
  async #leaveOut(parts: readonly Part[]): Promise<boolean> {
    const { failed } = this.#current;
    let { draft } = this.#current;
    let gone = withDependents(this.#current, parts);
    for (let repairs = 0; repairs <= MAX_REPAIRS && !this.#isOver(); repairs += 1) {
      if (gone.length === 0 || !gone.every((part) => this.#mayGo(part))) return false;
      const text = draft.without(gone);
      const outcome = await this.#attempt(text);
      if (outcome === "same") return true;
      if (outcome === null) return false;
      draft = new Draft(text);
      gone = consequencesOf(draft, outcome, failed.fingerprint);
    }
    return false;
  }

  #mayGo({ kind, text }: Part): boolean {
    return kind !== "step" || !this.#current.keeps.some((begins) => begins !== "" && text.startsWith(begins));
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
}

/** Whether a step says that it is refused. */
const isRefused = (step: Step): boolean => "rejects" in step && step.rejects !== null;
