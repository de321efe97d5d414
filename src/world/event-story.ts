import type { Stream } from "../core/random.ts";
import type { FictionalNames } from "./fictional-names.ts";

/** How long until something is known, in words and in whole days. */
export interface Horizon {
  /** Such as "before the end of the month". */
  readonly phrase: string;
  /** Such as "at the end of the month". */
  readonly moment: string;
  readonly days: number;
}

/** An event in words: no slugs, prices or dates yet. */
export interface EventStory {
  readonly title: string;
  /** What the whole event asks, one sentence. */
  readonly about: string;
  /** Whose word decides, one sentence. */
  readonly source: string;
  /** Slugs, besides the category's. */
  readonly tags: readonly string[];
  readonly days: number;
  /** One per market: candidates, or thresholds in rising order; the only one of a single question is empty. */
  readonly subjects: readonly string[];
  readonly question: (subject: string) => string;
  /** What has to happen for YES, as a clause. */
  readonly condition: (subject: string) => string;
}

/** What a template draws from; all of it belongs to one event. */
export interface Ingredients {
  readonly names: FictionalNames;
  readonly random: Stream;
  /** Number of subjects to tell. */
  readonly count: number;
}

/** A way to tell events, each time with other names and numbers. */
export interface EventTemplate {
  /** One question; candidates of whom exactly one wins; or thresholds where passing one means passing those below. */
  readonly shape: "single" | "choice" | "ladder";
  /** Whether a threshold can be passed for good before the event ends. */
  readonly passesEarly?: true;
  readonly tell: (ingredients: Ingredients) => EventStory;
}

const SPANS = {
  week: { low: 2, high: 7 },
  month: { low: 8, high: 30 },
  quarter: { low: 25, high: 90 },
  season: { low: 40, high: 200 },
  year: { low: 60, high: 365 },
} as const;

/** Draws when something is known, at the end of one of the spans. */
export function endOf(random: Stream, ...spans: readonly (keyof typeof SPANS)[]): Horizon {
  const span = random.pick(spans);
  const { low, high } = SPANS[span];
  return {
    phrase: `before the end of the ${span}`,
    moment: `at the end of the ${span}`,
    days: random.between(low, high),
  };
}

/** Thresholds in equal steps from the first, as texts. */
export function rising(
  count: number,
  first: number,
  step: number,
  text: (level: number) => string = grouped,
): string[] {
  return Array.from({ length: count }, (_, index) => text(first + index * step));
}

/** A whole number with commas between thousands. */
export function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A count of tenths as a decimal: 25 is "2.5". */
export function tenths(value: number): string {
  return `${Math.floor(value / 10)}.${value % 10}`;
}

/** A single question as a story: its title is the question. */
export function singleQuestion(
  parts: Pick<EventStory, "source" | "tags" | "days"> & { readonly asks: string; readonly when: string },
): EventStory {
  const { asks, when, ...rest } = parts;
  return {
    ...rest,
    title: asks,
    about: `The event has one market, which is YES if ${when}.`,
    subjects: [""],
    question: () => asks,
    condition: () => when,
  };
}
