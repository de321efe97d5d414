import type { Command } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import type { Decision } from "../core/refusals.ts";
import { marketAppliers } from "../core/rules/markets.ts";
import type { Agents } from "../core/schedule.ts";
import { findAccount, type State } from "../core/state.ts";
import { OUTCOMES } from "../core/terms.ts";
import { type Millis, millis } from "../core/units.ts";
import { act, BookView, type Bot, botsOf } from "./bot.ts";
import { fairValue, RandomStreams, STREAM } from "./fair-value.ts";
import { type BotProfile, type BotProfileName, PROFILES } from "./profiles.ts";

/** Bots trade in the first active markets, at most this many. */
export const MAX_BOT_MARKETS = 50;

interface Running {
  readonly profile: BotProfileName;
  /** Seed of their random streams. */
  readonly seed: string;
  readonly bots: readonly Bot[];
}

/** Part of the exchange that bots use. */
interface BotExchange {
  readonly state: State;
  agents: Agents | null;
  submit(command: Command): Decision;
  watch(watcher: (sequence: number, at: Millis, events: readonly DomainEvent[]) => void): () => void;
  watchRewind(watcher: () => void): () => void;
}

/** Bots of one exchange. Which of them run is a setting of the exchange, not part of its state. */
export class Bots {
  readonly #exchange: BotExchange;
  #running: Running | null = null;
  #hasStarted = false;
  #stopWatching: () => void = () => {};

  constructor(exchange: BotExchange) {
    this.#exchange = exchange;
  }

  get running(): Running | null {
    return this.#running;
  }

  /** Whether any bots have been started, so that the exchange may have trades of bots. */
  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  /**
   * Starts the bots of a profile in place of the running ones. Orders of bots in both profiles stay, because what a bot does
   * depends on the state only; orders of other bots are canceled.
   */
  start(profile: BotProfileName, seed = this.#exchange.state.config.seed): void {
    this.detach();
    const bots = botsOf(this.#exchange.state.config.seed, PROFILES[profile]);
    const names = new Set(bots.map(({ name }) => name));
    this.#cancelOrders(({ name }) => !names.has(name));
    this.resume({ profile, seed, bots });
  }

  /** Runs these bots in place of the running ones, whose orders stay; null runs none. */
  resume(running: Running | null): void {
    this.detach();
    if (running === null) return;
    const exchange = this.#exchange;
    const { profile, seed, bots } = running;
    const schedule = scheduleOf(exchange, PROFILES[profile], seed, bots);
    const stops = [
      exchange.watch((_sequence, _at, events) => {
        // Status and order of markets decide in which of them bots trade.
        if (events.some(({ kind }) => Object.hasOwn(marketAppliers, kind))) schedule.invalidate();
      }),
      exchange.watchRewind(() => schedule.invalidate()),
    ];
    this.#stopWatching = () => {
      for (const stop of stops) stop();
    };
    exchange.agents = schedule;
    this.#running = running;
    this.#hasStarted = true;
  }

  /** Stops all bots and cancels their open orders, of any profile; returns the number of canceled orders. */
  end(): number {
    this.detach();
    return this.#cancelOrders(() => true);
  }

  /** Stops all bots; their orders stay. */
  detach(): void {
    this.#stopWatching();
    this.#exchange.agents = null;
    this.#running = null;
  }

  #cancelOrders(isSelected: (bot: Bot) => boolean): number {
    const { state } = this.#exchange;
    let canceled = 0;
    for (const bot of botsOf(state.config.seed, null)) {
      const open = findAccount(state, bot.address)?.openCount ?? 0;
      if (open === 0 || !isSelected(bot)) continue;
      this.#exchange.submit({ kind: "cancelAllOrders", address: bot.address });
      canceled += open;
    }
    return canceled;
  }
}

/** A bot in a market, with the time of its next turn. */
interface ScheduleEntry {
  readonly bot: Bot;
  readonly market: number;
  next: number;
}

/** Returns the schedule of the bots: a function of seed, bot and market, so that it need not be persisted. */
function scheduleOf(exchange: BotExchange, profile: BotProfile, seed: string, bots: readonly Bot[]) {
  const streams = new RandomStreams(seed);
  const addresses = botsOf(exchange.state.config.seed, null).map(({ address }) => address);
  const fair = fairValue(streams, profile.fair, addresses);
  /** By bot, then by market; null if it must be computed again. */
  let entries: readonly ScheduleEntry[] | null = null;
  /** Next time at which a bot acts, and the entries due then, by bot, then by market. */
  let next = 0;
  let due: ScheduleEntry[] = [];

  /** Returns the next turn after a moment. Each interval of `everyMs`, in which one turn is expected, has its own stream. */
  const turnAfter = (now: Millis, { kind, number }: Bot, market: number): number => {
    const { everyMs } = profile[kind];
    for (let interval = Math.floor(now / everyMs); ; interval += 1) {
      const random = streams.of(STREAM.arrivals, number, market, interval);
      let first = Number.POSITIVE_INFINITY;
      for (let left = random.arrivals(); left > 0; left -= 1) {
        const at = Math.floor((interval + random.uniform()) * everyMs);
        if (at > now && at < first) first = at;
      }
      if (first !== Number.POSITIVE_INFINITY) return first;
    }
  };
  const makeEntries = (now: Millis): readonly ScheduleEntry[] => {
    const active = [...exchange.state.markets].filter(({ status }) => status === "ACTIVE");
    const open = active.slice(0, MAX_BOT_MARKETS);
    return bots.flatMap((bot) =>
      open.map(({ number }) => ({ bot, market: number, next: turnAfter(now, bot, number) })),
    );
  };
  /** Finds the next time after `now` at which a bot acts, and the entries due then. */
  const findNext = (now: Millis): void => {
    entries ??= makeEntries(now);
    next = Number.POSITIVE_INFINITY;
    due = [];
    for (const entry of entries) {
      if (entry.next <= now) entry.next = turnAfter(now, entry.bot, entry.market);
      if (entry.next < next) {
        next = entry.next;
        due = [entry];
      } else if (entry.next === next) due.push(entry);
    }
  };
  return {
    /** Called when the state is replaced or its markets change; discards everything computed from it. */
    invalidate: (): void => {
      entries = null;
      fair.invalidate();
    },
    nextAfter: (now: Millis): Millis | null => {
      if (entries === null || next <= now) findNext(now);
      return due.length === 0 ? null : millis(next);
    },
    *act(): Generator<Command> {
      const { state } = exchange;
      const at = millis(next);
      for (const { bot, market: number } of due) {
        const market = state.markets.get(number);
        const random = streams.of(STREAM.turn, bot.number, number, at);
        const turn = { state, at, bot, market, fair, streams, random };
        for (const outcome of market.matching === "independent" ? OUTCOMES : (["YES"] as const)) {
          yield* act(new BookView(turn, outcome), profile);
        }
      }
    },
  };
}
