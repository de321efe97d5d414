import type { Chain } from "../chain/chain.ts";
import { headOf } from "../chain/chain.ts";
import { isRestricted } from "../chain/contracts.ts";
import { awaitsBlock, type Transaction } from "../chain/transaction.ts";
import type { State } from "../state.ts";
import type { Records } from "./records.ts";

/** Notes what is still to come on the chain, and what it knows of wallets. */
export function rebuildPending(records: Records, state: State): void {
  const { chain } = state;
  Object.assign(chain, records.waiting);
  countTransactions(records, chain);
  checkWaiting(records, chain);
  rebuildWallets(records, chain);
  touchPending(state);
}

function countTransactions(records: Records, chain: Chain): void {
  const { transactions, signed, fresh } = chain;
  const held = new Set(chain.held);
  const lost = new Set(chain.lost);
  const list = (path: "held" | "lost", number: number): Error => {
    const expected = `a list with transaction ${number} in it`;
    return records.wrong("waiting", null, `.${path}`, expected, chain[path]);
  };
  for (const transaction of transactions) {
    const { number, status, content } = transaction;
    if (status === "PENDING" && awaitsBlock(transaction)) chain.pending += 1;
    if (status === "PENDING" && number < fresh && !held.has(number)) throw list("held", number);
    if (status === "LOST" && !lost.delete(number)) throw list("lost", number);
    if (content?.kind !== "call") continue;
    if (status === "PENDING") chain.pendingCalls += 1;
    if (content.hash === null) continue;
    if (signed.has(content.hash)) {
      const index = records.transactions.findIndex((record) => record.number === number);
      throw records.wrong(
        "transactions",
        index,
        ".content.hash",
        "a hash that none before has",
        content.hash,
      );
    }
    signed.set(content.hash, number);
  }
  if (lost.size === 0 && new Set(chain.lost).size === chain.lost.length) return;
  throw records.wrong("waiting", null, ".lost", "each transaction that is LOST, once", chain.lost);
}

function checkWaiting(records: Records, chain: Chain): void {
  const { fresh, held, lastFilled, faults, faultsSet } = records.waiting;
  const demand = (isTrue: boolean, path: string, expected: string, found: unknown): void => {
    if (!isTrue) throw records.wrong("waiting", null, path, expected, found);
  };
  const { size } = chain.transactions;
  demand(fresh <= size + 1, ".fresh", `a number up to ${size + 1}`, fresh);
  const isAscending = held.every((number, index) => number > (held[index - 1] ?? 0) && number < fresh);
  demand(isAscending, ".held", `transactions before ${fresh}, ascending`, held);
  demand((lastFilled ?? 0) <= headOf(chain), ".lastFilled", `a height up to ${headOf(chain)}`, lastFilled);
  for (const [index, { number, times, struck }] of faults.entries()) {
    const path = `.faults[${index}]`;
    const isNext = number > (faults[index - 1]?.number ?? 0) && number <= faultsSet;
    demand(isNext, `${path}.number`, `a number of its own up to ${faultsSet}`, number);
    demand(times === null || struck < times, `${path}.struck`, `less than ${times}`, struck);
  }
}

function rebuildWallets(records: Records, chain: Chain): void {
  let pending = 0;
  let previous = "";
  for (const [index, { address, wallet }] of records.wallets.entries()) {
    if (address <= previous)
      throw records.wrong(
        "wallets",
        index,
        ".address",
        `an address behind ${JSON.stringify(previous)}`,
        address,
      );
    previous = address;
    let at = 0;
    for (const [nonce, number] of wallet.pending) {
      if (!isCallOf(chain.transactions.find(number), address, nonce)) {
        const expected = "a nonce, and the pending transaction that has it";
        throw records.wrong("wallets", index, `.pending[${at}]`, expected, [nonce, number]);
      }
      at += 1;
    }
    pending += wallet.pending.size;
    if (isRestricted(wallet)) chain.restricted += 1;
    chain.wallets.set(address, wallet);
  }
  if (pending !== chain.pendingCalls) {
    const expected = `the ${chain.pendingCalls} pending transactions of wallets`;
    throw records.wrong("wallets", null, "", expected, pending);
  }
}

const isCallOf = (transaction: Transaction | undefined, from: string, nonce: number): boolean =>
  transaction?.status === "PENDING" &&
  transaction.content?.kind === "call" &&
  transaction.content.from === from &&
  transaction.content.nonce === nonce;

/** Every balance with something on its way awaits the next block. */
function touchPending({ accounts, chain }: State): void {
  for (const { number, collateral, holdings } of accounts) {
    if (collateral.incoming !== 0 || collateral.outgoing !== 0) chain.touched.push(number, 0);
    for (const [market, { yes, no }] of holdings) {
      const isPending = [yes, no].some(({ incoming, outgoing }) => incoming !== 0 || outgoing !== 0);
      if (isPending) chain.touched.push(number, market);
    }
  }
}
