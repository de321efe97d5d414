import type { SelfTradePolicy } from "../core/book/book.ts";
import type { SettlementFaultKind } from "../core/chain/settlement-fault.ts";
import { type Stream, stream } from "../core/random.ts";
import type { ExchangeConfig } from "../core/state.ts";
import type { Matching, OrderType } from "../core/terms.ts";
import { money, type Price, price, type Size, size } from "../core/units.ts";

/** What a market of a history is created with. */
export interface MarketTerms {
  readonly tickSize: Price;
  readonly minOrderSize: Size;
  readonly feeRateBps: number;
  readonly matching: Matching;
  readonly selfTrade: SelfTradePolicy;
}

/** What may happen in a history besides orders. */
export const ACTIONS = [
  "cancel",
  "cancelAll",
  "foreignCancel",
  "badOrder",
  "fund",
  "derive",
  "wait",
  "call",
  "mine",
  "fault",
  "endMarket",
  "createMarket",
  "snapshot",
  "restore",
  "reopen",
] as const;
export type Action = (typeof ACTIONS)[number];

/** How a history is kept: in memory, or on a simulated disk that is reopened as after a crash. */
export type Keeping = "memory" | "disk";

/** What kind of history a seed makes: some things happen in it, others never do (swarm testing, Groce et al. 2012). */
export interface Profile {
  readonly config: ExchangeConfig;
  readonly accounts: number;
  readonly markets: readonly MarketTerms[];
  readonly orderTypes: readonly OrderType[];
  /** How many ticks from the middle orders may be. */
  readonly span: number;
  /** Whether buys come below the middle and sells above it, so that most of them rest. */
  readonly isApart: boolean;
  /** Whether accounts begin with so little that they must spend what they have just earned. */
  readonly isPoor: boolean;
  /** The largest usual size of an order, in 0.01 share. */
  readonly most: number;
  /** How often each action comes, orders being 100; 0 for never. */
  readonly weights: Readonly<Record<Action, number>>;
  readonly faults: readonly SettlementFaultKind[];
  readonly keeping: Keeping;
  /** Whether all of it is decided again at its end. */
  readonly isReplayed: boolean;
}

const WEIGHTS: Readonly<Record<Action, number>> = {
  cancel: 24,
  cancelAll: 2,
  foreignCancel: 2,
  badOrder: 4,
  fund: 4,
  derive: 2,
  wait: 14,
  call: 8,
  mine: 6,
  fault: 4,
  endMarket: 1,
  createMarket: 1,
  snapshot: 1,
  restore: 1,
  reopen: 1,
};
/** Every so many histories are kept on a disk. */
const ON_DISK = 20;
const REOPENED_ON_DISK = 1;
const TICKS = [1000, 100, 100, 50, 10, 1];
const FEES = [0, 0, 1, 77, 200, 9999, 10_000];
const POLICIES: readonly SelfTradePolicy[] = ["allow", "cancel-taker", "cancel-maker", "cancel-both"];
const FAULTS: readonly SettlementFaultKind[] = ["fail", "retry", "delay", "ghost", "gasSpike"];
const EXCHANGE_SEEDS = 64;

/** The profile of a seed. */
export function profileOf(seed: number): Profile {
  const random = stream(`${seed}`, "fuzz/profile");
  const weights = Object.fromEntries(
    ACTIONS.map((action) => [action, random.oneIn(3) ? 0 : WEIGHTS[action]]),
  ) as Record<Action, number>;
  const keeping = random.oneIn(ON_DISK) ? "disk" : "memory";
  const isOrdersAlone = keeping === "disk" && random.oneIn(2);
  const settlement = isOrdersAlone
    ? "instant"
    : random.pick(["instant", "instant", "auto", "manual"] as const);
  if (settlement === "manual") weights.mine = WEIGHTS.mine;
  if (keeping === "disk") weights.reopen = REOPENED_ON_DISK;
  else if (!random.oneIn(12)) weights.reopen = 0;
  // Faults are rare among histories: they make each block a long one.
  if (!random.oneIn(3)) weights.fault = 0;
  // So many lines wait for the disk together as never in other company.
  if (isOrdersAlone)
    for (const action of ACTIONS) if (action !== "cancel" && action !== "reopen") weights[action] = 0;
  return {
    config: {
      seed: `${random.below(EXCHANGE_SEEDS)}`,
      faucet: {
        collateral: money(random.pick([0, 5_000_000, 1_000_000_000])),
        everyMarket: size(random.pick([0, 500, 5000])),
      },
      credentials: random.oneIn(4) ? "once" : "rotate",
      settlement,
      balances: random.oneIn(2) ? "optimistic" : "settled",
    },
    accounts: random.between(2, 5),
    markets: Array.from({ length: random.pick([1, 1, 2, 3]) }, () => termsOf(random)),
    orderTypes: someOf(random, ["GTC", "GTD", "FOK", "FAK"]),
    span: random.pick([1, 2, 3, 5, 9, 400]),
    isApart: random.oneIn(6),
    isPoor: random.oneIn(3),
    most: random.pick([3, 100, 1000, 20_000]),
    weights,
    faults: someOf(random, FAULTS),
    keeping,
    isReplayed: random.oneIn(8),
  };
}

export const termsOf = (random: Stream): MarketTerms => ({
  tickSize: price(random.pick(TICKS)),
  minOrderSize: size(random.pick([1, 1, 3, 100])),
  feeRateBps: random.pick(FEES),
  matching: random.oneIn(3) ? "independent" : "complementary",
  selfTrade: random.pick(POLICIES),
});

/** About two thirds of some things, at least one. */
function someOf<T>(random: Stream, all: readonly T[]): readonly T[] {
  const some = all.filter(() => !random.oneIn(3));
  return some.length > 0 ? some : [random.pick(all)];
}

/** A profile in one line. */
export function profileText({
  config,
  accounts,
  markets,
  orderTypes,
  weights,
  faults,
  keeping,
}: Profile): string {
  const shown = markets.map(
    ({ tickSize, feeRateBps, matching, selfTrade }) =>
      `tick ${tickSize / 10_000} fee ${feeRateBps} ${matching} ${selfTrade}`,
  );
  const without = ACTIONS.filter((action) => weights[action] === 0);
  return [
    `${accounts} accounts`,
    ...shown,
    `${config.settlement}/${config.balances}`,
    orderTypes.join(" "),
    ...(weights.fault > 0 ? [`faults ${faults.join(" ")}`] : []),
    ...(without.length > 0 ? [`without ${without.join(" ")}`] : []),
    keeping === "disk" ? "on disk" : "in memory",
  ].join(", ");
}
