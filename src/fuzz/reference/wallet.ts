import { createHash } from "node:crypto";
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

/** What a wallet lets contracts take from it: so much USDC, or any amount where it is null; shares, or none. */
export interface Permissions {
  readonly exchange: number | null;
  readonly tokens: number | null;
  readonly shares: boolean;
}

/** As every wallet begins. */
export const ALL_ALLOWED: Permissions = { exchange: null, tokens: null, shares: true };

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
  permissions = ALL_ALLOWED;

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
const onChain = ({ balance, incoming, outgoing }: Amount): number => balance - incoming + outgoing;

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

/** What a fault is set with; the probability in millionths. */
interface FaultTerms {
  readonly fault: string;
  readonly probability: number;
  /** Null for any number. */
  readonly times: number | null;
  /** The only taker whose settlements it strikes. */
  readonly order?: number;
}

interface InForce extends FaultTerms {
  readonly number: number;
  struck: number;
}

/** Which fault strikes which settlement: the first in force whose draw says so, and none more often than it may. */
export class ReferenceFaults {
  readonly #seed: string;
  #inForce: InForce[] = [];
  #count = 0;
  /** How often a settlement was put off to be tried again, and which fault has delayed it. */
  readonly #attempts = new Map<number, number>();
  readonly #delays = new Map<number, number>();
  /** The settlements that were put off for any reason. */
  readonly held = new Set<number>();

  constructor(seed: string) {
    this.#seed = seed;
  }

  set(terms: FaultTerms): void {
    this.#count += 1;
    this.#inForce.push({ ...terms, number: this.#count, struck: 0 });
  }

  endAll(): void {
    this.#inForce = [];
  }

  /** The number of the fault that strikes a settlement in this block; 0 for none. */
  striking({ number, taker }: Settlement): number {
    const isOf = ({ order = taker }: FaultTerms): boolean => order === taker;
    return this.#inForce.find((fault) => isOf(fault) && this.#strikes(fault, number))?.number ?? 0;
  }

  /** A settlement was put off, failed or was lost; `fault` has done it, or none: 0. */
  note(transaction: number, hold: string | null, fault: number): void {
    if (hold !== null) this.held.add(transaction);
    if (hold === "UNDERPRICED") return;
    if (hold === "UNFUNDED" || hold === "RETRIED") {
      this.#attempts.set(transaction, (this.#attempts.get(transaction) ?? 0) + 1);
    }
    if (hold === "DELAYED") this.#delays.set(transaction, fault);
    for (const each of this.#inForce) if (each.number === fault) each.struck += 1;
    this.#inForce = this.#inForce.filter(({ times, struck }) => times === null || struck < times);
  }

  #strikes({ number, fault, probability }: InForce, transaction: number): boolean {
    if (fault === "gasSpike") return false;
    if (fault === "delay" && this.#delays.get(transaction) === number) return false;
    const attempt = this.#attempts.get(transaction) ?? 0;
    const text = `clobsim chance\n${number}\n${transaction}\n${attempt}\n${this.#seed}`;
    const word = createHash("sha256").update(text).digest().readUInt32BE(0);
    return Math.floor((word / 2 ** 32) * 1_000_000) < probability;
  }
}

/** What awaits a block: the fills of one taker, the report of how a market ended, or a wallet's call. */
export interface Settlement {
  /** Counts all transactions of the chain, from 1. */
  readonly number: number;
  readonly what: "match" | "report" | Call;
  /** The order whose fills it settles; 0 for none. */
  readonly taker: number;
  readonly moves: Move[];
  /** Whether balances count its moves already. */
  isInLedger: boolean;
  status: "pending" | "mined" | "failed" | "lost";
  readonly market: number;
  /** When it came, or came back. */
  since: number;
}

/** What a wallet asks of the contracts; amounts in 0.01 share or micro-USDC. */
export type Call = { readonly from: string } & (
  | { readonly kind: "split" | "merge"; readonly market: number; readonly size: number }
  | { readonly kind: "redeem"; readonly market: number }
  /** Of USDC; null for any amount. */
  | { readonly kind: "allow"; readonly spender: "exchange" | "tokens"; readonly amount: number | null }
  | { readonly kind: "allowShares"; readonly isAllowed: boolean }
  | { readonly kind: "pay"; readonly to: string; readonly amount: number }
  | {
      readonly kind: "give";
      readonly to: string;
      readonly market: number;
      readonly outcome: Outcome;
      readonly size: number;
    }
);

/** An open order as far as it claims funds. */
export interface Claim {
  readonly order: number;
  readonly amount: number;
}

interface Shift {
  readonly move: Move;
  balance: number;
  incoming: number;
}

/** Works out what a loss of funds drags along. Nothing is changed. */
export class Rollback {
  readonly #settlements: readonly Settlement[];
  readonly #policy: "optimistic" | "settled";
  readonly #claims: (wallet: Wallet, market: number, outcome: Outcome) => readonly Claim[];
  readonly #shifts: Shift[] = [];
  readonly #failed: Settlement[] = [];

  constructor(
    settlements: readonly Settlement[],
    policy: "optimistic" | "settled",
    claims: (wallet: Wallet, market: number, outcome: Outcome) => readonly Claim[],
  ) {
    this.#settlements = settlements;
    this.#policy = policy;
    this.#claims = claims;
  }

  /** Funds come or go for good. */
  change(moves: readonly Move[]): void {
    for (const move of moves) this.#shift(move).balance += move.amount;
  }

  /** What was on the chain is on its way again. */
  expectAgain(moves: readonly Move[]): void {
    for (const move of moves) if (move.amount > 0) this.#shift(move).incoming += move.amount;
  }

  /** A settlement fails: what it brought and took goes back. */
  fail(settlement: Settlement): void {
    this.#failed.push(settlement);
    for (const move of settlement.moves) {
      const shift = this.#shift(move);
      shift.balance -= move.amount;
      if (move.amount > 0) shift.incoming -= move.amount;
    }
  }

  /**
   * What must go with funds that leave: settlements that spend them, newest first, and orders left without cover.
   * @throws Error when somebody owes what no pending settlement has spent
   */
  consequences() {
    for (;;) {
      const short = this.#shifts.find(({ move, balance }) => assetOf(move).balance + balance < 0);
      if (short === undefined) break;
      this.fail(this.#latestSpender(short.move));
    }
    const canceled = this.#shifts.flatMap((shift) => this.#uncovered(shift));
    return { failed: this.#failed, canceled: canceled.sort((a, b) => a - b) };
  }

  #latestSpender({ wallet, market, outcome }: Move): Settlement {
    const spender = this.#settlements.findLast(
      (each) =>
        each.isInLedger &&
        (each.status === "pending" || each.status === "lost") &&
        !this.#failed.includes(each) &&
        each.moves.some((move) => isSame(move, wallet, market, outcome) && move.amount < 0),
    );
    if (spender === undefined) throw new Error(`${wallet.address} owes what nothing pending took`);
    return spender;
  }

  /** Orders that cannot be paid any more: the oldest are paid first. */
  #uncovered({ move: { wallet, market, outcome }, balance, incoming }: Shift): number[] {
    const now = wallet.look(market, outcome);
    const cover = spendable(
      { ...now, balance: now.balance + balance, incoming: now.incoming + incoming },
      this.#policy,
    );
    if (now.reserved <= cover) return [];
    const canceled: number[] = [];
    let paid = 0;
    for (const { order, amount } of this.#claims(wallet, market, outcome)) {
      if (paid + amount <= cover) paid += amount;
      else canceled.push(order);
    }
    return canceled;
  }

  #shift(move: Move): Shift {
    let shift = this.#shifts.find((each) => isSame(each.move, move.wallet, move.market, move.outcome));
    if (shift === undefined) {
      shift = { move, balance: 0, incoming: 0 };
      this.#shifts.push(shift);
    }
    return shift;
  }
}

const assetOf = ({ wallet, market, outcome }: Move): Amount => wallet.look(market, outcome);

/** Whether its wallet still has on the chain what a move takes. */
export const isCovered = ({ wallet, market, outcome, amount }: Move): boolean =>
  amount >= 0 || -amount <= onChain(wallet.look(market, outcome)) + (market === 0 ? 0 : wallet.owed(market));

const isSame = (move: Move, wallet: Wallet, market: number, outcome: Outcome): boolean =>
  move.wallet === wallet && move.market === market && (market === 0 || move.outcome === outcome);

/** What a call moves, or null when it reverts. `payout` is what a share pays, null before the chain has the report. */
export function movesOfCall(
  call: Call,
  walletOf: (address: string) => Wallet,
  payout: Record<Outcome, number> | null,
): Move[] | null {
  const from = walletOf(call.from);
  const shares = (wallet: Wallet, market: number, outcome: Outcome): number =>
    onChain(wallet.look(market, outcome)) + wallet.owed(market);
  const usdc = (wallet: Wallet, amount: number): Move => ({ wallet, market: 0, outcome: "YES", amount });
  switch (call.kind) {
    case "split":
    case "merge": {
      const { market, size } = call;
      const has =
        call.kind === "split"
          ? onChain(from.usdc) / 10_000
          : Math.min(shares(from, market, "YES"), shares(from, market, "NO"));
      if (size > has) return null;
      if (call.kind === "split" && !isWithin(size * 10_000, from.permissions.tokens)) return null;
      if (size === 0) return [];
      const sets = call.kind === "split" ? size : -size;
      return [
        usdc(from, -sets * 10_000),
        { wallet: from, market, outcome: "YES", amount: sets },
        { wallet: from, market, outcome: "NO", amount: sets },
      ];
    }
    case "allow":
    case "allowShares":
      return [];
    case "redeem": {
      if (payout === null) return null;
      const { market } = call;
      const burnt = { YES: shares(from, market, "YES"), NO: shares(from, market, "NO") };
      return [
        { wallet: from, market, outcome: "YES" as const, amount: -burnt.YES },
        { wallet: from, market, outcome: "NO" as const, amount: -burnt.NO },
        usdc(from, burnt.YES * payout.YES + burnt.NO * payout.NO),
      ].filter(({ amount }) => amount !== 0);
    }
    case "pay": {
      if (call.amount > onChain(from.usdc)) return null;
      if (call.to === call.from || call.amount === 0) return [];
      return [usdc(from, -call.amount), usdc(walletOf(call.to), call.amount)];
    }
    case "give": {
      const { market, outcome, size, to } = call;
      if (size > shares(from, market, outcome)) return null;
      if (to === call.from || size === 0) return [];
      return [
        { wallet: from, market, outcome, amount: -size },
        { wallet: walletOf(to), market, outcome, amount: size },
      ];
    }
  }
}

const isWithin = (amount: number, limit: number | null): boolean => limit === null || amount <= limit;

/** What is left of an allowance. */
const less = (limit: number | null, spent: number): number | null => (limit === null ? null : limit - spent);

/** What a wallet permits once a call of its own is carried out. */
export function permissionsAfter(call: Call, before: Permissions): Permissions {
  switch (call.kind) {
    case "allow":
      return { ...before, [call.spender]: call.amount };
    case "allowShares":
      return { ...before, shares: call.isAllowed };
    case "split":
      return { ...before, tokens: less(before.tokens, call.size * 10_000) };
    default:
      return before;
  }
}

/** What each wallet pays in USDC. */
function paidBy(moves: readonly Move[]): Map<Wallet, number> {
  const paid = new Map<Wallet, number>();
  for (const { wallet, market, amount } of moves)
    if (market === 0 && amount < 0) paid.set(wallet, (paid.get(wallet) ?? 0) - amount);
  return paid;
}

/** Whether all wallets let the exchange move what they give. */
export const isPermitted = (moves: readonly Move[]): boolean =>
  moves.every(({ wallet, market, amount }) => market === 0 || amount > 0 || wallet.permissions.shares) &&
  [...paidBy(moves)].every(([{ permissions }, amount]) => isWithin(amount, permissions.exchange));

/** The exchange moves what wallets give, which uses up what they permit. */
export function usePermissions(moves: readonly Move[]): void {
  for (const [wallet, amount] of paidBy(moves)) {
    const { permissions } = wallet;
    wallet.permissions = { ...permissions, exchange: less(permissions.exchange, amount) };
  }
}
