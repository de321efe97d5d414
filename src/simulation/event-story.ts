import type { Stream } from "../core/random.ts";
import type { End, Period } from "./calendar.ts";
import { type FictionalNames, filled } from "./fictional-names.ts";

/**
 * Texts have slots: `{city}` stands for a name of that slot, `{subject}` for what one market is about, and `{endDate}`,
 * with a preposition before it, for the day on which the event ends, which nobody knows before a world is opened.
 */
export interface EventTemplate {
  readonly kind: EventKind;
  /** How the names that all texts share are made, in this order, of slots before them and of kinds of names. `"a, b"` are two different ones. */
  readonly names: Readonly<Record<string, string>>;
  /** One per market: how candidates are named, the likeliest of them first, or thresholds, one ladder of several. */
  readonly subjects?: string | readonly (string | Levels)[];
  /** A single question is its own title, and says of itself what it is about. */
  readonly title?: string;
  readonly about?: string;
  readonly question: string;
  readonly condition: string;
  /** A word of the subject, and what stands for it in `condition`. */
  readonly inCondition?: readonly [word: string, other: string];
  /** Whose word decides, one sentence. */
  readonly source: string;
  readonly tags: readonly string[];
}

/** Thresholds in equal steps: the first is `times` a number between two, the step one of its numbers. */
export interface Levels {
  readonly first: readonly [low: number, high: number];
  readonly times?: number;
  readonly step: number | readonly number[];
  /** Whether the numbers count tenths. */
  readonly tenths?: true;
  /** With `{level}`, or `{dollars}` for a sum; else the number alone. */
  readonly as?: string;
}

export type EventKind = EventShape & {
  /** How long it may be until something is known. */
  readonly spans: readonly Span[];
  /** Set when it is known on one day; else anything until the end of a period counts, which is where it ends. */
  readonly isScheduled?: true;
};

/** An event in words: no prices or dates yet. */
export interface EventStory {
  readonly title: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly markets: readonly { readonly question: string; readonly description: string }[];
}

/** One question; candidates of whom exactly one wins; or thresholds where passing one means passing those below. */
export type EventShape =
  /** `chance`: how likely a reader would think YES, from and to, in percent. */
  | { readonly shape: "single"; readonly chance: readonly [low: number, high: number] }
  /** `dropsOut`: whether a candidate can lose before the event ends. `isRanked`: the first is the likeliest, and so on. */
  | { readonly shape: "choice"; readonly dropsOut?: true; readonly isRanked?: true }
  /** `passesEarly`: whether a threshold can be passed for good before the event ends. */
  | { readonly shape: "ladder"; readonly passesEarly?: true };

/** When an event ends: at the end of the period in which the day so many days after the start lies. */
type Horizon = End & { readonly endOf: Period };

/** How many days each span can be, and where a question that is open until then ends. */
const SPANS = {
  week: { low: 2, high: 6, endOf: "day" },
  month: { low: 8, high: 28, endOf: "month" },
  quarter: { low: 25, high: 80, endOf: "quarter" },
  season: { low: 40, high: 150, endOf: "month" },
  year: { low: 60, high: 200, endOf: "year" },
} as const;
export type Span = keyof typeof SPANS;

export function drawHorizon(random: Stream, spans: readonly Span[], isScheduled: boolean): Horizon {
  const { low, high, endOf } = SPANS[random.pick(spans)];
  return { endsInDays: random.between(low, high), endOf: isScheduled ? "day" : endOf };
}

export function tellStory(
  template: EventTemplate,
  names: FictionalNames,
  random: Stream,
  count: number,
): EventStory {
  const slots: Record<string, string> = {};
  const draw = (pattern: string): string => filled(pattern, (slot) => slots[slot] ?? names.draw(slot));
  for (const [slot, pattern] of Object.entries(template.names)) {
    const several = slot.split(", ");
    names
      .several(several.length, () => draw(pattern))
      .forEach((name, index) => {
        slots[several[index] as string] = name;
      });
  }
  const subjects = drawSubjects(template.subjects, names, random, count, draw);
  const { title, about, question, condition, inCondition = ["", ""], source, tags } = template;
  const text = (pattern: string, subject = ""): string =>
    filled(pattern, (slot) => (slot === "subject" ? subject : (slots[slot] ?? `{${slot}}`)));
  const topic = about ?? `The event has one market, which is YES if ${condition}.`;
  return {
    title: text(title ?? question),
    description: text(`${topic} ${source}`),
    tags: tags.map((tag) => slugOf(text(tag))),
    markets: subjects.map((subject) => ({
      question: text(question, subject),
      description: text(
        `This market resolves to YES if ${condition}, and to NO otherwise. ${source}`,
        subject.replace(...inCondition),
      ),
    })),
  };
}

function drawSubjects(
  subjects: EventTemplate["subjects"],
  names: FictionalNames,
  random: Stream,
  count: number,
  draw: (pattern: string) => string,
): readonly string[] {
  if (subjects === undefined) return [""];
  if (typeof subjects === "string") return names.several(count, () => draw(subjects));
  const ladders = subjects.filter((subject) => typeof subject !== "string");
  const [ladder] = ladders;
  if (ladder === undefined) return subjects.filter((subject) => typeof subject === "string").slice(0, count);
  return rising(random, ladders.length === 1 ? ladder : random.pick(ladders), count);
}

function rising(random: Stream, levels: Levels, count: number): string[] {
  const { first, times = 1, step, tenths = false, as = "{level}" } = levels;
  const lowest = random.between(...first) * times;
  const distance = typeof step === "number" ? step : random.pick(step);
  return Array.from({ length: count }, (_, index) => {
    const number = lowest + index * distance;
    const level = tenths ? (number / 10).toFixed(1) : String(number).replace(/\B(?=(\d{3})+$)/g, ",");
    return filled(as, (slot) => (slot === "dollars" ? `$${level}` : level));
  });
}

const LONGEST = 80;

/** ASCII letters and digits in lower case, words joined by single hyphens; cut between words. */
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
