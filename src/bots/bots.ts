import type { Agents } from "../core/agents.ts";
import type { Command } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import type { Market } from "../core/market.ts";
import type { Decision } from "../core/refusals.ts";
import { marketWrites } from "../core/rules/markets.ts";
import { findAccount, type State } from "../core/state.ts";
import { OUTCOMES, type Outcome } from "../core/terms.ts";
import { type Millis, millis } from "../core/units.ts";
import { type Bot, botsOf } from "./bot.ts";
import { Chance, STREAM } from "./chance.ts";
import { Desk } from "./desk.ts";
import { FairValue } from "./fair-value.ts";
import { PROFILES, type Profile, type ProfileName } from "./profiles.ts";
import { act } from "./strategies.ts";

/** In how many markets bots trade: the first that are open. */
export const MAX_BOT_MARKETS = 50;

/** What runs. */
export interface Running {
  readonly profile: ProfileName;
  /** Decides what they do. */
  readonly seed: string;
  readonly bots: readonly Bot[];
}

/** What bots need of the exchange that they trade on. */
export interface BotExchange {
  readonly state: State;
  readonly now: Millis;
  agents: Agents | null;
  submit(command: Command): Decision;
  watch(watcher: (sequence: number, at: Millis, events: readonly DomainEvent[]) => void): () => void;
  watchRewind(watcher: () => void): () => void;
}

/** The bots of one exchange: which run is a setting of its, like a clock's, and no part of its state. */
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
   * Lets the bots of a profile act from now on, in place of those that ran. Orders of those that both have stay, for what
   * they do next depends on nothing but the state; those of others are canceled.
   */
  start(profile: ProfileName, seed = this.#exchange.state.config.seed): void {
    this.detach();
    const exchange = this.#exchange;
    const terms: Profile = PROFILES[profile];
    const bots = botsOf(exchange.state.config.seed, terms);
    const names = new Set(bots.map(({ name }) => name));
    this.#cancelOrders(({ name }) => !names.has(name));
    const agenda = new Agenda(exchange, terms, seed, bots);
    const stops = [
      exchange.watch((_sequence, _at, events) => {
        // They decide in which markets bots trade.
        if (events.some(({ kind }) => Object.hasOwn(marketWrites, kind))) agenda.forget();
      }),
      exchange.watchRewind(() => agenda.forget()),
    ];
    this.#stopWatching = () => {
      for (const stop of stops) stop();
    };
    exchange.agents = agenda;
    this.#running = { profile, seed, bots };
  }

  /** Nobody acts any more, and no bot of any profile has an open order; answers how many were canceled. */
  end(): number {
    this.detach();
    return this.#cancelOrders(() => true);
  }

  /** Nobody acts any more; what rests, rests on. */
  detach(): void {
    this.#stopWatching();
    this.#exchange.agents = null;
    this.#running = null;
  }

  #cancelOrders(isMeant: (bot: Bot) => boolean): number {
    const { state } = this.#exchange;
    let canceled = 0;
    for (const bot of botsOf(state.config.seed, null)) {
      const open = findAccount(state, bot.address)?.openCount ?? 0;
      if (open === 0 || !isMeant(bot)) continue;
      this.#exchange.submit({ kind: "cancelAllOrders", address: bot.address });
      canceled += open;
    }
    return canceled;
  }
}

/** A bot in a market, with the moment of its next look. */
interface Seat {
  readonly bot: Bot;
  readonly market: number;
  next: number;
}

/** Who looks when: a function of seed, bot and market, so that nothing of it needs to be kept. */
class Agenda implements Agents {
  readonly #exchange: BotExchange;
  readonly #profile: Profile;
  readonly #bots: readonly Bot[];
  readonly #chance: Chance;
  readonly #fair: FairValue;
  /** By bot, then by market; null when the state is another. */
  #seats: readonly Seat[] | null = null;
  /** The next moment at which somebody looks, and who does, in the order of bots, then of markets. */
  #next = 0;
  #due: Seat[] = [];

  constructor(exchange: BotExchange, profile: Profile, seed: string, bots: readonly Bot[]) {
    this.#exchange = exchange;
    this.#profile = profile;
    this.#bots = bots;
    this.#chance = new Chance(seed);
    const everyone = botsOf(exchange.state.config.seed, null).map(({ address }) => address);
    this.#fair = new FairValue(this.#chance, profile.fair, everyone);
  }

  /** Works everything out again from the state, which is another, or has other markets. */
  forget(): void {
    this.#seats = null;
    this.#fair.forget();
  }

  nextAfter(now: Millis): Millis | null {
    if (this.#seats === null || this.#next <= now) this.#lookAhead(now);
    return this.#due.length === 0 ? null : millis(this.#next);
  }

  *act(): Generator<Command> {
    const { state } = this.#exchange;
    const at = millis(this.#next);
    for (const { bot, market: number } of this.#due) {
      const market = state.markets.get(number);
      const draws = this.#chance.of(STREAM.look, bot.number, number, at);
      const look = { state, at, bot, market, fair: this.#fair, chance: this.#chance, draws };
      for (const outcome of market.matching === "independent" ? OUTCOMES : YES_ALONE) {
        yield* act(new Desk(look, outcome), this.#profile);
      }
    }
  }

  /** Finds the next moment later than `now`, and who looks then. */
  #lookAhead(now: Millis): void {
    this.#seats ??= this.#seated(now);
    this.#next = Number.POSITIVE_INFINITY;
    this.#due = [];
    for (const seat of this.#seats) {
      if (seat.next <= now) seat.next = this.#lookAfter(now, seat.bot, seat.market);
      if (seat.next < this.#next) {
        this.#next = seat.next;
        this.#due = [seat];
      } else if (seat.next === this.#next) this.#due.push(seat);
    }
  }

  #seated(now: Millis): readonly Seat[] {
    const open: Market[] = [];
    for (const market of this.#exchange.state.markets) {
      if (market.status === "ACTIVE") open.push(market);
      if (open.length === MAX_BOT_MARKETS) break;
    }
    return this.#bots.flatMap((bot) =>
      open.map(({ number }) => ({ bot, market: number, next: this.#lookAfter(now, bot, number) })),
    );
  }

  /** The first look after a moment. Time is cut into stretches in which one look is expected; each has a stream of its own. */
  #lookAfter(now: Millis, { kind, number }: Bot, market: number): number {
    const { everyMs } = this.#profile[kind];
    for (let stretch = Math.floor(now / everyMs); ; stretch += 1) {
      const draws = this.#chance.of(STREAM.arrivals, number, market, stretch);
      let first = Number.POSITIVE_INFINITY;
      for (let left = draws.arrivals(); left > 0; left -= 1) {
        const at = Math.floor((stretch + draws.uniform()) * everyMs);
        if (at > now && at < first) first = at;
      }
      if (first !== Number.POSITIVE_INFINITY) return first;
    }
  }
}

const YES_ALONE: readonly Outcome[] = ["YES"];
