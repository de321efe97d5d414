import { createECDH } from "node:crypto";
import { sha256 } from "@noble/hashes/sha2";
import { keccak_256 } from "@noble/hashes/sha3";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils";
import { ASK, type BookDirection } from "../core/book/book.ts";
import type { Random } from "../core/random.ts";
import type { Outcome } from "../core/terms.ts";
import { FULL_PRICE, size, USDC_UNITS } from "../core/units.ts";
import type { WorldMarket, WorldTrader } from "./world.ts";
import type { WorldOrder } from "./world-orders.ts";

/** Order n of the group of secp256k1 (SEC 2, section 2.4.1); private keys are from 1 to n - 1. */
const GROUP_ORDER = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
const ZERO = "0".repeat(64);

/** Returns 32 bytes in lower-case hex. The key is public: never use it for value on a real chain. */
export const devPrivateKey = (seed: string, index: number): `0x${string}` =>
  keyOf(`clobsim/dev-account/${index}/0/${seed}`);

/** Returns the private key of a named account of scenarios, the same for every seed. */
export const namedPrivateKey = (name: string): `0x${string}` => keyOf(`clobsim/wallet/0/${name}`);

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
const traderAddress = (seed: string, index: number): `0x${string}` =>
  `0x${bytesToHex(sha256(`clobsim/trader/${index}/${seed}`).subarray(12))}`;

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

export type TraderAssignment = ReturnType<typeof assignTraders>;

/**
 * Assigns orders to traders, so that no trader sells more shares than it has, or trades with itself. `isMirrored`: one book
 * serves both outcomes, so that a sale of one can be a purchase of the other.
 */
export function assignTraders(random: Random, isMirrored: boolean, activity: Activity, markets: number) {
  const sold = { YES: new Float64Array(TRADERS), NO: new Float64Array(TRADERS) };
  const resting = new Set<number>();
  const firstMaker = random.below(MAKERS);
  const makers = isMirrored ? random.between(3, 6) : MAKERS;
  const firstTaker = random.below(TAKERS);
  const takers = isMirrored && activity === "usual" ? random.between(8, 12) : TAKERS;
  const sellable = (trader: number, outcome: Outcome): number =>
    sharesOf(trader, markets) * 100 - (sold[outcome][trader] as number);
  const selling = (trader: number, outcome: Outcome, shares: number): Assignment => {
    sold[outcome][trader] = (sold[outcome][trader] as number) + shares;
    return { trader, side: "SELL", outcome, size: size(shares) };
  };
  const pick = (role: Role): number => {
    if (role === "maker") return (firstMaker + random.below(makers)) % MAKERS;
    for (;;) {
      const trader = MAKERS + ((firstTaker + random.below(takers)) % TAKERS);
      if (!resting.has(trader)) return trader;
    }
  };
  const bestSeller = (role: Role, outcome: Outcome): number => {
    let best = -1;
    const [first, end] = role === "maker" ? [0, MAKERS] : [MAKERS, TRADERS];
    for (let trader = first; trader < end; trader += 1) {
      if (resting.has(trader)) continue;
      if (best < 0 || sellable(trader, outcome) > sellable(best, outcome)) best = trader;
    }
    return best;
  };
  return {
    /** Whether another taker's remainder may rest. */
    mayRest: (): boolean => resting.size < takers / 2,
    rests: (trader: number): void => {
      if (trader >= MAKERS) resting.add(trader);
    },
    /** Assigns an order in the book of `outcome`. Its size is reduced if it must be a sale and shares run out. */
    assign: (role: Role, direction: BookDirection, outcome: Outcome, wanted: number): Assignment => {
      const trader = pick(role);
      const other: Outcome = outcome === "YES" ? "NO" : "YES";
      const [given, bought] = direction === ASK ? [outcome, other] : [other, outcome];
      if (!isMirrored && direction === ASK) {
        const seller = sellable(trader, outcome) >= wanted ? trader : bestSeller(role, outcome);
        return selling(seller, outcome, Math.min(wanted, sellable(seller, outcome)));
      }
      const prefersSale = isMirrored && random.below(100) < (direction === ASK ? 60 : 25);
      if (prefersSale && sellable(trader, given) >= wanted) return selling(trader, given, wanted);
      return { trader, side: "BUY", outcome: bought, size: size(wanted) };
    },
  };
}

/** Returns the traders with enough funds, in round figures, for all their orders to rest at once. */
export function fundedTraders(seed: string, markets: readonly WorldMarket[], orders: readonly WorldOrder[]) {
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
