import { type Random, seededRandom } from "../core/random.ts";
import {
  drawHorizon,
  EVENT_TEMPLATES,
  type EventTemplate,
  FictionalNames,
  type Span,
  type StoryKind,
  slugOf,
  uniqueSlug,
  withoutEndDate,
  writeStory,
} from "./event-story.ts";
import { generateOpening, type OpeningMarket } from "./opening-orders.ts";
import {
  drawFairPaths,
  drawFairPrices,
  type EarlyResolution,
  type FairPath,
  type FairPrices,
  resolutionIn,
} from "./price-paths.ts";
import type { World, WorldEvent, WorldMarket } from "./world.ts";
import { devAddress, devPrivateKey, fundedTraders } from "./world-accounts.ts";
import { MAX_MARKETS, MAX_ORDERS, packOrders } from "./world-orders.ts";

type MarketTerms = Pick<WorldMarket, "tickSize" | "minOrderSize" | "feeRateBps" | "matching">;

/** Terms of most markets, and of the first market of every world. */
const PLAIN_TERMS: MarketTerms = {
  tickSize: 0.01,
  minOrderSize: 1,
  feeRateBps: 0,
  matching: "complementary",
};

/** Draws the terms of a market; a market with a price near 0 or 1 mostly gets a finer tick. */
function drawTerms(random: Random, isExtreme: boolean): MarketTerms {
  const lot = random.below(100);
  return {
    tickSize: lot < 1 ? 0.0001 : lot < (isExtreme ? 70 : 19) ? 0.001 : 0.01,
    minOrderSize: random.oneIn(6) ? 5 : 1,
    feeRateBps: random.oneIn(6) ? random.pick([100, 100, 150, 200]) : 0,
    matching: random.oneIn(15) ? "independent" : "complementary",
  };
}

const CATEGORIES = Object.entries(EVENT_TEMPLATES);
const HOUR = 3_600_000;
/** Length of a world's history. */
const HISTORY = 7 * 24 * HOUR;
/** Of each group of this many events, at least one has the finest tick and at least one a resolved market. */
const GROUP = 12;
/** In the first group, every fourth event has a busy market, beginning with the first. */
const BUSY_EVERY = 4;
/** Steps of the paths of an event without a busy market; the others have one step an hour. */
const USUAL_STEPS = 40;
const ATTEMPTS = 4;

interface Plan {
  readonly number: number;
  /** Smallest and largest number of markets. */
  readonly bounds: { readonly low: number; readonly high: number };
  readonly isBusy: boolean;
  readonly mustResolve: boolean;
}

/** Generates events. Each has its own random streams: it depends on its number and, to avoid equal texts, on earlier events. */
class EventGenerator {
  readonly #seed: string;
  readonly #names: FictionalNames;
  readonly #eventSlugs = new Set<string>();
  readonly #marketSlugs = new Set<string>();
  #number = 0;

  constructor(seed: string, names: FictionalNames) {
    this.#seed = seed;
    this.#names = names;
  }

  /** Returns an event with the paths of its markets, and whether the first of these is busy. */
  next(bounds: Plan["bounds"]) {
    const number = this.#number;
    this.#number += 1;
    const isBusy = number < GROUP && number % BUSY_EVERY === 0;
    const plan: Plan = { number, bounds, isBusy, mustResolve: this.#isChosen("resolved", number) };
    const [category, templates] = this.#category(number);
    const { kind, story } = this.#story(templates, plan);
    const random = seededRandom(this.#seed, `event/${number}/prices`);
    const count = story.markets.length;
    const resolves = !isBusy && (plan.mustResolve || random.oneIn(4));
    const resolution = resolves ? resolutionIn(random, kind, count) : null;
    const prices = drawFairPrices(random, kind, count, resolution, isBusy);
    const moments = seededRandom(this.#seed, `event/${number}/moments`);
    const horizon = drawHorizon(moments, spansOf(kind, number, resolution), kind.isScheduled === true);
    const createdAt = drawCreation(moments, number, isBusy) - HISTORY;
    const steps = isBusy ? Math.ceil(-createdAt / HOUR) : USUAL_STEPS;
    const volatility = random.between(60, 160);
    const resolvedStep = Math.floor((steps * random.between(45, 95)) / 100);
    const setting = { shape: kind.shape, prices, steps, volatility, resolution, resolvedStep };
    const paths = drawFairPaths(random, setting);
    const { title, description } = story;
    const tags = [...new Set([category, ...story.tags])];
    const resolvedAt = createdAt - Math.floor((createdAt * resolvedStep) / steps);
    let opensAt = createdAt;
    const markets = story.markets.map(({ question, description }, position): WorldMarket => {
      if (position > 0) opensAt += moments.between(1000, 30_000);
      const isResolved = resolution?.position === position;
      // In the order of a world file, because the order of keys is part of the state hash.
      return {
        question,
        slug: uniqueSlug(withoutEndDate(question), this.#marketSlugs),
        description,
        tags,
        ...this.#terms(number, position, prices[position] as FairPrices, isBusy),
        createdAt: opensAt,
        ...horizon,
        resolved: isResolved ? { at: resolvedAt, winningOutcome: resolution.winningOutcome } : null,
      };
    });
    const slug = uniqueSlug(withoutEndDate(title), this.#eventSlugs);
    const event: WorldEvent = { title, slug, description, category, tags, createdAt, ...horizon, markets };
    return { event, paths, isBusy };
  }

  /** Returns the category of an event: each group of eight events has all categories, in random order. */
  #category(number: number): readonly [string, readonly EventTemplate[]] {
    const size = CATEGORIES.length;
    const random = seededRandom(this.#seed, `categories/${Math.floor(number / size)}`);
    const order = [...CATEGORIES];
    for (let last = size - 1; last > 0; last -= 1) {
      const other = random.below(last + 1);
      [order[last], order[other]] = [order[other] as (typeof order)[0], order[last] as (typeof order)[0]];
    }
    return order[number % size] as (typeof order)[0];
  }

  /** Whether an event is the chosen one of its group, which never has a busy market. */
  #isChosen(what: string, number: number): boolean {
    const random = seededRandom(this.#seed, `${what}/${Math.floor(number / GROUP)}`);
    const place = random.below(GROUP - GROUP / BUSY_EVERY);
    return number % GROUP === place + 1 + Math.floor(place / (BUSY_EVERY - 1));
  }

  #story(templates: readonly EventTemplate[], plan: Plan) {
    for (let attempt = 1; ; attempt += 1) {
      const random = seededRandom(this.#seed, `event/${plan.number}/story/${attempt}`);
      const template = drawTemplate(random, templates, plan);
      const count = drawCount(random, template.kind, plan.bounds);
      this.#names.drawFrom(random);
      const story = writeStory(template, this.#names, random, count);
      const slug = slugOf(withoutEndDate(story.title));
      if (attempt === ATTEMPTS || !this.#eventSlugs.has(slug)) return { kind: template.kind, story };
    }
  }

  #terms(number: number, position: number, { from, to }: FairPrices, isBusy: boolean): MarketTerms {
    const isExtreme = Math.min(from, to) < 500 || Math.max(from, to) > 9500;
    const random = seededRandom(this.#seed, `event/${number}/market/${position}/terms`);
    const terms = isBusy && position === 0 ? PLAIN_TERMS : drawTerms(random, isExtreme);
    const isFinest = position === 0 && this.#isChosen("finest tick", number);
    return isFinest ? { ...terms, tickSize: 0.0001 } : terms;
  }
}

/** Draws a template that suits the plan, or if none does, one with the required number of markets. */
function drawTemplate(random: Random, templates: readonly EventTemplate[], plan: Plan): EventTemplate {
  const { low, high } = plan.bounds;
  const possible = templates.filter(({ kind }) => (kind.shape === "single" ? low === 1 : high > 1));
  const suitable = possible.filter(({ kind }) => suits(kind, plan));
  return random.pick(suitable.length > 0 ? suitable : possible);
}

/** Whether a template suits a plan: the first event ends within a week, and a busy market has a chance around 50 %. */
function suits(kind: StoryKind, { number, isBusy, mustResolve }: Plan): boolean {
  if (number === 0 && !kind.spans.includes("week")) return false;
  if (mustResolve && kind.resolvesEarly !== true) return false;
  return !isBusy || kind.shape !== "single" || (kind.chance[0] <= 50 && kind.chance[1] >= 50);
}

/** Returns the possible spans: the first event ends within a week, a partly resolved one later. */
function spansOf({ spans }: StoryKind, number: number, resolution: EarlyResolution | null): readonly Span[] {
  if (number === 0) return ["week"];
  return resolution === null ? spans : spans.filter((span) => span !== "week");
}

/** Draws the creation time of an event, in milliseconds after the start of the history: the first and busy ones early. */
function drawCreation(random: Random, number: number, isBusy: boolean): number {
  if (number === 0) return random.below(HOUR);
  if (isBusy) return random.below(6 * HOUR);
  return random.below(Math.min(random.between(1, 120), random.between(1, 120)) * HOUR);
}

function drawCount(random: Random, { shape }: StoryKind, { low, high }: Plan["bounds"]): number {
  if (shape === "single") return 1;
  return Math.min(high, Math.max(low, 3 + Math.min(random.below(6), random.below(6))));
}

/** Size of a world; by default 12 events. */
export interface WorldOptions {
  readonly seed: string;
  readonly markets?: number | undefined;
  /** 1 to 20,000, with 1 to 8 markets each. */
  readonly events?: number | undefined;
  /**
   * Orders of a market, up to a seventh more or less: 24 to 2,500,000 divided by the number of markets. By default 40,
   * fewer in a world of many markets, far more in a busy one. An independent market has two books.
   */
  readonly rowsPerMarket?: number | undefined;
}

const MAX_IN_EVENT = 8;
const DEFAULT_EVENTS = 12;
const DEV_ACCOUNTS = 10;
const MIN_ROWS = 24;

/** @throws RangeError if a number is out of range, or the events cannot hold the markets. */
export async function generateWorld(options: WorldOptions): Promise<World> {
  const { seed } = options;
  requireRanges(options);
  const names = await FictionalNames.load();
  const generated = generateEvents(new EventGenerator(seed, names), options);
  const subjects = generated.flatMap(({ event, paths, isBusy }, number) =>
    event.markets.map((market, position): OpeningMarket => {
      const isBusyMarket = isBusy && position === 0 && options.rowsPerMarket === undefined;
      const activity = isBusyMarket ? "busy" : "usual";
      const [path, since] = [paths[position] as FairPath, event.createdAt];
      return { market, path, since, key: `event/${number}/market/${position}`, activity };
    }),
  );
  const { rowsPerMarket = Math.min(40, Math.max(28, Math.round(200_000 / subjects.length))) } = options;
  requireInteger("rowsPerMarket", rowsPerMarket, MIN_ROWS, Math.floor(MAX_ORDERS / 2 / subjects.length));
  const orders = generateOpening(seed, subjects, rowsPerMarket);
  const markets = subjects.map(({ market }) => market);
  return {
    format: "clobsim-world/2",
    seed,
    devAccounts: Array.from({ length: DEV_ACCOUNTS }, (_, index) => devAddress(devPrivateKey(seed, index))),
    traders: fundedTraders(seed, markets, orders),
    events: generated.map(({ event }) => event),
    flow: packOrders(orders),
  };
}

function requireRanges({ markets, events }: WorldOptions): void {
  requireInteger("markets", markets, 1, MAX_MARKETS);
  requireInteger("events", events, 1, MAX_MARKETS);
  if (markets === undefined || events === undefined) return;
  const max = events * MAX_IN_EVENT;
  if (markets < events || markets > max)
    throw new RangeError(`markets expects ${events} to ${max} for ${events} events, found ${markets}`);
}

function requireInteger(name: string, value: number | undefined, low: number, high: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= low && value <= high)) return;
  throw new RangeError(`${name} expects an integer from ${low} to ${high}, found ${value}`);
}

function generateEvents(generator: EventGenerator, { markets, events }: WorldOptions) {
  const generated: ReturnType<EventGenerator["next"]>[] = [];
  const wanted = events ?? (markets === undefined ? DEFAULT_EVENTS : null);
  let left = markets ?? MAX_MARKETS;
  while (wanted === null ? left > 0 : generated.length < wanted) {
    const after = wanted === null ? 0 : wanted - generated.length - 1;
    const isCounted = markets !== undefined && wanted !== null;
    const low = isCounted ? Math.max(1, left - after * MAX_IN_EVENT) : 1;
    const priced = generator.next({ low, high: Math.min(MAX_IN_EVENT, left - after) });
    left -= priced.event.markets.length;
    generated.push(priced);
  }
  return generated;
}
