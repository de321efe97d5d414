import type { Faker } from "@faker-js/faker";
import { type Random, seededRandom } from "../core/random.ts";
import { MAX_MILLIS, type Millis, millis } from "../core/units.ts";
import templates from "./event-templates.json" with { type: "json" };
import fictionalNames from "./fictional-names.json" with { type: "json" };

/**
 * Texts have slots: `{city}` is a generated name, `{subject}` the subject of a market, and `{endDate}`, after a preposition,
 * the day on which the event ends, which is unknown until a world is opened.
 */
export interface EventTemplate {
  readonly kind: StoryKind;
  /** Patterns of the shared names, made from earlier slots and kinds of names. The key `"a, b"` draws two different names. */
  readonly names: Readonly<Record<string, string>>;
  /** Subjects of the markets: a pattern of candidates, or a list, the likeliest first; or ladders, of which one is drawn. */
  readonly subjects?: string | readonly (string | Levels)[];
  /** Not set for a single question, which is its own title. */
  readonly title?: string;
  readonly about?: string;
  readonly question: string;
  readonly condition: string;
  /** A word of the subject, and its replacement in `condition`. */
  readonly inCondition?: readonly [word: string, other: string];
  /** One sentence about who decides. */
  readonly source: string;
  readonly tags: readonly string[];
}

/** Thresholds in equal steps: the first is `times` a number in a range, the step is drawn from `step`. */
interface Levels {
  readonly first: readonly [low: number, high: number];
  readonly times?: number;
  readonly step: number | readonly number[];
  /** Whether the numbers count tenths. */
  readonly tenths?: true;
  /** Pattern with `{level}`, or `{dollars}` for an amount; default: the number. */
  readonly as?: string;
}

export type StoryKind = EventShape & {
  /** Possible lengths of time until the outcome is known. */
  readonly spans: readonly Span[];
  /** Set if the outcome is known on one day; else the event ends at the end of a period. */
  readonly isScheduled?: true;
};

/** By category. A test checks that each has the fields of an `EventTemplate`. */
export const EVENT_TEMPLATES = templates as object as Readonly<Record<string, readonly EventTemplate[]>>;

/**
 * A single question; candidates of which exactly one wins; or thresholds, of which passing one means passing those below.
 * `chance`: plausible range of the chance of YES, in percent. `isRanked`: whether candidates are sorted by chance.
 */
export type EventShape = (
  | { readonly shape: "single"; readonly chance: readonly [low: number, high: number] }
  | { readonly shape: "choice"; readonly isRanked?: true }
  | { readonly shape: "ladder" }
) & {
  /** Whether a candidate can lose, or a threshold be passed, before the event ends. */
  readonly resolvesEarly?: true;
};

/** Range of days of each span, and the period at whose end an unscheduled event ends. */
const SPANS = {
  week: { low: 2, high: 6, endOf: "day" },
  month: { low: 8, high: 28, endOf: "month" },
  quarter: { low: 25, high: 80, endOf: "quarter" },
  season: { low: 40, high: 150, endOf: "month" },
  year: { low: 60, high: 200, endOf: "year" },
} as const;
export type Span = keyof typeof SPANS;

export function drawHorizon(random: Random, spans: readonly Span[], isScheduled: boolean): End {
  const { low, high, endOf } = SPANS[random.pick(spans)];
  return { endsInDays: random.between(low, high), endOf: isScheduled ? "day" : endOf };
}

/** Writes the texts of an event, without prices and dates. */
export function writeStory(template: EventTemplate, names: FictionalNames, random: Random, count: number) {
  const slots: Record<string, string> = {};
  const draw = (pattern: string): string => filled(pattern, (slot) => slots[slot] ?? names.draw(slot));
  for (const [slot, pattern] of Object.entries(template.names)) {
    const several = slot.split(", ");
    const drawn = names.several(several.length, () => draw(pattern));
    several.forEach((each, index) => {
      slots[each] = drawn[index] as string;
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
  random: Random,
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

function rising(random: Random, levels: Levels, count: number): string[] {
  const { first, times = 1, step, tenths = false, as = "{level}" } = levels;
  const lowest = random.between(...first) * times;
  const distance = typeof step === "number" ? step : random.pick(step);
  return Array.from({ length: count }, (_, index) => {
    const number = lowest + index * distance;
    const level = tenths ? (number / 10).toFixed(1) : String(number).replace(/\B(?=(\d{3})+$)/g, ",");
    return filled(as, (slot) => (slot === "dollars" ? `$${level}` : level));
  });
}

const MAX_SLUG_LENGTH = 80;

/** Returns a slug: lower-case ASCII letters and digits, words joined by hyphens, cut between words. */
export function slugOf(text: string): string {
  const words = text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/(?<=\d),(?=\d)/g, "")
    .replaceAll("%", " percent ")
    .replace(/[\u0300-\u036f'’"°]/g, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  return shortenedSlug(words === "" ? "untitled" : words, MAX_SLUG_LENGTH);
}

export const uniqueSlug = (text: string, taken: Set<string>): string =>
  uniqueName(slugOf(text), taken, MAX_SLUG_LENGTH);

/** Returns a name like the wanted one, shortened to `max` and numbered if necessary, and adds it to `taken`. */
export function uniqueName(wanted: string, taken: Set<string>, max: number): string {
  for (let number = 1; ; number += 1) {
    const suffix = number === 1 ? "" : `-${number}`;
    const name = shortenedSlug(wanted, max - suffix.length) + suffix;
    if (taken.has(name)) continue;
    taken.add(name);
    return name;
  }
}

/** Cuts a slug at the last possible hyphen, or a single long word anywhere. */
function shortenedSlug(slug: string, max: number): string {
  if (slug.length <= max) return slug;
  const cut = slug.lastIndexOf("-", max);
  return cut > 0 ? slug.slice(0, cut) : slug.slice(0, max);
}

/** Words that do not fit every start date. */
const CALENDAR =
  /\b(january|february|march|april|may|june|july|august|september|october|november|december|[a-z]+day)\b/i;
/** Kinds of names: a list of words, or a pattern of other kinds. */
const KINDS: Readonly<Record<string, string | readonly string[]>> = fictionalNames;

/** Names of people, places and things that do not exist, in English. */
export class FictionalNames {
  readonly #faker: Faker;
  readonly #realCities: ReadonlySet<string>;
  #random = seededRandom("", "names");

  private constructor(faker: Faker) {
    this.#faker = faker;
    this.#realCities = new Set(faker.definitions.location.city_name ?? []);
    faker.setDefaultRefDate(0);
  }

  /** Loads names with a faker instance of their own, because other code may use the shared one. */
  static async load(): Promise<FictionalNames> {
    const { faker } = await import("@faker-js/faker/locale/en");
    const OwnFaker = faker.constructor as new (options: { locale: Faker["rawDefinitions"] }) => Faker;
    return new FictionalNames(new OwnFaker({ locale: faker.rawDefinitions }));
  }

  /** Draws all further names from a stream. */
  drawFrom(random: Random): void {
    this.#random = random;
    this.#faker.seed(random.below(4294967296));
  }

  /** Draws a name. @throws RangeError if the kind is unknown. */
  draw(kind: string): string {
    const { person, location, color, word } = this.#faker;
    switch (kind) {
      case "person":
        return this.#undated(() => `${person.firstName()} ${person.lastName()}`);
      case "firstName":
        return this.draw("person").split(" ")[0] as string;
      case "surname":
        return this.#undated(() => person.lastName(), /[^a-z]/i);
      case "city":
        for (;;) {
          const city = this.#undated(() => location.city());
          if (!this.#realCities.has(city)) return city;
        }
      case "title":
        // Two words in title case, for a film or a product.
        return this.#undated(() => {
          const first = this.#random.oneIn(2) ? color.human() : word.adjective();
          return `${capitalized(first)} ${capitalized(word.noun())}`;
        });
      default: {
        const words = KINDS[kind];
        if (words === undefined) throw new RangeError(`there are no names of the kind ${kind}`);
        if (typeof words !== "string") return this.#random.pick(words);
        return filled(words, (part) => this.draw(part));
      }
    }
  }

  several(count: number, draw: () => string): string[] {
    const found = new Set<string>();
    while (found.size < count) found.add(draw());
    return [...found];
  }

  #undated(draw: () => string, refused: RegExp = CALENDAR): string {
    for (;;) {
      const text = draw();
      if (!CALENDAR.test(text) && !refused.test(text)) return text;
    }
  }
}

const capitalized = (words: string): string =>
  words.replace(/(^|[ -])[a-z]/g, (letter) => letter.toUpperCase());

/** Replaces each `{slot}` of a pattern. */
const filled = (pattern: string, nameOf: (slot: string) => string): string =>
  pattern.replace(/\{(\w+)\}/g, (_, slot: string) => nameOf(slot));

const DAY_MS = 86_400_000;
const SECOND_MS = 1000;
/** Months of each period, in UTC; 0 for a day. */
const MONTHS = { day: 0, month: 1, quarter: 3, year: 12 } as const;
type Period = keyof typeof MONTHS;
export const PERIODS = Object.keys(MONTHS) as readonly Period[];
const MONTH_NAMES =
  "January February March April May June July August September October November December".split(" ");
const END_DATE = "{endDate}";

/** End of an event or market, in days after the start. */
export interface End {
  readonly endsInDays: number;
  /** It ends with the last second of the period that contains the day; if undefined, at the day's midnight UTC. */
  readonly endOf?: Period;
}

/** End of an event or market; `day` is a text such as "November 30, 2026". */
export interface EndDate {
  readonly endDate: Millis;
  readonly day: string;
}

export function datedEnd(start: Millis, { endsInDays, endOf }: End): EndDate {
  const endDate = endDateOf(start, endsInDays, endOf);
  const date = new Date(endDate);
  const day = `${MONTH_NAMES[date.getUTCMonth()]} ${date.getUTCDate()}, ${date.getUTCFullYear()}`;
  return { endDate, day };
}

export const withEndDate = (text: string, { day }: EndDate): string => text.replaceAll(END_DATE, day);

function endDateOf(start: Millis, days: number, period: Period | undefined): Millis {
  const day = (Math.floor(start / DAY_MS) + days) * DAY_MS;
  if (day > MAX_MILLIS) return millis(MAX_MILLIS);
  if (period === undefined) return millis(day);
  const date = new Date(day);
  const months = MONTHS[period];
  const next =
    period === "day"
      ? day + DAY_MS
      : Date.UTC(date.getUTCFullYear(), Math.floor(date.getUTCMonth() / months) * months + months);
  return millis(Math.min(MAX_MILLIS, next - SECOND_MS));
}

/** Removes the end date and its preposition from a text, for slugs that do not depend on the start. */
export const withoutEndDate = (text: string): string => text.replaceAll(/ \w+ \{endDate\}/g, "");
