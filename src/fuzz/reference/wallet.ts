import type { Side } from "./naive-book.ts";

export type Outcome = "YES" | "NO";

/** An amount of one asset: micro-USDC, or 0.01 share. */
export interface Amount {
  balance: number;
  /** What open orders hold. */
  reserved: number;
  /** What pending settlements will bring. */
  incoming: number;
  /** What they will take. */
  outgoing: number;
}

/** What changes hands: USDC when the market is 0, else shares. */
export interface Move {
  readonly wallet: Wallet;
  readonly market: number;
  readonly outcome: Outcome;
  readonly amount: number;
}

/** What one address has. */
export class Wallet {
  readonly address: string;
  readonly usdc: Amount = nothing();
  /** Shares of both outcomes, by market, from the first time it has any. */
  readonly shares = new Map<number, Record<Outcome, Amount>>();
  /** How many shares of both outcomes the faucet owes it in every market, and how many it has had, by market. */
  owedEverywhere = 0;
  readonly had = new Map<number, number>();
  derivations = 0;

  constructor(address: string) {
    this.address = address;
  }

  /** An asset that it has or will have; USDC when the market is 0. */
  asset(market: number, outcome: Outcome): Amount {
    if (market === 0) return this.usdc;
    let pair = this.shares.get(market);
    if (pair === undefined) {
      pair = { YES: nothing(), NO: nothing() };
      this.shares.set(market, pair);
    }
    return pair[outcome];
  }

  /** The same without making it. */
  look(market: number, outcome: Outcome): Amount {
    return market === 0 ? this.usdc : (this.shares.get(market)?.[outcome] ?? nothing());
  }

  /** What the faucet still owes it in a market. */
  owed(market: number): number {
    return this.owedEverywhere - (this.had.get(market) ?? 0);
  }
}

export const nothing = (): Amount => ({ balance: 0, reserved: 0, incoming: 0, outgoing: 0 });

/** What a wallet holds on the chain. */
export const onChain = ({ balance, incoming, outgoing }: Amount): number => balance - incoming + outgoing;

/** What may be spent: all of it, or only what has come to the chain. */
export const spendable = ({ balance, incoming }: Amount, policy: "optimistic" | "settled"): number =>
  policy === "optimistic" ? balance : Math.max(0, balance - incoming);

/** The taker fee in micro-USDC, rounded down: rate x min(price, 1 - price) x size. */
export function feeAt(price: number, size: number, basisPoints: number): number {
  return Number((BigInt(Math.min(price, 10_000 - price)) * BigInt(size) * BigInt(basisPoints)) / 10_000n);
}

/** What an order holds while `open` of it is unfilled: a buy its price and its fee, a sell its shares. */
export const held = (side: Side, price: number, open: number, basisPoints: number): number =>
  side === "BUY" ? price * open + feeAt(price, open, basisPoints) : open;
