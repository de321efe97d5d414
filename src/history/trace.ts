import { type PositionChange, positionTransaction } from "../api/position-transaction.ts";
import { CONTRACTS, NO_PARENT, TOKEN_UNITS } from "../core/chain/contracts.ts";
import { type Command, type CommandOf, isCausedByTime } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import { idOf, numberOf } from "../core/ids.ts";
import { marketOfToken, outcomeOf, tokenIdIn } from "../core/market.ts";
import type { State } from "../core/state.ts";
import type { Steps } from "../core/steps.ts";
import type { Address } from "../core/terms.ts";
import { type Millis, size } from "../core/units.ts";
import type { Exchange } from "../engine/exchange.ts";
import type { Entry } from "../engine/journal.ts";
import type { OrderState } from "../scenario/language/order-line.ts";

/** One accepted command of a history with what it caused. */
export interface TracedCommand extends Entry {
  readonly events: readonly DomainEvent[];
  /** The order that it placed as it stood when all that follows at once was done, and its number; null where it placed none. */
  readonly placed: { readonly order: number; readonly look: OrderState } | null;
  readonly before: ReturnType<typeof circumstancesOf>;
}

/** A history as it happened once more. */
export interface Trace {
  /** Where it began, and what the exchange knew then. */
  readonly start: Millis;
  readonly opening: State;
  readonly commands: readonly TracedCommand[];
  /** What the exchange knows at its end. */
  readonly end: State;
  /** What the last command has thrown; null where none has. */
  readonly thrown: unknown;
  /** Where the exchange first did otherwise than recorded; "more" where it did more than that in the end. */
  readonly astray: Entry | "more" | null;
}

/** How an exchange stands before a command: the settlement faults in force, and how many orders there are. */
const circumstancesOf = ({ expiries, chain, orders }: State) => ({
  /** Whether some order waits for its expiration. */
  isTimed: expiries.first() !== 0,
  faults: chain.faults,
  orders: orders.size,
});

/** Repeats commands on an exchange that stands where they began, a step for each. What throws is the last. */
export function* traceOf(exchange: Exchange, entries: readonly Entry[]): Steps<Trace> {
  const { state: opening, now: start } = exchange.snapshot();
  const commands: TracedCommand[] = [];
  const seen: Pick<TracedCommand, "at" | "events" | "before">[] = [];
  let before = circumstancesOf(exchange.state);
  let [astray, thrown]: [Trace["astray"], unknown] = [null, null];
  const unwatch = exchange.watch((_sequence, at, events) => {
    seen.push({ at, events, before });
    before = circumstancesOf(exchange.state);
  });
  for (const entry of entries) {
    yield;
    try {
      if (!repeat(exchange, entry, seen)) astray ??= entry;
    } catch (error) {
      thrown = error;
    }
    const { events, before: stood } = (thrown === null ? seen.shift() : undefined) ?? { events: [], before };
    commands.push({ ...entry, events, placed: placedIn(exchange.state, events), before: stood });
    if (thrown !== null) break;
  }
  unwatch();
  if (seen.length > 0 && thrown === null) astray ??= "more";
  return { start, opening, commands, end: exchange.state, thrown, astray };
}

/** Repeats one command with what follows; answers whether it did what was recorded, which is the first that was seen. */
function repeat(exchange: Exchange, { at, command }: Entry, seen: { readonly at: Millis }[]): boolean {
  exchange.advanceTo(at);
  if (isCausedByTime(command)) return seen[0]?.at === at;
  const isInTurn = seen.splice(0).length === 0;
  return exchange.submit(command).ok && seen.length > 0 && isInTurn;
}

function placedIn(state: State, events: readonly DomainEvent[]): TracedCommand["placed"] {
  const placed = events.find((event) => event.kind === "orderPlaced");
  if (placed === undefined) return null;
  const { status, matched, size, cancelReason: reason } = state.orders.get(placed.order);
  return { order: placed.order, look: { status, matched, size, reason } };
}

/** What a wallet does with its position in a market, by the market's number. */
export interface Position {
  readonly market: number;
  readonly change: PositionChange;
}

/** What a wallet's transaction asks of full sets, as a step of a scenario can say it; null when none can. */
export function positionIn(
  state: State,
  { call }: Pick<CommandOf<"sendTransaction">, "call">,
): Position | null {
  if (call.kind !== "split" && call.kind !== "merge" && call.kind !== "redeem") return null;
  const market = state.marketByConditionId.get(call.condition);
  if (market === undefined || call.parent !== NO_PARENT || call.collateral !== CONTRACTS.collateral)
    return null;
  const sets = call.kind === "redeem" ? call.indexSets : call.partition;
  if (sets.length !== 2 || !["1", "2"].every((set) => sets.includes(set))) return null;
  if (call.kind === "redeem") return { market, change: { kind: call.kind } };
  const shares = Number(call.amount) / TOKEN_UNITS;
  const isSayable = Number.isSafeInteger(shares) && shares > 0;
  return isSayable ? { market, change: { kind: call.kind, size: size(shares) } } : null;
}

/** The order that a settlement fault hits, by its number in the history; "next" where it was placed after that. */
export const orderOfFault = (order: number, { before }: TracedCommand): number | "next" =>
  order > before.orders ? "next" : order;

/** What came of a command: something, nothing (refused, or no effect), or it speaks of what was left out. */
export type Applied = "done" | "nothing" | "left out";

/** The events by which something gets its number. */
const MAKING: ReadonlySet<DomainEvent["kind"]> = new Set<DomainEvent["kind"]>([
  "orderPlaced",
  "marketCreated",
  "eventCreated",
  "settlementFaultSet",
]);

/**
 * Commands of a history in the terms of another exchange. What they make has other numbers and ids there: what a command
 * speaks of is what the same command made.
 */
export class Remapper {
  readonly exchange: Exchange;
  /** Numbers here by the numbers in the history. */
  readonly orders = new Map<number, number>();
  readonly markets = new Map<number, number>();
  readonly #events = new Map<number, number>();
  readonly #faults = new Map<number, number>();
  readonly #history: State;
  readonly #addressOf: (address: Address) => Address;

  /** `history` is what is known at the end of the history. */
  constructor(exchange: Exchange, history: State, addressOf = (address: Address) => address) {
    this.exchange = exchange;
    this.#history = history;
    this.#addressOf = addressOf;
  }

  get state(): State {
    return this.exchange.state;
  }

  /** Applies a command with the time before it. @throws whatever the exchange throws, which is a defect. */
  apply(traced: TracedCommand): Applied {
    this.exchange.advanceTo(traced.at);
    if (isCausedByTime(traced.command)) return "done";
    const own = this.own(traced);
    if (own === null) return "left out";
    const before = this.exchange.sequence;
    const decision = this.exchange.submit(own);
    if (!decision.ok || this.exchange.sequence === before) return "nothing";
    this.pair(traced.events, decision.events);
    return "done";
  }

  /** What a command made in the history is what it made here. */
  pair(events: readonly DomainEvent[], own: readonly DomainEvent[]): void {
    for (const theirs of events) {
      if (!MAKING.has(theirs.kind)) continue;
      const ours = own.find(({ kind }) => kind === theirs.kind);
      if (theirs.kind === "orderPlaced" && ours?.kind === "orderPlaced")
        this.orders.set(theirs.order, ours.order);
      else if (theirs.kind === "marketCreated" && ours?.kind === "marketCreated")
        this.markets.set(theirs.market, ours.market);
      else if (theirs.kind === "eventCreated" && ours?.kind === "eventCreated")
        this.#events.set(theirs.event, ours.event);
      else if (theirs.kind === "settlementFaultSet" && ours?.kind === "settlementFaultSet")
        this.#faults.set(theirs.number, ours.number);
    }
  }

  /** A command in the terms of this exchange; null when it speaks of what is not there. */
  own(traced: TracedCommand): Command | null {
    const { command } = traced;
    if ("address" in command)
      return this.#ofAccount({ ...command, address: this.#addressOf(command.address) });
    if ("market" in command)
      return withNumber(this.markets.get(command.market), (market) => ({ ...command, market }));
    switch (command.kind) {
      case "createMarket":
        return withNumber(this.#events.get(command.event), (event) => ({ ...command, event }));
      case "setSettlementFault": {
        if (command.order === undefined) return command;
        const hit = orderOfFault(command.order, traced);
        const order = hit === "next" ? this.state.orders.next : this.orders.get(hit);
        return withNumber(order, (own) => ({ ...command, order: own }));
      }
      case "endSettlementFault":
        if (command.number === null) return command;
        return withNumber(this.#faults.get(command.number), (number) => ({ ...command, number }));
      case "sendTransaction": {
        const position = positionIn(this.#history, command);
        if (position === null) return command;
        return withNumber(this.markets.get(position.market), (market) =>
          positionTransaction(
            this.#addressOf(command.from),
            this.state.markets.get(market).conditionId,
            position.change,
          ),
        );
      }
      default:
        return command;
    }
  }

  #ofAccount(command: Command): Command | null {
    switch (command.kind) {
      case "placeOrder": {
        const tokenId = this.#tokenId(command.tokenId);
        return tokenId === null ? null : { ...command, tokenId };
      }
      case "cancelOrder": {
        const order = this.orders.get(numberOf(this.#history.idPrefixes.order, command.orderId));
        return withNumber(order, (own) => ({ ...command, orderId: idOf(this.state.idPrefixes.order, own) }));
      }
      case "fundAccount": {
        const tokens = command.tokens.flatMap(({ tokenId, size }) => {
          const own = this.#tokenId(tokenId);
          return own === null ? [] : [{ tokenId: own, size }];
        });
        const isEmpty = tokens.length === 0 && command.tokens.length > 0;
        return isEmpty && command.collateral === 0 && command.everyMarket === 0
          ? null
          : { ...command, tokens };
      }
      default:
        return command;
    }
  }

  #tokenId(tokenId: string): string | null {
    const token = this.#history.tokenById.get(tokenId) ?? 0;
    const market = this.markets.get(marketOfToken(token));
    return market === undefined ? null : tokenIdIn(this.state.markets.get(market), outcomeOf(token));
  }
}

const withNumber = (own: number | undefined, command: (own: number) => Command): Command | null =>
  own === undefined ? null : command(own);
