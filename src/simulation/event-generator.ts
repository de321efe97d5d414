import { type Stream, stream } from "../core/random.ts";
import { withoutEndDate } from "./calendar.ts";
import { CRYPTO } from "./crypto-events.ts";
import { CULTURE } from "./culture-events.ts";
import { ECONOMICS } from "./economics-events.ts";
import {
  drawHorizon,
  type EventStory,
  type EventTemplate,
  freshSlug,
  type Horizon,
  type Span,
  slugOf,
} from "./event-story.ts";
import type { FictionalNames } from "./fictional-names.ts";
import { POLITICS } from "./politics-events.ts";
import {
  canResolve,
  drawFairPaths,
  drawFairPrices,
  type EarlyResolution,
  type FairPath,
  type FairPrices,
  type PathSetting,
  resolutionIn,
} from "./price-paths.ts";
import { SCIENCE } from "./science-events.ts";
import { SPORTS_EVENTS } from "./sports-events.ts";
import { TECHNOLOGY } from "./technology-events.ts";
import { WEATHER } from "./weather-events.ts";
import type { WorldEvent, WorldMarket } from "./world.ts";

/** The trading rules of a market. */
type MarketTerms = Pick<WorldMarket, "tickSize" | "minOrderSize" | "feeRateBps" | "matching">;

/** What most markets have, and the first market of every world. */
const PLAIN_TERMS: MarketTerms = {
  tickSize: 0.01,
  minOrderSize: 1,
  feeRateBps: 0,
  matching: "complementary",
};

/** Draws the rules of a market; one whose price is near 0 or 1 mostly gets a finer tick. */
function drawTerms(random: Stream, isExtreme: boolean): MarketTerms {
  return {
    tickSize: drawTick(random, isExtreme),
    minOrderSize: random.oneIn(6) ? 5 : 1,
    feeRateBps: random.oneIn(6) ? random.pick([100, 100, 150, 200]) : 0,
    matching: random.oneIn(15) ? "independent" : "complementary",
  };
}

function drawTick(random: Stream, isExtreme: boolean): number {
  const lot = random.below(100);
  if (lot < 1) return 0.0001;
  return lot < (isExtreme ? 70 : 19) ? 0.001 : 0.01;
}

/** An event with what its order flow needs to know. */
export interface PricedEvent {
  readonly event: WorldEvent;
  /** One per market. */
  readonly paths: readonly FairPath[];
  /** Whether its first market is one of the busy ones. */
  readonly isBusy: boolean;
}

/** How many markets an event must and can have. */
interface MarketBounds {
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
/** One in so many events of the first run has a busy market, the first of all included. */
const BUSY_EVERY = 4;
/** Steps of the paths of an event that has no busy market; that of one that has goes hour by hour. */
const USUAL_STEPS = 40;
const ATTEMPTS = 4;

/** What is decided of an event before it is told. */
interface Plan {
  readonly number: number;
  readonly bounds: MarketBounds;
  readonly isBusy: boolean;
  readonly mustResolve: boolean;
}

/** What is told of an event, and when it happens. */
interface Draft {
  readonly number: number;
  readonly category: string;
  readonly story: EventStory;
  /** When the event is created, in milliseconds before the start (negative). */
  readonly createdAt: number;
  readonly horizon: Horizon;
  readonly isBusy: boolean;
}

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
    const isBusy = number < RUN && number % BUSY_EVERY === 0;
    const plan: Plan = { number, bounds, isBusy, mustResolve: this.#isChosen("resolved", number) };
    const [category, templates] = this.#category(number);
    const { template, story } = this.#story(templates, plan);
    const random = stream(this.#seed, `event/${number}/prices`);
    const count = story.subjects.length;
    const resolves = !isBusy && (plan.mustResolve || random.oneIn(4));
    const resolution = resolves ? resolutionIn(random, template, count) : null;
    const prices = drawFairPrices(random, template, count, resolution, isBusy);
    const moments = stream(this.#seed, `event/${number}/moments`);
    const horizon = drawHorizon(
      moments,
      spansOf(template, number, resolution),
      template.isScheduled === true,
    );
    const createdAt = drawCreation(moments, number, isBusy) - HISTORY;
    const steps = isBusy ? Math.ceil(-createdAt / HOUR) : USUAL_STEPS;
    const setting: PathSetting = {
      shape: template.shape,
      prices,
      steps,
      volatility: random.between(60, 160),
      resolution,
      resolvedStep: Math.floor((steps * random.between(45, 95)) / 100),
    };
    const paths = drawFairPaths(random, setting);
    const draft: Draft = { number, category, story, createdAt, horizon, isBusy };
    return { event: this.#event(draft, setting, moments), paths, isBusy };
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

  /** Whether an event is the one of its run; never one that has a busy market. */
  #isChosen(what: string, number: number): boolean {
    const random = stream(this.#seed, `${what}/${Math.floor(number / RUN)}`);
    const place = random.below(RUN - RUN / BUSY_EVERY);
    return number % RUN === place + 1 + Math.floor(place / (BUSY_EVERY - 1));
  }

  #story(
    templates: readonly EventTemplate[],
    plan: Plan,
  ): { readonly template: EventTemplate; readonly story: EventStory } {
    for (let attempt = 1; ; attempt += 1) {
      const random = stream(this.#seed, `event/${plan.number}/story/${attempt}`);
      const template = drawTemplate(random, templates, plan);
      const count = drawCount(random, template, plan.bounds);
      this.#names.follow(random);
      const story = template.tell({ names: this.#names, random, count });
      const slug = slugOf(withoutEndDate(story.title));
      if (attempt === ATTEMPTS || !this.#eventSlugs.has(slug)) return { template, story };
    }
  }

  #event(draft: Draft, { prices, resolution, resolvedStep, steps }: PathSetting, random: Stream): WorldEvent {
    const { category, story, createdAt, horizon } = draft;
    const { title, about, source } = story;
    const tags = [...new Set([category, ...story.tags])];
    let opensAt = createdAt;
    const markets = prices.map((price, position): WorldMarket => {
      if (position > 0) opensAt += random.between(1000, 30_000);
      const winner = resolution?.position === position ? resolution.winningOutcome : null;
      const at = createdAt - Math.floor((createdAt * resolvedStep) / steps);
      return {
        ...this.#market(draft, position, price),
        tags,
        createdAt: opensAt,
        ...horizon,
        resolved: winner === null ? null : { at, winningOutcome: winner },
      };
    });
    const slug = freshSlug(withoutEndDate(title), this.#eventSlugs);
    return { title, slug, description: `${about} ${source}`, category, tags, createdAt, ...horizon, markets };
  }

  #market(
    { number, story, isBusy }: Draft,
    position: number,
    { from, to }: FairPrices,
  ): Pick<WorldMarket, "question" | "slug" | "description"> & MarketTerms {
    const subject = story.subjects[position] as string;
    const question = story.question(subject);
    const isExtreme = Math.min(from, to) < 500 || Math.max(from, to) > 9500;
    const random = stream(this.#seed, `event/${number}/market/${position}/terms`);
    const terms = isBusy && position === 0 ? PLAIN_TERMS : drawTerms(random, isExtreme);
    const isFinest = position === 0 && this.#isChosen("finest tick", number);
    return {
      question,
      slug: freshSlug(withoutEndDate(question), this.#marketSlugs),
      description: `This market resolves to YES if ${story.condition(subject)}, and to NO otherwise. ${story.source}`,
      ...terms,
      ...(isFinest ? { tickSize: 0.0001 } : {}),
    };
  }
}

/** Draws among the templates that suit the plan or, where none does, among those with as many markets as it must have. */
function drawTemplate(random: Stream, templates: readonly EventTemplate[], plan: Plan): EventTemplate {
  const { low, high } = plan.bounds;
  const possible = templates.filter(({ shape }) => (shape === "single" ? low === 1 : high > 1));
  const suitable = possible.filter((template) => suits(template, plan));
  return random.pick(suitable.length > 0 ? suitable : possible);
}

/** The first event ends within a week, a busy market is neither sure nor hopeless, and not all can be settled early. */
function suits(template: EventTemplate, { number, isBusy, mustResolve }: Plan): boolean {
  if (number === 0 && !template.spans.includes("week")) return false;
  if (mustResolve && !canResolve(template)) return false;
  return !isBusy || template.shape !== "single" || (template.chance[0] <= 50 && template.chance[1] >= 50);
}

/**
 * The first event ends within a week and one that was resolved in part later, so that what ends soonest is open.
 */
function spansOf(
  { spans }: EventTemplate,
  number: number,
  resolution: EarlyResolution | null,
): readonly Span[] {
  if (number === 0) return ["week"];
  return resolution === null ? spans : spans.filter((span) => span !== "week");
}

/** When an event is created, in milliseconds after the history begins: the first at once, busy ones soon. */
function drawCreation(random: Stream, number: number, isBusy: boolean): number {
  if (number === 0) return random.below(HOUR);
  if (isBusy) return random.below(6 * HOUR);
  return random.below(Math.min(random.between(1, 120), random.between(1, 120)) * HOUR);
}

function drawCount(random: Stream, { shape }: EventTemplate, { low, high }: MarketBounds): number {
  if (shape === "single") return 1;
  return Math.min(high, Math.max(low, 3 + Math.min(random.below(6), random.below(6))));
}
