import type { Chain, ChainWallet } from "./chain.ts";
import { Digest } from "./digest.ts";
import type { Transaction } from "./transaction.ts";

/** A chain that goes on from where this one stands; this one must not be written to again. */
export function copyChain(chain: Chain): Chain {
  const wallets = new Map<string, ChainWallet>();
  for (const [address, wallet] of chain.wallets) wallets.set(address, copyWallet(wallet));
  return {
    ...chain,
    transactions: chain.transactions.copy(copyTransaction),
    blocks: chain.blocks.copy(),
    heights: chain.heights.copy(),
    mined: chain.mined.copy(),
    digest: new Digest(chain.digest.words),
    wallets,
    signed: new Map(chain.signed),
    held: chain.held.slice(),
    lost: chain.lost.slice(),
    touched: chain.touched.slice(),
    faults: chain.faults.map((fault) => ({ ...fault })),
    building: chain.building && { ...chain.building },
  };
}

const copyTransaction = (transaction: Transaction): Transaction => ({
  ...transaction,
  oddity: transaction.oddity && { ...transaction.oddity },
});

const copyWallet = (wallet: ChainWallet): ChainWallet => ({
  ...wallet,
  pending: new Map(wallet.pending),
  allowances: new Map(wallet.allowances),
  operators: new Map(wallet.operators),
});
