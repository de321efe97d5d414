import { type SettlementFaultKind, type SettlementFaultTerms, unminedOf } from "../core/chain/chain.ts";
import { CONTRACTS, NO_PARENT, TOKEN_UNITS, UNLIMITED } from "../core/chain/contracts.ts";
import type { CallContent, ContractCall } from "../core/chain/transaction.ts";
import type { Command, CommandOf } from "../core/commands.ts";
import { idOf } from "../core/ids.ts";
import { type Market, tokenIdIn } from "../core/market.ts";
import { type Random, seededRandom } from "../core/random.ts";
import type { ExchangeConfig, State } from "../core/state.ts";
import {
  ORDER_TYPES,
  type Outcome,
  SELF_TRADE_POLICIES,
  type Side,
  WINNING_OUTCOMES,
} from "../core/terms.ts";
import { type Millis, millis, money, price, size } from "../core/units.ts";
import type { MarketRules } from "../scenario/language/declarations.ts";
import { marketCommand, SCENARIO_EVENT } from "../scenario/venue/venue.ts";

/** Usual frequency of each action that is not an order, relative to `ORDER_WEIGHT`. */
const WEIGHTS = {
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
  reorganize: 2,
  endMarket: 1,
  createMarket: 1,
  snapshot: 1,
  restore: 1,
  reopen: 1,
  approve: 2,
  replace: 8,
  steer: 24,
} as const;
type Action = keyof typeof WEIGHTS;
type CommandAction = "order" | Exclude<Action, "wait" | "snapshot" | "restore" | "reopen">;
export const ACTIONS = Object.keys(WEIGHTS) as Action[];
/** Actions of few histories: limited allowances, replacements of pending calls, and control of the chain. */
const RARE: ReadonlySet<Action> = new Set(["approve", "replace", "steer"]);
/** One in this many histories runs on a disk. */
const ON_DISK_ONE_IN = 20;
const TICKS = [1000, 100, 100, 50, 10, 1];
const FEES = [0, 0, 1, 77, 200, 9999, 10_000];
const FAULTS: readonly SettlementFaultKind[] = ["fail", "retry", "delay", "ghost", "gasSpike"];
const EXCHANGE_SEEDS = 64;

/** Settings of a history, drawn from its seed. Each leaves some actions out (swarm testing, Groce et al. 2012). */
export type FuzzProfile = Readonly<ReturnType<typeof profileOf>>;

/** Draws the profile of a seed. */
export function profileOf(seed: number) {
  const random = seededRandom(`${seed}`, "fuzz/profile");
  const weights: Record<Action, number> = { ...WEIGHTS };
  for (const action of ACTIONS) if (!RARE.has(action) && random.oneIn(3)) weights[action] = 0;
  const storage = random.oneIn(ON_DISK_ONE_IN) ? ("disk" as const) : ("memory" as const);
  const hasOrdersOnly = storage === "disk" && random.oneIn(2);
  const settlement = hasOrdersOnly
    ? "instant"
    : random.pick(["instant", "instant", "auto", "manual"] as const);
  if (settlement === "manual") weights.mine = WEIGHTS.mine;
  if (settlement === "instant") weights.reorganize = 0;
  if (storage === "disk") weights.reopen = WEIGHTS.reopen;
  else if (!random.oneIn(12)) weights.reopen = 0;
  // Few histories have faults because faults make blocks slow.
  if (!random.oneIn(3)) weights.fault = 0;
  // Drawn from streams of their own so that the other draws stay the same.
  if (!seededRandom(`${seed}`, "fuzz/approvals").oneIn(6)) weights.approve = 0;
  if (!seededRandom(`${seed}`, "fuzz/replace").oneIn(4)) weights.replace = 0;
  if (!seededRandom(`${seed}`, "fuzz/steer").oneIn(5)) weights.steer = 0;
  else
    for (const action of ["call", "mine", "reorganize"] as const)
      if (action !== "reorganize" || settlement !== "instant") weights[action] = WEIGHTS.steer;
  // Orders and cancels alone put more journal lines into one flush than any other mix.
  if (hasOrdersOnly)
    for (const action of ACTIONS) if (action !== "cancel" && action !== "reopen") weights[action] = 0;
  const config: ExchangeConfig = {
    seed: `${random.below(EXCHANGE_SEEDS)}`,
    faucet: {
      collateral: money(random.pick([0, 5_000_000, 1_000_000_000])),
      everyMarket: size(random.pick([0, 500, 5000])),
    },
    credentials: random.oneIn(4) ? "once" : "rotate",
    settlement,
    balances: random.oneIn(2) ? "optimistic" : "settled",
  };
  return {
    config,
    accounts: random.between(2, 5),
    markets: Array.from({ length: random.pick([1, 1, 2, 3]) }, () => drawMarketTerms(random)),
    orderTypes: drawSubset(random, ORDER_TYPES),
    /** Maximum distance of order prices from the middle price, in ticks. */
    maxDistance: random.pick([1, 2, 3, 5, 9, 400]),
    /** Whether buys are priced below the middle and sells above it, so that most of them rest. */
    hasSpread: random.oneIn(6),
    /** Whether accounts begin with so little that they must spend the proceeds of their trades. */
    hasLowFunds: random.oneIn(3),
    /** Largest usual size of an order, in 0.01 share. */
    maxSize: random.pick([3, 100, 1000, 20_000]),
    /** Frequency of each action relative to `ORDER_WEIGHT`; 0 for never. */
    weights: weights as Readonly<Record<Action, number>>,
    faults: drawSubset(random, FAULTS),
    /** In memory, or on a simulated disk that is reopened as after a crash. */
    storage,
    /** Whether the history is replayed at its end. */
    isReplayed: random.oneIn(8),
  };
}

const drawMarketTerms = (random: Random): MarketRules => ({
  tickSize: price(random.pick(TICKS)),
  minOrderSize: size(random.pick([1, 1, 3, 100])),
  feeRateBps: random.pick(FEES),
  matching: random.oneIn(3) ? "independent" : "complementary",
  selfTrade: random.pick(SELF_TRADE_POLICIES),
});

/** Draws about two thirds of the values, at least one. */
function drawSubset<T>(random: Random, all: readonly T[]): readonly T[] {
  const some = all.filter(() => !random.oneIn(3));
  return some.length > 0 ? some : [random.pick(all)];
}

export function profileText(profile: FuzzProfile): string {
  const { config, accounts, markets, orderTypes, weights, faults, storage } = profile;
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
    storage === "disk" ? "on disk" : "in memory",
  ].join(", ");
}

/** One step of a history. */
export type FuzzStep =
  | { readonly kind: "command"; readonly command: Command }
  | { readonly kind: "wait"; readonly to: Millis }
  | { readonly kind: "snapshot" | "restore" | "reopen" };

const ORDER_WEIGHT = 100;
/** In micro-USDC. */
const LOW_FUNDS = [500_000, 1_000_000, 3_000_000];
/** In milliseconds. */
const WAITS = [1, 499, 1000, 2000, 2001, 10_000];
/** Lifetimes of GTD orders, in milliseconds. */
const LIFETIMES = [1, 500, 1999, 2000, 5000, 60_000];

/** Draws the steps of a history from its seed and from the state of the exchange. */
export class Generator {
  readonly #profile: FuzzProfile;
  readonly #random: Random;
  readonly #totalWeight: number;

  constructor(seed: number, profile: FuzzProfile) {
    this.#profile = profile;
    this.#random = seededRandom(`${seed}`, "fuzz/steps");
    this.#totalWeight = ORDER_WEIGHT + ACTIONS.reduce((sum, action) => sum + profile.weights[action], 0);
  }

  /** Draws the commands that create an event, its markets, and funded accounts. */
  opening(): Command[] {
    const { accounts, markets } = this.#profile;
    return [
      SCENARIO_EVENT,
      ...markets.map((terms, index) => marketCommand({ ...terms, name: `m${index + 1}` }, 1)),
      ...Array.from({ length: accounts }, (_, index) => this.#initialFunds(addressAt(index))),
    ];
  }

  next(state: State, now: Millis): FuzzStep {
    const action = this.#action();
    if (action === "wait") return { kind: "wait", to: millis(now + this.#random.pick(WAITS)) };
    if (action === "snapshot" || action === "restore" || action === "reopen") return { kind: action };
    return { kind: "command", command: this.#commands[action](state, this.#address(), now) };
  }

  #action(): Action | "order" {
    let drawn = this.#random.below(this.#totalWeight) - ORDER_WEIGHT;
    if (drawn < 0) return "order";
    for (const action of ACTIONS) {
      drawn -= this.#profile.weights[action];
      if (drawn < 0) return action;
    }
    return "order";
  }

  /** Draws the command of each action, which an address sends if it needs a sender. */
  readonly #commands: Readonly<
    Record<CommandAction, (state: State, sender: string, now: Millis) => Command>
  > = {
    order: (state, sender, now) => this.#order(state, now, sender),
    badOrder: (state, sender, now) => this.#badOrder(this.#order(state, now, sender), now),
    cancel: (state) => this.#cancel(state, null),
    foreignCancel: (state, sender) => this.#cancel(state, sender),
    cancelAll: (_state, address) => ({ kind: "cancelAllOrders", address }),
    fund: (state, sender) => this.#fund(state, sender),
    derive: (_state, address) => ({ kind: "deriveCredentials", address }),
    call: (state, sender) => this.#call(state, sender),
    replace: (state, sender) => this.#replacement(state, sender),
    steer: (state, sender) => this.#steering(state, sender),
    approve: (_state, sender) => approvalCommand(this.#random, sender),
    mine: () => ({ kind: "mineBlocks", count: this.#random.between(1, 2) }),
    fault: (state) => this.#fault(state),
    reorganize: () => ({ kind: "reorganizeChain", depth: this.#random.between(1, 3) }),
    endMarket: (state) => {
      const isClosed = this.#random.oneIn(2);
      const { number: market } = this.#market(state);
      if (isClosed) return { kind: "closeMarket", market };
      return { kind: "resolveMarket", market, winningOutcome: this.#random.pick(WINNING_OUTCOMES) };
    },
    createMarket: ({ markets }) =>
      marketCommand({ ...drawMarketTerms(this.#random), name: `m${markets.next}` }, 1),
  };

  #address(): string {
    return addressAt(this.#random.below(this.#profile.accounts));
  }

  #market(state: State): Market {
    return state.markets.get(this.#random.between(1, state.markets.size));
  }

  #order(state: State, now: Millis, address: string): CommandOf<"placeOrder"> {
    const random = this.#random;
    const { orderTypes, maxDistance, hasSpread, maxSize } = this.#profile;
    const market = this.#market(state);
    const outcome: Outcome = random.oneIn(2) ? "YES" : "NO";
    const side: Side = random.oneIn(3) ? "SELL" : "BUY";
    const levels = 10_000 / market.tickSize;
    const isBid = (side === "BUY") === (outcome === "YES");
    const isAside = hasSpread && !random.oneIn(8);
    const low = isAside && !isBid ? 1 : -maxDistance;
    const high = isAside && isBid ? 0 : maxDistance;
    const drawnLevel = Math.floor(levels / 2) + random.between(low, high);
    const yesLevel = Math.min(levels - 1, Math.max(1, drawnLevel));
    const level = outcome === "YES" ? yesLevel : levels - yesLevel;
    const orderType = random.pick(orderTypes);
    return {
      kind: "placeOrder",
      address,
      tokenId: tokenIdIn(market, outcome),
      side,
      price: price(level * market.tickSize),
      size: size(market.minOrderSize + random.below(random.oneIn(20) ? maxSize * 50 : maxSize)),
      orderType,
      expiration: orderType === "GTD" ? millis(now + random.pick(LIFETIMES)) : null,
    };
  }

  /** Draws a wallet's call on the settlement chain. Most calls succeed. */
  #call(state: State, from: string): CommandOf<"sendTransaction"> {
    const random = this.#random;
    const market = this.#market(state);
    const to = addressAt(random.below(this.#profile.accounts + 1));
    const amount = String(random.pick(SIZES) * TOKEN_UNITS);
    const sets = { collateral: CONTRACTS.collateral, parent: NO_PARENT, condition: market.conditionId };
    const ids = [tokenIdIn(market, random.oneIn(2) ? "YES" : "NO")];
    const calls: readonly ContractCall[] = [
      { kind: "split", ...sets, partition: ["1", "2"], amount },
      { kind: "merge", ...sets, partition: ["1", "2"], amount },
      { kind: "redeem", ...sets, indexSets: ["1", "2"] },
      { kind: "transfer", to, amount },
      { kind: "safeTransfer", from, to, ids, amounts: [amount], isBatch: false },
    ];
    return sendTransaction(from, random.pick(calls));
  }

  /** Replaces a pending call, if possible one that a reorganization returned to the pool; sends another if none is pending. */
  #replacement(state: State, sender: string): CommandOf<"sendTransaction"> {
    const pending = unminedOf(state.chain).filter(({ content }) => content?.kind === "call");
    const returned = pending.filter(({ exception }) => exception?.effect);
    if (pending.length === 0) return this.#call(state, sender);
    const { content } = this.#random.pick(returned.length > 0 ? returned : pending);
    const { from, nonce, maxFeePerGas, maxPriorityFeePerGas } = content as CallContent;
    return {
      ...this.#call(state, from),
      nonce,
      maxFeePerGas: raised(maxFeePerGas),
      maxPriorityFeePerGas: raised(maxPriorityFeePerGas),
    };
  }

  /** Draws a command with which a test controls the chain. */
  #steering({ chain }: State, address: string): Command {
    const random = this.#random;
    switch (random.below(5)) {
      case 0: {
        const { content } = chain.transactions.find(chain.mined.find(chain.mined.size) ?? 0) ?? {};
        const wallet = content?.kind === "call" ? content.from : address;
        const mined = chain.wallets.get(wallet)?.mined ?? 0;
        const nonce = Math.max(0, mined + random.pick([-2, -1, -1, 1, 3]));
        return { kind: "setNonce", address: wallet, nonce };
      }
      case 1: {
        const transaction = Math.max(1, chain.transactions.size - random.below(4));
        return { kind: "dropTransaction", transaction };
      }
      case 2: {
        const mode = random.pick(["instant", "auto", "auto", "manual"] as const);
        return { kind: "setMining", mode, intervalMs: random.pick([1000, 2000, 30_000]) };
      }
      case 3:
        return { kind: "setBlockTerms", miner: null, gasLimit: random.pick([1, 30_000_000]) };
      default:
        return { kind: "setNextBaseFee", baseFee: random.pick([1, 3, 500]) * GWEI };
    }
  }

  #badOrder(order: CommandOf<"placeOrder">, now: Millis): CommandOf<"placeOrder"> {
    // Each with the fields of an order in place, because objects of many shapes are slow to copy.
    const flawed: readonly CommandOf<"placeOrder">[] = [
      { ...order, price: price(order.price === 9_999 ? 1 : order.price + 1) },
      { ...order, size: size(1) },
      { ...order, tokenId: "1" },
      { ...order, orderType: "GTD", expiration: now },
    ];
    return this.#random.pick(flawed);
  }

  /** Cancels one of the latest orders. `by` is the caller's address; null for the owner's. */
  #cancel({ orders, accounts, idPrefixes }: State, by: string | null): Command {
    const number = Math.max(1, orders.size - this.#random.below(12));
    const order = orders.find(number);
    const owner = order === undefined ? this.#address() : accounts.get(order.account).address;
    return { kind: "cancelOrder", address: by ?? owner, orderId: idOf(idPrefixes.order, number) };
  }

  #initialFunds(address: string): Command {
    const { hasLowFunds } = this.#profile;
    const amounts = hasLowFunds ? LOW_FUNDS : [1_000_000, 100_000_000, 5_000_000_000];
    const collateral = money(this.#random.pick(amounts));
    const everyMarket = size(this.#random.pick(hasLowFunds ? [0, 100] : [0, 300, 20_000]));
    return { kind: "fundAccount", address, collateral, tokens: [], everyMarket };
  }

  #fund(state: State, address: string): Command {
    const random = this.#random;
    const market = this.#market(state);
    const tokenId = tokenIdIn(market, random.oneIn(2) ? "YES" : "NO");
    return {
      kind: "fundAccount",
      address,
      collateral: money(random.pick([0, 7, 3_000_000])),
      tokens: random.oneIn(2) ? [{ tokenId, size: size(random.pick([0, 1, 2000])) }] : [],
      everyMarket: size(random.pick([0, 0, 10])),
    };
  }

  #fault({ orders }: State): Command {
    const random = this.#random;
    if (random.oneIn(3))
      return random.oneIn(2) ? { kind: "endSettlementFault", number: null } : { kind: "bumpFees" };
    const fault = random.pick(this.#profile.faults);
    const terms: SettlementFaultTerms = {
      fault,
      probability: random.pick([1_000_000, 500_000, 100_000]),
      times: random.pick([1, 1, 3, null]),
      blocks: fault === "delay" ? random.between(1, 3) : 0,
      baseFee: fault === "gasSpike" ? 200_000_000_000 : 0,
      reason: null,
      ...(random.oneIn(4) ? { order: random.between(1, orders.next + 3) } : {}),
    };
    return { kind: "setSettlementFault", ...terms };
  }
}

/** Returns the address of an account. The index after the last account gives an unused address. */
const addressAt = (index: number): string => `0x${(index + 1).toString(16).padStart(40, "0")}`;

const SIZES = [0, 1, 100, 777, 5000];
const GAS = 500_000;
const GWEI = 1_000_000_000;

/** Returns the fee of a replacement. */
const raised = (fee: number): number => Math.ceil((fee * 5) / 4);

const ALLOWANCES = [0, 300_000, 5_000_000, UNLIMITED];

/** Draws a wallet's approval of what contracts may transfer from it. */
function approvalCommand(random: Random, from: string): CommandOf<"sendTransaction"> {
  const spender = random.oneIn(3) ? CONTRACTS.conditionalTokens : CONTRACTS.exchange;
  const call: ContractCall = random.oneIn(3)
    ? { kind: "setApprovalForAll", operator: CONTRACTS.exchange, approved: !random.oneIn(3) }
    : { kind: "approve", spender, amount: String(random.pick(ALLOWANCES)) };
  return sendTransaction(from, call);
}

const sendTransaction = (from: string, call: ContractCall): CommandOf<"sendTransaction"> => ({
  kind: "sendTransaction",
  from,
  to: CONTRACTS.conditionalTokens,
  nonce: null,
  value: "0",
  gas: GAS,
  maxFeePerGas: 300 * GWEI,
  maxPriorityFeePerGas: GWEI,
  input: "0x",
  call,
  raw: null,
  hash: null,
});
