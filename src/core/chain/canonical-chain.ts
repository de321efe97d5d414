import type { Address } from "../commands.ts";
import { type Chain, type ChainWallet, headBlock } from "./chain.ts";
import type { Transaction } from "./transaction.ts";

/**
 * The settlement chain in lines of JSON. Its head names all that was mined; written out besides are transactions that
 * say more than their trades do, and what is still to come.
 */
export function* canonicalChain(chain: Chain): Generator<string> {
  const { height, at } = headBlock(chain);
  const { fresh, held, lost, nextBlockAt, lastFilled, reorganizations, faults, faultsSet } = chain;
  yield `"chain":${JSON.stringify({ head: height, at, digest: chain.digest.words, blocks: chain.blocks.size, reorganizations })},`;
  yield `"waiting":${JSON.stringify({ fresh, held, lost, nextBlockAt, lastFilled, faults, faultsSet })},`;
  yield '"wallets":[';
  yield* separated([...chain.wallets].sort(([a], [b]) => (a < b ? -1 : 1)).map(walletLine));
  yield "],";
  yield '"transactions":[';
  yield* separated(remarkable(chain.transactions));
  yield "],";
}

function* remarkable(transactions: Iterable<Transaction>): Generator<string> {
  for (const transaction of transactions) {
    const { content, oddity, number, status, block, place } = transaction;
    if (content === null && oddity === null) continue;
    yield JSON.stringify({ number, status, block, place, content, oddity });
  }
}

function walletLine([address, wallet]: readonly [Address, ChainWallet]): string {
  const { mined, pending, native, allowances, operators } = wallet;
  return JSON.stringify({
    address,
    mined,
    pending: [...pending].sort(([a], [b]) => a - b),
    native: String(native),
    allowances: [...allowances].map(([spender, amount]) => [spender, String(amount)]),
    operators: [...operators],
  });
}

function* separated(lines: Iterable<string>): Generator<string> {
  let previous: string | undefined;
  for (const line of lines) {
    if (previous !== undefined) yield `${previous},`;
    previous = line;
  }
  if (previous !== undefined) yield previous;
}
