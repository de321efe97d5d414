import type { Stream } from "../core/random.ts";
import type { End } from "./calendar.ts";
import type { FictionalNames } from "./fictional-names.ts";

/**
 * An event in words: no slugs, prices or dates yet. `{endDate}` in a text stands for the day on which the event ends,
 * and a preposition stands before it.
 */
export interface EventStory {
  readonly title: string;
  /** What the whole event asks, one sentence. */
  readonly about: string;
  /** Whose word decides, one sentence. */
  readonly source: string;
  /** Slugs, besides the category's. */
  readonly tags: readonly string[];
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
export type EventTemplate = {
  /** How long it may be until something is known. */
  readonly spans: readonly Span[];
  /** Set when it is known on one day; else anything until the end of a period counts, which is where it ends. */
  readonly isScheduled?: true;
  readonly tell: (ingredients: Ingredients) => EventStory;
} & EventShape;

/** One question; candidates of whom exactly one wins; or thresholds where passing one means passing those below. */
export type EventShape =
  /** `chance`: how likely a reader would think YES, from and to, in percent. */
  | { readonly shape: "single"; readonly chance: readonly [low: number, high: number] }
  /** `dropsOut`: whether a candidate can lose before the event ends. `isRanked`: the first is the likeliest, and so on. */
  | { readonly shape: "choice"; readonly dropsOut?: true; readonly isRanked?: true }
  /** `passesEarly`: whether a threshold can be passed for good before the event ends. */
  | { readonly shape: "ladder"; readonly passesEarly?: true };

/** When an event ends: at the end of the period in which the day so many days after the start lies. */
export type Horizon = Required<End>;

/** How many days each span can be, and where a question that is open until then ends. */
const SPANS = {
  week: { low: 2, high: 6, endOf: "day" },
  month: { low: 8, high: 28, endOf: "month" },
  quarter: { low: 25, high: 80, endOf: "quarter" },
  season: { low: 40, high: 150, endOf: "month" },
  year: { low: 60, high: 200, endOf: "year" },
} as const;
export type Span = keyof typeof SPANS;

/** Draws when an event ends, at the end of one of the spans. */
export function drawHorizon(random: Stream, spans: readonly Span[], isScheduled: boolean): Horizon {
  const { low, high, endOf } = SPANS[random.pick(spans)];
  return { endsInDays: random.between(low, high), endOf: isScheduled ? "day" : endOf };
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
  parts: Pick<EventStory, "source" | "tags"> & { readonly asks: string; readonly when: string },
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

const LONGEST = 80;

/**
 * A text as the last part of an address: ASCII letters and digits in lower case, words joined by single hyphens, at
 * most 80 characters and cut between words.
 */
export function slugOf(text: string): string {
  const words = text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/(?<=\d),(?=\d)/g, "")
    .replaceAll("%", " percent ")
    .replace(/[\u0300-\u036f'’"°]/g, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  return shortened(words === "" ? "untitled" : words, LONGEST);
}

/** The slug of a text, numbered when an earlier text took it, and added to those that are taken. */
export function freshSlug(text: string, taken: Set<string>): string {
  const plain = slugOf(text);
  let slug = plain;
  for (let copy = 2; taken.has(slug); copy += 1) {
    const suffix = `-${copy}`;
    slug = shortened(plain, LONGEST - suffix.length) + suffix;
  }
  taken.add(slug);
  return slug;
}

function shortened(slug: string, longest: number): string {
  if (slug.length <= longest) return slug;
  const cut = slug.lastIndexOf("-", longest);
  return cut > 0 ? slug.slice(0, cut) : slug.slice(0, longest);
}
