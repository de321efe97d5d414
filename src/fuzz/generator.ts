import type { SettlementFaultTerms } from "../core/chain/settlement-fault.ts";
import type { Command, CommandOf } from "../core/commands.ts";
import { idOf } from "../core/ids.ts";
import { type Market, tokenIdIn } from "../core/market.ts";
import { type Stream, stream } from "../core/random.ts";
import type { State } from "../core/state.ts";
import type { Outcome, Side } from "../core/terms.ts";
import { type Millis, millis, money, price, size } from "../core/units.ts";
import { callCommand } from "./call-command.ts";
import { ACTIONS, type Action, type MarketTerms, type Profile, termsOf } from "./profile.ts";

/** One thing that happens in a history: a command, time that passes, or a way back to an earlier moment. */
export type Step =
  | { readonly kind: "command"; readonly command: Command }
  | { readonly kind: "wait"; readonly to: Millis }
  | { readonly kind: "snapshot" | "restore" | "reopen" };

const ORDERS = 100;
/** Micro-USDC. */
const POOR = [500_000, 1_000_000, 3_000_000];
const WAITS = [1, 499, 1000, 2000, 2001, 10_000];
const LIVES = [1, 500, 1999, 2000, 5000, 60_000];

/** Draws the steps of a history, one after another, from its seed and from what stands on the exchange. */
export class Generator {
  readonly #profile: Profile;
  readonly #random: Stream;
  readonly #total: number;

  constructor(seed: number, profile: Profile) {
    this.#profile = profile;
    this.#random = stream(`${seed}`, "fuzz/steps");
    this.#total = ORDERS + ACTIONS.reduce((sum, action) => sum + profile.weights[action], 0);
  }

  /** What happens before anything else: an event, its markets, and accounts with funds. */
  opening(): Command[] {
    const { accounts, markets } = this.#profile;
    return [
      { kind: "createEvent", title: "E", slug: "e", description: "", category: "", tags: [], endDate: null },
      ...markets.map((terms, index) => marketCommand(terms, index + 1)),
      ...Array.from({ length: accounts }, (_, index) => this.#funds(addressAt(index))),
    ];
  }

  next(state: State, now: Millis): Step {
    const action = this.#action();
    switch (action) {
      case "wait":
        return { kind: "wait", to: millis(now + this.#random.pick(WAITS)) };
      case "snapshot":
      case "restore":
      case "reopen":
        return { kind: action };
      default:
        return { kind: "command", command: this.#command(action, state, now) };
    }
  }

  #action(): Action | "order" {
    let drawn = this.#random.below(this.#total) - ORDERS;
    if (drawn < 0) return "order";
    for (const action of ACTIONS) {
      drawn -= this.#profile.weights[action];
      if (drawn < 0) return action;
    }
    return "order";
  }

  #command(
    action: Exclude<Action, "wait" | "snapshot" | "restore" | "reopen"> | "order",
    state: State,
    now: Millis,
  ): Command {
    const random = this.#random;
    const address = this.#address();
    switch (action) {
      case "order":
        return this.#order(state, now, address);
      case "badOrder":
        return this.#badOrder(this.#order(state, now, address), now);
      case "cancel":
        return this.#cancel(state, null);
      case "foreignCancel":
        return this.#cancel(state, address);
      case "cancelAll":
        return { kind: "cancelAllOrders", address };
      case "fund":
        return this.#grant(state, address);
      case "derive":
        return { kind: "deriveCredentials", address };
      case "call":
        return callCommand(
          random,
          address,
          this.#market(state),
          addressAt(random.below(this.#profile.accounts + 1)),
        );
      case "mine":
        return { kind: "mineBlocks", count: random.between(1, 2) };
      case "fault":
        return this.#fault();
      case "endMarket":
        return random.oneIn(2)
          ? { kind: "closeMarket", market: this.#market(state).number }
          : {
              kind: "resolveMarket",
              market: this.#market(state).number,
              winningOutcome: random.pick(["YES", "NO", "SPLIT"] as const),
            };
      case "createMarket":
        return marketCommand(termsOf(random), state.markets.next);
    }
  }

  #address(): string {
    return addressAt(this.#random.below(this.#profile.accounts));
  }

  #market(state: State): Market {
    return state.markets.get(this.#random.between(1, state.markets.size));
  }

  #order(state: State, now: Millis, address: string): CommandOf<"placeOrder"> {
    const random = this.#random;
    const { orderTypes, span, isApart, most } = this.#profile;
    const market = this.#market(state);
    const outcome: Outcome = random.oneIn(2) ? "YES" : "NO";
    const side: Side = random.oneIn(3) ? "SELL" : "BUY";
    const levels = 10_000 / market.tickSize;
    const isBid = (side === "BUY") === (outcome === "YES");
    const [low, high] = isApart && !random.oneIn(8) ? (isBid ? [-span, 0] : [1, span]) : [-span, span];
    const middle = Math.floor(levels / 2) + random.between(low, high);
    const yesLevel = Math.min(levels - 1, Math.max(1, middle));
    const level = outcome === "YES" ? yesLevel : levels - yesLevel;
    const orderType = random.pick(orderTypes);
    return {
      kind: "placeOrder",
      address,
      tokenId: tokenIdIn(market, outcome),
      side,
      price: price(level * market.tickSize),
      size: size(market.minOrderSize + random.below(random.oneIn(20) ? most * 50 : most)),
      orderType,
      expiration: orderType === "GTD" ? millis(now + random.pick(LIVES)) : null,
    };
  }

  #badOrder(order: CommandOf<"placeOrder">, now: Millis): CommandOf<"placeOrder"> {
    switch (this.#random.below(4)) {
      case 0:
        return { ...order, price: price(order.price === 9_999 ? 1 : order.price + 1) };
      case 1:
        return { ...order, size: size(1) };
      case 2:
        return { ...order, tokenId: "1" };
      default:
        return { ...order, orderType: "GTD", expiration: now };
    }
  }

  /** Of one of the latest orders, by its owner or by somebody. */
  #cancel({ orders, accounts, idPrefixes }: State, by: string | null): Command {
    const number = Math.max(1, orders.size - this.#random.below(12));
    const order = orders.find(number);
    const owner = order === undefined ? this.#address() : accounts.get(order.account).address;
    return { kind: "cancelOrder", address: by ?? owner, orderId: idOf(idPrefixes.order, number) };
  }

  #funds(address: string): Command {
    const { isPoor } = this.#profile;
    const collateral = money(this.#random.pick(isPoor ? POOR : [1_000_000, 100_000_000, 5_000_000_000]));
    const everyMarket = size(this.#random.pick(isPoor ? [0, 100] : [0, 300, 20_000]));
    return { kind: "fundAccount", address, collateral, tokens: [], everyMarket };
  }

  #grant(state: State, address: string): Command {
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

  #fault(): Command {
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
    };
    return { kind: "setSettlementFault", ...terms };
  }
}

/** The address of a history's account; the one behind the last has nothing. */
export const addressAt = (index: number): string => `0x${(index + 1).toString(16).padStart(40, "0")}`;

const marketCommand = (terms: MarketTerms, number: number): CommandOf<"createMarket"> => ({
  kind: "createMarket",
  event: 1,
  question: `M${number}`,
  slug: `m${number}`,
  description: "",
  category: "",
  tags: [],
  endDate: null,
  ...terms,
});
