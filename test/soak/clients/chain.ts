import type { ExchangeClient } from "../../../src/client/client.ts";
import { CONTRACTS } from "../../../src/core/chain/contracts.ts";
import type { Meter } from "../meter.ts";
import { type Client, pick, type Surroundings } from "./trader.ts";

/** `balanceOf(address)` and `transfer(address,uint256)` of ERC-20. */
const BALANCE_OF = "0x70a08231";
const TRANSFER = "0xa9059cbb";
/** Of how many of the latest blocks logs are read, and fees. A block has the trades of two seconds, half a megabyte of logs. */
const LOG_BLOCKS = 1;
const FEE_BLOCKS = 20;

const word = (hex: string): string => hex.replace(/^0x/, "").toLowerCase().padStart(64, "0");
const hex = (number: number): string => `0x${number.toString(16)}`;

/** Uses the settlement chain as an Ethereum client does: blocks, logs, receipts, filters, contracts, and transfers. */
export class ChainClient implements Client {
  readonly #at: Surroundings;
  readonly #meter: Meter;
  readonly #wallets: readonly string[];
  readonly #transfers: boolean;

  /** @param wallets in whose name transfers are sent, without their signatures. */
  constructor(surroundings: Surroundings, meter: Meter, wallets: readonly string[], transfers = true) {
    this.#at = surroundings;
    this.#meter = meter;
    this.#wallets = wallets;
    this.#transfers = transfers;
  }

  begin(): void {}

  async step(exchange: ExchangeClient): Promise<void> {
    const { random } = this.#at;
    const wallet = pick(random, this.#wallets);
    const choice = random(this.#transfers ? 6 : 5);
    switch (choice) {
      case 0:
        return this.#readLogs(exchange);
      case 1:
        return this.#watchBlocks(exchange);
      case 2: {
        const data = `${BALANCE_OF}${word(wallet)}`;
        return void (await this.#call(exchange, "eth_call", [{ to: CONTRACTS.collateral, data }, "latest"]));
      }
      case 3:
        return void (await this.#call(exchange, "eth_getBlockByNumber", ["latest", true]));
      case 4:
        return void (await this.#call(exchange, "eth_feeHistory", [hex(FEE_BLOCKS), "latest", [25, 75]]));
      default: {
        const data = `${TRANSFER}${word(pick(random, this.#wallets))}${word(hex(1 + random(1_000_000)))}`;
        const transaction = { from: wallet, to: CONTRACTS.collateral, data };
        const hash = await this.#call(exchange, "eth_sendTransaction", [transaction]);
        if (hash !== undefined) this.#meter.tally.accepted += 1;
      }
    }
  }

  async #readLogs(exchange: ExchangeClient): Promise<void> {
    const head = Number((await this.#call(exchange, "eth_blockNumber", [])) as string | undefined);
    if (Number.isNaN(head)) return;
    const range = { fromBlock: hex(Math.max(0, head - LOG_BLOCKS)), toBlock: hex(head) };
    const logs = await this.#call(exchange, "eth_getLogs", [{ ...range, address: CONTRACTS.exchange }]);
    const [first] = (logs ?? []) as readonly { readonly transactionHash: string }[];
    if (first !== undefined) await this.#call(exchange, "eth_getTransactionReceipt", [first.transactionHash]);
  }

  async #watchBlocks(exchange: ExchangeClient): Promise<void> {
    const filter = await this.#call(exchange, "eth_newBlockFilter", []);
    if (filter === undefined) return;
    await this.#call(exchange, "eth_getFilterChanges", [filter]);
    await this.#call(exchange, "eth_uninstallFilter", [filter]);
  }

  /** The result of a call; undefined when there is none. */
  async #call(exchange: ExchangeClient, method: string, params: readonly unknown[]): Promise<unknown> {
    const body = { jsonrpc: "2.0", id: 1, method, params };
    const sent = await exchange.send({ method: "POST", path: "/chain", body });
    if (!sent.ok || sent.value.status !== 200) return undefined;
    const { result, error } = sent.value.body as { result?: unknown; error?: { code: number } };
    if (error !== undefined) this.#meter.tally.refuse(`RPC ${error.code}`, `${method}: ${sent.value.text}`);
    return result;
  }
}
