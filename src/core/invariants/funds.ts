import { type Account, availableOf, type Balance, onChainOf } from "../account.ts";
import { headOf } from "../chain/chain.ts";
import { supplyChangesOf, USDC, visitMoves } from "../chain/settlement.ts";
import { awaitsBlock, type Transaction } from "../chain/transaction.ts";
import { marketOfToken, outcomeOf, tokenOf } from "../market.ts";
import { type Order, remainingOf, reservationOf } from "../order.ts";
import { payoutOf } from "../rules/contract-calls.ts";
import type { State } from "../state.ts";
import { StepCounter, type Steps } from "../steps.ts";
import { FULL_PRICE, notional } from "../units.ts";
import { type Invariant, InvariantCheck } from "./check.ts";

/** Checks that all issued USDC is in a balance or locked as collateral. */
export function collateralIsConserved(state: State): Invariant {
  const rule = new InvariantCheck("USDC issued = balances + locked collateral");
  let total = 0;
  for (const account of state.accounts) total += account.collateral.balance;
  for (const { supply } of state.markets) total += supply.collateral;
  rule.equal(() => "micro-USDC", total, state.issued);
  return rule.result;
}

/**
 * Checks that each YES share has a NO share, and each pair 1 USDC of locked collateral. After resolution the collateral
 * equals the payout of the remaining shares.
 */
export function sharesAreBacked(state: State): Invariant {
  const rule = new InvariantCheck("supply of YES = supply of NO = locked collateral");
  const yes = new Map<number, number>();
  const no = new Map<number, number>();
  for (const account of state.accounts) {
    account.holdings.forEach((holding, market) => {
      yes.set(market, (yes.get(market) ?? 0) + holding.yes.balance);
      no.set(market, (no.get(market) ?? 0) + holding.no.balance);
    });
  }
  for (const { number, supply, winningOutcome } of state.markets) {
    rule.equal(() => `YES of market ${number}`, yes.get(number) ?? 0, supply.yes);
    rule.equal(() => `NO of market ${number}`, no.get(number) ?? 0, supply.no);
    if (winningOutcome === null) {
      rule.equal(() => `NO of market ${number} beside its YES`, supply.no, supply.yes);
      rule.equal(() => `locked in market ${number}`, supply.collateral, notional(FULL_PRICE, supply.yes));
    } else {
      const payout = payoutOf(winningOutcome);
      const owed = supply.yes * payout.YES + supply.no * payout.NO;
      rule.equal(() => `locked in market ${number}`, supply.collateral, owed);
    }
  }
  return rule.result;
}

/** Checks that no balance is negative and no more is reserved than is available. */
export function noBalanceIsNegative(state: State): Invariant {
  const rule = new InvariantCheck("no balance is negative or over-reserved");
  const { balances } = state.config;
  for (const account of state.accounts) {
    visitBalances(account, (token, of) => {
      rule.compared(1);
      if (of.reserved >= 0 && availableOf(of, balances) >= 0 && Number.isSafeInteger(of.balance)) return;
      const what = token === USDC ? "USDC" : `${outcomeOf(token)} of market ${marketOfToken(token)}`;
      rule.differs(`account ${account.number} ${what}: balance ${of.balance}, reserved ${of.reserved}`);
    });
  }
  return rule.result;
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

/** Checks that reserved amounts equal the reservations of live orders. */
export function* reservationsFollowOrders(state: State, live: readonly Order[]): Steps<Invariant> {
  const counter = new StepCounter();
  const rule = new InvariantCheck("reserved = what live orders may cost");
  const expected = new Map<number, number>();
  const count = state.accounts.next;
  const keyOf = (account: number, token: number): number => token * count + account;
  for (const order of live) {
    if (counter.isStep()) yield;
    const { feeRateBps } = state.markets.get(marketOfToken(order.token));
    const key = keyOf(order.account, order.side === "BUY" ? USDC : order.token);
    expected.set(key, (expected.get(key) ?? 0) + reservationOf(order, remainingOf(order), feeRateBps));
  }
  for (const account of state.accounts) {
    visitBalances(account, (token, { reserved }) => {
      rule.compared(1);
      const wanted = expected.get(keyOf(account.number, token)) ?? 0;
      if (reserved === wanted) return;
      const asset = token === USDC ? "USDC" : `${token}`;
      rule.differs(`account ${account.number}/${asset}: ${reserved}, expected ${wanted}`);
    });
  }
  return rule.result;
}

/** Sums of transactions for one asset of one account. */
interface Sums {
  /** Balance on chain. */
  mined: number;
  /** Pending credits and debits. */
  incoming: number;
  outgoing: number;
  /** Whether the ledger has a balance for it. */
  isHeld: boolean;
}

const noSums = (): Sums => ({ mined: 0, incoming: 0, outgoing: 0, isHeld: false });

interface SupplySums {
  yes: number;
  no: number;
  collateral: number;
}

const noSupply = (): SupplySums => ({ yes: 0, no: 0, collateral: 0 });

function addSupply(state: State, transaction: Transaction, supplies: SupplySums[]): void {
  for (const { market, yes, no, collateral } of supplyChangesOf(state, transaction)) {
    const supply = entry(supplies, market, noSupply);
    supply.yes += yes;
    supply.no += no;
    supply.collateral += collateral;
  }
}

/** Checks that the ledger equals the balances on chain plus pending amounts, both computed from the transactions. */
export function* chainAgreesWithLedger(state: State): Steps<Invariant> {
  const counter = new StepCounter();
  const rule = new InvariantCheck("chain balances + pending = ledger");
  // By token, then by account. A map would double the cost.
  const sums = Array.from({ length: tokenOf(state.markets.next, "YES") }, (): Sums[] => []);
  const supplies: SupplySums[] = [];
  let isOn = false;
  const sumsOf = (account: number, token: number): Sums => {
    const ofToken = entry(sums, token, (): Sums[] => []);
    return entry(ofToken, account, noSums);
  };
  const addMove = (account: number, token: number, amount: number): void => {
    const sum = sumsOf(account, token);
    if (isOn) sum.mined += amount;
    else if (amount > 0) sum.incoming += amount;
    else sum.outgoing -= amount;
  };
  const { transactions } = state.chain;
  for (let number = 1; number <= transactions.size; number += 1) {
    if (counter.isStep()) yield;
    const transaction = transactions.get(number);
    const isMined = isOnChain(transaction);
    if (!isMined && !isPending(transaction)) continue;
    isOn = isMined;
    visitMoves(state, transaction, addMove);
    if (isMined) addSupply(state, transaction, supplies);
  }
  const check = ({ number: account }: Account, token: number, balance: Balance<number>): void => {
    const sum = sumsOf(account, token);
    const { mined, incoming, outgoing } = sum;
    const differs = (what: string, found: number, expected: number): void =>
      rule.differs(`${what} of ${account}/${token}: ${found}, expected ${expected}`);
    if (onChainOf(balance) !== mined) differs("on the chain", onChainOf(balance), mined);
    if (balance.incoming !== incoming) differs("incoming", balance.incoming, incoming);
    if (balance.outgoing !== outgoing) differs("outgoing", balance.outgoing, outgoing);
    if (mined < 0) rule.differs(`${account}/${token} owes ${-mined} on the chain`);
    rule.compared(4);
    sum.isHeld = true;
  };
  for (const account of state.accounts)
    visitBalances(account, (token, balance) => check(account, token, balance));
  sums.forEach((ofToken, token) => {
    ofToken.forEach(({ mined, isHeld }, account) => {
      if (!isHeld && mined !== 0)
        rule.differs(`on the chain of ${account}/${token}: nothing, expected ${mined}`);
    });
  });
  for (const { number, onChain } of state.markets) {
    const { yes, no, collateral } = supplies[number] ?? noSupply();
    rule.equal(() => `YES of market ${number} on the chain`, onChain.yes, yes);
    rule.equal(() => `NO of market ${number} on the chain`, onChain.no, no);
    rule.equal(() => `locked in market ${number} on the chain`, onChain.collateral, collateral);
  }
  return rule.result;
}

/** Whether a transaction is in effect on chain; deposits and preparations are so before their block. */
const isOnChain = (transaction: Transaction): boolean =>
  transaction.status === "MINED" || !awaitsBlock(transaction);

const isPending = ({ status }: Transaction): boolean => status === "PENDING" || status === "LOST";

/** Checks that each block follows its parent, and that each transaction is in the block it refers to, once. */
export function* blocksHoldWhatWasMined(state: State): Steps<Invariant> {
  const counter = new StepCounter();
  const rule = new InvariantCheck("blocks = what was mined");
  const { chain } = state;
  // Transactions of the block being assembled already refer to it.
  const { building } = chain;
  let included = building === null ? 0 : chain.mined.size - building.first;
  let parent = 0;
  for (let height = 0; height <= headOf(chain); height += 1) {
    if (counter.isStep()) yield;
    const block = chain.blocks.get(chain.heights.get(height + 1));
    if (block.height !== height)
      rule.differs(`height of block ${block.serial}: ${block.height}, expected ${height}`);
    if (block.parent !== parent)
      rule.differs(`parent of block ${block.serial}: ${block.parent}, expected ${parent}`);
    rule.compared(2 + 2 * block.count);
    parent = block.serial;
    for (let place = 0; place < block.count; place += 1) {
      if (counter.isStep()) yield;
      const mined = chain.transactions.get(chain.mined.get(block.first + place + 1));
      if (mined.block !== block.serial)
        rule.differs(`block of transaction ${mined.number}: ${mined.block}, expected ${block.serial}`);
      if (mined.place !== place)
        rule.differs(`place of transaction ${mined.number}: ${mined.place}, expected ${place}`);
      included += 1;
    }
  }
  let pending = 0;
  let lost = 0;
  for (let number = 1; number <= chain.transactions.size; number += 1) {
    const transaction = chain.transactions.get(number);
    if (transaction.block !== 0) included -= 1;
    if (transaction.status === "PENDING" && awaitsBlock(transaction)) pending += 1;
    if (transaction.status === "LOST") lost += 1;
  }
  rule.equal(() => "transactions with a block that does not contain them", -included, 0);
  rule.equal(() => "pending", chain.pending, pending);
  rule.equal(() => "lost", chain.lost.length, lost);
  return rule.result;
}

/** Returns the value of a list at an index, creating it if necessary. */
function entry<Value>(list: Value[], place: number, make: () => Value): Value {
  let value = list[place];
  if (value === undefined) {
    value = make();
    list[place] = value;
  }
  return value;
}
