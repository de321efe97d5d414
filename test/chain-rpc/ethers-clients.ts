import {
  type BaseContract,
  type BaseContractMethod,
  Contract,
  type ContractTransactionResponse,
  JsonRpcProvider,
  Wallet,
} from "ethers";
import { orThrow } from "../../src/client/result.ts";
import { CONTRACT_ABIS } from "../../src/index.ts";
import { openTrader } from "../client/opened.ts";
import { type Api, startApi } from "../support/http.ts";
import { Seen } from "./seen.ts";

/** How often a client asks what is new, ms. */
const POLLING_MS = 10;
/** The parent of a collection that has none. */
export const NO_PARENT = `0x${"0".repeat(64)}`;
/** A USDC or a share in the contracts' units. */
export const ONE = 1_000_000n;
/** The numbers of the two traders' wallets. */
export const ALICE = 13;
export const BOB = 14;

const keyOf = (number: number): string => `0x${number.toString(16).padStart(64, "0")}`;

type Read<Answer> = BaseContractMethod<unknown[], Answer, Answer>;
type Write = BaseContractMethod<unknown[], boolean, ContractTransactionResponse>;

interface Collateral extends BaseContract {
  readonly name: Read<string>;
  readonly decimals: Read<bigint>;
  readonly balanceOf: Read<bigint>;
  readonly transfer: Write;
}

interface Tokens extends BaseContract {
  readonly balanceOf: Read<bigint>;
  readonly redeemPositions: Write;
}

/** A server whose chain is seen through ethers, and the wallets of two traders that the faucet has funded. */
export class EthersChain {
  readonly api: Api;
  readonly provider: JsonRpcProvider;
  readonly alice: Wallet;
  readonly bob: Wallet;
  readonly collateral: Collateral;
  readonly tokens: Tokens;
  readonly exchange: BaseContract;
  /** The blocks of which ethers has told. */
  readonly #blocks = new Seen<number>();

  /** `batchMaxCount` is how many calls ethers may put into one request. */
  constructor(
    api: Api,
    contracts: Readonly<Record<keyof typeof CONTRACT_ABIS, string>>,
    batchMaxCount: number,
  ) {
    this.api = api;
    this.provider = new JsonRpcProvider(`${api.server.url}/chain`, undefined, {
      batchMaxCount,
      pollingInterval: POLLING_MS,
      cacheTimeout: -1,
    });
    this.alice = new Wallet(keyOf(ALICE), this.provider);
    this.bob = new Wallet(keyOf(BOB), this.provider);
    const contract = (name: keyof typeof CONTRACT_ABIS): unknown =>
      new Contract(contracts[name], CONTRACT_ABIS[name], this.alice);
    this.collateral = contract("collateral") as Collateral;
    this.tokens = contract("conditionalTokens") as Tokens;
    this.exchange = contract("exchange") as BaseContract;
  }

  /** Lets ethers look for blocks from now on, and not only when somebody waits for one: it tells none that came before. */
  async open(): Promise<this> {
    await this.until("eth_blockNumber", () =>
      this.provider.on("block", (number: number) => this.#blocks.add(number)),
    );
    await this.mine();
    return this;
  }

  /** Mines blocks, and waits until ethers has told of them. */
  async mine(blocks = 1): Promise<void> {
    await this.provider.send("anvil_mine", [blocks]);
    const head = await this.provider.getBlockNumber();
    await this.#blocks.until((told) => told.includes(head));
  }

  /** The answer of something that waits for blocks, which are mined one after the other until it comes. */
  async mining<Answer>(waiting: Promise<Answer>): Promise<Answer> {
    let isWaiting = true;
    const done = (): void => {
      isWaiting = false;
    };
    waiting.then(done, done);
    while (isWaiting) await this.mine();
    return waiting;
  }

  /** Does something, and waits until ethers has had an answer to a method that it causes. */
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

  /** Ends once ethers has nothing under way: what it asks of a server that is gone nobody catches. */
  async close(): Promise<void> {
    await this.provider.removeAllListeners();
    await this.provider.getBlockNumber();
    await this.api.close();
  }
}

/** What ethers tells of its requests and what they are answered with. */
interface Debugged {
  readonly action: string;
  readonly payload?: Sent | readonly Sent[];
  readonly result?: Answered | readonly Answered[];
}

interface Sent {
  readonly id: number;
  readonly method: string;
}

interface Answered {
  readonly id: number;
}

/** A server with a frozen clock that mines when it is asked to. */
export async function openEthers(batchMaxCount: number): Promise<EthersChain> {
  const api = await startApi({ settlement: "manual" });
  const [trader] = await Promise.all([openTrader(api, ALICE), openTrader(api, BOB)]);
  const { contracts } = orThrow(await trader.control.chain.info());
  return new EthersChain(api, contracts, batchMaxCount).open();
}
