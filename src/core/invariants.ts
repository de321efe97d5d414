import { type Account, availableOf, type Balance, onChainOf, openOrdersOf } from "./account.ts";
import { ASK, BID, type BookDirection } from "./book/book.ts";
import { headOf } from "./chain/chain.ts";
import { supplyChangesOf, USDC, visitMoves } from "./chain/settlement.ts";
import { awaitsBlock } from "./chain/transaction.ts";
import { sumText } from "./format.ts";
import {
  emptySupply,
  levelsOf,
  marketOfToken,
  outcomeOf,
  placeOf,
  priceIn,
  type Supply,
  tokenOf,
} from "./market.ts";
import { ORDER_PACKING, type Order, remainingOf, reservationOf } from "./order.ts";
import { payoutOf } from "./rules/contract-calls.ts";
import { changeSupply } from "./rules/ledger.ts";
import type { State } from "./state.ts";
import { runSteps, StepCounter, type Steps } from "./steps.ts";
import { add, compareSums, emptySum, FULL_PRICE, notional, type Sum } from "./units.ts";

const MAX_DIFFERENCES = 5;

/** Compares found with expected values for one invariant, and counts records for its steps. */
class InvariantCheck extends StepCounter {
  #checked = 0;
  /** Descriptions of the first few differences. */
  readonly #differences: string[] = [];

  /**
   * Compares two values. The first and the second `#` in `what` stand for two others, because writing a text for each
   * comparison would cost more than the rest.
   */
  equal(found: number, expected: number, what: string, first?: unknown, second?: unknown): void {
    this.#checked += 1;
    if (found === expected) return;
    const named = what.replace("#", String(first)).replace("#", String(second));
    this.differs(`${named}: ${found}, expected ${expected}`);
  }

  compared(count: number): void {
    this.#checked += count;
  }

  differs(difference: string): void {
    if (this.#differences.length < MAX_DIFFERENCES) this.#differences.push(difference);
  }

  result(name: string) {
    const differences = this.#differences;
    return { name, holds: differences.length === 0, checked: this.#checked, differences };
  }
}
type Invariant = ReturnType<InvariantCheck["result"]>;

type Check = (rule: InvariantCheck, state: State, live: readonly Order[]) => Steps<void> | void;

/**
 * Invariants that an order can break without moving funds; that records consistent in pairs can break together; of totals,
 * whose cost grows with the accounts, holdings and markets only.
 */
type Scope = "orders" | "document" | "totals";

const INVARIANTS: readonly (readonly [name: string, check: Check, ...scopes: Scope[]])[] = [
  ["USDC issued = balances + locked collateral", collateralIsConserved, "document", "totals"],
  ["supply of YES = supply of NO = locked collateral", sharesAreBacked, "document", "totals"],
  ["no balance is negative or over-reserved", noBalanceIsNegative, "orders", "document", "totals"],
  ["reserved = what live orders may cost", reservationsFollowOrders, "orders", "document"],
  ["book levels = sum of live orders", booksHoldTheLiveOrders, "orders", "document"],
  ["no book is crossed", noBookIsCrossed, "orders", "document", "totals"],
  ["queues are in order of arrival", queuesAreInOrderOfArrival, "orders"],
  ["an order's matched size = sum of its fills", fillsAddUp, "document"],
  ["an account's open orders = its live orders", openOrdersAreListed, "orders"],
  ["chain balances + pending = ledger", chainAgreesWithLedger, "document"],
  ["blocks = what was mined", blocksHoldWhatWasMined],
];

/** Checks all invariants, or those of a scope; `known` are all live orders. */
export function* invariantsInSteps(
  state: State,
  scope?: Scope,
  known?: readonly Order[],
): Steps<Invariant[]> {
  const live = known ?? (scope === "totals" ? [] : yield* liveOrders(state));
  const found: Invariant[] = [];
  for (const [name, check, ...scopes] of INVARIANTS) {
    if (scope !== undefined && !scopes.includes(scope)) continue;
    const rule = new InvariantCheck();
    const steps = check(rule, state, live);
    if (steps !== undefined) yield* steps;
    found.push(rule.result(name));
  }
  return found;
}

function* liveOrders({ orders }: State): Steps<Order[]> {
  const live: Order[] = [];
  const counter = new StepCounter();
  for (const order of orders.open()) {
    if (counter.isStep()) yield;
    if (order.status === "LIVE") live.push(order);
  }
  return live;
}

export const invariants = (...of: Parameters<typeof invariantsInSteps>): Invariant[] =>
  runSteps(invariantsInSteps(...of));

export const violations = (...of: Parameters<typeof invariantsInSteps>): Invariant[] =>
  invariants(...of).filter(({ holds }) => !holds);

function collateralIsConserved(rule: InvariantCheck, state: State): void {
  let total = 0;
  for (const account of state.accounts) total += account.collateral.balance;
  for (const { supply } of state.markets) total += supply.collateral;
  rule.equal(total, state.issued, "micro-USDC");
}

/**
 * Checks that each YES share has a NO share, and each pair 1 USDC of locked collateral. After resolution the collateral
 * equals the payout of the remaining shares.
 */
function sharesAreBacked(rule: InvariantCheck, state: State): void {
  const yes = new Map<number, number>();
  const no = new Map<number, number>();
  for (const account of state.accounts) {
    account.holdings.forEach((holding, market) => {
      yes.set(market, (yes.get(market) ?? 0) + holding.yes.balance);
      no.set(market, (no.get(market) ?? 0) + holding.no.balance);
    });
  }
  for (const { number, supply, winningOutcome } of state.markets) {
    rule.equal(yes.get(number) ?? 0, supply.yes, "YES of market #", number);
    rule.equal(no.get(number) ?? 0, supply.no, "NO of market #", number);
    if (winningOutcome === null) {
      rule.equal(supply.no, supply.yes, "NO of market # beside its YES", number);
      rule.equal(supply.collateral, notional(FULL_PRICE, supply.yes), "locked in market #", number);
    } else {
      const payout = payoutOf(winningOutcome);
      const owed = supply.yes * payout.YES + supply.no * payout.NO;
      rule.equal(supply.collateral, owed, "locked in market #", number);
    }
  }
}

function noBalanceIsNegative(rule: InvariantCheck, state: State): void {
  const { balances } = state.config;
  for (const account of state.accounts) {
    visitBalances(account, (token, of) => {
      rule.compared(1);
      if (of.reserved >= 0 && availableOf(of, balances) >= 0 && Number.isSafeInteger(of.balance)) return;
      const what = token === USDC ? "USDC" : `${outcomeOf(token)} of market ${marketOfToken(token)}`;
      rule.differs(`account ${account.number} ${what}: balance ${of.balance}, reserved ${of.reserved}`);
    });
  }
}

/** Visits the balances of an account: USDC, then the tokens of markets. */
function visitBalances(
  { collateral, holdings }: Account,
  visit: (token: number, balance: Balance<number>) => void,
): void {
  visit(USDC, collateral);
  holdings.forEach(({ yes, no }, market) => {
    visit(tokenOf(market, "YES"), yes);
    visit(tokenOf(market, "NO"), no);
  });
}

function* reservationsFollowOrders(rule: InvariantCheck, state: State, live: readonly Order[]): Steps<void> {
  const expected = new Map<number, number>();
  const count = state.accounts.next;
  const keyOf = (account: number, token: number): number => token * count + account;
  for (const order of live) {
    if (rule.isStep()) yield;
    const { feeRateBps } = state.markets.get(marketOfToken(order.token));
    const key = keyOf(order.account, order.side === "BUY" ? USDC : order.token);
    expected.set(key, (expected.get(key) ?? 0) + reservationOf(order, remainingOf(order), feeRateBps));
  }
  for (const account of state.accounts) {
    visitBalances(account, (token, { reserved }) => {
      const wanted = expected.get(keyOf(account.number, token)) ?? 0;
      rule.equal(reserved, wanted, "account #/#", account.number, token === USDC ? "USDC" : token);
    });
  }
}

/** Sums of transactions for one asset of one account; `hasBalance`: whether the ledger has a balance for it. */
const noSums = () => ({ mined: 0, incoming: 0, outgoing: 0, hasBalance: false });
type Sums = ReturnType<typeof noSums>;

/** Checks that the ledger equals the balances on chain plus pending amounts, both computed from the transactions. */
function* chainAgreesWithLedger(rule: InvariantCheck, state: State): Steps<void> {
  // By token, then by account. A map would double the cost.
  const sums = Array.from({ length: tokenOf(state.markets.next, "YES") }, (): Sums[] => []);
  const supplies: Supply[] = [];
  let isOnChain = false;
  const sumsOf = (account: number, token: number): Sums => {
    sums[token] ??= [];
    return entry(sums[token], account, noSums);
  };
  const addMove = (account: number, token: number, amount: number): void => {
    const sum = sumsOf(account, token);
    if (isOnChain) sum.mined += amount;
    else if (amount > 0) sum.incoming += amount;
    else sum.outgoing -= amount;
  };
  const { transactions } = state.chain;
  for (let number = 1; number <= transactions.size; number += 1) {
    if (rule.isStep()) yield;
    const transaction = transactions.get(number);
    const { status } = transaction;
    // Deposits and preparations are in effect on chain before their block.
    isOnChain = status === "MINED" || !awaitsBlock(transaction);
    if (!isOnChain && status !== "PENDING" && status !== "LOST") continue;
    visitMoves(state, transaction, addMove);
    if (!isOnChain) continue;
    for (const change of supplyChangesOf(state, transaction))
      changeSupply(entry(supplies, change.market, emptySupply), change);
  }
  const check = (account: number, token: number, balance: Balance<number>): void => {
    const sum = sumsOf(account, token);
    const { mined, incoming, outgoing } = sum;
    rule.equal(onChainOf(balance), mined, "on the chain of #/#", account, token);
    rule.equal(balance.incoming, incoming, "incoming of #/#", account, token);
    rule.equal(balance.outgoing, outgoing, "outgoing of #/#", account, token);
    rule.compared(1);
    if (mined < 0) rule.differs(`${account}/${token} owes ${-mined} on the chain`);
    sum.hasBalance = true;
  };
  for (const account of state.accounts)
    visitBalances(account, (token, balance) => check(account.number, token, balance));
  sums.forEach((ofToken, token) => {
    ofToken.forEach(({ mined, hasBalance }, account) => {
      if (!hasBalance && mined !== 0)
        rule.differs(`on the chain of ${account}/${token}: nothing, expected ${mined}`);
    });
  });
  for (const { number, onChain } of state.markets) {
    const { yes, no, collateral } = supplies[number] ?? emptySupply();
    rule.equal(onChain.yes, yes, "YES of market # on the chain", number);
    rule.equal(onChain.no, no, "NO of market # on the chain", number);
    rule.equal(onChain.collateral, collateral, "locked in market # on the chain", number);
  }
}

/**
 * Checks that each block follows its parent, that each transaction is in the block it refers to, once, and that no two
 * pending calls of a wallet have the same nonce.
 */
function* blocksHoldWhatWasMined(rule: InvariantCheck, state: State): Steps<void> {
  const { chain } = state;
  // Transactions of the block being assembled already refer to it.
  const { building } = chain;
  let included = building === null ? 0 : chain.mined.size - building.first;
  let parent = 0;
  for (let height = 0; height <= headOf(chain); height += 1) {
    if (rule.isStep()) yield;
    const block = chain.blocks.get(chain.heights.get(height + 1));
    rule.equal(block.height, height, "height of block #", block.serial);
    rule.equal(block.parent, parent, "parent of block #", block.serial);
    parent = block.serial;
    for (let place = 0; place < block.count; place += 1) {
      if (rule.isStep()) yield;
      const mined = chain.transactions.get(chain.mined.get(block.first + place + 1));
      rule.equal(mined.block, block.serial, "block of transaction #", mined.number);
      rule.equal(mined.place, place, "place of transaction #", mined.number);
      included += 1;
    }
  }
  let pending = 0;
  let lost = 0;
  for (let number = 1; number <= chain.transactions.size; number += 1) {
    const transaction = chain.transactions.get(number);
    const { status, content } = transaction;
    if (transaction.block !== 0) included -= 1;
    if (status === "PENDING" && awaitsBlock(transaction)) pending += 1;
    if (status === "LOST") lost += 1;
    if (status !== "PENDING" || content?.kind !== "call") continue;
    const sent = chain.wallets.get(content.from)?.pending.get(content.nonce);
    if (sent !== number) rule.differs(`pending with the nonce of ${number}: ${sent}, expected ${number}`);
  }
  rule.equal(-included, 0, "transactions with a block that does not contain them");
  rule.equal(chain.pending, pending, "pending");
  rule.equal(chain.lost.length, lost, "lost");
}

function entry<Value>(list: Value[], place: number, make: () => Value): Value {
  list[place] ??= make();
  return list[place];
}

// Invariants of the books.

/** Key of a price level as one number. A string would double the cost. */
const levelKey = (market: number, book: number, direction: BookDirection, tick: number): number =>
  ((market * 2 + book) * 2 + direction) * FULL_PRICE + tick;

function levelName(key: number): string {
  const [side, tick] = [Math.floor(key / FULL_PRICE), key % FULL_PRICE];
  return `${side >> 2}/${(side >> 1) & 1}/${side & 1}/${tick}`;
}

function* booksHoldTheLiveOrders(rule: InvariantCheck, state: State, live: readonly Order[]): Steps<void> {
  const totals = new Map<number, { open: number; orders: number }>();
  const liquidity = new Map<number, Sum>();
  for (const order of live) {
    if (rule.isStep()) yield;
    const market = state.markets.get(marketOfToken(order.token));
    const { bookState, mirrored, direction, tick } = placeOf(market, order);
    const isYesBook = bookState === market.books[0];
    const place = levelKey(market.number, isYesBook ? 0 : 1, direction, tick);
    rule.compared(1);
    if (
      state.pool.orderIn(order.slot) !== order.number ||
      state.pool.openIn(order.slot) !== remainingOf(order)
    )
      rule.differs(`order ${order.number} is not in its slot with its open size`);
    const level = totals.get(place) ?? { open: 0, orders: 0 };
    level.open += remainingOf(order);
    level.orders += 1;
    totals.set(place, level);
    if (!isYesBook) continue;
    const value = notional(priceIn(mirrored, order.price), remainingOf(order));
    const sum = liquidity.get(market.number) ?? emptySum();
    add(sum, value);
    liquidity.set(market.number, sum);
  }
  let found = 0;
  for (const { market, index, book, direction } of sidesOf(state)) {
    let levels = 0;
    book.depth(direction, (tick, open, orders) => {
      const place = levelKey(market.number, index, direction, tick);
      const total = totals.get(place);
      if (total !== undefined) found += 1;
      const expected = total ?? { open: 0, orders: 0 };
      if (open !== expected.open)
        rule.differs(`open at ${levelName(place)}: ${open}, expected ${expected.open}`);
      if (orders !== expected.orders)
        rule.differs(`orders at ${levelName(place)}: ${orders}, expected ${expected.orders}`);
      levels += 1;
    });
    rule.compared(2 * levels);
    if (rule.isStep(1 + levels)) yield;
  }
  if (found < totals.size)
    rule.differs(`levels of live orders: ${found} in the books, expected ${totals.size}`);
  for (const market of state.markets) {
    const expected = liquidity.get(market.number) ?? emptySum();
    rule.compared(1);
    if (compareSums(market.liquidity, expected) === 0) continue;
    const [is, wanted] = [market.liquidity, expected].map(sumText);
    rule.differs(`liquidity of market ${market.number}: ${is} USDC, expected ${wanted}`);
  }
}

function noBookIsCrossed(rule: InvariantCheck, state: State): void {
  for (const market of state.markets) {
    for (const { book } of market.books) {
      if (book === null) continue;
      const { bestBid, bestAsk } = book;
      rule.compared(1);
      if (bestBid >= bestAsk)
        rule.differs(
          `market ${market.number}: best bid ${bestBid}, best ask ${bestAsk} of ${levelsOf(market)} levels`,
        );
    }
  }
}

function* queuesAreInOrderOfArrival(rule: InvariantCheck, state: State): Steps<void> {
  for (const { market, book, direction } of sidesOf(state)) {
    let tick = 0;
    let previous = 0;
    let orders = 0;
    book.queue(direction, (slot) => {
      const order = state.pool.orderIn(slot);
      orders += 1;
      if (book.tickOf(slot) === tick) {
        rule.compared(1);
        if (previous >= order) rule.differs(`market ${market.number}: order ${previous} before ${order}`);
      }
      tick = book.tickOf(slot);
      previous = order;
    });
    if (rule.isStep(1 + orders)) yield;
  }
}

/** Yields the sides of the books in which orders have rested. */
function* sidesOf({ markets }: State) {
  for (const market of markets) {
    for (const [index, { book }] of market.books.entries()) {
      if (book === null) continue;
      yield { market, index, book, direction: BID } as const;
      yield { market, index, book, direction: ASK } as const;
    }
  }
}

const filledOf = ORDER_PACKING.part("size", "matched", "notional", "fee", "status");

function* fillsAddUp(rule: InvariantCheck, state: State): Steps<void> {
  const { orders, trades } = state;
  // Matched size, value and fee by order number. A map would cost ten times as much.
  const sums = new Float64Array(3 * orders.next);
  const count = (order: number, size: number, value: number, fee: number): void => {
    const at = 3 * order;
    sums[at] = (sums[at] as number) + size;
    sums[at + 1] = (sums[at + 1] as number) + value;
    sums[at + 2] = (sums[at + 2] as number) + fee;
  };
  for (let number = 1; number <= trades.size; number += 1) {
    if (rule.isStep()) yield;
    const { taker, maker, price, size, fee, matchType } = trades.get(number);
    const makerPrice = matchType === "COMPLEMENTARY" ? price : FULL_PRICE - price;
    count(taker, size, price * size, fee);
    count(maker, size, makerPrice * size, 0);
  }
  for (let number = 1; number <= orders.size; number += 1) {
    if (rule.isStep()) yield;
    const order = orders.part(number, filledOf);
    const at = 3 * number;
    rule.equal(order.matched, sums[at] as number, "order #", number);
    rule.equal(order.notional, sums[at + 1] as number, "notional of order #", number);
    rule.equal(order.fee, sums[at + 2] as number, "fee of order #", number);
    const remaining = remainingOf(order);
    const isWrong = remaining < 0 || (remaining === 0 && order.status !== "MATCHED");
    // An order that may still be filled is kept as an object.
    if (isWrong || (order.status === "LIVE" && !orders.isOpen(number)))
      rule.differs(`order ${number}: ${order.status} with ${remaining} remaining`);
  }
  rule.compared(orders.size);
}

function* openOrdersAreListed(rule: InvariantCheck, state: State, orders: readonly Order[]): Steps<void> {
  const live = new Map<number, number>();
  for (const { account } of orders) live.set(account, (live.get(account) ?? 0) + 1);
  for (const account of state.accounts) {
    let listed = 0;
    for (const order of openOrdersOf(state, account)) {
      if (rule.isStep()) yield;
      listed += 1;
      rule.compared(1);
      if (order.account !== account.number || order.status !== "LIVE")
        rule.differs(
          `order ${order.number}: ${order.status} of account ${order.account}, listed by ${account.number}`,
        );
    }
    rule.equal(listed, live.get(account.number) ?? 0, "listed of account #", account.number);
    rule.equal(account.openCount, listed, "count of account #", account.number);
  }
}
