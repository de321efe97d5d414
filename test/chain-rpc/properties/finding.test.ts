import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Log } from "../../../src/chain-rpc/abis.ts";
import type { ChainNode } from "../../../src/chain-rpc/chain-node.ts";
import { findLogs, isWanted, type LogQuery, LogTexts } from "../../../src/chain-rpc/log-queries.ts";
import { logsOf } from "../../../src/chain-rpc/logs.ts";
import { blockAt, headOf } from "../../../src/core/chain/chain.ts";
import { CONTRACTS } from "../../../src/core/chain/contracts.ts";
import type { Snapshot } from "../../../src/engine/exchange.ts";
import { anySettlement, histories, play } from "../../core/chain/chain-moves.ts";
import { runs } from "../../support/runs.ts";
import { openNode } from "./played.ts";

const ANY: LogQuery = { addresses: null, topics: [] };

/** The logs of some blocks, found by looking at every transaction. */
function scanned({ state }: ChainNode, query: LogQuery, from: number, to: number): string[] {
  const { chain } = state;
  const found: string[] = [];
  for (let height = from; height <= to; height += 1) {
    const block = blockAt(chain, height);
    if (block === undefined) continue;
    for (let place = 1; place <= block.count; place += 1) {
      const transaction = chain.transactions.get(chain.mined.get(block.first + place));
      const logs = logsOf(state, transaction);
      found.push(...new LogTexts(state, block).of(transaction, logs, (log) => isWanted(query, log)));
    }
  }
  return found;
}

/** Where a query is to look, and what for: topics as they stand in some log, or of nobody. */
interface Asked {
  readonly from: number;
  readonly length: number;
  readonly model: number;
  readonly places: readonly ("any" | "same" | "other" | "nobody")[];
  readonly withAddress: boolean;
}

const asked: fc.Arbitrary<Asked> = fc.record({
  from: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.double({ min: 0, max: 1, noNaN: true }),
  model: fc.nat(),
  places: fc.array(fc.constantFrom("any", "any", "same", "same", "other", "nobody"), { maxLength: 4 }),
  withAddress: fc.boolean(),
});

const NOBODY = `0x${"77".repeat(32)}`;

/** A query after the model of a log that is there, and of another one. */
function queryOf(all: readonly Log[], { model, places, withAddress }: Asked): LogQuery {
  const [log, other] = [all[model % all.length], all[(model * 7 + 3) % all.length]];
  const topics = places.map((place, index) => {
    const same = log?.topics[index] ?? NOBODY;
    if (place === "any") return null;
    if (place === "nobody") return new Set([NOBODY]);
    return new Set(place === "same" ? [same] : [same, other?.topics[index] ?? NOBODY]);
  });
  return { addresses: withAddress ? new Set([log?.address ?? CONTRACTS.exchange]) : null, topics };
}

describe("whatever has happened, and whenever somebody asks", () => {
  it("what is looked up is what a look at everything finds, through reorganizations and restored snapshots", () => {
    const step = fc.tuple(
      histories(12),
      fc.array(asked, { minLength: 1, maxLength: 4 }),
      fc.constantFrom("go on", "keep", "return"),
    );
    fc.assert(
      fc.property(anySettlement, fc.array(step, { maxLength: 8 }), (config, steps) => {
        const node = openNode(config);
        let kept: Snapshot | null = null;
        for (const [moves, questions, then] of steps) {
          play(node.exchange, moves);
          const head = headOf(node.state.chain);
          const all = scanned(node, ANY, 0, head).map((text): Log => JSON.parse(text));
          for (const question of questions) {
            const from = Math.floor(question.from * head);
            const to = Math.floor(from + question.length * (head - from));
            const query = queryOf(all, question);
            const found = [...findLogs(node.state, node.logIndex, query, from, to)].flat();
            expect(found).toEqual(scanned(node, query, from, to));
          }
          if (then === "keep") kept = node.exchange.snapshot();
          if (then === "return" && kept !== null) node.exchange.restore(kept);
        }
      }),
      runs(300),
    );
  });
});
