import { type ChainNode, createNode } from "../../../src/chain-rpc/chain-node.ts";
import { transactionHash } from "../../../src/core/chain/chain-hashes.ts";
import { FULL_PRICE, price, size } from "../../../src/core/units.ts";
import { Clock } from "../../../src/engine/clock.ts";
import { Slices } from "../../../src/engine/slices.ts";
import { mulberry32 } from "../mulberry32.ts";
import { demand, openFloor, traderAt } from "../submit/floor.ts";

/** How many transactions a block of a long chain has. */
export const BLOCK = 1_000;
const MAKER = traderAt(0);
const TAKERS = 18;
/** Takes the same number of fills on every chain, however long it is. */
export const NEWCOMER = traderAt(19);
export const NEWCOMERS_FILLS = 100;

/** A node with a chain of so many matches, a block every thousand of them. */
export class LongChain {
  readonly matches: number;
  readonly node: ChainNode;
  readonly #random = mulberry32(7);
  readonly #firstTrade: number;

  constructor(matches: number) {
    this.matches = matches;
    const exchange = openFloor({ markets: 1, levels: 99, feeRateBps: 0 });
    const tokenId = exchange.state.markets.get(1).tokenIds[0];
    const half = price(FULL_PRICE / 2);
    const terms = { kind: "placeOrder", tokenId, price: half, orderType: "GTC", expiration: null } as const;
    const every = Math.floor(matches / NEWCOMERS_FILLS);
    demand(exchange, { kind: "mineBlocks", count: 1 });
    this.#firstTrade = exchange.state.chain.transactions.size + 1;
    demand(exchange, { ...terms, address: MAKER, side: "SELL", size: size(matches * 100) });
    for (let match = 0; match < matches; match += 1) {
      const address = match % every === 0 ? NEWCOMER : traderAt(1 + (match % TAKERS));
      demand(exchange, { ...terms, address, side: "BUY", size: size(100) });
      if (match % BLOCK === BLOCK - 1) demand(exchange, { kind: "mineBlocks", count: 1 });
    }
    const clock = new Clock(exchange, { mode: "frozen", rate: 0 }, () => 0);
    this.node = createNode({ exchange, clock, version: "0", accounts: [], slices: new Slices() });
  }

  /** The hash of any match. */
  anyHash(): string {
    const { state } = this.node;
    const number = this.#firstTrade + this.#random(this.matches);
    return transactionHash(state, state.chain.transactions.get(number));
  }

  /** The height of any block of matches alone: the first also has the shares that its traders are given. */
  anyHeight(): number {
    return 3 + this.#random(Math.floor(this.matches / BLOCK) - 1);
  }

  /** The result of one call, from the text of the request to that of the answer. @throws Error with what it fails with. */
  async call<Result>(method: string, ...params: readonly unknown[]): Promise<Result> {
    const request = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
    const answer = JSON.parse(await this.node.answer(request, true));
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result;
  }
}
