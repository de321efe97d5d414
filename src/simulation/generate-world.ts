import { stream } from "../core/random.ts";
import { FULL_PRICE } from "../core/units.ts";
import { devAddress, devPrivateKey, traderAddress } from "./dev-accounts.ts";
import { EventGenerator, type PricedEvent } from "./event-generator.ts";
import { FictionalNames } from "./fictional-names.ts";
import { sharesOf, TRADERS } from "./opening-book.ts";
import { generateOpening, type OpeningMarket } from "./opening-orders.ts";
import type { FairPath } from "./price-paths.ts";
import type { World, WorldMarket, WorldTrader } from "./world.ts";
import { MAX_MARKETS, MAX_ORDERS, packOrders, type WorldOrder } from "./world-orders.ts";

/** How large a world is; without markets and events it has 12 events. */
export interface WorldOptions {
  readonly seed: string;
  readonly markets?: number | undefined;
  /** 1 to 20,000, of 1 to 8 markets each. */
  readonly events?: number | undefined;
  /**
   * Orders of a market, up to a seventh more or less: 24 to 2,500,000 divided by the number of markets. By default 40,
   * fewer in a world of many markets, far more in a busy one. A market whose outcomes do not meet has two books.
   */
  readonly rowsPerMarket?: number | undefined;
}

const MAX_IN_EVENT = 8;
const DEFAULT_EVENTS = 12;
const DEV_ACCOUNTS = 10;
const LEAST_ROWS = 24;
const MONEY_UNITS = 1_000_000;

/** @throws RangeError when a number is out of its range, or when so many markets cannot share so many events. */
export async function generateWorld(options: WorldOptions): Promise<World> {
  const { seed } = options;
  requireRanges(options);
  const names = await FictionalNames.load(stream(seed, "names"));
  const generated = generateEvents(new EventGenerator(seed, names), options);
  const rowsPerMarket = options.rowsPerMarket ?? usualRows(generated);
  const subjects = generated.flatMap(({ event, paths, isBusy }, number) =>
    event.markets.map((market, position): OpeningMarket => {
      const isBusyMarket = isBusy && position === 0 && options.rowsPerMarket === undefined;
      return {
        market,
        path: paths[position] as FairPath,
        since: event.createdAt,
        key: `event/${number}/market/${position}`,
        activity: isBusyMarket ? "busy" : "usual",
      };
    }),
  );
  requireInteger("rowsPerMarket", rowsPerMarket, LEAST_ROWS, Math.floor(MAX_ORDERS / 2 / subjects.length));
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
  if (markets < events || markets > events * MAX_IN_EVENT) {
    throw new RangeError(
      `markets: expected ${events} to ${events * MAX_IN_EVENT} for ${events} events, found ${markets}`,
    );
  }
}

function requireInteger(name: string, value: number | undefined, low: number, high: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= low && value <= high)) return;
  throw new RangeError(`${name}: expected an integer from ${low} to ${high}, found ${value}`);
}

function generateEvents(generator: EventGenerator, { markets, events }: WorldOptions): PricedEvent[] {
  const generated: PricedEvent[] = [];
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

function usualRows(generated: readonly PricedEvent[]): number {
  const markets = generated.reduce((sum, { event }) => sum + event.markets.length, 0);
  return Math.min(40, Math.max(28, Math.round(200_000 / markets)));
}

/** Traders with enough for all their orders to rest at once, in round figures. */
function fundedTraders(
  seed: string,
  markets: readonly WorldMarket[],
  orders: readonly WorldOrder[],
): WorldTrader[] {
  const needed = new Float64Array(TRADERS);
  for (const { trader, market, side, price, size } of orders) {
    if (side === "SELL") continue;
    const { feeRateBps } = markets[market] as WorldMarket;
    const fee = (Math.min(price, FULL_PRICE - price) * feeRateBps) / 10_000;
    const cost = ((price + fee) * size) / MONEY_UNITS;
    needed[trader] = (needed[trader] as number) + Math.ceil(cost + 0.01);
  }
  return Array.from(needed, (usdc, index) => ({
    address: traderAddress(seed, index),
    collateral: roundedUp(usdc),
    shares: sharesOf(index, markets.length),
  }));
}

/** The next 1, 2 or 5 times a power of ten, from 10,000. */
function roundedUp(usdc: number): number {
  for (let unit = 10_000; ; unit *= 10) {
    for (const lead of [1, 2, 5]) if (lead * unit >= usdc) return lead * unit;
  }
}
