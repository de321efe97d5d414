import type { Command, Outcome, Stamped } from "../core/commands.ts";
import { tokenIdOf } from "../core/ids.ts";
import { FULL_PRICE, MAX_MILLIS, type Millis, millis, money, price, size } from "../core/units.ts";
import type { FlowRow, World, WorldEvent, WorldMarket } from "./world.ts";

const DAY_MS = 86_400_000;
const SIZE_UNITS = 100;
const MONEY_UNITS = 1_000_000;

/** What a world makes happen besides its order flow; `at` is relative to the start. */
interface Happening {
  readonly at: number;
  readonly command: () => Command;
}

/**
 * The commands that make a world real when it is opened at `start`, oldest first: the exchange that obeys them has
 * the world's events, markets and opening history. Decimals of a world are rounded to the core's units.
 */
export function* openingCommands(world: World, start: Millis): Generator<Stamped> {
  const markets = new Numbering();
  const happenings = happeningsOf(world, start, markets);
  const tokens = new TokenIds(world.seed, markets);
  let next = 0;
  for (const row of world.flow) {
    for (; next < happenings.length && (happenings[next] as Happening).at <= row[0]; next += 1) {
      yield stamped(start, happenings[next] as Happening);
    }
    yield { at: millis(start + row[0]), command: flowCommand(world, row, tokens) };
  }
  for (; next < happenings.length; next += 1) yield stamped(start, happenings[next] as Happening);
}

/** The numbers that things get in the order in which they are created, by their place in the file. */
class Numbering {
  readonly #numbers = new Map<number, number>();

  create(index: number): void {
    this.#numbers.set(index, this.#numbers.size + 1);
  }

  of(index: number): number {
    const number = this.#numbers.get(index);
    if (number === undefined)
      throw new RangeError(`number ${index} of the world is used before it is created`);
    return number;
  }
}

class TokenIds {
  readonly #seed: string;
  readonly #markets: Numbering;
  readonly #ids = new Map<number, string>();

  constructor(seed: string, markets: Numbering) {
    this.#seed = seed;
    this.#markets = markets;
  }

  of(market: number, outcome: Outcome): string {
    const key = market * 2 + (outcome === "YES" ? 0 : 1);
    let id = this.#ids.get(key);
    if (id === undefined) {
      id = tokenIdOf(this.#seed, this.#markets.of(market), outcome);
      this.#ids.set(key, id);
    }
    return id;
  }
}

const stamped = (start: Millis, { at, command }: Happening): Stamped => ({
  at: millis(start + at),
  command: command(),
});

/** Everything but the order flow, oldest first; what happens at one moment keeps the file's order. */
function happeningsOf(world: World, start: Millis, markets: Numbering): Happening[] {
  const events = new Numbering();
  const happenings: Happening[] = [];
  let index = 0;
  for (const [place, event] of world.events.entries()) {
    happenings.push({
      at: event.createdAt,
      command: () => {
        events.create(place);
        return createEvent(event, start);
      },
    });
    for (const market of event.markets) {
      const own = index++;
      happenings.push({
        at: Math.max(market.createdAt, event.createdAt),
        command: () => {
          markets.create(own);
          return createMarket(market, event, events.of(place), start);
        },
      });
      const { resolved } = market;
      if (resolved === null) continue;
      const { at, winningOutcome } = resolved;
      happenings.push({
        at,
        command: () => ({ kind: "resolveMarket", market: markets.of(own), winningOutcome }),
      });
    }
  }
  happenings.sort((a, b) => a.at - b.at);
  return [...fundings(world, happenings[0]?.at ?? 0), ...happenings];
}

/** Traders are funded when the first thing happens. */
const fundings = (world: World, at: number): Happening[] =>
  world.traders.map((trader) => ({
    at: Math.min(at, world.flow[0]?.[0] ?? at),
    command: () => ({
      kind: "fundAccount",
      address: trader.address,
      collateral: money(Math.round(trader.collateral * MONEY_UNITS)),
      tokens: [],
      everyMarket: size(Math.round(trader.shares * SIZE_UNITS)),
    }),
  }));

const endDateOf = (endsInDays: number, start: Millis): Millis =>
  millis(Math.min(MAX_MILLIS, (Math.floor(start / DAY_MS) + endsInDays) * DAY_MS));

const createEvent = (event: WorldEvent, start: Millis): Command => ({
  kind: "createEvent",
  title: event.title,
  slug: event.slug,
  description: event.description,
  category: event.category,
  tags: event.tags,
  endDate: endDateOf(event.endsInDays, start),
});

const createMarket = (market: WorldMarket, event: WorldEvent, number: number, start: Millis): Command => ({
  kind: "createMarket",
  event: number,
  question: market.question,
  slug: market.slug,
  description: market.description,
  category: event.category,
  tags: market.tags,
  tickSize: price(Math.round(market.tickSize * FULL_PRICE)),
  minOrderSize: size(Math.round(market.minOrderSize * SIZE_UNITS)),
  feeRateBps: market.feeRateBps,
  matching: market.matching,
  selfTrade: "allow",
  endDate: endDateOf(market.endsInDays, start),
});

function flowCommand(world: World, row: FlowRow, tokens: TokenIds): Command {
  const [, trader, market, side, outcome, decimalPrice, decimalSize, orderType] = row;
  const { address } = world.traders[trader] as World["traders"][number];
  return {
    kind: "placeOrder",
    address,
    tokenId: tokens.of(market, outcome),
    side,
    price: price(Math.round(decimalPrice * FULL_PRICE)),
    size: size(Math.round(decimalSize * SIZE_UNITS)),
    orderType,
    expiration: null,
  };
}
