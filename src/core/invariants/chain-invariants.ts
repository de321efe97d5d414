import { type Balance, onChainOf } from "../account.ts";
import { headOf } from "../chain/chain.ts";
import { movesOf, supplyChangesOf, USDC } from "../chain/moves.ts";
import { awaitsBlock, type Transaction } from "../chain/transaction.ts";
import { tokenOf } from "../market.ts";
import type { State } from "../state.ts";
import { type Invariant, Judgement } from "./judgement.ts";
import { Pace, type Steps } from "./pace.ts";

/** What transactions come to for one asset of one account, or one outcome of a market. */
interface Sums {
  /** What the chain has. */
  mined: number;
  /** What pending settlements are to bring and to take. */
  incoming: number;
  outgoing: number;
}

const noSums = (): Sums => ({ mined: 0, incoming: 0, outgoing: 0 });
const noSupply = () => ({ yes: 0, no: 0, collateral: 0 });

/** The ledger is what the chain has and what is pending; both follow from the transactions alone. */
export function* chainAgreesWithLedger(state: State): Steps<Invariant> {
  const pace = new Pace();
  const judgement = new Judgement("chain balances + pending = ledger");
  const sums = new Map<number, Sums>();
  // An asset of an account in one small number: a text, or a large one, would cost as much as all the rest.
  const count = state.accounts.next;
  const keyOf = (account: number, token: number): number => token * count + account;
  const nameOf = (key: number): string => `${key % count}/${Math.floor(key / count)}`;
  const supplies = new Map<number, { yes: number; no: number; collateral: number }>();
  for (const transaction of state.chain.transactions) {
    if (pace.isStep()) yield;
    const isMined = isOnChain(transaction);
    if (!isMined && !isPending(transaction)) continue;
    for (const { account, token, amount } of movesOf(state, transaction)) {
      const sum = entry(sums, keyOf(account, token), noSums);
      if (isMined) sum.mined += amount;
      else if (amount > 0) sum.incoming += amount;
      else sum.outgoing -= amount;
    }
    if (!isMined) continue;
    for (const { market, yes, no, collateral } of supplyChangesOf(state, transaction)) {
      const supply = entry(supplies, market, noSupply);
      supply.yes += yes;
      supply.no += no;
      supply.collateral += collateral;
    }
  }
  for (const account of state.accounts) {
    const check = (token: number, balance: Balance<number>): void => {
      const key = keyOf(account.number, token);
      const sum = sums.get(key) ?? noSums();
      judgement.equal(() => `on the chain of ${nameOf(key)}`, onChainOf(balance), sum.mined);
      judgement.equal(() => `incoming of ${nameOf(key)}`, balance.incoming, sum.incoming);
      judgement.equal(() => `outgoing of ${nameOf(key)}`, balance.outgoing, sum.outgoing);
      judgement.expect(sum.mined >= 0, () => `${nameOf(key)} owes ${-sum.mined} on the chain`);
      sums.delete(key);
    };
    check(USDC, account.collateral);
    for (const [market, { yes, no }] of account.holdings) {
      check(tokenOf(market, "YES"), yes);
      check(tokenOf(market, "NO"), no);
    }
  }
  for (const [key, { mined }] of sums) judgement.equal(() => `on the chain of ${nameOf(key)}`, 0, mined);
  for (const { number, onChain } of state.markets) {
    const { yes, no, collateral } = supplies.get(number) ?? { yes: 0, no: 0, collateral: 0 };
    judgement.equal(() => `YES of market ${number} on the chain`, onChain.yes, yes);
    judgement.equal(() => `NO of market ${number} on the chain`, onChain.no, no);
    judgement.equal(() => `locked in market ${number} on the chain`, onChain.collateral, collateral);
  }
  return judgement.result;
}

/** Whether a transaction is in effect on the chain: what the exchange gives is so before its block. */
const isOnChain = (transaction: Transaction): boolean =>
  transaction.status === "MINED" || !awaitsBlock(transaction);

const isPending = ({ status }: Transaction): boolean => status === "PENDING" || status === "LOST";

/** Each block stands on the one before, and every transaction that says it is in one is there, once. */
export function* blocksHoldWhatWasMined(state: State): Steps<Invariant> {
  const pace = new Pace();
  const judgement = new Judgement("blocks = what was mined");
  const { chain } = state;
  let included = 0;
  let parent = 0;
  for (let height = 0; height <= headOf(chain); height += 1) {
    if (pace.isStep()) yield;
    const block = chain.blocks.get(chain.heights.get(height + 1));
    judgement.equal(() => `height of block ${block.serial}`, block.height, height);
    judgement.equal(() => `parent of block ${block.serial}`, block.parent, parent);
    parent = block.serial;
    for (let place = 0; place < block.count; place += 1) {
      if (pace.isStep()) yield;
      const {
        number,
        block: found,
        place: at,
      } = chain.transactions.get(chain.mined.get(block.first + place + 1));
      judgement.equal(() => `block of transaction ${number}`, found, block.serial);
      judgement.equal(() => `place of transaction ${number}`, at, place);
      included += 1;
    }
  }
  let pending = 0;
  let lost = 0;
  for (const transaction of chain.transactions) {
    if (transaction.block !== 0) included -= 1;
    if (transaction.status === "PENDING" && awaitsBlock(transaction)) pending += 1;
    if (transaction.status === "LOST") lost += 1;
  }
  judgement.equal(() => "transactions that say they are in a block, beside those that are", -included, 0);
  judgement.equal(() => "pending", chain.pending, pending);
  judgement.equal(() => "lost", chain.lost.length, lost);
  return judgement.result;
}

function entry<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
