import { baseFeeOf, confirmationsOf, headOf, OPERATOR_MAX_FEE } from "../../core/chain/chain.ts";
import { transactionHash } from "../../core/chain/chain-hashes.ts";
import { blockOf } from "../../core/chain/settlement.ts";
import type { HoldReason, Transaction } from "../../core/chain/transaction.ts";
import { nextNonce } from "../../core/rules/calls.ts";
import type { State } from "../../core/state.ts";
import { toIso } from "../../core/time.ts";

const GWEI = 1_000_000_000;

/** Why a transaction is not mined, or not carried out; null when it is. */
export function whyUnsettled(state: State, transaction: Transaction): string | null {
  const { status, oddity, content } = transaction;
  switch (status) {
    case "MINED":
      return null;
    case "PENDING":
      return content?.kind === "deposit" || content?.kind === "prepare"
        ? "in effect already; the next block has it"
        : whatItWaitsFor(state, transaction);
    case "REPLACED":
      return "another transaction of its sender has its nonce";
    default:
      return oddity?.reason ?? null;
  }
}

function whatItWaitsFor(state: State, transaction: Transaction): string {
  const { chain, config } = state;
  const { oddity } = transaction;
  switch (holdOf(state, transaction)) {
    case "DELAYED":
      return `delayed until block ${oddity?.notBefore}`;
    case "UNDERPRICED":
      return `waits until its fee is raised: the base fee is ${baseFeeOf(chain) / GWEI} gwei, the exchange offers ${OPERATOR_MAX_FEE / GWEI}`;
    case "UNFUNDED":
      return `retried: a party has not yet received on the chain what it pays with (attempt ${oddity?.attempts})`;
    case "RETRIED":
      return `retried after attempt ${oddity?.attempts} failed`;
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

/** Why it is kept back; of a gap before its nonce no block is needed to know. */
function holdOf({ chain }: State, { oddity, content }: Transaction): HoldReason | null {
  const hold = oddity?.hold ?? null;
  const isAfterGap = content?.kind === "call" && content.nonce > nextNonce(chain, content.from);
  return hold === null && isAfterGap ? "NONCE_GAP" : hold;
}

/** How far the settlement of a fill has come, as a sentence about it; null when it is final and as it should be. */
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
  const where = block === null ? "before any block had it" : `in block ${block.height}`;
  return `settlement failed ${where}: ${why}; USDC and shares went back to all parties, the matched size stays`;
}
