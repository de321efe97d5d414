import { type Abi, decodeFunctionResult, encodeFunctionData, type Hex, parseAbi } from "viem";
import { CONTRACT_ABIS } from "../../src/api/contracts.ts";
import { CONTRACTS } from "../../src/core/chain/contracts.ts";
import type { Address } from "../../src/core/terms.ts";
import type { Account, Market } from "../server/replies.ts";
import { wallet } from "../server/wallet.ts";
import type { Api } from "../support/http.ts";
import { resultOf } from "./rpc.ts";

export type ContractName = keyof typeof CONTRACTS;

const GWEI = 1_000_000_000n;
const abiOf = (contract: ContractName): Abi => parseAbi(CONTRACT_ABIS[contract] as readonly string[]) as Abi;

/** Reads a function of a contract as of a block. */
export async function read(
  api: Api,
  contract: ContractName,
  functionName: string,
  args: readonly unknown[],
  block = "latest",
): Promise<unknown> {
  const abi = abiOf(contract);
  const data = encodeFunctionData({ abi, functionName, args });
  const answer = await resultOf<Hex>(api, "eth_call", { to: CONTRACTS[contract], data }, block);
  return decodeFunctionResult({ abi, functionName, data: answer });
}

/** A wallet that signs its own transactions. The exchange has funded it with gas money. */
export class ChainWallet {
  readonly api: Api;
  readonly address: Address;
  readonly #account: ReturnType<typeof wallet>;
  #nonce = 0;

  private constructor(api: Api, account: ReturnType<typeof wallet>) {
    this.api = api;
    this.#account = account;
    this.address = account.address.toLowerCase();
  }

  /** Opens the wallet of the `number`-th key with 1,000 USDC and, in each market, 100 shares of both outcomes on the chain. */
  static async open(api: Api, number: number, ...markets: readonly Market[]): Promise<ChainWallet> {
    const opened = new ChainWallet(api, wallet(number));
    const tokens = Object.fromEntries(
      markets.flatMap((market) => market.tokens).map(({ tokenId }) => [tokenId, 100]),
    );
    await api.post(`/sim/accounts/${opened.address}/fund`, { collateral: 1_000, tokens });
    await resultOf(api, "evm_mine");
    return opened;
  }

  /** Signs and sends a call of a contract, and returns its hash. */
  async send(contract: ContractName, functionName: string, args: readonly unknown[]): Promise<Hex> {
    const raw = await this.#account.signTransaction({
      ...{ type: "eip1559", chainId: 31_337, nonce: this.#nonce, gas: 500_000n },
      ...{ maxFeePerGas: 3n * GWEI, maxPriorityFeePerGas: GWEI },
      to: CONTRACTS[contract],
      data: encodeFunctionData({ abi: abiOf(contract), functionName, args }),
    });
    this.#nonce += 1;
    return resultOf<Hex>(this.api, "eth_sendRawTransaction", raw);
  }

  /** Returns its balances in the ledger: USDC, and shares by token. */
  async holdings(): Promise<Record<string, number>> {
    const { collateral, tokens } = await this.api.get<Account>(`/sim/accounts/${this.address}`);
    const shares = tokens.map(({ tokenId, balance }) => [tokenId, Number(balance)] as const);
    return Object.fromEntries([["USDC", Number(collateral.balance)], ...shares]);
  }
}
