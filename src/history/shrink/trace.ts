import { positionTransaction } from "../../api/position-transaction.ts";
import { type Command, type CommandOf, isCausedByTime } from "../../core/commands.ts";
import { idOf, numberOf } from "../../core/ids.ts";
import { marketOfToken, outcomeOf, tokenIdIn } from "../../core/market.ts";
import type { State } from "../../core/state.ts";
import type { Millis } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import type { Entry, RefusedEntry } from "../../engine/journal.ts";
import { type Position, positionIn } from "../record/observed-session.ts";

/** What one entry of a history made, by the numbers that it had there; 0 for nothing. */
interface Made {
  readonly order: number;
  readonly market: number;
  readonly event: number;
  readonly fault: number;
}

/** What one entry of a history speaks of, by the numbers that it had there. */
interface References {
  /** The order that is canceled, or whose settlement a fault hits; 0 for none, or for the order that is placed next. */
  readonly order: number;
  /** Token numbers: of an order, or of each funding in shares; 0 where there was no such token. */
  readonly tokens: readonly number[];
  /** What a wallet does with its position in a market; null of everything else. */
  readonly position: Position | null;
}

/** One thing that was done, in terms that hold also when others are left out. */
export interface TracedCommand {
  /** In the history; that of the first of several that time alone caused at one moment. */
  readonly sequence: number;
  readonly at: Millis;
  /** Null where time alone passed. */
  readonly command: Command | null;
  readonly made: Made;
  readonly references: References;
}

const NO_COMMAND_RESULT: Made = { order: 0, market: 0, event: 0, fault: 0 };
const NO_REFERENCES: References = { order: 0, tokens: [], position: null };

/** Repeats the entries of a history, and answers each with what it made. What throws is the last. */
export function traceOf(exchange: Exchange, entries: readonly Entry[]): TracedCommand[] {
  const trace: TracedCommand[] = [];
  for (const { sequence, at, command } of entries) {
    if (isCausedByTime(command) && trace.at(-1)?.at === at) continue;
    const before = counts(exchange.state);
    let isBroken = false;
    try {
      exchange.advanceTo(at);
      if (!isCausedByTime(command)) exchange.submit(command);
    } catch {
      isBroken = true;
    }
    const after = isBroken ? before : counts(exchange.state);
    const made = isCausedByTime(command) ? NO_COMMAND_RESULT : madeBetween(before, after);
    const references = referencesOf(exchange.state, command);
    trace.push({ sequence, at, command: isCausedByTime(command) ? null : command, made, references });
    if (isBroken) break;
  }
  return trace;
}

/** A request that was refused at the end of a history, as the command that it would have been. */
export const refusedCommand = (
  state: State,
  { sequence, at }: RefusedEntry,
  command: Command,
): TracedCommand => ({
  sequence: sequence + 1,
  at,
  command,
  made: NO_COMMAND_RESULT,
  references: referencesOf(state, command),
});

const counts = ({ orders, markets, events, chain }: State): Made => ({
  order: orders.size,
  market: markets.size,
  event: events.size,
  fault: chain.faultsSet,
});

function madeBetween(before: Made, after: Made): Made {
  const made = (key: keyof Made): number => (after[key] > before[key] ? after[key] : 0);
  return { order: made("order"), market: made("market"), event: made("event"), fault: made("fault") };
}

function referencesOf(state: State, command: Command): References {
  switch (command.kind) {
    case "cancelOrder":
      return { ...NO_REFERENCES, order: numberOf(state.idPrefixes.order, command.orderId) };
    case "setSettlementFault":
      return { ...NO_REFERENCES, order: state.orders.find(command.order ?? 0)?.number ?? 0 };
    case "placeOrder":
      return { ...NO_REFERENCES, tokens: [state.tokenById.get(command.tokenId) ?? 0] };
    case "fundAccount":
      return {
        ...NO_REFERENCES,
        tokens: command.tokens.map(({ tokenId }) => state.tokenById.get(tokenId) ?? 0),
      };
    case "sendTransaction":
      return { ...NO_REFERENCES, position: positionIn(state, command) };
    default:
      return NO_REFERENCES;
  }
}

/** What came of a command: something, nothing (refused, or no effect), or it speaks of what was left out. */
export type Applied = "done" | "nothing" | "left out";

/**
 * Some commands of a history applied to a fresh exchange. Whatever they made has other numbers and ids there: what a command
 * speaks of is what the same command made.
 */
export class Remapper {
  readonly exchange: Exchange;
  readonly #orders = new Map<number, number>();
  readonly #markets = new Map<number, number>();
  readonly #events = new Map<number, number>();
  readonly #faults = new Map<number, number>();

  constructor(exchange: Exchange) {
    this.exchange = exchange;
  }

  get state(): State {
    return this.exchange.state;
  }

  /** The number here of an order of the history; undefined where it was not placed. */
  orderOf(number: number): number | undefined {
    return this.#orders.get(number);
  }

  /** @throws whatever the exchange throws, which is a defect. */
  apply({ at, command, made, references }: TracedCommand): Applied {
    this.exchange.advanceTo(at);
    if (command === null) return "done";
    const own = this.#own(command, references);
    if (own === null) return "left out";
    const { orders, markets, events, chain } = this.state;
    const next = [orders.next, markets.next, events.next, chain.faultsSet + 1] as const;
    const before = this.exchange.sequence;
    const decision = this.exchange.submit(own);
    if (!decision.ok || this.exchange.sequence === before) return "nothing";
    this.#note(made, next);
    return "done";
  }

  /** What a command would submit here; null when it speaks of what is not there. */
  ownCommand({ command, references }: TracedCommand): Command | null {
    return command === null ? null : this.#own(command, references);
  }

  #note(made: Made, [order, market, event, fault]: readonly [number, number, number, number]): void {
    if (made.order > 0) this.#orders.set(made.order, order);
    if (made.market > 0) this.#markets.set(made.market, market);
    if (made.event > 0) this.#events.set(made.event, event);
    if (made.fault > 0) this.#faults.set(made.fault, fault);
  }

  /** A command in the terms of this exchange; null when it speaks of what is not there. */
  #own(command: Command, references: TracedCommand["references"]): Command | null {
    switch (command.kind) {
      case "createMarket": {
        const event = this.#events.get(command.event);
        return event === undefined ? null : { ...command, event };
      }
      case "closeMarket":
      case "resolveMarket": {
        const market = this.#markets.get(command.market);
        return market === undefined ? null : { ...command, market };
      }
      case "placeOrder": {
        const tokenId = this.#tokenId(references.tokens[0] ?? 0);
        return tokenId === null ? null : { ...command, tokenId };
      }
      case "fundAccount":
        return this.#funding(command, references.tokens);
      case "cancelOrder": {
        const order = this.#orders.get(references.order);
        return order === undefined ? null : { ...command, orderId: idOf(this.state.idPrefixes.order, order) };
      }
      case "setSettlementFault": {
        if (command.order === undefined) return command;
        const order = references.order === 0 ? this.state.orders.next : this.#orders.get(references.order);
        return order === undefined ? null : { ...command, order };
      }
      case "endSettlementFault": {
        if (command.number === null) return command;
        const number = this.#faults.get(command.number);
        return number === undefined ? null : { ...command, number };
      }
      case "sendTransaction": {
        if (references.position === null) return command;
        const market = this.#markets.get(references.position.market);
        if (market === undefined) return null;
        const { conditionId } = this.state.markets.get(market);
        return positionTransaction(command.from, conditionId, references.position.change);
      }
      default:
        return command;
    }
  }

  #funding(command: CommandOf<"fundAccount">, tokens: readonly number[]): Command | null {
    const own = command.tokens.flatMap(({ size }, index) => {
      const tokenId = this.#tokenId(tokens[index] ?? 0);
      return tokenId === null ? [] : [{ tokenId, size }];
    });
    const isEmpty = own.length === 0 && command.tokens.length > 0;
    return isEmpty && command.collateral === 0 && command.everyMarket === 0
      ? null
      : { ...command, tokens: own };
  }

  #tokenId(token: number): string | null {
    const market = this.#markets.get(marketOfToken(token));
    return market === undefined ? null : tokenIdIn(this.state.markets.get(market), outcomeOf(token));
  }
}
