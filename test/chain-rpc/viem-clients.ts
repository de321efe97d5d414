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
  webSocket,
} from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { afterAll } from "vitest";
import { MULTICALL_ADDRESS } from "../../src/chain-rpc/contracts.ts";
import { orThrow } from "../../src/client/result.ts";
import type { Config } from "../../src/config.ts";
import { CONTRACT_ABIS } from "../../src/index.ts";
import { openTrader } from "../client/open.ts";
import { wallet } from "../server/wallet.ts";
import { type Api, startApi } from "../support/http.ts";
import { Collected } from "./collected.ts";
import { socketUrl } from "./rpc-socket.ts";

export const COLLATERAL = parseAbi(CONTRACT_ABIS.collateral);
export const TOKENS = parseAbi(CONTRACT_ABIS.conditionalTokens);
export const EXCHANGE = parseAbi(CONTRACT_ABIS.exchange);

/** Polling interval of clients, ms. */
export const POLLING_MS = 10;
/** One USDC or one share in the contracts' units. */
export const ONE = 1_000_000n;

/** Creates viem's test client with public and wallet actions, as in its documentation, and Multicall3. */
export const testClient = ({ server }: Api, mode: "anvil" | "hardhat" = "anvil") =>
  createTestClient({
    chain: { ...foundry, contracts: { multicall3: { address: MULTICALL_ADDRESS as Hex } } },
    mode,
    transport: http(`${server.url}/chain`),
    pollingInterval: POLLING_MS,
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions);

/** Creates a client that only reads; `onRequest` is called before each request. */
const readerOf = ({ server }: Api, onRequest: (request: string) => void = () => {}) =>
  createPublicClient({
    chain: foundry,
    transport: http(`${server.url}/chain`, {
      fetchFn: (input, init) => {
        onRequest(String(init?.body));
        return fetch(input, init);
      },
    }),
    pollingInterval: POLLING_MS,
    cacheTime: 0,
  });

/** Creates a client that only reads; `asked` resolves when it has called the given methods one after the other. */
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

/** Creates viem's client over a WebSocket; collects the ids of its subscriptions. */
export function socketClient(api: Api) {
  const subscribed = new Collected<string>();
  const transport = webSocket(socketUrl(api), { reconnect: false });
  const client = createPublicClient({
    chain: foundry,
    cacheTime: 0,
    pollingInterval: POLLING_MS,
    transport: (options) => {
      const made = transport(options);
      const { subscribe } = made.value as NonNullable<typeof made.value>;
      const collecting: typeof subscribe = async (given) => {
        const answer = await subscribe(given);
        subscribed.add(answer.subscriptionId);
        return answer;
      };
      return { ...made, value: { ...made.value, subscribe: collecting } as typeof made.value };
    },
  });
  return { client, subscribed };
}

/** Creates a client of a wallet that signs in this process. */
const walletClientOf = ({ server }: Api, account: PrivateKeyAccount) =>
  createWalletClient({
    account,
    chain: foundry,
    transport: http(`${server.url}/chain`),
    pollingInterval: POLLING_MS,
  });

/** A contract as a parameter of viem's actions. */
interface Contract<Abi> {
  readonly address: Hex;
  readonly abi: Abi;
}

/** A server with viem's clients of its chain, and two traders whom the faucet has funded. */
export class ViemChain {
  readonly api: Api;
  readonly node: ReturnType<typeof testClient>;
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
    this.node = testClient(api);
    this.reader = readerOf(api);
    this.alice = walletClientOf(api, wallet(ALICE));
    this.bob = walletClientOf(api, wallet(BOB));
    this.collateral = { address: contracts.collateral as Hex, abi: COLLATERAL };
    this.tokens = { address: contracts.conditionalTokens as Hex, abi: TOKENS };
    this.exchange = { address: contracts.exchange as Hex, abi: EXCHANGE };
  }

  /** Waits for a receipt by viem while another client mines the block. */
  async mined(hash: Hex): Promise<TransactionReceipt> {
    const receipt = this.reader.waitForTransactionReceipt({ hash });
    await this.node.mine({ blocks: 1 });
    return receipt;
  }

  /** Sends USDC from Alice to Bob. */
  pay(usdc: bigint): Promise<Hex> {
    const args = [this.bob.account.address, usdc * ONE] as const;
    return this.alice.writeContract({ ...this.collateral, functionName: "transfer", args });
  }

  reorganize(depth: number): Promise<unknown> {
    return this.api.post("/sim/chain/faults", { kind: "reorg", depth });
  }

  /** Returns the balance of an address on the chain, micro-USDC. */
  usdc(owner: Hex): Promise<bigint> {
    return this.reader.readContract({ ...this.collateral, functionName: "balanceOf", args: [owner] });
  }

  /** Returns the balance of a token, in the contract's units. */
  shares(owner: Hex, tokenId: string): Promise<bigint> {
    const args = [owner, BigInt(tokenId)] as const;
    return this.reader.readContract({ ...this.tokens, functionName: "balanceOf", args });
  }

  async market(facts: object = {}) {
    const { id, conditionId, tokens } = await this.api.createMarket(facts);
    const [yes = "", no = ""] = tokens.map(({ tokenId }) => tokenId);
    return { id, conditionId: conditionId as Hex, yes, no };
  }

  close(): Promise<void> {
    return this.api.close();
  }
}

/** A market with its token ids, which are the same on the chain. */
export type OpenMarket = Awaited<ReturnType<ViemChain["market"]>>;

/** Key numbers and addresses of the two traders. */
export const ALICE = 11;
export const BOB = 12;
export const alice = wallet(ALICE).address;
export const bob = wallet(BOB).address;

/** Starts a server with a frozen clock that by default mines only on request. */
export async function openChain(config: Partial<Config> = {}): Promise<ViemChain> {
  const api = await startApi({ settlement: "manual", ...config });
  const [alice] = await Promise.all([openTrader(api, ALICE), openTrader(api, BOB)]);
  const { contracts } = orThrow(await alice.control.chain.info());
  const chain = new ViemChain(api, contracts);
  await chain.node.mine({ blocks: 1 });
  return chain;
}

/** The same for the tests of a file. */
export async function useChain(config: Partial<Config> = {}): Promise<ViemChain> {
  const chain = await openChain(config);
  afterAll(() => chain.close());
  return chain;
}
