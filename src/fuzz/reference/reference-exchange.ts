import type { CommandOf } from "../../core/commands.ts";
import type { Market } from "../../core/market.ts";
import type { Order } from "../../core/order.ts";
import type { ExchangeConfig } from "../../core/state.ts";
import type { MatchType, Outcome, WinningOutcome } from "../../core/terms.ts";
import type { MarketRules } from "../../scenario/language/declarations.ts";
import { inBook, NaiveBook } from "../../scenario/watch/naive-book.ts";
import {
  ALL_ALLOWED,
  assetOf,
  type Call,
  type CallSettlement,
  isCall,
  isCovered,
  isPermitted,
  type Move,
  movesOfCall,
  type Permissions,
  pendingCalls,
  permissionsAfter,
  ReferenceFaults,
  reservedFor,
  type Settlement,
  spendable,
  takerFee,
  usePermissions,
  Wallet,
  withoutNonce,
} from "./wallet.ts";

export interface ReferenceMarket extends MarketRules {
  readonly number: number;
  status: Market["status"];
  winner: WinningOutcome | null;
  isReported: boolean;
  readonly books: Record<Outcome, NaiveBook>;
}

interface NewOrder extends Omit<CommandOf<"placeOrder">, "kind" | "tokenId"> {
  readonly market: number;
  readonly outcome: Outcome;
}

interface ReferenceOrder extends NewOrder {
  readonly number: number;
  filled: number;
  status: Order["status"];
}

/** The price is in terms of the taker's outcome. */
export interface ReferenceTrade
  extends Readonly<Record<"taker" | "maker" | "price" | "size" | "fee", number>> {
  readonly matchType: MatchType;
}

/** Result of a command. A refusal has its code, and the amounts of `INSUFFICIENT_BALANCE`. */
export type Reply =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: string; readonly required?: number; readonly available?: number };

export const DONE: Reply = { ok: true };
const refused = (code: string): Reply => ({ ok: false, code });
const other = (outcome: Outcome): Outcome => (outcome === "YES" ? "NO" : "YES");
const USDC: Outcome = "YES";

/**
 * A simple model of the exchange: arrays and linear scans, rules in the order of the API contract, no code shared with
 * the engine. The caller says when blocks are mined and which settlements fail. Everything else is computed here.
 */
export class ReferenceExchange {
  readonly markets: ReferenceMarket[] = [];
  readonly orders: ReferenceOrder[] = [];
  readonly trades: ReferenceTrade[] = [];
  readonly wallets: Wallet[] = [];
  readonly settlements: Settlement[] = [];
  readonly faults: ReferenceFaults;
  now = 0;
  readonly #config: ExchangeConfig;
  readonly #faucet: Wallet;
  readonly #fees: Wallet;
  /** Orders with an expiration. */
  readonly #expiring: ReferenceOrder[] = [];
  /** Settlements in each block, by height. */
  readonly #blocks: Settlement[][] = [[]];
  /** Permissions of wallets before each block, by height, without wallets that permit everything. */
  readonly #permissions: ReadonlyMap<Wallet, Permissions>[] = [new Map()];
  /** Nonce of each wallet's next call in a block, by address. */
  readonly #nonces = new Map<string, number>();
  readonly #nonceOf = (address: string): number => this.#nonces.get(address) ?? 0;
  #transactions = 0;

  /** `faucet` is the address of the account that holds the other outcome of granted shares. */
  constructor(config: ExchangeConfig, faucet: string, fees: string) {
    this.#config = config;
    this.faults = new ReferenceFaults(config.seed);
    this.#faucet = this.wallet(faucet);
    this.#fees = this.wallet(fees);
  }

  /** Returns the wallet of an address, creating it if needed. */
  wallet(address: string): Wallet {
    let wallet = this.wallets.find((each) => each.address === address);
    if (wallet === undefined) {
      wallet = new Wallet(address);
      this.wallets.push(wallet);
    }
    return wallet;
  }

  market(number: number): ReferenceMarket {
    return this.markets[number - 1] as ReferenceMarket;
  }

  order(number: number): ReferenceOrder {
    return this.orders[number - 1] as ReferenceOrder;
  }

  createMarket(rules: MarketRules): Reply {
    this.#transactions += 1;
    const yes = new NaiveBook();
    const books = { YES: yes, NO: rules.matching === "complementary" ? yes : new NaiveBook() };
    const number = this.markets.length + 1;
    this.markets.push({ ...rules, number, status: "ACTIVE", winner: null, isReported: false, books });
    return DONE;
  }

  endMarket(number: number, winner: WinningOutcome | null): Reply {
    const market = this.market(number);
    if (market === undefined) return refused("MARKET_NOT_FOUND");
    if (market.status === "RESOLVED" || (winner === null && market.status === "CLOSED")) {
      return refused("MARKET_CLOSED");
    }
    for (const order of this.orders) {
      if (order.market === number && order.status === "LIVE") this.#end(order, "CANCELED");
    }
    market.status = winner === null ? "CLOSED" : "RESOLVED";
    market.winner = winner;
    if (winner !== null) this.#addSettlement("report", number);
    return DONE;
  }

  /** Grants USDC, shares of single outcomes, and shares of both outcomes in every market that the account touches. */
  fund(
    address: string,
    usdc: number,
    shares: readonly { readonly market: number; readonly outcome: Outcome; readonly size: number }[],
    everyMarket: number,
  ): Reply {
    const wallet = this.wallet(address);
    const touched = everyMarket > 0 ? [...wallet.shares.keys()] : [];
    if (usdc > 0) this.#transactions += 1;
    wallet.usdc.balance += usdc;
    for (const { market, outcome, size } of shares) {
      if (size === 0) continue;
      this.#transactions += 1;
      wallet.asset(market, outcome).balance += size;
      this.#faucet.asset(market, other(outcome)).balance += size;
    }
    wallet.grantPerMarket += everyMarket;
    const funded = shares.filter(({ size }) => size > 0).map(({ market }) => market);
    for (const market of new Set([...touched, ...funded])) this.#mintGrant(wallet, market);
    return DONE;
  }

  derive(address: string): Reply {
    const { faucet, credentials } = this.#config;
    const wallet = this.wallet(address);
    if (wallet.derivations > 0 && credentials === "once") return refused("CREDENTIALS_ALREADY_DERIVED");
    if (wallet.derivations === 0) this.fund(address, faucet.collateral, [], faucet.everyMarket);
    wallet.derivations += 1;
    return DONE;
  }

  place(order: NewOrder, now: number): Reply {
    const market = this.market(order.market);
    if (market === undefined) return refused("TOKEN_NOT_FOUND");
    const { side, price, size, outcome, expiration } = order;
    if (price % market.tickSize !== 0) return refused("INVALID_TICK_SIZE");
    if (size < market.minOrderSize) return refused("SIZE_TOO_SMALL");
    if (expiration !== null && expiration <= now) return refused("EXPIRATION_IN_PAST");
    if (market.status !== "ACTIVE") return refused("MARKET_CLOSED");
    const wallet = this.wallets.find(({ address }) => address === order.address) ?? new Wallet(order.address);
    const asset = wallet.balanceOf(side === "BUY" ? 0 : market.number, outcome);
    const required = reservedFor(side, price, size, market.feeRateBps);
    const grant = side === "SELL" ? wallet.pendingGrant(market.number) : 0;
    const available = spendable(asset, this.#config.balances) - asset.reserved + grant;
    if (required > available) return { ok: false, code: "INSUFFICIENT_BALANCE", required, available };
    this.#mintGrant(wallet, market.number);
    this.#match({ ...order, number: this.orders.length + 1, filled: 0, status: "LIVE" }, market);
    return DONE;
  }

  cancel(owner: string, number: number): Reply {
    const order = this.order(number);
    if (order === undefined || order.address !== owner) return refused("ORDER_NOT_FOUND");
    if (order.status !== "LIVE") return refused("ORDER_NOT_LIVE");
    this.#end(order, "CANCELED");
    return DONE;
  }

  cancelAll(owner: string): Reply {
    for (const order of this.orders) {
      if (order.address === owner && order.status === "LIVE") this.#end(order, "CANCELED");
    }
    return DONE;
  }

  /** Expires all orders that are due. */
  expire(now: number): void {
    this.now = now;
    for (const order of this.#expiring) {
      const isDue = order.expiration !== null && order.expiration <= now;
      if (isDue && order.status === "LIVE") this.#end(order, "EXPIRED");
    }
  }

  /** Adds a wallet's call with its next nonce, or with that of a pending call, which is replaced. */
  call(call: Call, nonce: number | null): Reply {
    const pending = pendingCalls(this.settlements, call.from);
    let next = this.#nonceOf(call.from);
    while (pending.some((each) => each.nonce === next)) next += 1;
    this.#addSettlement(call, call.market, 0, nonce ?? next);
    return this.#dropCalls(pending.filter((each) => each.nonce === nonce));
  }

  /** Sets the nonce of a wallet's next call; drops its pending calls with a lower one. */
  setNonce(address: string, nonce: number): Reply {
    this.#nonces.set(address, nonce);
    this.waitFromNow();
    return this.#dropCalls(pendingCalls(this.settlements, address).filter((each) => each.nonce < nonce));
  }

  /** Drops a pending call, if the transaction is one. */
  dropCall(transaction: number): Reply {
    return this.#dropCalls(pendingCalls(this.settlements).filter(({ number }) => number === transaction));
  }

  /** Lets pending transactions wait for a block from now on. */
  waitFromNow(): Reply {
    for (const settlement of this.settlements) settlement.since = this.now;
    return DONE;
  }

  /** Undoes pending calls, which no block will have, and what depends on them or on the moves returned with them. */
  #dropCalls(calls: readonly CallSettlement[], returned: readonly Move[] = []): Reply {
    const undone = calls.flatMap((call) => {
      call.status = "dropped";
      return this.#reverse(call);
    });
    this.#failDependent([...undone, ...returned]);
    return DONE;
  }

  openBlock(): void {
    this.#blocks.push([]);
    const limited = this.wallets.filter(({ permissions }) => permissions !== ALL_ALLOWED);
    this.#permissions.push(new Map(limited.map((wallet) => [wallet, wallet.permissions])));
  }

  /** Mines all pending transactions up to a number in one block, then a number of empty blocks. */
  mineUpTo(transaction: number, empty: number): void {
    this.openBlock();
    for (const settlement of this.settlements) {
      if (settlement.number <= transaction && settlement.status === "pending") this.#mine(settlement);
    }
    for (let count = 0; count < empty; count += 1) this.openBlock();
  }

  /** Mines one transaction in the open block. */
  mine(transaction: number): void {
    const settlement = this.settlements.find(({ number }) => number === transaction);
    // Other transactions, such as grants, take effect before their block.
    if (settlement !== undefined) this.#mine(settlement);
  }

  #mine(settlement: Settlement): void {
    const { cause, moves } = settlement;
    if (cause === "match" && moves.some(({ wallet }) => wallet.permissions !== ALL_ALLOWED)) {
      if (!isPermitted(moves))
        throw new Error(`transaction ${settlement.number} is mined, and a wallet does not permit it`);
      usePermissions(moves);
    }
    this.#include(settlement, "mined");
    if (cause === "report") this.market(settlement.market).isReported = true;
    this.#addPending(settlement, -1);
  }

  /** Replaces the latest blocks by empty ones. Their transactions are pending again, except failed ones. */
  reorganize(depth: number): Reply {
    const replaceable = this.#config.settlement === "instant" ? 0 : 2;
    const maxDepth = Math.min(replaceable, this.#blocks.length - 1);
    if (depth > maxDepth) return refused("REORGANIZATION_TOO_DEEP");
    const returned = this.#blocks
      .splice(-depth)
      .flat()
      .filter(({ status }) => status === "mined");
    const [permitted] = this.#permissions.splice(-depth);
    for (const wallet of this.wallets) wallet.permissions = permitted?.get(wallet) ?? ALL_ALLOWED;
    for (const settlement of returned) {
      settlement.status = "pending";
      settlement.since = this.now;
      if (settlement.cause === "report") this.market(settlement.market).isReported = false;
      this.#addPending(settlement, 1);
      if (!isCall(settlement)) continue;
      const { cause, nonce } = settlement;
      this.#nonces.set(cause.from, Math.min(this.#nonceOf(cause.from), nonce));
    }
    for (let count = 0; count < depth; count += 1) this.openBlock();
    const calls = new Set([...returned.filter(isCall), ...pendingCalls(this.settlements)]);
    const moves = returned.flatMap((each) => each.moves);
    return this.#dropCalls(withoutNonce([...calls]), moves);
  }

  /** Returns the first settlement that is pending for `interval` ms and has neither been deferred nor waits for a nonce. */
  overdue(interval: number): Settlement | undefined {
    return this.settlements.find(
      (each) =>
        each.status === "pending" &&
        each.since + interval <= this.now &&
        !this.faults.deferred.has(each.number) &&
        !(isCall(each) && each.nonce !== this.#nonceOf(each.cause.from)),
    );
  }

  /** Drops a settlement: it will never be mined although its moves stay in the balances. */
  drop(transaction: number): void {
    this.#find(transaction).status = "dropped";
  }

  /** Executes a wallet's call in the open block. Returns false if it reverts. */
  execute(transaction: number): boolean {
    const settlement = this.#find(transaction);
    const { cause, market } = settlement;
    if (typeof cause === "string") throw new Error(`transaction ${transaction} is not a call`);
    if (settlement.nonce !== this.#nonceOf(cause.from))
      throw new Error(`transaction ${transaction} is executed before its nonce`);
    this.#nonces.set(cause.from, settlement.nonce + 1);
    const known = new Set(this.wallets);
    const payout = market === 0 ? null : payoutOf(this.market(market));
    const moves = movesOfCall(cause, (address) => this.wallet(address), payout);
    if (settlement.isInLedger) return this.#executeAgain(settlement, cause, moves !== null);
    this.#include(settlement, "mined");
    if (moves === null) return false;
    settlement.isInLedger = true;
    this.#permit(cause);
    for (const { wallet, market: moved } of moves) {
      if (moved !== 0 && known.has(wallet)) this.#mintGrant(wallet, moved);
    }
    for (const move of moves) this.#move(move, settlement.moves);
    this.#failDependent(moves);
    return true;
  }

  /** Executes a call whose block was replaced: with the same moves, or it reverts and they are reversed. */
  #executeAgain(settlement: Settlement, call: Call, isPossible: boolean): boolean {
    if (isPossible && settlement.moves.every(isCovered)) {
      this.#permit(call);
      this.#include(settlement, "mined");
      this.#addPending(settlement, -1);
      return true;
    }
    this.#fail(settlement);
    this.#include(settlement, "mined");
    return false;
  }

  #permit(call: Call): void {
    const wallet = this.wallet(call.from);
    wallet.permissions = permissionsAfter(call, wallet.permissions);
  }

  /** Whether all wallets permit the exchange to make the moves of a settlement. */
  permits(transaction: number): boolean {
    return isPermitted(this.#find(transaction).moves);
  }

  /** Fails a settlement and everything that depends on it. Returns the numbers of all failed settlements. */
  fail(transaction: number): readonly number[] {
    const settlement = this.#find(transaction);
    const failed = this.#fail(settlement);
    this.#include(settlement, "failed");
    return failed;
  }

  #include(settlement: Settlement, status: "mined" | "failed"): void {
    settlement.status = status;
    this.#blocks.at(-1)?.push(settlement);
  }

  /** Fails a settlement, and what depends on it. Returns the numbers of all failed settlements. */
  #fail(settlement: Settlement): readonly number[] {
    return [settlement.number, ...this.#failDependent(this.#reverse(settlement))];
  }

  /** Reverses the moves of a settlement, and returns them. */
  #reverse(settlement: Settlement): readonly Move[] {
    // A call stays pending because of its nonce, and is executed again in a later block.
    const keepsNonce = isCall(settlement);
    if (!keepsNonce) settlement.status = "failed";
    settlement.isInLedger = false;
    for (const move of settlement.moves) assetOf(move).balance -= move.amount;
    this.#addPending(settlement, -1);
    return keepsNonce ? settlement.moves.splice(0) : settlement.moves;
  }

  /**
   * Fails the settlements that spend what moves took away, latest first, and cancels the orders that are no longer covered.
   * Returns the numbers of the settlements.
   */
  #failDependent(moves: readonly Move[]): readonly number[] {
    const changed = [...moves];
    const failed: number[] = [];
    for (;;) {
      const negative = changed.find((move) => assetOf(move).balance < 0);
      if (negative === undefined) break;
      const spender = this.#latestSpender(negative);
      failed.push(spender.number);
      changed.push(...this.#reverse(spender));
    }
    for (const move of changed) this.#cancelUncovered(move);
    return failed;
  }

  /** @throws Error if nothing pending has spent a balance */
  #latestSpender(spent: Move): Settlement {
    const asset = assetOf(spent);
    const spender = this.settlements.findLast(
      ({ isInLedger, status, moves }) =>
        isInLedger &&
        (status === "pending" || status === "dropped") &&
        moves.some((move) => assetOf(move) === asset && move.amount < 0),
    );
    if (spender === undefined) throw new Error(`${spent.wallet.address} owes what nothing pending took`);
    return spender;
  }

  /** Cancels the open orders that a balance no longer covers. The oldest orders are covered first. */
  #cancelUncovered(move: Move): void {
    const asset = assetOf(move);
    const available = spendable(asset, this.#config.balances);
    if (asset.reserved <= available) return;
    let covered = 0;
    for (const order of this.orders) {
      if (order.status !== "LIVE" || this.#assetOf(order) !== asset) continue;
      const amount = this.#reservedFor(order);
      if (covered + amount <= available) covered += amount;
      else this.#end(order, "CANCELED");
    }
  }

  #reservedFor({ side, price, size, filled, market }: ReferenceOrder): number {
    return reservedFor(side, price, size - filled, this.market(market).feeRateBps);
  }

  /** Returns the balance that an order reserves funds of. */
  #assetOf({ address, side, market, outcome }: ReferenceOrder) {
    return this.wallet(address).asset(side === "BUY" ? 0 : market, outcome);
  }

  #match(order: ReferenceOrder, market: ReferenceMarket): void {
    this.orders.push(order);
    if (order.expiration !== null) this.#expiring.push(order);
    this.#assetOf(order).reserved += this.#reservedFor(order);
    const { tickSize, matching, selfTrade } = market;
    const isMirrored = matching === "complementary" && order.outcome === "NO";
    const { number: id, price, size } = order;
    const owner = this.wallets.findIndex(({ address }) => address === order.address);
    const placed = { id, owner, size, open: size, ...inBook(order.side, price, tickSize, isMirrored) };
    const { matches, last } = market.books[order.outcome].place(placed, order.orderType, selfTrade);
    const trades = matches.filter(({ quantity }) => quantity > 0);
    const settlement = trades.length > 0 ? this.#addSettlement("match", market.number, id) : null;
    for (const { maker, quantity } of trades) {
      this.#trade(order, this.order(maker.id), quantity, market, settlement?.moves ?? []);
    }
    if (settlement !== null) this.#addPending(settlement, 1);
    for (const { maker, quantity } of matches)
      if (quantity === 0) this.#release(this.order(maker.id), "CANCELED");
    if (order.filled === order.size) order.status = "MATCHED";
    else if (last !== "rests") this.#release(order, order.filled > 0 ? "MATCHED" : "CANCELED");
  }

  #trade(taker: ReferenceOrder, maker: ReferenceOrder, size: number, market: ReferenceMarket, moves: Move[]) {
    const isSame = taker.outcome === maker.outcome;
    const price = isSame ? maker.price : 10_000 - maker.price;
    const fee = takerFee(price, size, market.feeRateBps);
    const matchType = isSame ? "COMPLEMENTARY" : taker.side === "BUY" ? "MINT" : "MERGE";
    this.trades.push({ taker: taker.number, maker: maker.number, price, size, fee, matchType });
    this.#fill(maker, maker.price, size, 0, moves);
    this.#fill(taker, price, size, fee, moves);
    if (fee > 0) this.#move({ wallet: this.#fees, market: 0, outcome: USDC, amount: fee }, moves);
    if (maker.filled === maker.size) maker.status = "MATCHED";
  }

  #fill(order: ReferenceOrder, price: number, size: number, fee: number, moves: Move[]): void {
    const before = this.#reservedFor(order);
    order.filled += size;
    this.#assetOf(order).reserved += this.#reservedFor(order) - before;
    const wallet = this.wallet(order.address);
    const sign = order.side === "BUY" ? 1 : -1;
    this.#move({ wallet, market: 0, outcome: USDC, amount: -sign * price * size - fee }, moves);
    this.#move({ wallet, market: order.market, outcome: order.outcome, amount: sign * size }, moves);
  }

  #move(move: Move, moves: Move[]): void {
    move.wallet.asset(move.market, move.outcome).balance += move.amount;
    moves.push(move);
  }

  /** Adds moves to the pending amounts, or subtracts them. */
  #addPending({ moves }: Settlement, sign: 1 | -1): void {
    for (const { wallet, market, outcome, amount } of moves) {
      const asset = wallet.asset(market, outcome);
      if (amount > 0) asset.incoming += sign * amount;
      else asset.outgoing -= sign * amount;
    }
  }

  #mintGrant(wallet: Wallet, market: number): void {
    const size = wallet.pendingGrant(market);
    if (size === 0) return;
    this.#transactions += 1;
    wallet.granted.set(market, wallet.grantPerMarket);
    wallet.asset(market, "YES").balance += size;
    wallet.asset(market, "NO").balance += size;
  }

  #addSettlement(cause: Settlement["cause"], market: number, taker = 0, nonce = 0): Settlement {
    this.#transactions += 1;
    // In one literal, because copied fields take a hundredth of the fuzzer's time.
    const settlement: Settlement = {
      number: this.#transactions,
      cause,
      taker,
      nonce,
      moves: [],
      isInLedger: cause === "match",
      status: "pending",
      market,
      since: this.now,
    };
    this.settlements.push(settlement);
    return settlement;
  }

  #find(transaction: number): Settlement {
    const settlement = this.settlements.find(({ number }) => number === transaction);
    if (settlement === undefined) throw new Error(`transaction ${transaction} awaits no block`);
    return settlement;
  }

  #end(order: ReferenceOrder, status: "CANCELED" | "EXPIRED"): void {
    this.market(order.market).books[order.outcome].cancel(order.number);
    this.#release(order, status);
  }

  #release(order: ReferenceOrder, status: ReferenceOrder["status"]): void {
    this.#assetOf(order).reserved -= this.#reservedFor(order);
    order.status = status;
  }
}

/** Returns what 0.01 share of each outcome pays, in micro-USDC; null before the market's outcome is on the chain. */
function payoutOf({ winner, isReported }: ReferenceMarket): Record<Outcome, number> | null {
  if (winner === null || !isReported) return null;
  if (winner === "SPLIT") return { YES: 5_000, NO: 5_000 };
  return { YES: winner === "YES" ? 10_000 : 0, NO: winner === "NO" ? 10_000 : 0 };
}
