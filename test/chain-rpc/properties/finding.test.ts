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
import { anySettlement, play, tradingOrAny } from "../../core/chain/chain-moves.ts";
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

/** Place in the chain, 0 to 1; often an end, because most logs are in few blocks. */
const place = fc.oneof(fc.constant(0), fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true }));

type TopicChoice = "any" | "same" | "other" | "nobody";

/** Range and topics of a query. The topics are those of an existing log, or match none. */
const question = fc.record({
  range: fc.tuple(place, place),
  model: fc.noBias(fc.nat()),
  topics: fc.oneof(
    fc.array(fc.constantFrom<TopicChoice[]>("any", "same", "same", "other", "nobody"), { maxLength: 4 }),
    // A single place that selects.
    fc.nat({ max: 3 }).map((any): TopicChoice[] => [...Array<"any">(any).fill("any"), "same"]),
  ),
  withAddress: fc.boolean(),
});

const NOBODY = `0x${"77".repeat(32)}`;

/** Builds a query from the topics of one or two existing logs; half of them from the latest logs of each event. */
function queryOf(
  all: readonly Log[],
  { model, topics: kinds, withAddress }: ValueOf<typeof question>,
): LogQuery {
  const logs = model % 2 === 0 ? all : [...new Map(all.map((log) => [log.topics[0], log])).values()];
  const [log, other] = [logs[model % logs.length], logs[(model * 7 + 3) % logs.length]];
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
    tradingOrAny(30),
    fc.array(question, { minLength: 1, maxLength: 4 }),
    fc.constantFrom("continue", "snapshot", "restore"),
  );
  forAll(runs(150), [anySettlement, fc.array(step, { maxLength: 8 })], (config, steps) => {
    const node = openNode(config);
    let snapshot: Snapshot | null = null;
    for (const [moves, questions, then] of steps) {
      play(node.exchange, moves);
      node.exchange.submit({ kind: "mineBlocks", count: 1 });
      const head = headOf(node.state.chain);
      const all = scanned(node, ANY, 0, head).map((text): Log => JSON.parse(text));
      for (const each of questions) {
        const [from = 0, to = 0] = each.range.map((at) => Math.round(at * head)).sort((a, b) => a - b);
        const query = queryOf(all, each);
        const found = [...findLogs(node.state, node.logIndex, query, from, to)].flatMap((logs = []) => logs);
        deepStrictEqual(found, scanned(node, query, from, to));
      }
      if (then === "snapshot") snapshot = node.exchange.snapshot();
      if (then === "restore" && snapshot !== null) node.exchange.restore(snapshot);
    }
  });
});
