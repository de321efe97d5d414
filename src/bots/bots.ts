import type { Command } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import type { Market } from "../core/market.ts";
import type { Decision } from "../core/refusals.ts";
import { marketAppliers } from "../core/rules/markets.ts";
import type { Agents } from "../core/schedule.ts";
import { findAccount, type State } from "../core/state.ts";
import { OUTCOMES, type Outcome } from "../core/terms.ts";
import { type Millis, millis } from "../core/units.ts";
import { BookView, type Bot, botsOf } from "./bot.ts";
import { Chance, FairValue, STREAM } from "./fair-value.ts";
import { PROFILES, type Profile, type ProfileName } from "./profiles.ts";
import { act } from "./strategies.ts";

/** Bots trade in the first active markets, at most this many. */
export const MAX_BOT_MARKETS = 50;

/** Bots that are running. */
export interface Running {
  readonly profile: ProfileName;
  /** Seed of their random streams. */
  readonly seed: string;
  readonly bots: readonly Bot[];
}

/** Part of the exchange that bots use. */
export interface BotExchange {
  readonly state: State;
  readonly now: Millis;
  agents: Agents | null;
  submit(command: Command): Decision;
  watch(watcher: (sequence: number, at: Millis, events: readonly DomainEvent[]) => void): () => void;
  watchRewind(watcher: () => void): () => void;
}

/** Bots of one exchange. Which of them run is a setting of the exchange, not part of its state. */
export class Bots {
  readonly #exchange: BotExchange;
  #running: Running | null = null;
  #stopWatching: () => void = () => {};

  constructor(exchange: BotExchange) {
    this.#exchange = exchange;
  }

  get running(): Running | null {
    return this.#running;
  }

  /**
   * Starts the bots of a profile in place of the running ones. Orders of bots in both profiles stay, because what a bot does
   * depends on the state only; orders of other bots are canceled.
   */
  start(profile: ProfileName, seed = this.#exchange.state.config.seed): void {
    this.detach();
    const exchange = this.#exchange;
    const terms: Profile = PROFILES[profile];
    const bots = botsOf(exchange.state.config.seed, terms);
    const names = new Set(bots.map(({ name }) => name));
    this.#cancelOrders(({ name }) => !names.has(name));
    const schedule = new BotSchedule(exchange, terms, seed, bots);
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
    this.#running = { profile, seed, bots };
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

/** Schedule of the bots: a function of seed, bot and market, so that it need not be persisted. */
class BotSchedule implements Agents {
  readonly #exchange: BotExchange;
  readonly #profile: Profile;
  readonly #bots: readonly Bot[];
  readonly #chance: Chance;
  readonly #fair: FairValue;
  /** By bot, then by market; null if it must be computed again. */
  #entries: readonly ScheduleEntry[] | null = null;
  /** Next time at which a bot acts, and the entries due then, by bot, then by market. */
  #next = 0;
  #due: ScheduleEntry[] = [];

  constructor(exchange: BotExchange, profile: Profile, seed: string, bots: readonly Bot[]) {
    this.#exchange = exchange;
    this.#profile = profile;
    this.#bots = bots;
    this.#chance = new Chance(seed);
    const addresses = botsOf(exchange.state.config.seed, null).map(({ address }) => address);
    this.#fair = new FairValue(this.#chance, profile.fair, addresses);
  }

  /** Called when the state is replaced or its markets change; discards everything computed from it. */
  invalidate(): void {
    this.#entries = null;
    this.#fair.invalidate();
  }

  nextAfter(now: Millis): Millis | null {
    if (this.#entries === null || this.#next <= now) this.#findNext(now);
    return this.#due.length === 0 ? null : millis(this.#next);
  }

  *act(): Generator<Command> {
    const { state } = this.#exchange;
    const at = millis(this.#next);
    for (const { bot, market: number } of this.#due) {
      const market = state.markets.get(number);
      const draws = this.#chance.of(STREAM.turn, bot.number, number, at);
      const turn = { state, at, bot, market, fair: this.#fair, chance: this.#chance, draws };
      for (const outcome of market.matching === "independent" ? OUTCOMES : ONLY_YES) {
        yield* act(new BookView(turn, outcome), this.#profile);
      }
    }
  }

  /** Finds the next time after `now` at which a bot acts, and the entries due then. */
  #findNext(now: Millis): void {
    this.#entries ??= this.#makeEntries(now);
    this.#next = Number.POSITIVE_INFINITY;
    this.#due = [];
    for (const entry of this.#entries) {
      if (entry.next <= now) entry.next = this.#turnAfter(now, entry.bot, entry.market);
      if (entry.next < this.#next) {
        this.#next = entry.next;
        this.#due = [entry];
      } else if (entry.next === this.#next) this.#due.push(entry);
    }
  }

  #makeEntries(now: Millis): readonly ScheduleEntry[] {
    const open: Market[] = [];
    for (const market of this.#exchange.state.markets) {
      if (market.status === "ACTIVE") open.push(market);
      if (open.length === MAX_BOT_MARKETS) break;
    }
    return this.#bots.flatMap((bot) =>
      open.map(({ number }) => ({ bot, market: number, next: this.#turnAfter(now, bot, number) })),
    );
  }

  /** Returns the next turn after a moment. Each interval of `everyMs`, in which one turn is expected, has its own stream. */
  #turnAfter(now: Millis, { kind, number }: Bot, market: number): number {
    const { everyMs } = this.#profile[kind];
    for (let interval = Math.floor(now / everyMs); ; interval += 1) {
      const draws = this.#chance.of(STREAM.arrivals, number, market, interval);
      let first = Number.POSITIVE_INFINITY;
      for (let left = draws.arrivals(); left > 0; left -= 1) {
        const at = Math.floor((interval + draws.uniform()) * everyMs);
        if (at > now && at < first) first = at;
      }
      if (first !== Number.POSITIVE_INFINITY) return first;
    }
  }
}

const ONLY_YES: readonly Outcome[] = ["YES"];
