import assert from "node:assert";
import { type ChainNode, createNode } from "../../src/chain-rpc/chain-node.ts";
import { quantity } from "../../src/chain-rpc/json-rpc.ts";
import { transactionHash } from "../../src/core/chain/chain-hashes.ts";
import type { Side } from "../../src/core/terms.ts";
import { FULL_PRICE } from "../../src/core/units.ts";
import { Clock, Slices } from "../../src/engine/clock.ts";
import { mulberry32 } from "./flow.ts";
import { gtcOrder, mustSubmit, openFundedExchange, traderAt } from "./funded-exchange.ts";
import { lineOf, measured, type Section } from "./rounds.ts";
import { whole } from "./table.ts";

/** Transactions per block of a long chain. */
const BLOCK = 1_000;
const MAKER = traderAt(0);
const TAKERS = 18;
/** Match the same number of fills on chains of any length. */
const NEWCOMER = traderAt(19);
const NEWCOMERS_FILLS = 100;

/** Opens a node with a chain of matches, a thousand per block. */
class LongChain {
  readonly matches: number;
  readonly node: ChainNode;
  readonly #random = mulberry32(7);
  readonly #firstTrade: number;

  constructor(matches: number) {
    this.matches = matches;
    const exchange = openFundedExchange({ levels: 99 });
    const tokenId = exchange.state.markets.get(1).tokenIds[0];
    const place = (address: string, side: Side, shares: number): void =>
      mustSubmit(exchange, gtcOrder(address, tokenId, side, FULL_PRICE / 2, shares));
    const every = Math.floor(matches / NEWCOMERS_FILLS);
    mustSubmit(exchange, { kind: "mineBlocks", count: 1 });
    this.#firstTrade = exchange.state.chain.transactions.size + 1;
    place(MAKER, "SELL", matches * 100);
    for (let match = 0; match < matches; match += 1) {
      place(match % every === 0 ? NEWCOMER : traderAt(1 + (match % TAKERS)), "BUY", 100);
      if (match % BLOCK === BLOCK - 1) mustSubmit(exchange, { kind: "mineBlocks", count: 1 });
    }
    const clock = new Clock(exchange, { mode: "frozen", rate: 0 }, () => 0);
    const nobody = { accounts: [], keyOf: () => null, reset: () => {} };
    this.node = createNode({ exchange, clock, version: "0", slices: new Slices(), ...nobody });
  }

  /** Returns the hash of a random match. */
  anyHash(): string {
    const { state } = this.node;
    const number = this.#firstTrade + this.#random(this.matches);
    return transactionHash(state, state.chain.transactions.get(number));
  }

  /** Returns the height of a random block of matches; the first block also has deposits. */
  anyHeight(): number {
    return 3 + this.#random(Math.floor(this.matches / BLOCK) - 1);
  }
}

const LENGTHS = [10_000, 100_000, 1_000_000] as const;
/** Logs of a match of two orders: four transfers, two fills, one OrdersMatched. */
const LOGS_OF_A_MATCH = 7;

/** One kind of call with a check of its result. */
interface Question {
  readonly workload: string;
  readonly repeats: number;
  /** Method and parameters. */
  ask(chain: LongChain): readonly [string, ...unknown[]];
  /** @throws Error if the response is wrong. */
  check(result: never, params: readonly unknown[]): void;
}

const QUESTIONS: readonly Question[] = [
  {
    workload: "eth_getTransactionReceipt, any transaction",
    repeats: 200,
    ask: (chain) => ["eth_getTransactionReceipt", chain.anyHash()],
    check: (receipt: { readonly transactionHash: string }, [hash]) =>
      assert(receipt.transactionHash === hash, `${hash} has the receipt of another`),
  },
  {
    workload: "eth_getBlockByNumber, any block, hashes",
    repeats: 20,
    ask: (chain) => ["eth_getBlockByNumber", quantity(chain.anyHeight()), false],
    check: ({ transactions }: { readonly transactions: readonly string[] }) =>
      assert(transactions.length === BLOCK, `a block has ${transactions.length} transactions`),
  },
  {
    workload: `eth_getLogs, any block of ${whole(BLOCK)} matches`,
    repeats: 5,
    ask: (chain) => {
      const height = quantity(chain.anyHeight());
      return ["eth_getLogs", { fromBlock: height, toBlock: height }];
    },
    check: (logs: readonly unknown[]) =>
      assert(logs.length === BLOCK * LOGS_OF_A_MATCH, `a block has ${logs.length} logs`),
  },
  {
    workload: `eth_getLogs, all blocks, one wallet's ${NEWCOMERS_FILLS} matches`,
    repeats: 5,
    ask: () => {
      const topics = [null, null, `0x${NEWCOMER.slice(2).padStart(64, "0")}`];
      return ["eth_getLogs", { fromBlock: "0x1", toBlock: "latest", topics }];
    },
    check: (logs: readonly unknown[]) =>
      assert(logs.length >= NEWCOMERS_FILLS, `the wallet has ${logs.length} logs`),
  },
];

/** Cost of reading a growing chain. */
export const chainSection: Section = {
  name: "chain",
  about: "JSON-RPC calls as the chain grows, from the text of the request to that of the answer",
  unit: "us/call",
  baseline: `${whole(LENGTHS[0])} matches`,
  async measure(rounds) {
    const chains = LENGTHS.map((length) => new LongChain(length));
    const first: string[] = [];
    for (const chain of chains)
      first.push(`${((await timed(chain, { ...wholeChain, repeats: 1 })) / 1_000).toFixed(0)} ms`);
    const measurements = [];
    for (const question of QUESTIONS) {
      const lines = chains.map((chain) =>
        lineOf(question.workload, `${whole(chain.matches)} matches`, () => timed(chain, question)),
      );
      measurements.push(...(await measured(lines, { rounds, warmUps: 3 })));
    }
    return {
      measurements,
      notes: [
        `Chains of ${whole(BLOCK)} matches a block. Logs are made and encoded when they are asked for.`,
        `The first question over all blocks makes the index that later ones add to: ${first.join(", ")}.`,
      ],
    };
  },
};

/** Builds the index of a chain. */
const wholeChain: Question = QUESTIONS[QUESTIONS.length - 1] as Question;

/** Measures the microseconds of a response; its content is checked afterwards. */
async function timed(chain: LongChain, { ask, check, repeats }: Question): Promise<number> {
  let spent = 0;
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    const [method, ...params] = ask(chain);
    const request = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
    const start = performance.now();
    const text = await chain.node.answer(request, true);
    // V8 flattens a concatenated string when it is sent.
    Buffer.byteLength(text);
    spent += performance.now() - start;
    const { result, error } = JSON.parse(text);
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    check(result as never, params);
  }
  return (spent * 1_000) / repeats;
}
