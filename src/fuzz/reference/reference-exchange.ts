import { NaiveBook, type SelfTradePolicy, type Side } from "./naive-book.ts";
import {
  ALL_ALLOWED,
  type Call,
  type Claim,
  feeAt,
  held,
  isCovered,
  isPermitted,
  type Move,
  movesOfCall,
  type Outcome,
  type Permissions,
  permissionsAfter,
  ReferenceFaults,
  Rollback,
  type Settlement,
  spendable,
  usePermissions,
  Wallet,
} from "./wallet.ts";

/** What an exchange is opened with. */
export interface Terms {
  /** Decides which settlements a fault strikes. */
  readonly seed: string;
  readonly policy: "optimistic" | "settled";
  readonly faucet: { readonly usdc: number; readonly everywhere: number };
  readonly derivesOnce: boolean;
  /** How many of the latest blocks can be replaced. */
  readonly replaceable: number;
  /** The addresses of the account that keeps the other half of sets, and of the one that collects fees. */
  readonly faucetAddress: string;
  readonly feesAddress: string;
}

export interface MarketRules {
  /** In 0.0001 USDC. */
  readonly tick: number;
  /** In 0.01 share. */
  readonly minimum: number;
  readonly basisPoints: number;
  /** One book for both outcomes, or one for each. */
  readonly isOneBook: boolean;
  readonly selfTrade: SelfTradePolicy;
}

export interface ReferenceMarket extends MarketRules {
  readonly number: number;
  status: "ACTIVE" | "CLOSED" | "RESOLVED";
  winner: Outcome | "SPLIT" | null;
  isReported: boolean;
  readonly books: Record<Outcome, NaiveBook>;
}

export interface NewOrder {
  readonly owner: string;
  readonly market: number;
  readonly outcome: Outcome;
  readonly side: Side;
  readonly price: number;
  readonly size: number;
  readonly type: "GTC" | "GTD" | "FOK" | "FAK";
  readonly expiration: number | null;
}

export interface ReferenceOrder extends NewOrder {
  readonly number: number;
  filled: number;
  status: "LIVE" | "MATCHED" | "CANCELED" | "EXPIRED";
}

export interface ReferenceTrade {
  readonly taker: number;
  readonly maker: number;
  /** In terms of the taker's outcome. */
  readonly price: number;
  readonly size: number;
  readonly fee: number;
  readonly kind: "COMPLEMENTARY" | "MINT" | "MERGE";
}

/** Whether something is done, or why not, with the figures that the refusal names. */
export type Reply =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: string; readonly required?: number; readonly available?: number };

const DONE: Reply = { ok: true };
const refused = (code: string): Reply => ({ ok: false, code });
const other = (outcome: Outcome): Outcome => (outcome === "YES" ? "NO" : "YES");
const USDC: Outcome = "YES";

/**
 * The exchange said as plainly as possible: arrays and linear scans, one rule after another as the API contract has them,
 * no code shared with the engine. It is told when blocks are mined and which settlements fail; all else it works out.
 */
export class ReferenceExchange {
  readonly markets: ReferenceMarket[] = [];
  readonly orders: ReferenceOrder[] = [];
  readonly trades: ReferenceTrade[] = [];
  readonly wallets: Wallet[] = [];
  readonly settlements: Settlement[] = [];
  readonly faults: ReferenceFaults;
  /** The moment of the latest thing it was told. */
  now = 0;
  readonly #terms: Terms;
  /** The orders that have a time to end at. */
  readonly #expiring: ReferenceOrder[] = [];
  /** What each block has of the settlements, by height. */
  readonly #blocks: Settlement[][] = [[]];
  /** What wallets permitted before each block, by height, where they did not permit all. */
  readonly #permissions: ReadonlyMap<Wallet, Permissions>[] = [new Map()];
  #transactions = 0;

  constructor(terms: Terms) {
    this.#terms = terms;
    this.faults = new ReferenceFaults(terms.seed);
    this.wallet(terms.faucetAddress);
    this.wallet(terms.feesAddress);
  }

  /** The wallet of an address, opened when it is not known yet. */
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

  createMarket(rules: MarketRules): void {
    this.#transactions += 1;
    const yes = new NaiveBook();
    const books = { YES: yes, NO: rules.isOneBook ? yes : new NaiveBook() };
    const number = this.markets.length + 1;
    this.markets.push({ ...rules, number, status: "ACTIVE", winner: null, isReported: false, books });
  }

  endMarket(number: number, winner: Outcome | "SPLIT" | null): Reply {
    const market = this.market(number);
    if (market === undefined) return refused("MARKET_NOT_FOUND");
    if (market.status === "RESOLVED" || (winner === null && market.status === "CLOSED")) {
      return refused("MARKET_CLOSED");
    }
    for (const order of this.orders) {
      if (order.market === number && order.status === "LIVE") this.#leave(order, "CANCELED");
    }
    market.status = winner === null ? "CLOSED" : "RESOLVED";
    market.winner = winner;
    if (winner !== null) this.#settlement("report", number);
    return DONE;
  }

  /** Gives USDC, shares of single outcomes, and shares of both in every market that it touches. */
  fund(
    address: string,
    usdc: number,
    shares: readonly { readonly market: number; readonly outcome: Outcome; readonly size: number }[],
    everywhere: number,
  ): void {
    const wallet = this.wallet(address);
    const before = everywhere > 0 ? [...wallet.shares.keys()] : [];
    if (usdc > 0) this.#transactions += 1;
    wallet.usdc.balance += usdc;
    for (const { market, outcome, size } of shares) {
      if (size === 0) continue;
      this.#transactions += 1;
      wallet.asset(market, outcome).balance += size;
      this.wallet(this.#terms.faucetAddress).asset(market, other(outcome)).balance += size;
    }
    wallet.owedEverywhere += everywhere;
    const given = shares.filter(({ size }) => size > 0).map(({ market }) => market);
    for (const market of new Set([...before, ...given])) this.#payOwed(wallet, market);
  }

  derive(address: string): Reply {
    const { faucet, derivesOnce } = this.#terms;
    const wallet = this.wallet(address);
    if (wallet.derivations > 0 && derivesOnce) return refused("CREDENTIALS_ALREADY_DERIVED");
    if (wallet.derivations === 0) this.fund(address, faucet.usdc, [], faucet.everywhere);
    wallet.derivations += 1;
    return DONE;
  }

  place(order: NewOrder, now: number): Reply {
    const market = this.market(order.market);
    if (market === undefined) return refused("TOKEN_NOT_FOUND");
    const { side, price, size, outcome, expiration } = order;
    if (price % market.tick !== 0) return refused("INVALID_TICK_SIZE");
    if (size < market.minimum) return refused("SIZE_TOO_SMALL");
    if (expiration !== null && expiration <= now) return refused("EXPIRATION_IN_PAST");
    if (market.status !== "ACTIVE") return refused("MARKET_CLOSED");
    const wallet = this.wallets.find(({ address }) => address === order.owner) ?? new Wallet(order.owner);
    const pays = wallet.look(side === "BUY" ? 0 : market.number, outcome);
    const required = held(side, price, size, market.basisPoints);
    const owed = side === "SELL" ? wallet.owed(market.number) : 0;
    const available = spendable(pays, this.#terms.policy) - pays.reserved + owed;
    if (required > available) return { ok: false, code: "INSUFFICIENT_BALANCE", required, available };
    this.#payOwed(wallet, market.number);
    this.#match({ ...order, number: this.orders.length + 1, filled: 0, status: "LIVE" }, market);
    return DONE;
  }

  cancel(owner: string, number: number): Reply {
    const order = this.order(number);
    if (order === undefined || order.owner !== owner) return refused("ORDER_NOT_FOUND");
    if (order.status !== "LIVE") return refused("ORDER_NOT_LIVE");
    this.#leave(order, "CANCELED");
    return DONE;
  }

  cancelAll(owner: string): void {
    for (const order of this.orders) {
      if (order.owner === owner && order.status === "LIVE") this.#leave(order, "CANCELED");
    }
  }

  /** Ends all orders whose time is over. */
  expire(now: number): void {
    this.now = now;
    for (const order of this.#expiring) {
      const isOver = order.expiration !== null && order.expiration <= now;
      if (isOver && order.status === "LIVE") this.#leave(order, "EXPIRED");
    }
  }

  call(call: Call): void {
    this.#settlement(call, "market" in call ? call.market : 0);
  }

  beginBlock(): void {
    this.#blocks.push([]);
    const limited = this.wallets.filter(({ permissions }) => permissions !== ALL_ALLOWED);
    this.#permissions.push(new Map(limited.map((wallet) => [wallet, wallet.permissions])));
  }

  /** A block has all that is pending up to a transaction; empty ones follow. */
  mineUpTo(transaction: number, empty: number): void {
    this.beginBlock();
    for (const settlement of this.settlements) {
      if (settlement.number <= transaction && settlement.status === "pending") this.#mine(settlement);
    }
    for (let count = 0; count < empty; count += 1) this.beginBlock();
  }

  /** A block has one transaction, carried out. */
  mine(transaction: number): void {
    const settlement = this.settlements.find(({ number }) => number === transaction);
    // What the exchange gives is in effect before its block.
    if (settlement !== undefined) this.#mine(settlement);
  }

  #mine(settlement: Settlement): void {
    const { what, moves } = settlement;
    if (what === "match" && moves.some(({ wallet }) => wallet.permissions !== ALL_ALLOWED)) {
      if (!isPermitted(moves))
        throw new Error(`transaction ${settlement.number} is mined, and a wallet does not permit it`);
      usePermissions(moves);
    }
    this.#include(settlement, "mined");
    if (settlement.what === "report") this.market(settlement.market).isReported = true;
    this.#expect(settlement, -1);
  }

  /** Empty blocks come in the place of the latest ones: what those had is pending again, but for what had failed. */
  reorganize(depth: number): Reply {
    const most = Math.min(this.#terms.replaceable, this.#blocks.length - 1);
    if (depth > most) return refused("REORGANIZATION_TOO_DEEP");
    const returned = this.#blocks
      .splice(-depth)
      .flat()
      .filter(({ status }) => status === "mined");
    const [permitted] = this.#permissions.splice(-depth);
    for (const wallet of this.wallets) wallet.permissions = permitted?.get(wallet) ?? ALL_ALLOWED;
    const rollback = this.#rollback();
    for (const { moves } of returned) rollback.expectAgain(moves);
    this.#takeBack(rollback);
    for (const settlement of returned) {
      settlement.status = "pending";
      settlement.since = this.now;
      if (settlement.what === "report") this.market(settlement.market).isReported = false;
      this.#expect(settlement, 1);
    }
    for (let count = 0; count < depth; count += 1) this.beginBlock();
    return DONE;
  }

  /** The first that has waited for so long that a block should have it; undefined when all is well. */
  overdue(interval: number): Settlement | undefined {
    return this.settlements.find(
      ({ number, status, since }) =>
        status === "pending" && since + interval <= this.now && !this.faults.held.has(number),
    );
  }

  /** Nobody will ever mine it, and the ledger goes on counting on it. */
  lose(transaction: number): void {
    this.#find(transaction).status = "lost";
  }

  /** A block has a wallet's call; answers whether it is carried out. */
  carryOut(transaction: number): boolean {
    const settlement = this.#find(transaction);
    const { what, market } = settlement;
    if (typeof what === "string") throw new Error(`transaction ${transaction} is no call`);
    const known = new Set(this.wallets);
    const payout = market === 0 ? null : payoutOf(this.market(market));
    const moves = movesOfCall(what, (address) => this.wallet(address), payout);
    if (settlement.isInLedger) return this.#carryOutAgain(settlement, what, moves !== null);
    this.#include(settlement, "mined");
    if (moves === null) return false;
    settlement.isInLedger = true;
    this.#permit(what);
    settlement.moves.push(...moves);
    const rollback = this.#rollback();
    for (const { wallet, market: place } of moves) {
      if (place === 0 || !known.has(wallet) || wallet.owed(place) === 0) continue;
      this.#payOwed(wallet, place);
    }
    rollback.change(moves);
    this.#takeBack(rollback);
    for (const { wallet, market: place, outcome, amount } of moves)
      wallet.asset(place, outcome).balance += amount;
    return true;
  }

  /** A call that a reorganization took out of its block does what it did before, or reverts and takes that back. */
  #carryOutAgain(settlement: Settlement, call: Call, isPossible: boolean): boolean {
    if (isPossible && settlement.moves.every(isCovered)) {
      this.#permit(call);
      this.#include(settlement, "mined");
      this.#expect(settlement, -1);
      return true;
    }
    const rollback = this.#rollback();
    rollback.fail(settlement);
    this.#takeBack(rollback);
    this.#include(settlement, "mined");
    settlement.moves.length = 0;
    return false;
  }

  #permit(call: Call): void {
    const wallet = this.wallet(call.from);
    wallet.permissions = permissionsAfter(call, wallet.permissions);
  }

  /** Whether all wallets let the exchange move what a settlement takes from them. */
  permits(transaction: number): boolean {
    return isPermitted(this.#find(transaction).moves);
  }

  /** A settlement reverts: its trades go back, and all that cannot stand without them. Answers which settlements went. */
  fail(transaction: number): readonly number[] {
    const settlement = this.#find(transaction);
    const rollback = this.#rollback();
    rollback.fail(settlement);
    this.#include(settlement, "failed");
    return this.#takeBack(rollback);
  }

  #include(settlement: Settlement, status: "mined" | "failed"): void {
    settlement.status = status;
    this.#blocks.at(-1)?.push(settlement);
  }

  #takeBack(rollback: Rollback): readonly number[] {
    const { failed, canceled } = rollback.consequences();
    for (const number of canceled) this.#leave(this.order(number), "CANCELED");
    for (const settlement of failed) {
      // A call has its nonce: a block will have it, and decides about it anew.
      const isCall = typeof settlement.what !== "string";
      if (!isCall) settlement.status = "failed";
      settlement.isInLedger = false;
      for (const { wallet, market, outcome, amount } of settlement.moves) {
        wallet.asset(market, outcome).balance -= amount;
      }
      this.#expect(settlement, -1);
      if (isCall) settlement.moves.length = 0;
    }
    return failed.map(({ number }) => number);
  }

  #rollback(): Rollback {
    return new Rollback(this.settlements, this.#terms.policy, (wallet, market, outcome) =>
      this.#claims(wallet, market, outcome),
    );
  }

  /** What the open orders of a wallet hold of an asset, oldest first. */
  #claims(wallet: Wallet, market: number, outcome: Outcome): Claim[] {
    return this.orders
      .filter(
        (order) =>
          order.owner === wallet.address &&
          order.status === "LIVE" &&
          (order.side === "BUY" ? market === 0 : order.market === market && order.outcome === outcome),
      )
      .map((order) => ({ order: order.number, amount: this.#held(order) }));
  }

  #held({ side, price, size, filled, market }: ReferenceOrder): number {
    return held(side, price, size - filled, this.market(market).basisPoints);
  }

  /** The asset that an order holds. */
  #pays({ owner, side, market, outcome }: ReferenceOrder) {
    return this.wallet(owner).asset(side === "BUY" ? 0 : market, outcome);
  }

  #match(order: ReferenceOrder, market: ReferenceMarket): void {
    this.orders.push(order);
    if (order.expiration !== null) this.#expiring.push(order);
    this.#pays(order).reserved += this.#held(order);
    const isMirrored = market.isOneBook && order.outcome === "NO";
    const { trades, removed, rested } = market.books[order.outcome].place(
      {
        id: order.number,
        owner: this.wallets.findIndex(({ address }) => address === order.owner),
        side: isMirrored ? (order.side === "BUY" ? "SELL" : "BUY") : order.side,
        tick: (isMirrored ? 10_000 - order.price : order.price) / market.tick,
        size: order.size,
      },
      order.type === "GTD" ? "GTC" : order.type,
      market.selfTrade,
    );
    const settlement = trades.length > 0 ? this.#settlement("match", market.number, order.number) : null;
    for (const { maker, quantity } of trades) {
      this.#trade(order, this.order(maker), quantity, market, settlement?.moves ?? []);
    }
    if (settlement !== null) this.#expect(settlement, 1);
    for (const number of removed) this.#release(this.order(number), "CANCELED");
    if (order.filled === order.size) order.status = "MATCHED";
    else if (rested === 0) this.#release(order, order.filled > 0 ? "MATCHED" : "CANCELED");
  }

  #trade(
    taker: ReferenceOrder,
    maker: ReferenceOrder,
    size: number,
    market: ReferenceMarket,
    moves: Move[],
  ): void {
    const isSame = taker.outcome === maker.outcome;
    const price = isSame ? maker.price : 10_000 - maker.price;
    const fee = feeAt(price, size, market.basisPoints);
    const kind = isSame ? "COMPLEMENTARY" : taker.side === "BUY" ? "MINT" : "MERGE";
    this.trades.push({ taker: taker.number, maker: maker.number, price, size, fee, kind });
    this.#fill(maker, maker.price, size, 0, moves);
    this.#fill(taker, price, size, fee, moves);
    if (fee > 0)
      this.#move(
        { wallet: this.wallet(this.#terms.feesAddress), market: 0, outcome: USDC, amount: fee },
        moves,
      );
    if (maker.filled === maker.size) maker.status = "MATCHED";
  }

  #fill(order: ReferenceOrder, price: number, size: number, fee: number, moves: Move[]): void {
    const before = this.#held(order);
    order.filled += size;
    this.#pays(order).reserved += this.#held(order) - before;
    const wallet = this.wallet(order.owner);
    const bought = order.side === "BUY" ? 1 : -1;
    this.#move({ wallet, market: 0, outcome: USDC, amount: -bought * price * size - fee }, moves);
    this.#move({ wallet, market: order.market, outcome: order.outcome, amount: bought * size }, moves);
  }

  #move(move: Move, moves: Move[]): void {
    move.wallet.asset(move.market, move.outcome).balance += move.amount;
    moves.push(move);
  }

  /** Notes that moves are on their way to the chain, or are so no longer. */
  #expect({ moves }: Settlement, sign: 1 | -1): void {
    for (const { wallet, market, outcome, amount } of moves) {
      const asset = wallet.asset(market, outcome);
      if (amount > 0) asset.incoming += sign * amount;
      else asset.outgoing -= sign * amount;
    }
  }

  #payOwed(wallet: Wallet, market: number): void {
    const size = wallet.owed(market);
    if (size === 0) return;
    this.#transactions += 1;
    wallet.had.set(market, wallet.owedEverywhere);
    wallet.asset(market, "YES").balance += size;
    wallet.asset(market, "NO").balance += size;
  }

  #settlement(what: Settlement["what"], market: number, taker = 0): Settlement {
    this.#transactions += 1;
    const settlement: Settlement = {
      number: this.#transactions,
      what,
      taker,
      moves: [],
      isInLedger: what === "match",
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

  #leave(order: ReferenceOrder, status: "CANCELED" | "EXPIRED"): void {
    this.market(order.market).books[order.outcome].cancel(order.number);
    this.#release(order, status);
  }

  #release(order: ReferenceOrder, status: ReferenceOrder["status"]): void {
    this.#pays(order).reserved -= this.#held(order);
    order.status = status;
  }
}

/** What 0.01 share of each outcome pays in micro-USDC; null before the chain knows how the market ended. */
function payoutOf({ winner, isReported }: ReferenceMarket): Record<Outcome, number> | null {
  if (winner === null || !isReported) return null;
  if (winner === "SPLIT") return { YES: 5_000, NO: 5_000 };
  return { YES: winner === "YES" ? 10_000 : 0, NO: winner === "NO" ? 10_000 : 0 };
}
