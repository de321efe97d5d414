import { createECDH } from "node:crypto";
import { sha256 } from "@noble/hashes/sha2";
import { keccak_256 } from "@noble/hashes/sha3";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils";
import { ASK, type BookDirection } from "../core/book/book.ts";
import type { Stream } from "../core/random.ts";
import type { Outcome } from "../core/terms.ts";
import { FULL_PRICE, size, USDC_UNITS } from "../core/units.ts";
import type { WorldMarket, WorldTrader } from "./world.ts";
import type { WorldOrder } from "./world-orders.ts";

/** Order n of the group of secp256k1 (SEC 2, section 2.4.1); private keys are from 1 to n - 1. */
const GROUP_ORDER = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
const ZERO = "0".repeat(64);

/** Returns 32 bytes in lower-case hex. The key is public: never use it for value on a real chain. */
export function devPrivateKey(seed: string, index: number): `0x${string}` {
  return keyOf(`clobsim/dev-account/${index}/0/${seed}`);
}

/** Returns the private key of a named account of scenarios, the same for every seed. */
export function namedPrivateKey(name: string): `0x${string}` {
  return keyOf(`clobsim/wallet/0/${name}`);
}

/** All but one in 2^127 hashes are private keys. */
const keyOf = (text: string): `0x${string}` => `0x${bytesToHex(sha256(text))}`;

/** Whether 64 lower-case hex digits are a private key of secp256k1. */
export const isPrivateKey = (hex: string): boolean => hex > ZERO && hex < GROUP_ORDER;

/** Returns the last 20 bytes of the Keccak-256 of the public key, in lower-case hex. @throws Error if the key is invalid. */
export function devAddress(privateKey: `0x${string}`): `0x${string}` {
  const pair = createECDH("secp256k1");
  pair.setPrivateKey(hexToBytes(privateKey.slice(2)));
  const point = pair.getPublicKey().subarray(1);
  return `0x${bytesToHex(keccak_256(point).subarray(12))}`;
}

/** Returns the address of a trader of a world: a hash, so that its key is unknown. */
function traderAddress(seed: string, index: number): `0x${string}` {
  return `0x${bytesToHex(sha256(`clobsim/trader/${index}/${seed}`).subarray(12))}`;
}

export type Activity = "usual" | "busy";

/** Makers quote and never cross the spread; takers cross it. */
export type Role = "maker" | "taker";

type Assignment = Pick<WorldOrder, "trader" | "side" | "outcome" | "size">;

const MAKERS = 12;
const TAKERS = 28;
const MAKER_SHARES = 20_000;
const TAKER_SHARES = 5000;
/** In a world of more markets, traders have a tenth of the shares, so that a billion USDC is enough. */
const MAX_MARKETS_WITH_FULL_SHARES = 1000;
const TRADERS = MAKERS + TAKERS;

/** Returns the shares of both outcomes that a trader has in every market; `markets` is their number. */
const sharesOf = (trader: number, markets: number): WorldTrader["shares"] =>
  (trader < MAKERS ? MAKER_SHARES : TAKER_SHARES) / (markets > MAX_MARKETS_WITH_FULL_SHARES ? 10 : 1);

/** Assigns orders to traders, so that no trader sells more shares than it has, or trades with itself. */
export class TraderAssignment {
  readonly #random: Stream;
  readonly #isMirrored: boolean;
  readonly #markets: number;
  readonly #firstMaker: number;
  readonly #makers: number;
  readonly #firstTaker: number;
  readonly #takers: number;
  readonly #sold = { YES: new Float64Array(TRADERS), NO: new Float64Array(TRADERS) };
  readonly #resting = new Set<number>();

  /** `isMirrored`: one book serves both outcomes, so that a sale of one can be a purchase of the other. */
  constructor(random: Stream, isMirrored: boolean, activity: Activity, markets: number) {
    this.#random = random;
    this.#isMirrored = isMirrored;
    this.#markets = markets;
    this.#firstMaker = random.below(MAKERS);
    this.#makers = isMirrored ? random.between(3, 6) : MAKERS;
    this.#firstTaker = random.below(TAKERS);
    this.#takers = isMirrored && activity === "usual" ? random.between(8, 12) : TAKERS;
  }

  /** Whether another taker's remainder may rest. */
  get mayRest(): boolean {
    return this.#resting.size < this.#takers / 2;
  }

  rests(trader: number): void {
    if (trader >= MAKERS) this.#resting.add(trader);
  }

  /** Assigns an order in the book of `outcome`. Its size is reduced if it must be a sale and shares run out. */
  assign(role: Role, direction: BookDirection, outcome: Outcome, wanted: number): Assignment {
    const trader = this.#pick(role);
    const other = outcome === "YES" ? "NO" : "YES";
    const [sold, bought]: readonly [Outcome, Outcome] =
      direction === ASK ? [outcome, other] : [other, outcome];
    if (!this.#isMirrored && direction === ASK) {
      const seller = this.#sellable(trader, outcome) >= wanted ? trader : this.#bestSeller(role, outcome);
      return this.#selling(seller, outcome, Math.min(wanted, this.#sellable(seller, outcome)));
    }
    const prefersSale = this.#isMirrored && this.#random.below(100) < (direction === ASK ? 60 : 25);
    if (prefersSale && this.#sellable(trader, sold) >= wanted) return this.#selling(trader, sold, wanted);
    return { trader, side: "BUY", outcome: bought, size: size(wanted) };
  }

  #selling(trader: number, outcome: Outcome, shares: number): Assignment {
    this.#sold[outcome][trader] = (this.#sold[outcome][trader] as number) + shares;
    return { trader, side: "SELL", outcome, size: size(shares) };
  }

  #sellable(trader: number, outcome: Outcome): number {
    return sharesOf(trader, this.#markets) * 100 - (this.#sold[outcome][trader] as number);
  }

  #pick(role: Role): number {
    if (role === "maker") return (this.#firstMaker + this.#random.below(this.#makers)) % MAKERS;
    for (;;) {
      const trader = MAKERS + ((this.#firstTaker + this.#random.below(this.#takers)) % TAKERS);
      if (!this.#resting.has(trader)) return trader;
    }
  }

  #bestSeller(role: Role, outcome: Outcome): number {
    let best = -1;
    const [first, end] = role === "maker" ? [0, MAKERS] : [MAKERS, TRADERS];
    for (let trader = first; trader < end; trader += 1) {
      if (this.#resting.has(trader)) continue;
      if (best < 0 || this.#sellable(trader, outcome) > this.#sellable(best, outcome)) best = trader;
    }
    return best;
  }
}

/** Returns the traders with enough funds, in round figures, for all their orders to rest at once. */
export function fundedTraders(
  seed: string,
  markets: readonly WorldMarket[],
  orders: readonly WorldOrder[],
): WorldTrader[] {
  const needed = new Float64Array(TRADERS);
  for (const { trader, market, side, price, size } of orders) {
    if (side === "SELL") continue;
    const { feeRateBps } = markets[market] as WorldMarket;
    const fee = (Math.min(price, FULL_PRICE - price) * feeRateBps) / 10_000;
    const cost = ((price + fee) * size) / USDC_UNITS;
    needed[trader] = (needed[trader] as number) + Math.ceil(cost + 0.01);
  }
  return Array.from(needed, (usdc, index) => ({
    address: traderAddress(seed, index),
    collateral: roundedUp(usdc),
    shares: sharesOf(index, markets.length),
  }));
}

/** Returns the next 1, 2 or 5 times a power of ten, from 10,000. */
function roundedUp(usdc: number): number {
  for (let unit = 10_000; ; unit *= 10) {
    for (const lead of [1, 2, 5]) if (lead * unit >= usdc) return lead * unit;
  }
}
