import {
  baseFeeOf,
  type Chain,
  confirmationsOf,
  emptyWallet,
  headOf,
  maxFeeOf,
} from "../core/chain/chain.ts";
import { transactionHash } from "../core/chain/chain-hashes.ts";
import { blockOf } from "../core/chain/settlement.ts";
import type { CallContent, HoldReason, Transaction } from "../core/chain/transaction.ts";
import { decimalText } from "../core/format.ts";
import type { State } from "../core/state.ts";
import { toIso } from "../core/time.ts";

const GWEI_PLACES = 9;

/** Returns why a transaction is not mined or has failed; null if it is mined. */
export function whyUnsettled(state: State, transaction: Transaction): string | null {
  const { status, exception, content } = transaction;
  switch (status) {
    case "MINED":
      return null;
    case "PENDING":
      return content?.kind === "deposit" || content?.kind === "prepare"
        ? "in effect already; the next block has it"
        : waitReason(state, transaction);
    case "REPLACED":
      return "another transaction of its sender has its nonce";
    default:
      return exception?.reason ?? null;
  }
}

function waitReason(state: State, transaction: Transaction): string {
  const { chain, config } = state;
  const { exception } = transaction;
  switch (holdOf(chain, transaction)) {
    case "DELAYED":
      return `delayed until block ${exception?.notBefore}`;
    case "UNDERPRICED":
      return underpricedWords(chain, transaction);
    case "UNFUNDED":
      return `retried: a party has not yet received on the chain what it pays with (attempt ${exception?.attempts})`;
    case "RETRIED":
      return `retried after attempt ${exception?.attempts} failed`;
    case "NONCE_GAP":
      return "waits for an earlier nonce of its sender";
    case "NO_GAS_MONEY":
      return "waits until its sender can pay for gas";
    case "REORGANIZED":
      return "taken out of its block by a reorganization, waits for the next block";
    case null:
      if (chain.nextBlockAt !== null) return `waits for the block that is due at ${toIso(chain.nextBlockAt)}`;
      return config.settlement === "manual"
        ? "waits until somebody mines a block"
        : "waits for the next block";
  }
}

function underpricedWords(chain: Chain, transaction: Transaction): string {
  const fees = `the base fee is ${gweiText(baseFeeOf(chain))} gwei`;
  const offer = gweiText(maxFeeOf(transaction));
  return transaction.content?.kind === "call"
    ? `waits until the base fee falls, or a transaction with its nonce and a higher fee replaces it: ${fees}, it offers ${offer}`
    : `waits until its fee is raised or the base fee falls: ${fees}, the exchange offers ${offer}`;
}

const gweiText = (wei: number): string => decimalText(wei, GWEI_PLACES);

/**
 * Returns why the next block will not have a transaction; null if it may. Fees and nonces are compared here, because
 * `hold` is what the last block found.
 */
function holdOf(chain: Chain, transaction: Transaction): HoldReason | null {
  const { exception, content } = transaction;
  const hold = exception?.hold ?? null;
  if (content?.kind === "call" && followsUnminable(chain, content)) return "NONCE_GAP";
  if (hold !== "DELAYED" && isUnderpriced(chain, transaction)) return "UNDERPRICED";
  return hold === "UNDERPRICED" ? null : hold;
}

const isUnderpriced = (chain: Chain, transaction: Transaction): boolean =>
  maxFeeOf(transaction) < baseFeeOf(chain);

/** Whether an earlier nonce of a call's wallet is missing, or its transaction is underpriced. */
function followsUnminable(chain: Chain, { from, nonce }: CallContent): boolean {
  const { mined, pending } = chain.wallets.get(from) ?? emptyWallet(from);
  for (let earlier = mined; earlier < nonce; earlier += 1) {
    const number = pending.get(earlier);
    if (number === undefined || isUnderpriced(chain, chain.transactions.get(number))) return true;
  }
  return false;
}

/** Describes the progress of a settlement; null if it is final and succeeded. */
export function settlementWords(state: State, transaction: Transaction): string | null {
  const { status } = transaction;
  const block = blockOf(state.chain, transaction);
  const why = whyUnsettled(state, transaction);
  if (status === "MINED" && block !== null) {
    const needed = confirmationsOf(state.config.settlement);
    const left = block.height + needed - headOf(state.chain);
    if (left <= 0) return null;
    const hash = transactionHash(state, transaction);
    return `mined in block ${block.height} (${hash}), final after ${left} of ${needed} more blocks`;
  }
  if (status === "PENDING") return `settlement ${why}`;
  if (status === "LOST") return "settlement lost: it will never be mined, though the ledger counts on it";
  // A dependent settlement fails outside of blocks; a reorganization takes a reverted one out of its block.
  const where = block === null ? ", and no block has it" : ` in block ${block.height}`;
  return `settlement failed${where}: ${why}; USDC and shares went back to all parties, the matched size stays`;
}
