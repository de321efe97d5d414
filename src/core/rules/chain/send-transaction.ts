import { type Chain, emptyWallet } from "../../chain/chain.ts";
import type { SendTransaction } from "../../chain/chain-commands.ts";
import { intrinsicGas } from "../../chain/gas.ts";
import type { CallContent } from "../../chain/transaction.ts";
import { accepted, type Decision, refused } from "../../decision.ts";
import type { TransactionRefusal } from "../../refusals.ts";
import type { State } from "../../state.ts";
import type { Millis } from "../../units.ts";

/** What another transaction of the same nonce must offer at least, in percent of the first. */
const REPLACEMENT_PERCENT = 110;

/** Takes in a wallet's transaction, if a node would: it waits for a block, and does nothing before. */
export function sendTransaction({ chain }: State, at: Millis, command: SendTransaction): Decision {
  const nonce = command.nonce ?? nextNonce(chain, command.from);
  // Written out: the order of its facts, which hashes see, is that of no command.
  const content: CallContent = {
    from: command.from,
    to: command.to,
    nonce,
    value: command.value,
    gas: command.gas,
    maxFeePerGas: command.maxFeePerGas,
    maxPriorityFeePerGas: command.maxPriorityFeePerGas,
    input: command.input,
    call: command.call,
    raw: command.raw,
    hash: command.hash,
    kind: "call",
    at,
  };
  const refusal = refusalOf(chain, content);
  if (refusal !== null) return refused(refusal);
  const replaces = chain.wallets.get(content.from)?.pending.get(nonce) ?? 0;
  return accepted([{ kind: "transactionSent", transaction: chain.transactions.next, content, replaces }]);
}

/** The nonce of an address's next transaction, behind all that it has pending without a gap. */
export function nextNonce({ wallets }: Chain, address: string): number {
  const { mined, pending } = wallets.get(address) ?? emptyWallet();
  let nonce = mined;
  while (pending.has(nonce)) nonce += 1;
  return nonce;
}

function refusalOf(chain: Chain, content: CallContent): TransactionRefusal | null {
  const { from, nonce, gas, hash, maxFeePerGas, maxPriorityFeePerGas, input, value } = content;
  const least = intrinsicGas(input);
  if (gas < least) return { code: "INTRINSIC_GAS_TOO_LOW", gas, needed: least };
  if (maxPriorityFeePerGas > maxFeePerGas)
    return { code: "TIP_ABOVE_FEE_CAP", maxFeePerGas, tip: maxPriorityFeePerGas };
  const { mined, native, pending } = chain.wallets.get(from) ?? emptyWallet();
  if (nonce < mined) return { code: "NONCE_TOO_LOW", nonce, next: mined };
  if (hash !== null && chain.signed.has(hash)) return { code: "TRANSACTION_ALREADY_KNOWN", hash };
  const before = pending.get(nonce);
  if (before !== undefined) {
    const underpriced = underpricedBy(chain.transactions.get(before).content as CallContent, content);
    if (underpriced !== null) return underpriced;
  }
  const needed = BigInt(gas) * BigInt(maxFeePerGas) + BigInt(value);
  return needed > native
    ? { code: "INSUFFICIENT_GAS_MONEY", needed: String(needed), available: String(native) }
    : null;
}

/** Why a transaction cannot take another one's place; null when it offers enough more. */
function underpricedBy(before: CallContent, after: CallContent): TransactionRefusal | null {
  const least = (fee: number): number => Math.ceil((fee / 100) * REPLACEMENT_PERCENT);
  const needed = least(before.maxFeePerGas);
  const isEnough =
    after.maxFeePerGas >= needed && after.maxPriorityFeePerGas >= least(before.maxPriorityFeePerGas);
  return isEnough ? null : { code: "REPLACEMENT_UNDERPRICED", offered: after.maxFeePerGas, needed };
}
