import type { Command } from "../../../src/core/commands.ts";
import { violations } from "../../../src/core/invariants/invariants.ts";
import { outcomeOf } from "../../../src/core/market.ts";
import type { State } from "../../../src/core/state.ts";
import type { SettlementMode } from "../../../src/core/terms.ts";
import { complement, FULL_PRICE, MAX_SIZE, millis, money, price, size } from "../../../src/core/units.ts";
import { Exchange } from "../../../src/engine/exchange.ts";
import { type Journal, noJournal } from "../../../src/engine/journal.ts";
import { UNSETTLED } from "../../support/config.ts";
import { TradeTally } from "../trade-tally.ts";

/** What an exchange is opened with for a benchmark. */
export interface FloorTerms {
  readonly markets: number;
  /** Price levels of every market. */
  readonly levels: number;
  /** Taker fee. */
  readonly feeRateBps: number;
  /** When blocks are mined; never, unless it is said. */
  readonly settlement?: SettlementMode;
  /** Where its commands are kept; nowhere, unless it is said. */
  readonly journal?: Journal;
}

/** How many accounts trade on a floor. */
export const TRADERS = 20;
/** What each account is given. */
const COLLATERAL = money(10_000_000_000_000);
/** Shares of both outcomes that all accounts are given in all markets together. */
const SHARES = 100_000_000_000;

/** The address of an account, 0 <= index < TRADERS. */
export const traderAt = (index: number): string => `0x${String(index).padStart(40, "0")}`;

/** A new exchange with complementary markets that are all alike, and accounts that can pay for whatever a flow asks. */
export function openFloor({
  markets,
  levels,
  feeRateBps,
  settlement = "manual",
  journal = noJournal,
}: FloorTerms): Exchange {
  const exchange = bareFloor(settlement, journal);
  const texts = { description: "", category: "", tags: [], endDate: null };
  demand(exchange, { kind: "createEvent", title: "All", slug: "all", ...texts });
  for (let market = 1; market <= markets; market++) {
    demand(exchange, {
      kind: "createMarket",
      event: 1,
      question: `Will it be number ${market}?`,
      slug: `number-${market}`,
      ...texts,
      tickSize: price(FULL_PRICE / (levels + 1)),
      minOrderSize: size(1),
      feeRateBps,
      matching: "complementary",
      selfTrade: "allow",
    });
  }
  const everyMarket = size(Math.min(MAX_SIZE, Math.floor(SHARES / TRADERS / markets)));
  for (let index = 0; index < TRADERS; index++) {
    const address = traderAt(index);
    demand(exchange, { kind: "fundAccount", address, collateral: COLLATERAL, tokens: [], everyMarket });
  }
  return exchange;
}

/** An exchange of the same terms before anything has happened. */
export function bareFloor(settlement: SettlementMode = "manual", journal: Journal = noJournal): Exchange {
  const faucet = { collateral: money(0), everyMarket: size(0) };
  const config = { seed: "1", faucet, credentials: "rotate", ...UNSETTLED, settlement } as const;
  return new Exchange(config, millis(0), journal);
}

/** Submits a command. @throws Error when it is refused. */
export function demand(exchange: Exchange, command: Command): void {
  const decision = exchange.submit(command);
  if (!decision.ok) throw new Error(`${JSON.stringify(command)}: ${JSON.stringify(decision.refusal)}`);
}

/** @throws Error when an invariant does not hold. */
export function assertInvariants(state: State): void {
  const broken = violations(state);
  if (broken.length > 0) throw new Error(`broken: ${JSON.stringify(broken)}`);
}

/** The trades of a state in terms of YES, as the book alone would have made them. */
export function tallyOf(state: State, levels: number): TradeTally {
  const tally = new TradeTally();
  const units = FULL_PRICE / (levels + 1);
  for (const { taker, maker, price, size } of state.trades) {
    const isMirrored = outcomeOf(state.orders.get(taker).token) === "NO";
    tally.add(taker, maker, (isMirrored ? complement(price) : price) / units, size);
  }
  return tally;
}
