import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  type Hex,
  http,
  parseAbi,
  publicActions,
  type TransactionReceipt,
  walletActions,
} from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { orThrow } from "../../src/client/result.ts";
import type { Config } from "../../src/config.ts";
import { CONTRACT_ABIS } from "../../src/index.ts";
import { openTrader } from "../client/opened.ts";
import { wallet } from "../server/wallet.ts";
import { type Api, startApi } from "../support/http.ts";

export const COLLATERAL = parseAbi(CONTRACT_ABIS.collateral);
export const TOKENS = parseAbi(CONTRACT_ABIS.conditionalTokens);
export const EXCHANGE = parseAbi(CONTRACT_ABIS.exchange);

/** How often clients ask what is new, ms. */
export const POLLING_MS = 10;
/** The parent of a collection that has none. */
export const NO_PARENT: Hex = `0x${"0".repeat(64)}`;
/** A USDC or a share in the contracts' units. */
export const ONE = 1_000_000n;

/** viem's client that reads, steers the node and sends in the name of wallets, as its documentation puts one together. */
const clientOf = (url: string) =>
  createTestClient({
    chain: foundry,
    mode: "anvil",
    transport: http(`${url}/chain`),
    pollingInterval: POLLING_MS,
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions);

/** A client that only reads; `asking` sees each of its requests before it is sent. */
const readerOf = ({ server }: Api, asking: (request: string) => void = () => {}) =>
  createPublicClient({
    chain: foundry,
    transport: http(`${server.url}/chain`, {
      fetchFn: (input, init) => {
        asking(String(init?.body));
        return fetch(input, init);
      },
    }),
    pollingInterval: POLLING_MS,
    cacheTime: 0,
  });

/** A client that only reads, and the moment at which it has asked these methods one after the other. */
export function watchedReader(
  api: Api,
  ...methods: readonly string[]
): { readonly reader: ReturnType<typeof readerOf>; readonly asked: Promise<void> } {
  let onAsked = (): void => {};
  const asked = new Promise<void>((resolve) => {
    onAsked = resolve;
  });
  let next = 0;
  const reader = readerOf(api, (request) => {
    if (!request.includes(`"${methods[next]}"`)) return;
    next += 1;
    if (next === methods.length) onAsked();
  });
  return { reader, asked };
}

/** A client of a wallet that signs in this process. */
const walletClientOf = ({ server }: Api, account: PrivateKeyAccount) =>
  createWalletClient({
    account,
    chain: foundry,
    transport: http(`${server.url}/chain`),
    pollingInterval: POLLING_MS,
  });

/** A contract as viem's actions take it. */
interface Contract<Abi> {
  readonly address: Hex;
  readonly abi: Abi;
}

/** A server whose chain is seen through viem, and two traders that the faucet has funded. */
export class ViemChain {
  readonly api: Api;
  readonly node: ReturnType<typeof clientOf>;
  readonly reader: ReturnType<typeof readerOf>;
  readonly alice: ReturnType<typeof walletClientOf>;
  readonly bob: ReturnType<typeof walletClientOf>;
  readonly collateral: Contract<typeof COLLATERAL>;
  readonly tokens: Contract<typeof TOKENS>;
  readonly exchange: Contract<typeof EXCHANGE>;

  constructor(
    api: Api,
    contracts: Readonly<Record<"collateral" | "conditionalTokens" | "exchange", string>>,
  ) {
    this.api = api;
    this.node = clientOf(api.server.url);
    this.reader = readerOf(api);
    this.alice = walletClientOf(api, wallet(ALICE));
    this.bob = walletClientOf(api, wallet(BOB));
    this.collateral = { address: contracts.collateral as Hex, abi: COLLATERAL };
    this.tokens = { address: contracts.conditionalTokens as Hex, abi: TOKENS };
    this.exchange = { address: contracts.exchange as Hex, abi: EXCHANGE };
  }

  /** Waits for a receipt as viem does, while somebody else mines the block. */
  async mined(hash: Hex): Promise<TransactionReceipt> {
    const receipt = this.reader.waitForTransactionReceipt({ hash });
    await this.node.mine({ blocks: 1 });
    return receipt;
  }

  /** What an address has on the chain, micro-USDC. */
  usdc(owner: Hex): Promise<bigint> {
    return this.reader.readContract({ ...this.collateral, functionName: "balanceOf", args: [owner] });
  }

  /** What an address has of a token, in the contract's units. */
  shares(owner: Hex, tokenId: string): Promise<bigint> {
    const args = [owner, BigInt(tokenId)] as const;
    return this.reader.readContract({ ...this.tokens, functionName: "balanceOf", args });
  }

  /** Opens a market of its own. */
  async market(facts: object = {}): Promise<OpenMarket> {
    const { id, conditionId, tokens } = await this.api.createMarket(facts);
    const [yes = "", no = ""] = tokens.map(({ tokenId }) => tokenId);
    return { id, conditionId: conditionId as Hex, yes, no };
  }

  close(): Promise<void> {
    return this.api.close();
  }
}

/** A market, and the ids that its tokens have here and there. */
export interface OpenMarket {
  readonly id: string;
  readonly conditionId: Hex;
  readonly yes: string;
  readonly no: string;
}

/** The keys of the two traders. */
export const ALICE = 11;
export const BOB = 12;

/** A server with a frozen clock that mines when it is asked to, or as told. */
export async function openChain(config: Partial<Config> = {}): Promise<ViemChain> {
  const api = await startApi({ settlement: "manual", ...config });
  const [alice] = await Promise.all([openTrader(api, ALICE), openTrader(api, BOB)]);
  const { contracts } = orThrow(await alice.control.chain.info());
  const chain = new ViemChain(api, contracts);
  await chain.node.mine({ blocks: 1 });
  return chain;
}
