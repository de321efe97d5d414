import {
  type BaseContract,
  type BaseContractMethod,
  Contract,
  type ContractTransactionResponse,
  type JsonRpcApiProvider,
  JsonRpcProvider,
  Wallet,
  WebSocketProvider,
} from "ethers";
import { CONTRACT_ABIS } from "../../src/index.ts";
import { keyOf } from "../server/wallet.ts";
import type { Api } from "../support/http.ts";
import { Collected } from "./collected.ts";
import { socketUrl } from "./rpc-socket.ts";
import { ALICE, BOB, ONE, openChain, POLLING_MS } from "./viem-clients.ts";

type Read<Answer> = BaseContractMethod<unknown[], Answer, Answer>;
type Write = BaseContractMethod<unknown[], boolean, ContractTransactionResponse>;

interface Collateral extends BaseContract {
  readonly name: Read<string>;
  readonly decimals: Read<bigint>;
  readonly balanceOf: Read<bigint>;
  readonly transfer: Write;
}

/** How a provider calls the chain: an HTTP request for each call, or for those of one turn, or a WebSocket. */
export type Transport = "HTTP" | "a WebSocket";

function providerOf(api: Api, transport: Transport): JsonRpcApiProvider {
  const options = { pollingInterval: POLLING_MS, cacheTimeout: -1 };
  return transport === "HTTP"
    ? new JsonRpcProvider(`${api.server.url}/chain`, undefined, options)
    : new WebSocketProvider(socketUrl(api), undefined, options);
}

/** A server with ethers' provider of its chain, and the wallets of two traders whom the faucet has funded. */
export class EthersChain {
  readonly api: Api;
  readonly provider: JsonRpcApiProvider;
  /** Whether ethers is told what is new, and does not poll. */
  readonly isTold: boolean;
  readonly alice: Wallet;
  readonly bob: Wallet;
  readonly collateral: Collateral;
  /** Numbers of the blocks that ethers has reported. */
  readonly #blocks = new Collected<number>();

  constructor(api: Api, collateral: string, transport: Transport) {
    this.api = api;
    this.isTold = transport === "a WebSocket";
    this.provider = providerOf(api, transport);
    this.alice = new Wallet(keyOf(ALICE), this.provider);
    this.bob = new Wallet(keyOf(BOB), this.provider);
    this.collateral = new Contract(collateral, CONTRACT_ABIS.collateral, this.alice) as unknown as Collateral;
  }

  /** Starts continuous listening to blocks, because ethers reports only blocks after its first poll. */
  async open(): Promise<this> {
    await this.until(this.isTold ? "eth_subscribe" : "eth_blockNumber", () =>
      this.provider.on("block", (number: number) => this.#blocks.add(number)),
    );
    await this.mine();
    return this;
  }

  /** Starts to listen by `act`, and waits until the node knows it. */
  listening(act: () => Promise<unknown>): Promise<void> {
    return this.until(this.isTold ? "eth_subscribe" : "eth_getFilterChanges", act);
  }

  /** Sends USDC from Alice to Bob. */
  pay(usdc: bigint): Promise<ContractTransactionResponse> {
    return this.collateral.transfer(this.bob.address, usdc * ONE);
  }

  /** Mines blocks and waits until ethers has reported them. */
  async mine(blocks = 1): Promise<void> {
    await this.provider.send("anvil_mine", [blocks]);
    const head = await this.provider.getBlockNumber();
    await this.#blocks.until((numbers) => numbers.includes(head));
  }

  /** Mines blocks one by one until `waiting` resolves, and returns its result. */
  async mining<Answer>(waiting: Promise<Answer>): Promise<Answer> {
    let isWaiting = true;
    const done = (): void => {
      isWaiting = false;
    };
    waiting.then(done, done);
    while (isWaiting) await this.mine();
    return waiting;
  }

  /** Performs `act` and waits until ethers has received the answer to a method that it calls. */
  async until(method: string, act: () => Promise<unknown>): Promise<void> {
    const { provider } = this;
    const answered = new Promise<void>((resolve) => {
      const ids = new Set<number>();
      provider.on("debug", ({ action, payload, result }: Debugged) => {
        if (action === "sendRpcPayload")
          for (const call of [payload].flat()) if (call?.method === method) ids.add(call.id);
        if (action === "receiveRpcResult" && [result].flat().some((answer) => ids.has(answer?.id ?? -1)))
          resolve();
      });
    });
    await act();
    await answered;
    await provider.off("debug");
  }

  /** Waits for ethers' pending requests before the server closes, because nothing would catch their errors. */
  async close(): Promise<void> {
    await this.provider.removeAllListeners();
    await this.provider.getBlockNumber();
    this.provider.destroy();
    await this.api.close();
  }
}

/** Debug event of ethers about a request or its answer. */
interface Debugged {
  readonly action: string;
  readonly payload?: Message | readonly Message[];
  readonly result?: Message | readonly Message[];
}
type Message = { readonly id: number; readonly method?: string };

/** Starts a server with a frozen clock that mines only on request. */
export async function openEthers(transport: Transport): Promise<EthersChain> {
  const { api, collateral } = await openChain();
  return new EthersChain(api, collateral.address, transport).open();
}
