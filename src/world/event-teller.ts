import { type Stream, stream } from "../core/random.ts";
import { CRYPTO } from "./crypto-events.ts";
import { CULTURE } from "./culture-events.ts";
import { ECONOMICS } from "./economics-events.ts";
import type { EventStory, EventTemplate } from "./event-story.ts";
import { drawFairPrices, type EarlyResolution, type FairPrices, resolutionIn } from "./fair-prices.ts";
import type { FictionalNames } from "./fictional-names.ts";
import { drawTerms, PLAIN_TERMS } from "./market-terms.ts";
import { POLITICS } from "./politics-events.ts";
import { SCIENCE } from "./science-events.ts";
import { freshSlug, slugOf } from "./slug.ts";
import { SPORTS_EVENTS } from "./sports-events.ts";
import { TECHNOLOGY } from "./technology-events.ts";
import { WEATHER } from "./weather-events.ts";
import type { WorldEvent, WorldMarket } from "./world.ts";

/** An event with what its order flow needs to know. */
export interface PricedEvent {
  readonly event: WorldEvent;
  /** One per market. */
  readonly prices: readonly FairPrices[];
}

/** How many markets an event must and can have. */
export interface MarketBounds {
  readonly low: number;
  readonly high: number;
}

const CATEGORIES: readonly (readonly [string, readonly EventTemplate[]])[] = [
  ["politics", POLITICS],
  ["sports", SPORTS_EVENTS],
  ["crypto", CRYPTO],
  ["economics", ECONOMICS],
  ["science", SCIENCE],
  ["technology", TECHNOLOGY],
  ["culture", CULTURE],
  ["weather", WEATHER],
];
const HOUR = 3_600_000;
/** The history of a world begins so long before its start. */
const HISTORY = 7 * 24 * HOUR;
/** In each run of so many events, one at least has the finest tick and one at least a resolved market. */
const RUN = 12;
const ATTEMPTS = 4;

/**
 * Tells events one after the other, each from streams of its own: what an event is depends on its number and, where
 * texts would repeat, on those before it, never on those after.
 */
export class EventTeller {
  readonly #seed: string;
  readonly #names: FictionalNames;
  readonly #eventSlugs = new Set<string>();
  readonly #marketSlugs = new Set<string>();
  #number = 0;

  constructor(seed: string, names: FictionalNames) {
    this.#seed = seed;
    this.#names = names;
  }

  /** The next event. */
  tell(bounds: MarketBounds): PricedEvent {
    const number = this.#number;
    this.#number += 1;
    const [category, templates] = this.#category(number);
    const mustResolve = this.#isChosen("resolved", number);
    const { template, story } = this.#story(templates, number, bounds, mustResolve);
    const random = stream(this.#seed, `event/${number}/prices`);
    const count = story.subjects.length;
    const resolves = (mustResolve || random.oneIn(4)) && number > 0;
    const resolution = resolves ? resolutionIn(random, template, count) : null;
    const prices = drawFairPrices(random, template.shape, count, resolution);
    return { event: this.#event(number, category, story, prices, resolution), prices };
  }

  /** Every run of eight events goes through all categories, in an order of its own. */
  #category(number: number): readonly [string, readonly EventTemplate[]] {
    const size = CATEGORIES.length;
    const random = stream(this.#seed, `categories/${Math.floor(number / size)}`);
    const order = [...CATEGORIES];
    for (let last = size - 1; last > 0; last -= 1) {
      const other = random.below(last + 1);
      [order[last], order[other]] = [order[other] as (typeof order)[0], order[last] as (typeof order)[0]];
    }
    return order[number % size] as (typeof order)[0];
  }

  #isChosen(what: string, number: number): boolean {
    const random = stream(this.#seed, `${what}/${Math.floor(number / RUN)}`);
    return number % RUN === random.between(1, RUN - 1);
  }

  #story(
    templates: readonly EventTemplate[],
    number: number,
    bounds: MarketBounds,
    mustResolve: boolean,
  ): { readonly template: EventTemplate; readonly story: EventStory } {
    for (let attempt = 1; ; attempt += 1) {
      const random = stream(this.#seed, `event/${number}/story/${attempt}`);
      const template = drawTemplate(random, templates, bounds, mustResolve);
      const count = drawCount(random, template, bounds, mustResolve);
      this.#names.follow(random);
      const story = template.tell({ names: this.#names, random, count });
      if (attempt === ATTEMPTS || !this.#eventSlugs.has(slugOf(story.title))) return { template, story };
    }
  }

  #event(
    number: number,
    category: string,
    story: EventStory,
    prices: readonly FairPrices[],
    resolution: EarlyResolution | null,
  ): WorldEvent {
    const random = stream(this.#seed, `event/${number}/moments`);
    const hours = number === 0 ? 1 : Math.min(random.between(1, 120), random.between(1, 120));
    const createdAt = random.below(hours * HOUR) - HISTORY;
    const tags = [...new Set([category, ...story.tags])];
    const { title, about, source, days } = story;
    const markets = story.subjects.map((_, position): WorldMarket => {
      const opensAt = createdAt + position * random.between(1000, 30_000);
      const winner = resolution?.position === position ? resolution.winningOutcome : null;
      const at = opensAt + Math.floor((-opensAt * random.between(45, 95)) / 100);
      return {
        ...this.#market(number, position, story, prices[position] as FairPrices),
        tags,
        createdAt: opensAt,
        endsInDays: days,
        resolved: winner === null ? null : { at, winningOutcome: winner },
      };
    });
    const slug = freshSlug(title, this.#eventSlugs);
    const description = `${about} ${source}`;
    return { title, slug, description, category, tags, createdAt, endsInDays: days, markets };
  }

  #market(
    number: number,
    position: number,
    { subjects, question, condition, source }: EventStory,
    { from, to }: FairPrices,
  ): Omit<WorldMarket, "tags" | "createdAt" | "endsInDays" | "resolved"> {
    const subject = subjects[position] as string;
    const isExtreme = Math.min(from, to) < 500 || Math.max(from, to) > 9500;
    const random = stream(this.#seed, `event/${number}/market/${position}/terms`);
    const terms = number === 0 && position === 0 ? PLAIN_TERMS : drawTerms(random, isExtreme);
    const isFinest = position === 0 && this.#isChosen("finest tick", number);
    return {
      question: question(subject),
      slug: freshSlug(question(subject), this.#marketSlugs),
      description: `This market resolves to YES if ${condition(subject)}, and to NO otherwise. ${source}`,
      ...terms,
      ...(isFinest ? { tickSize: 0.0001 } : {}),
    };
  }
}

/** Draws freely, and once more among those that fit when the first does not. */
function drawTemplate(
  random: Stream,
  templates: readonly EventTemplate[],
  { low, high }: MarketBounds,
  mustResolve: boolean,
): EventTemplate {
  const fits = ({ shape, passesEarly }: EventTemplate): boolean =>
    (shape === "single" ? low === 1 : high > 1) &&
    (!mustResolve || shape !== "ladder" || passesEarly === true);
  const first = random.pick(templates);
  return fits(first) ? first : random.pick(templates.filter(fits));
}

function drawCount(
  random: Stream,
  { shape }: EventTemplate,
  { low, high }: MarketBounds,
  mustResolve: boolean,
): number {
  if (shape === "single") return 1;
  const least = shape === "ladder" || mustResolve ? 3 : 2;
  const count = least + random.below(4) + random.below(6 - least);
  return Math.min(high, Math.max(low, count));
}
