import { deepStrictEqual } from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ChainNode } from "../../../src/chain-rpc/chain-node.ts";
import { headOf } from "../../../src/core/chain/chain.ts";
import { transactionHash, transactionOfHash } from "../../../src/core/chain/chain-hashes.ts";
import { CONTRACTS } from "../../../src/core/chain/contracts.ts";
import { settledAt, tradeStatus } from "../../../src/core/chain/settlement.ts";
import { violations } from "../../../src/core/invariants.ts";
import { documentLines } from "../../../src/core/state-document.ts";
import { call, openNode } from "../../chain-rpc/properties/node.ts";
import { addressOf, callCommand } from "../../support/commands.ts";
import { openFundedExchange, type TestExchange } from "../../support/exchange.ts";
import { forAll, forAllAsync, runs } from "../../support/runs.ts";
import { anySettlement, histories, openWith, play } from "../chain/chain-moves.ts";
import { approve } from "../chain/settlement-exchange.ts";
import { textOf } from "./damaged-documents.ts";
import { parsed, readBack, reload, requireEqual } from "./read-back.ts";

/** Returns the answers of a node about every block and its transactions, and the settlement of every trade. */
async function chainOf(node: ChainNode): Promise<unknown[]> {
  const { state } = node;
  const answers: unknown[] = [await call(node, "eth_getLogs", { fromBlock: "0x0", toBlock: "latest" })];
  for (let height = 0; height <= headOf(state.chain); height += 1) {
    const tag = `0x${height.toString(16)}`;
    answers.push(await call(node, "eth_getBlockByNumber", tag, true));
    answers.push(await call(node, "eth_getBlockReceipts", tag));
  }
  const found = [...state.chain.transactions].map((transaction) => {
    const hash = transactionHash(state, transaction);
    return [hash, transactionOfHash(state, hash)?.number];
  });
  const trades = [...state.trades].map((trade) => [tradeStatus(state, trade), settledAt(state, trade)]);
  return [...answers, found, trades];
}

describe("for any history", () => {
  it("a state is read back, at the end and after any command, also within a block, and continues like the original", () => {
    forAll(runs(400), [anySettlement, histories(80), fc.nat({ max: 1000 })], (config, moves, stop) => {
      const [one, two] = [openWith(config), openWith(config)];
      const happened = play(one, moves);
      const at = 1 + (stop % Math.max(1, happened.length));
      let commands = 0;
      two.watch(() => {
        commands += 1;
        if (commands === at) reload(two);
      });
      deepStrictEqual(play(two, moves), happened);
      const read = readBack(one.state);
      deepStrictEqual([...documentLines(read)], [...documentLines(one.state)]);
      for (const state of [two.state, read]) {
        requireEqual(state, one.state);
        deepStrictEqual(violations(state), []);
      }
    });
  });

  it("the chain of a state read from its document is the same through a node", async () => {
    await forAllAsync(runs(150), [anySettlement, histories(60)], async (config, moves) => {
      const node = openNode(config);
      play(node.exchange, moves);
      const written = await chainOf(node);
      reload(node.exchange);
      deepStrictEqual(await chainOf(node), written);
    });
  });
});

const HASH = `0x${"ab".repeat(32)}`;

/** Signed approval by alice. */
const SIGNED = callCommand(addressOf("alice"), approve(CONTRACTS.exchange, 7), {
  ...{ to: CONTRACTS.collateral, nonce: 0, gas: 100_000, input: "0x01", raw: "0x02", hash: HASH },
});

function exchangeWithCall(command = SIGNED): TestExchange {
  const testExchange = openFundedExchange();
  testExchange.derive("alice");
  testExchange.mustSubmit(command);
  return testExchange;
}

describe("a signed transaction in a document", () => {
  it("is found by its hash and refused if sent again", () => {
    const { exchange } = exchangeWithCall();
    reload(exchange);
    expect(transactionOfHash(exchange.state, HASH)?.content).toMatchObject({ kind: "call", hash: HASH });
    expect(exchange.submit(SIGNED)).toMatchObject({ refusal: { code: "TRANSACTION_ALREADY_KNOWN" } });
  });

  it("is written equally for any order of the command's fields", () => {
    const backwards = Object.fromEntries(Object.entries(SIGNED).reverse()) as typeof SIGNED;
    expect(textOf(exchangeWithCall(backwards).state)).toBe(textOf(exchangeWithCall().state));
  });

  it("makes the document invalid if another one has its hash", () => {
    const testExchange = exchangeWithCall();
    testExchange.mustSubmit({ ...SIGNED, nonce: 1, hash: `0x${"cd".repeat(32)}` });
    const text = textOf(testExchange.state).replace("cd".repeat(32), "ab".repeat(32));
    expect(() => parsed(text)).toThrow(".content.hash: expected a unique hash, found");
  });
});
