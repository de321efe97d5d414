import { FROZEN_START } from "../../config.ts";
import type { SelfTradePolicy } from "../../core/book/book.ts";
import { type Stream, stream } from "../../core/random.ts";
import type { BalancePolicy, Matching, SettlementMode } from "../../core/terms.ts";

/** A market that a seed trades in. */
export interface MarketProfile {
  readonly slug: string;
  /** In price units of 0.0001 USDC. */
  readonly tick: number;
  /** The level around which orders are placed, in ticks. */
  readonly middle: number;
  readonly feeRateBps: number;
  readonly matching: Matching;
  readonly selfTrade: SelfTradePolicy;
}

/**
 * Where the exchange of a seed runs: in this process, kept by nothing or by a directory, or as the program in a process
 * of its own that is killed (SIGKILL) on the way and opened again.
 */
export type ServerKind = "unkept" | "kept" | "killed";

/** What a seed draws before anything else. */
export interface HttpProfile {
  readonly seed: string;
  readonly server: ServerKind;
  readonly durability: "process" | "power";
  /** When a server of the kind is killed: behind which shares of its commands, in percent, ascending. */
  readonly killedAt: readonly number[];
  readonly accounts: number;
  /** Connections; several may belong to one account. */
  readonly clients: number;
  readonly markets: readonly MarketProfile[];
  readonly settlement: SettlementMode;
  readonly balances: BalancePolicy;
  readonly numbers: "number" | "string";
  /** The most requests of one client that are under way at a time. */
  readonly pipelined: number;
  /** One in so many commands injects a fault of requests, advances the clock, sends its bytes in two parts; 0: none. */
  readonly faultOneIn: number;
  readonly clockOneIn: number;
  readonly cutOneIn: number;
  /** USDC and shares of each token that an account begins with. */
  readonly collateral: number;
  readonly shares: number;
}

const TICKS = [1_000, 100, 50, 25, 10, 1];
const HALF = 5_000;

/** The profile of a seed. */
export function httpProfile(seed: number): HttpProfile {
  const random = stream(String(seed), "fuzz/http/profile");
  const accounts = random.between(2, 6);
  const markets = Array.from({ length: random.between(1, 3) }, (_, index) => marketOf(random, index));
  return {
    seed: String(seed),
    server: serverOf(random),
    durability: random.pick(["process", "power"] as const),
    killedAt: Array.from({ length: random.between(1, 3) }, () => random.between(10, 90)).sort(
      (a, b) => a - b,
    ),
    accounts,
    clients: random.between(2, 8),
    markets,
    settlement: random.pick(["auto", "auto", "instant", "manual"] as const),
    balances: random.pick(["optimistic", "optimistic", "settled"] as const),
    numbers: random.oneIn(4) ? "string" : "number",
    pipelined: random.pick([1, 2, 4]),
    faultOneIn: random.pick([0, 0, 15, 40]),
    clockOneIn: random.pick([0, 10, 30]),
    cutOneIn: random.pick([0, 0, 12]),
    collateral: random.pick([25, 200, 5_000]),
    shares: random.pick([0, 20, 500]),
  };
}

/** A kill takes as long as several other seeds: it is left to one seed in 20. */
function serverOf(random: Stream): ServerKind {
  const drawn = random.below(20);
  return drawn === 0 ? "killed" : drawn <= 4 ? "kept" : "unkept";
}

function marketOf(random: Stream, index: number): MarketProfile {
  const tick = random.pick(TICKS);
  return {
    slug: `market-${index + 1}`,
    tick,
    middle: HALF / tick + random.between(-2, 2),
    feeRateBps: random.pick([0, 0, 20, 250]),
    matching: random.pick(["complementary", "complementary", "independent"] as const),
    selfTrade: random.pick(["allow", "cancel-taker", "cancel-maker", "cancel-both"] as const),
  };
}

/** A profile in one line. */
export function profileLine(profile: HttpProfile): string {
  const { server, durability, killedAt, accounts, clients, markets } = profile;
  const kept = server === "unkept" ? "" : ` ${durability}`;
  const parts = [
    server === "killed" ? `killed at ${killedAt.join(", ")}%${kept}` : `${server}${kept}`,
    `${accounts} accounts ${clients} clients`,
    markets
      .map(({ tick, feeRateBps, matching, selfTrade }) =>
        [tick / 10_000, matching, `self-trade ${selfTrade}`, `${feeRateBps} bps`].join(" "),
      )
      .join(" + "),
    `${profile.settlement} ${profile.balances}`,
    `${profile.pipelined} in flight`,
    rate("faults", profile.faultOneIn),
    rate("clock", profile.clockOneIn),
    rate("cut", profile.cutOneIn),
    `${profile.collateral} USDC ${profile.shares} shares`,
    ...(profile.numbers === "string" ? ["numbers as text"] : []),
  ];
  return parts.filter((part) => part !== "").join(", ");
}

const rate = (name: string, oneIn: number): string => (oneIn === 0 ? "" : `${name} 1/${oneIn}`);

/** When every exchange opens, in Unix ms. */
export const OPENED_AT = FROZEN_START;
