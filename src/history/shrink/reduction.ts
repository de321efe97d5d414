import type { Expectation } from "../../scenario/language/expectations.ts";
import { NEXT_ORDER } from "../../scenario/language/parts.ts";
import type { Step } from "../../scenario/language/scenario.ts";
import { stepCount } from "../../scenario/run/needs.ts";
import { fillText, levelText, tradeText } from "../../scenario/run/words.ts";
import { childOf, Draft, type Part, withParts } from "./draft.ts";
import type { FailureFingerprint } from "./fingerprint.ts";
import { fewerRounds, openedRaces } from "./rewrites.ts";
import type { Failed, Outcome, Trial } from "./trial.ts";

/** Tries some of the parts; answers those that are kept, which may be fewer, or null where that is not enough. */
type Attempt<T> = (kept: readonly T[]) => Promise<readonly T[] | null>;

/**
 * Delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input"): leaves out halves, then
 * quarters, and so on down to single parts, as long as `attempt` says that what is kept is enough. Only complements are
 * tried: what remains goes on behind the part left out, so that a long list of which little matters costs a few attempts
 * for each part that does. In the end no single part can be left out, unless `isOver` ended it before. Parts at the end
 * are tried first, for the later ones depend on those before.
 */
export async function ddmin<T>(
  parts: readonly T[],
  attempt: Attempt<T>,
  isOver: () => boolean = () => false,
): Promise<readonly T[]> {
  let kept = parts;
  let size = kept.length;
  while (size >= 1 && kept.length > 0 && !isOver()) {
    const before = kept.length;
    kept = await withoutChunks(kept, size, attempt, isOver);
    // One by one until nothing more can go: a part may be needed only for one that went after it.
    if (size > 1) size = Math.ceil(size / 2);
    else if (kept.length === before) break;
  }
  return kept;
}

/** Leaves out what can be, so many parts at a time, from the end to the beginning. */
async function withoutChunks<T>(
  parts: readonly T[],
  size: number,
  attempt: Attempt<T>,
  isOver: () => boolean,
): Promise<readonly T[]> {
  let kept = parts;
  let end = kept.length;
  while (end > 0 && !isOver()) {
    const start = Math.max(0, end - size);
    const smaller = await attempt([...kept.slice(0, start), ...kept.slice(end)]);
    if (smaller !== null) kept = smaller;
    end = Math.min(start, kept.length);
  }
  return kept;
}

/** Whether each step of a text is one of the scenario: not so where a file is included. */
export const isAligned = ({ draft, failed }: Pick<FailingText, "draft" | "failed">): boolean =>
  draft.steps.length === failed.scenario.steps.length;

/** The steps after the one that fails. */
function behindFailure(text: FailingText): readonly Part[] {
  const { scenario, failure } = text.failed;
  if (!isAligned(text)) return [];
  return text.draft.steps.filter((_part, index) => (scenario.steps[index]?.number ?? 0) > failure.step);
}

/** Every expectation but the one that fails; none where that stands in another file. */
function otherExpectations({ draft, failed: { scenario, failure } }: FailingText): readonly Part[] {
  const { file, line, column } = failure.place;
  if (file !== scenario.place.file) return [];
  const at = offsetOf(draft.text, line, column);
  return draft.steps.flatMap((step) => expectationsBeside(step, at));
}

/** The steps that say they are refused: they do nothing. */
function refusedAsExpected(text: FailingText): readonly Part[] {
  const { draft, failed } = text;
  if (!isAligned(text)) return [];
  return draft.steps.filter((_part, index) => {
    const step = failed.scenario.steps[index];
    const isExpected = step !== undefined && "rejects" in step && step.rejects !== null;
    return isExpected && step.number !== failed.failure.step;
  });
}

/** Every part that may go, as it stands in the file. */
const removable = ({ headers }: Draft): Part[] =>
  headers.flatMap(withParts).filter(({ kind }) => kind !== "keep" && kind !== "line");

/** The parts of a step that expect something and in which nothing stands at `at`. */
function expectationsBeside(part: Part, at: number): readonly Part[] {
  const isInside = part.span.start <= at && at < part.span.end;
  if (!isInside && part.kind === "expectation") return [part];
  if (!isInside && part.kind === "step" && part.children.some(({ name }) => name === "expect")) return [part];
  const isLeaf =
    part.kind === "expectation" && !part.children.some(({ span }) => span.start <= at && at < span.end);
  return isLeaf ? [] : part.children.flatMap((child) => expectationsBeside(child, at));
}

const UNEXPECTED = /^(?:refused: |order .* was never placed|accepted, expected)/;

/**
 * What else must go from a text that fails otherwise since some parts are gone: the step that is refused now, or needed
 * one that was, for it does nothing; or what is expected in a list and came of what is gone. None where another thing is
 * wrong.
 */
function consequencesOf(
  { draft, failed: { scenario: base } }: FailingText,
  gone: ReadonlySet<Part>,
  { scenario, failure, fingerprint }: Failed,
  wanted: FailureFingerprint,
): readonly Part[] {
  const left = draft.steps.filter((part) => !gone.has(part));
  const part = left[scenario.steps.findIndex(({ number }) => number === failure.step)];
  if (part === undefined || left.length !== scenario.steps.length) return [];
  if (UNEXPECTED.test(failure.message)) return [part];
  const step = base.steps[draft.steps.indexOf(part)];
  return (step === undefined ? null : linesToDrop(part, step, wanted, fingerprint, gone)) ?? [];
}

function offsetOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let seen = 1; seen < line; seen += 1) start = text.indexOf("\n", start) + 1;
  return start + column - 1;
}

/**
 * Some parts with those that depend on them, so that what is left speaks only of orders and snapshots that there are; in one
 * pass, for names are given before they are used.
 */
function closed({ draft, failed }: FailingText, gone: ReadonlySet<Part>): Set<Part> {
  const all = new Set(gone);
  const named: Names = { orders: new Set(), snapshots: new Set() };
  for (const [index, part] of draft.steps.entries()) {
    const step = failed.scenario.steps[index];
    if (step !== undefined && !all.has(part)) take(part, step, named, all);
  }
  return all;
}

/** What the steps so far have named. */
interface Names {
  readonly orders: Set<string>;
  readonly snapshots: Set<string>;
}

function take(part: Part, step: Step, named: Names, gone: Set<Part>): void {
  if (needsMissing(step, named)) {
    gone.add(part);
    return;
  }
  if (step.kind === "order" && step.name !== null) named.orders.add(step.name);
  if (step.kind === "snapshot") named.snapshots.add(step.name);
  if (step.kind === "expect") prune(part, step.expectations, named, gone);
  if (step.kind !== "race") return;
  const racing = childOf(part, "race")?.children ?? [];
  for (const [index, inner] of racing.entries()) {
    const innerStep = step.steps[index];
    if (innerStep !== undefined && !gone.has(inner)) take(inner, innerStep, named, gone);
  }
  const left = racing.filter((inner) => !gone.has(inner)).length;
  if (left < 2) gone.add(part);
  prune(part, step.after, named, gone);
}

function needsMissing(step: Step, { orders, snapshots }: Names): boolean {
  switch (step.kind) {
    case "cancel":
      return step.rejects === null && !orders.has(step.order);
    case "at":
      return "expiryOf" in step.moment && !orders.has(step.moment.expiryOf);
    case "chainFault":
      return step.of !== null && step.of !== NEXT_ORDER && !orders.has(step.of);
    case "restore":
      return !snapshots.has(step.name);
    case "request":
      return [...`${step.path} ${JSON.stringify(step.body ?? null)}`.matchAll(/\{order ([^{}]+)\}/g)].some(
        ([, name = ""]) => !orders.has(name.trim()),
      );
    default:
      return false;
  }
}

/** Adds what an expectation says of orders that are not there. */
function prune(part: Part, expectations: readonly Expectation[], { orders }: Names, gone: Set<Part>): void {
  for (const expectation of expectations) {
    const list = expectation.kind === "order" ? "orders" : expectation.kind === "settled" ? "settled" : null;
    if (list === null || !("name" in expectation) || orders.has(expectation.name)) continue;
    for (const inner of withParts(part)) {
      if (inner.name === expectation.name && inner.parent?.name === list) gone.add(inner);
    }
  }
}

/**
 * The lines of lists (trades, fills, levels of a book) that are expected and are not found any more since something else
 * is gone, when that is all that is different; null when it is not. Without them the list differs as it did.
 */
function linesToDrop(
  part: Part,
  step: Step,
  wanted: FailureFingerprint,
  seen: FailureFingerprint,
  gone: ReadonlySet<Part>,
): readonly Part[] | null {
  const [wantedHead, ...wantedLines] = wanted.key.split("\n");
  const [seenHead, ...extra] = seen.key.split("\n");
  if (wantedHead !== seenHead) return null;
  for (const line of wantedLines) {
    const index = extra.indexOf(line);
    if (index < 0) return null;
    extra.splice(index, 1);
  }
  const left = listLines(part, step).filter(([line]) => !gone.has(line));
  const dropped: Part[] = [];
  for (const line of extra) {
    const index = left.findIndex(([, text]) => `- ${text}` === line);
    if (index < 0) return null;
    dropped.push(...left.splice(index, 1).map(([found]) => found));
  }
  return dropped.length === 0 ? null : dropped;
}

type Line = readonly [part: Part, text: string];

/** Every line of a list that a step expects, as a difference shows it. */
function listLines(part: Part, step: Step): Line[] {
  if (step.kind === "order") {
    const texts = step.fills?.value.map(({ value }) => fillText(value)) ?? [];
    return paired(childOf(part, "fills"), texts);
  }
  if (step.kind === "expect") return expectedLines(childOf(part, "expect"), step.expectations);
  return step.kind === "race" ? expectedLines(childOf(part, "after"), step.after) : [];
}

function expectedLines(part: Part | undefined, expectations: readonly Expectation[]): Line[] {
  const books = childOf(part, "book")?.children ?? [];
  const lines: Line[] = [];
  let book = 0;
  for (const expectation of expectations) {
    if (expectation.kind === "trades") {
      const texts = expectation.trades.map(({ value }) => tradeText(value));
      lines.push(...paired(childOf(part, "trades"), texts));
    } else if (expectation.kind === "book") {
      const sides = books[book];
      book += 1;
      for (const side of ["bids", "asks"] as const) {
        const texts = expectation[side]?.map((level) => `${side.slice(0, -1)} ${levelText(level)}`) ?? [];
        lines.push(...paired(childOf(sides, side), texts));
      }
    }
  }
  return lines;
}

const paired = (list: Part | undefined, texts: readonly string[]): Line[] =>
  list === undefined || list.children.length !== texts.length
    ? []
    : list.children.map((line, index) => [line, texts[index] ?? ""]);

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
  /** The smallest so far. */
  #current: FailingText;
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
    return outcome.fingerprint.key === this.#current.failed.fingerprint.key ? outcome : null;
  }

  /** Goes on with another text, if it fails in the same way; else answers what it came to. */
  async #attempt(text: string): Promise<Outcome | "same" | null> {
    const outcome = await this.#trial.attempt(text);
    const failed = this.same(outcome);
    if (failed === null) this.#trial.reject(text);
    else this.current = { ...this.#current, draft: new Draft(text), failed };
    return failed === null ? outcome : "same";
  }

  async accept(text: string): Promise<boolean> {
    return text !== this.#current.draft.text && (await this.#attempt(text)) === "same";
  }

  /** Takes out the great mass: what comes after the failure, what is expected beside it, then steps, rounds and headers. */
  async reduce(): Promise<void> {
    await this.#leaveOut(behindFailure(this.#current));
    await this.#minimize(otherExpectations(this.#current));
    await this.#leaveOut(refusedAsExpected(this.#current));
    await this.#minimize(this.#current.draft.steps);
    await this.#repeatLess();
    for (const kind of ["account", "market"]) {
      await this.#minimize(removable(this.#current.draft).filter((part) => part.kind === kind));
    }
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
  async #minimize(all: readonly Part[]): Promise<void> {
    const parts = all.filter((part) => this.#mayGo(part));
    // Parts are those of one text: until all is tried, they are left out of that one.
    const from = this.#current;
    if (await this.#leaveOut(parts)) return;
    await ddmin(
      parts,
      async (kept) => {
        const keeps = new Set(kept);
        const gone = await this.#without(from, new Set(parts.filter((part) => !keeps.has(part))));
        return gone === null ? null : kept.filter((part) => !gone.has(part));
      },
      this.#isOver,
    );
  }

  /** Leaves out all of some parts; answers whether it still fails in the same way. */
  async #leaveOut(parts: readonly Part[]): Promise<boolean> {
    return parts.length === 0 || (await this.#without(this.#current, new Set(parts))) !== null;
  }

  /**
   * Tries a text without some parts and what depends on them, with what else must go for it to fail in the same way.
   */
  async #without(from: FailingText, parts: ReadonlySet<Part>): Promise<ReadonlySet<Part> | null> {
    const isKnown = isAligned(from);
    let gone = parts;
    for (let repairs = 0; repairs <= MAX_REPAIRS && !this.#isOver(); repairs += 1) {
      if (isKnown) gone = closed(from, gone);
      if ([...gone].some((part) => !this.#mayGo(part))) return null;
      const outcome = await this.#attempt(from.draft.without(gone));
      if (outcome === "same") return gone;
      if (outcome?.kind !== "failed" || !isKnown) return null;
      const more = consequencesOf(from, gone, outcome, this.#current.failed.fingerprint);
      if (more.length === 0) return null;
      gone = new Set([...gone, ...more]);
    }
    return null;
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

  /** Tries every part on its own, from the end to the beginning, what is within a part before it. */
  async #sweep(): Promise<void> {
    for (let index = Number.POSITIVE_INFINITY; index > 0 && !this.#isOver(); ) {
      const parts = removable(this.#current.draft);
      index = Math.min(index, parts.length) - 1;
      const part = parts[index];
      if (part !== undefined) await this.#leaveOut([part]);
    }
  }
}
