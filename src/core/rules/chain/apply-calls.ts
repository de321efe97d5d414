import type { Chain, ChainWallet } from "../../chain/chain.ts";
import type { NativeBalanceSet } from "../../chain/chain-events.ts";
import { CONTRACTS } from "../../chain/contracts.ts";
import { isRestricted, UNLIMITED } from "../../chain/permissions.ts";
import type { CallContent, Transaction } from "../../chain/transaction.ts";
import type { Address } from "../../commands.ts";
import type { State } from "../../state.ts";
import { oddityOf, walletIn } from "./apply-transactions.ts";

/** A block has a call: its nonce is used, its gas paid. */
export function payForCall(
  chain: Chain,
  transaction: Transaction,
  { from, nonce }: CallContent,
  gas: number,
  gasPrice: number,
): void {
  const wallet = walletIn(chain, from);
  const oddity = oddityOf(transaction);
  oddity.gasUsed = gas;
  oddity.gasPrice = gasPrice;
  wallet.native -= BigInt(gas) * BigInt(gasPrice);
  wallet.mined = nonce + 1;
  wallet.pending.delete(nonce);
}

/** What a call that is carried out changes beside collateral and tokens: permissions, and the native currency. */
export function takeEffect(chain: Chain, { from, to, value, call }: CallContent): void {
  moveNative(chain, from, to, BigInt(value));
  switch (call.kind) {
    case "approve":
      setPermission(chain, from, ({ allowances }) => allowances.set(call.spender, BigInt(call.amount)));
      break;
    case "setApprovalForAll":
      setPermission(chain, from, ({ operators }) => operators.set(call.operator, call.approved));
      break;
    case "transferFrom":
      spendAllowance(chain, call.from, from, BigInt(call.amount));
      break;
    case "split":
      spendAllowance(chain, from, CONTRACTS.conditionalTokens, BigInt(call.amount));
      break;
    default:
      break;
  }
}

/** A reorganization takes a call out of its block: gas and native currency come back, its nonce is to be used again. */
export function undoCall(chain: Chain, transaction: Transaction, content: CallContent): void {
  const { from, to, nonce, value } = content;
  const wallet = walletIn(chain, from);
  const { gasUsed, gasPrice } = oddityOf(transaction);
  wallet.native += BigInt(gasUsed) * BigInt(gasPrice);
  if (transaction.status === "MINED") moveNative(chain, to, from, BigInt(value));
  wallet.mined = Math.min(wallet.mined, nonce);
  wallet.pending.set(nonce, transaction.number);
}

/** What a spender has been allowed shrinks by what is spent, unless that is without limit. */
export function spendAllowance(chain: Chain, owner: Address, spender: Address, amount: bigint): void {
  const allowed = chain.wallets.get(owner)?.allowances.get(spender);
  if (allowed === undefined || allowed === UNLIMITED) return;
  setPermission(chain, owner, ({ allowances }) => allowances.set(spender, allowed - amount));
}

/** Gives an address so much of the native currency. */
export function setNativeBalance({ chain }: State, { address, wei }: NativeBalanceSet): void {
  walletIn(chain, address).native = BigInt(wei);
}

/** Takes a call into the chain's digest. */
export function mixCall(chain: Chain, content: CallContent, gas: number, gasPrice: number): void {
  const { from, to, nonce, value, input } = content;
  for (const text of [from, to, value, input]) chain.digest.mixText(text);
  for (const amount of [nonce, gas, gasPrice]) chain.digest.mixWide(amount);
}

function setPermission(chain: Chain, owner: Address, change: (wallet: ChainWallet) => void): void {
  const wallet = walletIn(chain, owner);
  const before = isRestricted(wallet);
  change(wallet);
  chain.restricted += Number(isRestricted(wallet)) - Number(before);
}

function moveNative(chain: Chain, from: Address, to: Address, wei: bigint): void {
  if (wei === 0n) return;
  walletIn(chain, from).native -= wei;
  walletIn(chain, to).native += wei;
}
