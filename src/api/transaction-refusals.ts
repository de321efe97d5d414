import type { TransactionRefusal } from "../core/refusals.ts";
import { unreachable } from "../core/unreachable.ts";

/** Why a transaction is not taken in, in the words of Ethereum's nodes, by which their clients tell the cases apart. */
export function transactionRefusalText(refusal: TransactionRefusal): string {
  switch (refusal.code) {
    case "INTRINSIC_GAS_TOO_LOW":
      return `intrinsic gas too low: gas ${refusal.gas}, minimum needed ${refusal.needed}`;
    case "TIP_ABOVE_FEE_CAP":
      return `max priority fee per gas higher than max fee per gas: tip ${refusal.tip}, max fee ${refusal.maxFeePerGas}`;
    case "NONCE_TOO_LOW":
      return `nonce too low: next nonce ${refusal.next}, tx nonce ${refusal.nonce}`;
    case "TRANSACTION_ALREADY_KNOWN":
      return `already known: ${refusal.hash}`;
    case "REPLACEMENT_UNDERPRICED":
      return `replacement transaction underpriced: max fee ${refusal.offered}, minimum needed ${refusal.needed}`;
    case "INSUFFICIENT_GAS_MONEY":
      return `Insufficient funds for gas * price + value: have ${refusal.available} want ${refusal.needed}`;
    default:
      throw unreachable(refusal);
  }
}

/** Why a call that is only tried would revert, in the words of Ethereum's nodes. */
export const revertWords = (reason: string): string => `execution reverted: ${reason}`;
