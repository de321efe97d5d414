import { createHash } from "node:crypto";
import { CONTRACTS, TOKEN_UNITS, UNLIMITED } from "../../core/chain/contracts.ts";
import type { ContractCall } from "../../core/chain/transaction.ts";
import type { CommandOf } from "../../core/commands.ts";
import type { Outcome, Side } from "../../core/terms.ts";

/** An amount of one asset: micro-USDC, or 0.01 share. */
export interface Amount {
  balance: number;
  /** Reserved by open orders. */
  reserved: number;
  /** To be received from pending settlements. */
  incoming: number;
  /** To be paid to pending settlements. */
  outgoing: number;
}

/** A change of one balance: of USDC if the market is 0, else of shares. */
export interface Move {
  readonly wallet: Wallet;
  readonly market: number;
  readonly outcome: Outcome;
  readonly amount: number;
}

/**
 * What a wallet permits contracts to transfer from it: its USDC allowances for the exchange and for the contract of
 * conditional tokens, infinite if unlimited, and whether the exchange may transfer shares.
 */
export type Permissions = Readonly<{ exchange: number; tokens: number; shares: boolean }>;

export const ALL_ALLOWED: Permissions = { exchange: Infinity, tokens: Infinity, shares: true };

/** Balances and permissions of an address. */
export class Wallet {
  readonly address: string;
  readonly usdc: Amount = nothing();
  /** Shares of both outcomes, by market that the wallet has touched. */
  readonly shares = new Map<number, Record<Outcome, Amount>>();
  /** Shares of both outcomes that the faucet grants in every market. */
  grantPerMarket = 0;
  /** Shares of both outcomes that were minted for the grant, by market. */
  readonly granted = new Map<number, number>();
  derivations = 0;
  permissions = ALL_ALLOWED;

  constructor(address: string) {
    this.address = address;
  }

  /** Returns the balance of an asset, creating it if needed; USDC if the market is 0. */
  asset(market: number, outcome: Outcome): Amount {
    if (market === 0) return this.usdc;
    let pair = this.shares.get(market);
    if (pair === undefined) {
      pair = { YES: nothing(), NO: nothing() };
      this.shares.set(market, pair);
    }
    return pair[outcome];
  }

  /** Returns the balance of an asset without creating it. */
  balanceOf(market: number, outcome: Outcome): Amount {
    return market === 0 ? this.usdc : (this.shares.get(market)?.[outcome] ?? nothing());
  }

  /** Returns the shares of the grant that are not minted in a market yet. */
  pendingGrant(market: number): number {
    return this.grantPerMarket - (this.granted.get(market) ?? 0);
  }
}

export const nothing = (): Amount => ({ balance: 0, reserved: 0, incoming: 0, outgoing: 0 });

const onChain = ({ balance, incoming, outgoing }: Amount): number => balance - incoming + outgoing;

/** Returns what may be spent: the whole balance, or only the part that is settled on the chain. */
export const spendable = ({ balance, incoming }: Amount, policy: "optimistic" | "settled"): number =>
  policy === "optimistic" ? balance : Math.max(0, balance - incoming);

/** Returns the taker fee in micro-USDC, rounded down: rate x min(price, 1 - price) x size. */
export function takerFee(price: number, size: number, basisPoints: number): number {
  return Number((BigInt(Math.min(price, 10_000 - price)) * BigInt(size) * BigInt(basisPoints)) / 10_000n);
}

/** Returns what an order with `open` unfilled reserves: a buy its cost and fee, a sell its shares. */
export const reservedFor = (side: Side, price: number, open: number, basisPoints: number): number =>
  side === "BUY" ? price * open + takerFee(price, open, basisPoints) : open;

type FaultTerms = Pick<CommandOf<"setSettlementFault">, "fault" | "probability" | "times" | "order">;

interface ActiveFault extends FaultTerms {
  readonly number: number;
  applied: number;
}

/** Computes which fault applies to a settlement: the first active one whose random draw succeeds. */
export class ReferenceFaults {
  readonly #seed: string;
  #active: ActiveFault[] = [];
  #count = 0;
  /** How often each settlement was deferred to be tried again. */
  readonly #attempts = new Map<number, number>();
  /** The fault that delayed each settlement. */
  readonly #delays = new Map<number, number>();
  /** The settlements that were deferred for any reason. */
  readonly deferred = new Set<number>();

  constructor(seed: string) {
    this.#seed = seed;
  }

  set(terms: FaultTerms): void {
    this.#count += 1;
    this.#active.push({ ...terms, number: this.#count, applied: 0 });
  }

  endAll(): void {
    this.#active = [];
  }

  /** Returns the number of the fault that applies to a settlement in this block; 0 for none. */
  faultFor({ number, taker }: Settlement): number {
    const isOf = ({ order = taker }: FaultTerms): boolean => order === taker;
    return this.#active.find((fault) => isOf(fault) && this.#isDrawn(fault, number))?.number ?? 0;
  }

  /**
   * Records what the block did with a transaction.
   * @param hold why it was deferred; null if it was not.
   * @param fault the fault that applied; 0 for none.
   */
  record(transaction: number, hold: string | null, fault: number): void {
    if (hold !== null) this.deferred.add(transaction);
    if (hold === "UNDERPRICED") return;
    if (hold === "UNFUNDED" || hold === "RETRIED") {
      this.#attempts.set(transaction, (this.#attempts.get(transaction) ?? 0) + 1);
    }
    if (hold === "DELAYED") this.#delays.set(transaction, fault);
    for (const each of this.#active) if (each.number === fault) each.applied += 1;
    this.#active = this.#active.filter(({ times, applied }) => times === null || applied < times);
  }

  #isDrawn({ number, fault, probability }: ActiveFault, transaction: number): boolean {
    if (fault === "gasSpike") return false;
    if (fault === "delay" && this.#delays.get(transaction) === number) return false;
    const attempt = this.#attempts.get(transaction) ?? 0;
    const text = `clobsim chance\n${number}\n${transaction}\n${attempt}\n${this.#seed}`;
    const word = createHash("sha256").update(text).digest().readUInt32BE(0);
    return Math.floor((word / 2 ** 32) * 1_000_000) < probability;
  }
}

/** A transaction that a block settles. */
export interface Settlement {
  /** Number of the transaction on the chain, from 1. */
  readonly number: number;
  /** The fills of one taker, the report of a market's outcome, or a wallet's call. */
  readonly cause: "match" | "report" | Call;
  /** The taker order whose fills it settles; 0 for none. */
  readonly taker: number;
  readonly moves: Move[];
  /** Nonce of a call; else 0. */
  readonly nonce: number;
  /** Whether its moves are in the balances. */
  isInLedger: boolean;
  status: "pending" | "mined" | "failed" | "dropped";
  readonly market: number;
  /** Since when it is pending. */
  since: number;
}

export type CallSettlement = Settlement & { readonly cause: Call };

export const isCall = (settlement: Settlement): settlement is CallSettlement =>
  typeof settlement.cause !== "string";

/** Returns the pending calls of a wallet, or of all. */
export const pendingCalls = (settlements: readonly Settlement[], from?: string): CallSettlement[] =>
  settlements
    .filter(isCall)
    .filter(({ cause, status }) => status === "pending" && (from ?? cause.from) === cause.from);

/** Returns the calls with the nonce of an earlier one of the same wallet. */
export const withoutNonce = (calls: readonly CallSettlement[]): CallSettlement[] =>
  calls.filter(({ cause, nonce }, index) =>
    calls.slice(0, index).some((earlier) => earlier.cause.from === cause.from && earlier.nonce === nonce),
  );

/** A wallet's call of the contracts, with the market and outcome that it is about; the market is 0 if it is about none. */
export interface Call {
  readonly from: string;
  readonly call: ContractCall;
  readonly market: number;
  readonly outcome: Outcome;
}

/** Returns the balance that a move changes, without creating it. */
export const assetOf = ({ wallet, market, outcome }: Move): Amount => wallet.balanceOf(market, outcome);

/** Returns the shares that a wallet can transfer on the chain, the pending grant included. */
const sharesOnChain = (wallet: Wallet, market: number, outcome: Outcome): number =>
  onChain(wallet.balanceOf(market, outcome)) + wallet.pendingGrant(market);

/** Whether the wallet has on the chain what a move takes from it. */
export const isCovered = ({ wallet, market, outcome, amount }: Move): boolean =>
  amount >= 0 || -amount <= (market === 0 ? onChain(wallet.usdc) : sharesOnChain(wallet, market, outcome));

/** Returns the moves of a call; null if it reverts. `payout` is what 0.01 share pays, null before the market's report. */
export function movesOfCall(
  { from: sender, call, market, outcome }: Call,
  walletOf: (address: string) => Wallet,
  payout: Record<Outcome, number> | null,
): Move[] | null {
  const from = walletOf(sender);
  const usdc = (wallet: Wallet, amount: number): Move => ({ wallet, market: 0, outcome: "YES", amount });
  switch (call.kind) {
    case "split":
    case "merge": {
      const usdcPaid = call.kind === "split" ? Number(call.amount) : -Number(call.amount);
      const sets = { wallet: from, market, amount: usdcPaid / TOKEN_UNITS };
      const moves: Move[] = [usdc(from, -usdcPaid), { ...sets, outcome: "YES" }, { ...sets, outcome: "NO" }];
      if (!moves.every(isCovered) || usdcPaid > from.permissions.tokens) return null;
      return usdcPaid === 0 ? [] : moves;
    }
    case "approve":
    case "setApprovalForAll":
      return [];
    case "redeem": {
      if (payout === null) return null;
      const burnt = { YES: sharesOnChain(from, market, "YES"), NO: sharesOnChain(from, market, "NO") };
      return [
        { wallet: from, market, outcome: "YES" as const, amount: -burnt.YES },
        { wallet: from, market, outcome: "NO" as const, amount: -burnt.NO },
        usdc(from, burnt.YES * payout.YES + burnt.NO * payout.NO),
      ].filter(({ amount }) => amount !== 0);
    }
    case "transfer": {
      const amount = Number(call.amount);
      if (amount > onChain(from.usdc)) return null;
      if (call.to === sender || amount === 0) return [];
      return [usdc(from, -amount), usdc(walletOf(call.to), amount)];
    }
    case "safeTransfer": {
      const size = Number(call.amounts[0]) / TOKEN_UNITS;
      if (size > sharesOnChain(from, market, outcome)) return null;
      if (call.to === sender || size === 0) return [];
      return [
        { wallet: from, market, outcome, amount: -size },
        { wallet: walletOf(call.to), market, outcome, amount: size },
      ];
    }
    default:
      throw new Error(`histories do not draw calls of kind ${call.kind}`);
  }
}

/** Returns the permissions of a wallet after one of its calls. */
export function permissionsAfter({ call }: Call, before: Permissions): Permissions {
  switch (call.kind) {
    case "approve": {
      const spender = call.spender === CONTRACTS.exchange ? "exchange" : "tokens";
      return { ...before, [spender]: call.amount === String(UNLIMITED) ? Infinity : Number(call.amount) };
    }
    case "setApprovalForAll":
      return { ...before, shares: call.approved };
    case "split":
      return { ...before, tokens: before.tokens - Number(call.amount) };
    default:
      return before;
  }
}

/** Returns what each wallet pays, in micro-USDC. */
function paidBy(moves: readonly Move[]): Map<Wallet, number> {
  const paid = new Map<Wallet, number>();
  for (const { wallet, market, amount } of moves)
    if (market === 0 && amount < 0) paid.set(wallet, (paid.get(wallet) ?? 0) - amount);
  return paid;
}

/** Whether all wallets permit the exchange to transfer what they pay. */
export const isPermitted = (moves: readonly Move[]): boolean =>
  moves.every(({ wallet, market, amount }) => market === 0 || amount > 0 || wallet.permissions.shares) &&
  [...paidBy(moves)].every(([{ permissions }, amount]) => amount <= permissions.exchange);

/** Subtracts what the wallets pay from their allowances for the exchange. */
export function usePermissions(moves: readonly Move[]): void {
  for (const [wallet, amount] of paidBy(moves)) {
    const { permissions } = wallet;
    wallet.permissions = { ...permissions, exchange: permissions.exchange - amount };
  }
}
