import { confirmationsOf, INITIAL_NATIVE_BALANCE } from "../core/chain/chain.ts";
import { approvalsOf, type Command, type Stamped } from "../core/commands.ts";
import { tokenIdIn as tokenIdOfMarket } from "../core/market.ts";
import type { Decision } from "../core/refusals.ts";
import type { ExchangeConfig, State } from "../core/state.ts";
import type { Outcome } from "../core/terms.ts";
import { toIso } from "../core/time.ts";
import {
  FULL_PRICE,
  type Millis,
  millis,
  money,
  price,
  SHARE_UNITS,
  size,
  USDC_UNITS,
} from "../core/units.ts";
import { datedEnd, type EndDate, withEndDate } from "./event-story.ts";
import type { World, WorldEvent, WorldMarket } from "./world.ts";
import { orderCount, orderIn, type WorldOrder, worldOrders } from "./world-orders.ts";

interface EmptyExchange {
  readonly state: State;
  restart(start: Millis): void;
  playOpening(text: string, play: () => void): void;
  advanceTo(target: Millis): void;
  submit(command: Command): Decision;
}

/** A world cannot be opened; the message is for the user. */
export class WorldOpeningError extends Error {
  override readonly name = "WorldOpeningError";
}

/** Creates the world's markets and executes its orders, and advances the exchange to `start`. @throws WorldOpeningError */
export function openWorld(
  exchange: EmptyExchange,
  world: World,
  start: Millis,
  worldText = JSON.stringify(world),
): void {
  const text = openingText(exchange.state.config, start, worldText);
  exchange.playOpening(text, () => playWorld(exchange, world, start));
}

/** Returns a JSON text of everything an opening depends on; `worldText` is the world as JSON. */
export const openingText = (config: ExchangeConfig, start: Millis, worldText: string): string =>
  `{"config":${JSON.stringify(config)},"start":${start},"world":${worldText}}`;

function playWorld(exchange: EmptyExchange, world: World, start: Millis): void {
  let isFirst = true;
  const tokenIdIn: TokenIdIn = (market, outcome) =>
    tokenIdOfMarket(exchange.state.markets.get(market), outcome);
  for (const { at, command } of openingCommands(world, start, tokenIdIn)) {
    if (at < 0) {
      const problem = "leaves no room for the world's history before it: start later";
      throw new WorldOpeningError(`the start ${toIso(start)} ${problem}`);
    }
    if (isFirst) exchange.restart(millis(at));
    isFirst = false;
    exchange.advanceTo(at);
    submit(exchange, command);
    if (command.kind === "fundAccount" && exchange.state.config.approvals === "required") {
      for (const approval of approvalsOf(command)) submit(exchange, approval);
    }
  }
  exchange.advanceTo(start);
  settleHistory(exchange);
}

function submit(exchange: EmptyExchange, command: Command): void {
  const decision = exchange.submit(command);
  if (decision.ok) return;
  const refused = `${decision.refusal.code} of ${JSON.stringify(command)}`;
  throw new WorldOpeningError(`the world's history is refused: ${refused}`);
}

/** Makes the world's trades final, so that later chain faults do not affect them. */
function settleHistory(exchange: EmptyExchange): void {
  const { chain, config } = exchange.state;
  if (chain.pending === 0 && chain.nextBlockAt === null) return;
  exchange.submit({ kind: "mineBlocks", count: 1 + confirmationsOf(config.settlement) });
}

export const emptyWorld = (seed: string): World => ({
  format: "clobsim-world/1",
  seed,
  devAccounts: [],
  traders: [],
  events: [],
  flow: [],
});

/**
 * Yields the commands, oldest first, that create the world's events and markets and execute its orders up to `start`.
 * Decimals of a world are rounded to the core's units.
 */
export function* openingCommands(world: World, start: Millis, tokenIdIn: TokenIdIn): Generator<Stamped> {
  const markets = world.events.flatMap((event) => event.markets);
  const numbers = numbersOf(markets);
  const schedule = scheduleOf(world, start);
  /** By index of the market, YES before NO. */
  const tokens: string[] = [];
  const stamped = (at: number, command: Command): Stamped => ({ at: millis(start + at), command });
  let next = 0;
  for (const order of worldOrders(world)) {
    for (let due = schedule[next]; due !== undefined && due.at <= order.at; due = schedule[next]) {
      yield stamped(due.at, due.command);
      next += 1;
    }
    const token = 2 * order.market + (order.outcome === "YES" ? 0 : 1);
    tokens[token] ??= tokenIdIn(numbers.get(markets[order.market] as WorldMarket) as number, order.outcome);
    yield stamped(order.at, placing(world, order, tokens[token]));
  }
  for (const { at, command } of schedule.slice(next)) yield stamped(at, command);
}

/** Returns the id of a token by its market's number. */
type TokenIdIn = (market: number, outcome: Outcome) => string;

/** Numbers events or markets in the order of their creation; at one moment in the order of the file. */
const numbersOf = <Item extends { readonly createdAt: number }>(items: readonly Item[]) =>
  new Map(items.toSorted((a, b) => a.createdAt - b.createdAt).map((item, index) => [item, index + 1]));

/**
 * Returns all commands but the orders, each with its time relative to the start, oldest first; at one moment in the order of
 * the file.
 */
function scheduleOf(world: World, start: Millis) {
  const events = numbersOf(world.events);
  const markets = numbersOf(world.events.flatMap((event) => event.markets));
  const schedule: { readonly at: number; readonly command: Command }[] = [];
  for (const event of world.events) {
    schedule.push({ at: event.createdAt, command: createEvent(event, datedEnd(start, event)) });
    for (const market of event.markets) {
      const { createdAt, resolved } = market;
      const command = createMarket(market, event, events.get(event) as number, datedEnd(start, market));
      schedule.push({ at: createdAt, command });
      if (resolved === null) continue;
      const { at, winningOutcome } = resolved;
      const number = markets.get(market) as number;
      schedule.push({ at, command: { kind: "resolveMarket", market: number, winningOutcome } });
    }
  }
  schedule.sort((a, b) => a.at - b.at);
  return [...fundings(world, schedule[0]?.at ?? 0), ...schedule];
}

/** Returns the commands that create the events and markets of a world opened at `start`, in order. */
export function creationsOf(world: World, start: Millis) {
  const commands = scheduleOf(world, start).map(({ command }) => command);
  return {
    events: commands.filter((command) => command.kind === "createEvent"),
    markets: commands.filter((command) => command.kind === "createMarket"),
  };
}

/** Funds dev accounts for gas, and traders, at the time of the first command. */
function fundings(world: World, first: number) {
  const at = orderCount(world) === 0 ? first : Math.min(first, orderIn(world, 0).at);
  const wei = String(INITIAL_NATIVE_BALANCE);
  return [
    ...world.devAccounts.map((address): Command => ({ kind: "setNativeBalance", address, wei })),
    ...world.traders.map(fundingOf),
  ].map((command) => ({ at, command }));
}

const fundingOf = ({ address, collateral, shares }: World["traders"][number]): Command => ({
  kind: "fundAccount",
  address,
  collateral: money(Math.round(collateral * USDC_UNITS)),
  tokens: [],
  everyMarket: size(Math.round(shares * SHARE_UNITS)),
});

function createEvent(event: WorldEvent, end: EndDate): Command {
  const { slug, category, tags } = event;
  const title = withEndDate(event.title, end);
  const description = withEndDate(event.description, end);
  return { kind: "createEvent", title, slug, description, category, tags, endDate: end.endDate };
}

function createMarket(market: WorldMarket, event: WorldEvent, number: number, end: EndDate): Command {
  return {
    kind: "createMarket",
    event: number,
    question: withEndDate(market.question, end),
    slug: market.slug,
    description: withEndDate(market.description, end),
    category: event.category,
    tags: market.tags,
    tickSize: price(Math.round(market.tickSize * FULL_PRICE)),
    minOrderSize: size(Math.round(market.minOrderSize * SHARE_UNITS)),
    feeRateBps: market.feeRateBps,
    matching: market.matching,
    selfTrade: "allow",
    endDate: end.endDate,
  };
}

function placing({ traders }: World, order: WorldOrder, tokenId: string): Command {
  const { trader, side, price, size, orderType } = order;
  const { address } = traders[trader] as World["traders"][number];
  return { kind: "placeOrder", address, tokenId, side, price, size, orderType, expiration: null };
}
