import { type PositionChange, positionTransaction } from "../api/contracts.ts";
import { CONTRACTS, NO_PARENT, TOKEN_UNITS } from "../core/chain/contracts.ts";
import { type Command, type CommandOf, isCausedByTime } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import { idOf, numberOf } from "../core/ids.ts";
import { marketOfToken, outcomeOf, tokenIdIn } from "../core/market.ts";
import type { Order } from "../core/order.ts";
import { resultOfCall } from "../core/rules/contract-calls.ts";
import type { State } from "../core/state.ts";
import type { Steps } from "../core/steps.ts";
import type { Address } from "../core/terms.ts";
import { type Millis, size } from "../core/units.ts";
import type { Exchange } from "../engine/exchange.ts";
import type { Accepted } from "../engine/journal.ts";
import type { OrderState } from "../scenario/language/order-line.ts";

/** An accepted command of a history with its effects. */
export interface TracedCommand extends Accepted {
  readonly events: readonly DomainEvent[];
  /** The order that it placed, with the order's state after the command and all that it caused; null if it placed none. */
  readonly placed: { readonly order: number; readonly state: OrderState } | null;
  readonly before: ReturnType<typeof conditionsIn>;
  /** Whether it is a wallet's call that would have reverted at once. */
  readonly reverts: boolean;
}

/** A replayed history. */
export interface Trace {
  /** Time and state at its start. */
  readonly start: Millis;
  readonly opening: State;
  readonly commands: readonly TracedCommand[];
  readonly end: State;
  /** What the last command threw; null if it did not throw. */
  readonly thrown: unknown;
  /** First entry whose replay differs from the record; "extra commands" if the replay only adds commands at the end. */
  readonly divergence: Accepted | "extra commands" | null;
}

/** State before a command, as far as its step in a scenario depends on it. */
const conditionsIn = ({ expiries, chain, orders }: State) => ({
  /** Whether an open order has an expiration. */
  hasExpiries: expiries.first() !== 0,
  faults: chain.faults,
  orders: orders.size,
});

/** Replays entries on an exchange in the state before them, a step for each. Stops after an entry that throws. */
export function* traceCommands(exchange: Exchange, entries: readonly Accepted[]): Steps<Trace> {
  const { state: opening, now: start } = exchange.snapshot();
  const commands: TracedCommand[] = [];
  const seen: Pick<TracedCommand, "at" | "events" | "before">[] = [];
  /** How many of `seen` are before those of the next entry: taking them from the array would cost its length. */
  let taken = 0;
  let next = conditionsIn(exchange.state);
  let [divergence, thrown]: [Trace["divergence"], unknown] = [null, null];
  const unwatch = exchange.watch((_sequence, at, events) => {
    seen.push({ at, events, before: next });
    next = conditionsIn(exchange.state);
  });
  for (const entry of entries) {
    yield;
    let reverts = false;
    try {
      exchange.advanceTo(entry.at);
      reverts = revertsIn(exchange.state, entry.command);
      if (isCausedByTime(entry.command)) {
        if (seen[taken]?.at !== entry.at) divergence ??= entry;
      } else {
        const first = seen.length;
        const isAccepted = exchange.submit(entry.command).ok && seen.length > first;
        if (!isAccepted || first > taken) divergence ??= entry;
        taken = first;
      }
    } catch (error) {
      thrown = error;
    }
    const own = thrown === null ? seen[taken] : undefined;
    if (own !== undefined) taken += 1;
    const { events, before } = own ?? { events: [], before: next };
    commands.push({ ...entry, events, placed: placedIn(exchange.state, events), before, reverts });
    if (thrown !== null) break;
  }
  unwatch();
  if (seen.length > taken && thrown === null) divergence ??= "extra commands";
  return { start, opening, commands, end: exchange.state, thrown, divergence };
}

/** Whether a command is a wallet's call that would revert now. */
function revertsIn(state: State, command: Command): boolean {
  if (command.kind !== "sendTransaction") return false;
  const { from, value, call } = command;
  return !resultOfCall(state, { from, value: BigInt(value) }, call).ok;
}

function placedIn(state: State, events: readonly DomainEvent[]): TracedCommand["placed"] {
  const placed = events.find((event) => event.kind === "orderPlaced");
  if (placed === undefined) return null;
  return { order: placed.order, state: orderStateOf(state.orders.get(placed.order)) };
}

export function orderStateOf({ status, matched, size, cancelReason: reason }: Order): OrderState {
  return { status, matched, size, reason };
}

/**
 * Returns the split, merge or redemption in a wallet's transaction, with the market's number; null if no step of a scenario
 * can express it.
 */
export function positionCallIn(
  state: State,
  { call }: Pick<CommandOf<"sendTransaction">, "call">,
): { readonly market: number; readonly change: PositionChange } | null {
  if (call.kind !== "split" && call.kind !== "merge" && call.kind !== "redeem") return null;
  const market = state.marketByConditionId.get(call.condition);
  if (market === undefined || call.parent !== NO_PARENT || call.collateral !== CONTRACTS.collateral)
    return null;
  const sets = call.kind === "redeem" ? call.indexSets : call.partition;
  if (sets.length !== 2 || !["1", "2"].every((set) => sets.includes(set))) return null;
  if (call.kind === "redeem") return { market, change: { kind: call.kind } };
  const shares = Number(call.amount) / TOKEN_UNITS;
  if (!Number.isSafeInteger(shares) || shares <= 0) return null;
  return { market, change: { kind: call.kind, size: size(shares) } };
}

/** Returns the number of the order that a settlement fault names; "next" if the order was placed after the command. */
export const faultedOrder = (order: number, before: { readonly orders: number }): number | "next" =>
  order > before.orders ? "next" : order;

/** Applies commands of a history to another exchange, where orders, markets, events and faults have other numbers. */
export class Remapper {
  readonly exchange: Exchange;
  /** Numbers on this exchange by the numbers in the history. */
  readonly orders = new Map<number, number>();
  readonly markets = new Map<number, number>();
  readonly #events = new Map<number, number>();
  readonly #faults = new Map<number, number>();
  readonly #history: State;
  readonly #addressOf: (address: Address) => Address;

  /** `history` is the state at the end of the history. */
  constructor(exchange: Exchange, history: State, addressOf = (address: Address) => address) {
    this.exchange = exchange;
    this.#history = history;
    this.#addressOf = addressOf;
  }

  get state(): State {
    return this.exchange.state;
  }

  /**
   * Advances time and applies a command. Returns whether it had an effect: not if it is refused, changes nothing, refers to
   * something that was not created here, or is a call that would revert only here. @throws whatever the exchange throws, which is a defect
   */
  apply(traced: TracedCommand): boolean {
    this.exchange.advanceTo(traced.at);
    if (isCausedByTime(traced.command)) return true;
    const command = this.remap(traced);
    if (command === null) return false;
    // The step of a scenario tries a call, and does not send one that would revert.
    if (!traced.reverts && revertsIn(this.state, command)) return false;
    const before = this.exchange.sequence;
    const decision = this.exchange.submit(command);
    if (!decision.ok || this.exchange.sequence === before) return false;
    this.link(traced.events, decision.events);
    return true;
  }

  /** Links the numbers created by a command in the history to those that it created here. */
  link(recorded: readonly DomainEvent[], events: readonly DomainEvent[]): void {
    for (const theirs of recorded) {
      const ours = events.find(({ kind }) => kind === theirs.kind);
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

  /** Returns a command with the numbers and ids of this exchange; null if it refers to something not created here. */
  remap(traced: TracedCommand): Command | null {
    const { command: given } = traced;
    const command: Command =
      "address" in given ? { ...given, address: this.#addressOf(given.address) } : given;
    if ("market" in command)
      return withNumber(this.markets.get(command.market), (market) => ({ ...command, market }));
    switch (command.kind) {
      case "placeOrder": {
        const tokenId = this.#tokenId(command.tokenId);
        return tokenId === null ? null : { ...command, tokenId };
      }
      case "cancelOrder": {
        const order = this.orders.get(numberOf(this.#history.idPrefixes.order, command.orderId));
        const { order: prefix } = this.state.idPrefixes;
        return withNumber(order, (number) => ({ ...command, orderId: idOf(prefix, number) }));
      }
      case "fundAccount": {
        const tokens = command.tokens.flatMap(({ tokenId, size }) => {
          const mapped = this.#tokenId(tokenId);
          return mapped === null ? [] : [{ tokenId: mapped, size }];
        });
        const isEmpty = tokens.length === 0 && command.tokens.length > 0;
        if (isEmpty && command.collateral === 0 && command.everyMarket === 0) return null;
        return { ...command, tokens };
      }
      case "createMarket":
        return withNumber(this.#events.get(command.event), (event) => ({ ...command, event }));
      case "setSettlementFault": {
        if (command.order === undefined) return command;
        const faulted = faultedOrder(command.order, traced.before);
        const number = faulted === "next" ? this.state.orders.next : this.orders.get(faulted);
        return withNumber(number, (order) => ({ ...command, order }));
      }
      case "endSettlementFault":
        if (command.number === null) return command;
        return withNumber(this.#faults.get(command.number), (number) => ({ ...command, number }));
      case "sendTransaction": {
        const position = positionCallIn(this.#history, command);
        if (position === null) return command;
        const from = this.#addressOf(command.from);
        return withNumber(this.markets.get(position.market), (market) =>
          positionTransaction(from, this.state.markets.get(market).conditionId, position.change),
        );
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

const withNumber = (number: number | undefined, build: (number: number) => Command): Command | null =>
  number === undefined ? null : build(number);

/** Returns the market of an event; null if it does not belong to a single market. */
export function marketOfEvent(event: DomainEvent, { orders }: State): number | null {
  if ("market" in event) return event.market;
  // A fault may be set for an order that is not placed yet.
  if (!("order" in event) || event.kind === "settlementFaultSet") return null;
  return marketOfToken(orders.get(event.order).token);
}
