import type { Command, CommandOf } from "../../src/core/commands.ts";
import { idOf } from "../../src/core/ids.ts";
import { violations } from "../../src/core/invariants.ts";
import { outcomeOf } from "../../src/core/market.ts";
import type { State } from "../../src/core/state.ts";
import type { OrderType, SettlementMode, Side } from "../../src/core/terms.ts";
import { complement, FULL_PRICE, MAX_SIZE, millis, money, price, size } from "../../src/core/units.ts";
import { Exchange } from "../../src/engine/exchange.ts";
import { type Journal, noJournal } from "../../src/engine/journal.ts";
import { eventCommand, fundCommand, marketCommand } from "../support/commands.ts";
import { UNSETTLED } from "../support/config.ts";
import { BUY, CANCEL, type Flow, mulberry32, type SteadyChoice, steadyFlow, TradeTally } from "./flow.ts";

/** Options of an exchange for a benchmark. */
interface ExchangeTerms {
  /** 1 by default. */
  readonly markets?: number;
  /** Price levels of every market. */
  readonly levels: number;
  /** Taker fee; none by default. */
  readonly feeRateBps?: number;
  /** When blocks are mined; never by default. */
  readonly settlement?: SettlementMode;
  /** Journal of its commands; none by default. */
  readonly journal?: Journal;
}

/** Number of accounts that trade. */
export const TRADERS = 20;
/** Collateral of each account. */
const COLLATERAL = money(10_000_000_000_000);
/** Total of the shares of both outcomes of all accounts in all markets. */
const SHARES = 100_000_000_000;

/** Returns the address of an account, 0 <= index < TRADERS. */
export const traderAt = (index: number): string => `0x${String(index).padStart(40, "0")}`;

/** Opens an exchange with equal complementary markets and accounts with enough funds for any flow. */
export function openFundedExchange(terms: ExchangeTerms): Exchange {
  const { markets = 1, levels, feeRateBps = 0, settlement = "manual", journal = noJournal } = terms;
  const exchange = openEmptyExchange(settlement, journal);
  mustSubmit(exchange, eventCommand("all"));
  for (let market = 1; market <= markets; market++) {
    const tickSize = 1 / (levels + 1);
    const command = marketCommand(`number-${market}`, { tickSize, minOrderSize: 0.01, feeRateBps });
    mustSubmit(exchange, { ...command, question: `Will it be number ${market}?` });
  }
  const everyMarket = size(Math.min(MAX_SIZE, Math.floor(SHARES / TRADERS / markets)));
  for (let index = 0; index < TRADERS; index++) {
    mustSubmit(exchange, fundCommand(traderAt(index), { collateral: COLLATERAL, everyMarket }));
  }
  return exchange;
}

/** Creates an exchange without markets and accounts. */
export function openEmptyExchange(
  settlement: SettlementMode = "manual",
  journal: Journal = noJournal,
): Exchange {
  const faucet = { collateral: money(0), everyMarket: size(0) };
  const config = { seed: "1", faucet, credentials: "rotate", ...UNSETTLED, settlement } as const;
  return new Exchange(config, millis(0), journal);
}

/** Opens an exchange whose books a steady flow has filled. Returns it, and the flow's later commands. */
export function openSteady({ markets = 1, ...flow }: { readonly markets?: number } & SteadyChoice) {
  const exchange = openFundedExchange({ markets, levels: 999 });
  const source = new FlowCommands(steadyFlow(flow), exchange.state);
  submitAll(exchange, source.opening());
  return { exchange, source };
}

/** How `prepareFlow` plays a flow, besides the terms of the exchange. */
interface Replay extends Omit<ExchangeTerms, "levels"> {
  readonly bothOutcomes?: boolean;
  /** Called after every `every` commands, if it is not 0. */
  readonly pause?: (exchange: Exchange) => unknown;
  readonly every?: number;
}

/**
 * Prepares the commands of a flow; the run submits them and returns the exchange. Another bundle of this file has
 * `no-settlement.ts` in place of what settles trades.
 */
export function prepareFlow(flow: Flow, replay: Replay = {}): () => Exchange {
  const { bothOutcomes = false, pause, every = 0, ...terms } = replay;
  const exchange = openFundedExchange({ levels: flow.levels, ...terms });
  const commands = new FlowCommands(flow, exchange.state, bothOutcomes).take(flow.tape.length);
  return () => {
    let left = every;
    for (const command of commands) {
      mustSubmit(exchange, command);
      left -= 1;
      if (left !== 0) continue;
      pause?.(exchange);
      left = every;
    }
    return exchange;
  };
}

/** Submits a command. @throws Error if it is refused. */
export function mustSubmit(exchange: Exchange, command: Command): void {
  const decision = exchange.submit(command);
  if (!decision.ok) throw new Error(`${JSON.stringify(command)}: ${JSON.stringify(decision.refusal)}`);
}

/** Submits commands and returns the exchange. @throws Error if one is refused. */
export function submitAll(exchange: Exchange, commands: Iterable<Command>): Exchange {
  for (const command of commands) mustSubmit(exchange, command);
  return exchange;
}

/** An order that rests until it is filled, with price and size in units. */
export const gtcOrder = (
  address: string,
  tokenId: string,
  side: Side,
  limit: number,
  shares: number,
): CommandOf<"placeOrder"> => ({
  ...{ kind: "placeOrder", address, tokenId, side, orderType: "GTC", expiration: null },
  ...{ price: price(limit), size: size(shares) },
});

/** @throws Error if an invariant is broken. */
export function assertInvariants(state: State): void {
  const broken = violations(state);
  if (broken.length > 0) throw new Error(`broken: ${JSON.stringify(broken)}`);
}

/** Counts the trades of a state in terms of YES, as in the book. */
export function tallyOf(state: State, levels: number): TradeTally {
  const tally = new TradeTally();
  const units = FULL_PRICE / (levels + 1);
  for (const { taker, maker, price, size } of state.trades) {
    const isMirrored = outcomeOf(state.orders.get(taker).token) === "NO";
    tally.add(taker, maker, (isMirrored ? complement(price) : price) / units, size);
  }
  return tally;
}

const ORDER_TYPES: readonly OrderType[] = ["GTC", "FAK", "FOK"];

/**
 * Converts a flow to commands, with its orders distributed over the accounts. Each of several markets has the same flow:
 * first all openings, then one operation of a random market at a time.
 */
export class FlowCommands {
  readonly #flow: Flow;
  readonly #prefix: string;
  readonly #tokenIds: readonly (readonly [yes: string, no: string])[];
  /** Whether every second order is sent in terms of NO, which is equal in the book. */
  readonly #bothOutcomes: boolean;
  readonly #traders = Array.from({ length: TRADERS }, (_, index) => traderAt(index));
  readonly #below = mulberry32(0x5eed0003);
  /** By market: position in its tape. */
  readonly #positions: Int32Array;
  /** By market and order of its tape: number of the order in the exchange. */
  readonly #numbers: Int32Array;
  #next: number;

  /** @param state of the exchange before the first command. */
  constructor(flow: Flow, state: State, bothOutcomes = false) {
    this.#flow = flow;
    this.#prefix = state.idPrefixes.order;
    this.#tokenIds = [...state.markets].map(({ tokenIds }) => tokenIds);
    this.#bothOutcomes = bothOutcomes;
    this.#positions = new Int32Array(this.#tokenIds.length);
    this.#numbers = new Int32Array(this.#tokenIds.length * flow.tape.length);
    this.#next = state.orders.next;
  }

  /** Yields the commands that fill the books, market by market. */
  *opening(): Generator<Command> {
    for (let market = 0; market < this.#tokenIds.length; market++) {
      for (let at = 0; at < this.#flow.opening; at++) yield this.#commandIn(market);
    }
  }

  /** Returns the next commands as a list. @throws Error at the end of a tape. */
  take(count: number): Command[] {
    return Array.from({ length: count }, () => this.#commandIn(this.#below(this.#tokenIds.length)));
  }

  #commandIn(market: number): Command {
    const { tape, levels } = this.#flow;
    const at = this.#positions[market] as number;
    if (at >= tape.length) throw new Error(`market ${market} is at the end of its tape`);
    this.#positions[market] = at + 1;
    const id = tape.id[at] as number;
    const address = this.#traders[(id + market) % TRADERS] as string;
    const index = market * tape.length + id - 1;
    if (tape.kind[at] === CANCEL) {
      return { kind: "cancelOrder", address, orderId: idOf(this.#prefix, this.#numbers[index] as number) };
    }
    this.#numbers[index] = this.#next++;
    const isMirrored = this.#bothOutcomes && id % 2 === 0;
    const limit = price(((tape.tick[at] as number) * FULL_PRICE) / (levels + 1));
    const tokenId = this.#tokenIds[market]?.[isMirrored ? 1 : 0] as string;
    const side = (tape.side[at] === BUY) === isMirrored ? "SELL" : "BUY";
    const terms = [isMirrored ? complement(limit) : limit, tape.size[at] as number] as const;
    const orderType = ORDER_TYPES[tape.timeInForce[at] as number] as OrderType;
    return { ...gtcOrder(address, tokenId, side, ...terms), orderType };
  }
}
