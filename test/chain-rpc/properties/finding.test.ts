import { deepStrictEqual } from "node:assert/strict";
import fc from "fast-check";
import { it } from "vitest";
import type { Log } from "../../../src/chain-rpc/abis.ts";
import type { ChainNode } from "../../../src/chain-rpc/chain-node.ts";
import { findLogs, isWanted, type LogQuery } from "../../../src/chain-rpc/log-search.ts";
import { LogTexts, logsOf } from "../../../src/chain-rpc/logs.ts";
import { transactionsIn } from "../../../src/chain-rpc/replies.ts";
import { blockAt, headOf } from "../../../src/core/chain/chain.ts";
import { CONTRACTS } from "../../../src/core/chain/contracts.ts";
import type { Snapshot } from "../../../src/engine/exchange.ts";
import { anySettlement, histories, play } from "../../core/chain/chain-moves.ts";
import { forAll, runs, type ValueOf } from "../../support/runs.ts";
import { openNode } from "./node.ts";

const ANY: LogQuery = { addresses: null, topics: [] };

/** Finds the logs of some blocks by scanning every transaction. */
function scanned({ state }: ChainNode, query: LogQuery, from: number, to: number): string[] {
  const found: string[] = [];
  for (let height = from; height <= to; height += 1) {
    const block = blockAt(state.chain, height);
    if (block === undefined) continue;
    for (const transaction of transactionsIn(state, block)) {
      const logs = logsOf(state, transaction);
      found.push(...new LogTexts(state, block).of(transaction, logs, (log) => isWanted(query, log)));
    }
  }
  return found;
}

/** Range and topics of a query. The topics are those of an existing log, or match none. */
const question = fc.record({
  from: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.double({ min: 0, max: 1, noNaN: true }),
  model: fc.nat(),
  topics: fc.array(fc.constantFrom("any", "any", "same", "same", "other", "nobody"), { maxLength: 4 }),
  withAddress: fc.boolean(),
});

const NOBODY = `0x${"77".repeat(32)}`;

/** Builds a query from the topics of one or two existing logs. */
function queryOf(
  all: readonly Log[],
  { model, topics: kinds, withAddress }: ValueOf<typeof question>,
): LogQuery {
  const [log, other] = [all[model % all.length], all[(model * 7 + 3) % all.length]];
  const topics = kinds.map((kind, index) => {
    const same = log?.topics[index] ?? NOBODY;
    if (kind === "any") return null;
    if (kind === "nobody") return new Set([NOBODY]);
    return new Set(kind === "same" ? [same] : [same, other?.topics[index] ?? NOBODY]);
  });
  return { addresses: withAddress ? new Set([log?.address ?? CONTRACTS.exchange]) : null, topics };
}

it("the index finds the same logs as a scan of all transactions, also after reorganizations and restored snapshots", () => {
  const step = fc.tuple(
    histories(12),
    fc.array(question, { minLength: 1, maxLength: 4 }),
    fc.constantFrom("continue", "snapshot", "restore"),
  );
  forAll(runs(150), [anySettlement, fc.array(step, { maxLength: 8 })], (config, steps) => {
    const node = openNode(config);
    let snapshot: Snapshot | null = null;
    for (const [moves, questions, then] of steps) {
      play(node.exchange, moves);
      const head = headOf(node.state.chain);
      const all = scanned(node, ANY, 0, head).map((text): Log => JSON.parse(text));
      for (const each of questions) {
        const from = Math.floor(each.from * head);
        const to = Math.floor(from + each.length * (head - from));
        const query = queryOf(all, each);
        const found = [...findLogs(node.state, node.logIndex, query, from, to)].flatMap((logs = []) => logs);
        deepStrictEqual(found, scanned(node, query, from, to));
      }
      if (then === "snapshot") snapshot = node.exchange.snapshot();
      if (then === "restore" && snapshot !== null) node.exchange.restore(snapshot);
    }
  });
});
