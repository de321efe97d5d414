import { quantity } from "../../../src/chain-rpc/encoding.ts";
import { measurementOf } from "../measurement.ts";
import { median } from "../rounds.ts";
import type { Section } from "../section.ts";
import { takeTurns } from "../turns.ts";
import { BLOCK, LongChain, NEWCOMER, NEWCOMERS_FILLS } from "./long-chain.ts";

const LENGTHS = [10_000, 100_000, 1_000_000] as const;
/** What a match between two orders leaves: four transfers, two fills, one OrdersMatched. */
const LOGS_OF_A_MATCH = 7;

/** One kind of call: carries it out once, and checks what it answers. */
interface Question {
  readonly workload: string;
  readonly repeats: number;
  ask(chain: LongChain): Promise<void>;
}

const QUESTIONS: readonly Question[] = [
  {
    workload: "eth_getTransactionReceipt, any transaction",
    repeats: 200,
    async ask(chain) {
      const hash = chain.anyHash();
      const receipt = await chain.call<{ readonly transactionHash: string }>(
        "eth_getTransactionReceipt",
        hash,
      );
      demand(receipt.transactionHash === hash, `${hash} has the receipt of another`);
    },
  },
  {
    workload: "eth_getBlockByNumber, any block, hashes",
    repeats: 20,
    async ask(chain) {
      const block = await chain.call<{ readonly transactions: readonly string[] }>(
        "eth_getBlockByNumber",
        quantity(chain.anyHeight()),
        false,
      );
      demand(block.transactions.length === BLOCK, `a block has ${block.transactions.length} transactions`);
    },
  },
  {
    workload: `eth_getLogs, any block of ${figure(BLOCK)} matches`,
    repeats: 5,
    async ask(chain) {
      const height = quantity(chain.anyHeight());
      const logs = await chain.call<unknown[]>("eth_getLogs", { fromBlock: height, toBlock: height });
      demand(logs.length === BLOCK * LOGS_OF_A_MATCH, `a block has ${logs.length} logs`);
    },
  },
  {
    workload: `eth_getLogs, all blocks, one wallet's ${NEWCOMERS_FILLS} matches`,
    repeats: 5,
    async ask(chain) {
      const topics = [null, null, `0x${NEWCOMER.slice(2).padStart(64, "0")}`];
      const query = { fromBlock: "0x1", toBlock: "latest", topics };
      const logs = await chain.call<unknown[]>("eth_getLogs", query);
      demand(logs.length >= NEWCOMERS_FILLS, `the wallet has ${logs.length} logs`);
    },
  },
];

/** What reading the chain costs as it grows. */
export const chainSection: Section = {
  name: "chain",
  about: "JSON-RPC calls as the chain grows, from the text of the request to that of the answer",
  async measure(rounds) {
    const chains = LENGTHS.map((length) => new LongChain(length));
    const first: number[] = [];
    for (const chain of chains) first.push(await timed(chain, wholeChain, 1));
    const measurements = [];
    for (const question of QUESTIONS) {
      const subjects = chains.map((chain) => () => timed(chain, question, question.repeats));
      const samples = await takeTurns(subjects, { rounds, warmUps: 3 });
      const shortest = median(samples[0] ?? []);
      for (const [index, costs] of samples.entries()) {
        const subject = `${figure(LENGTHS[index] ?? 0)} matches`;
        measurements.push(measurementOf(question.workload, subject, costs, shortest));
      }
    }
    const index = first.map((microseconds) => `${(microseconds / 1_000).toFixed(0)} ms`).join(", ");
    return {
      unit: "us/call",
      baseline: `${figure(LENGTHS[0])} matches`,
      rounds,
      measurements,
      notes: [
        `Chains of ${figure(BLOCK)} matches a block. Logs are made and encoded when they are asked for.`,
        `The first question over all blocks makes the index that later ones add to: ${index}.`,
      ],
    };
  },
};

/** Makes the index of a chain. */
const wholeChain: Question = QUESTIONS[QUESTIONS.length - 1] as Question;

/** Microseconds that a question takes. */
async function timed(chain: LongChain, { ask }: Question, repeats: number): Promise<number> {
  const start = performance.now();
  for (let repeat = 0; repeat < repeats; repeat += 1) await ask(chain);
  return ((performance.now() - start) * 1_000) / repeats;
}

function demand(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}

function figure(count: number): string {
  return count.toLocaleString("en-US");
}
