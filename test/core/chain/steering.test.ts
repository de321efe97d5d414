import { expect, it } from "vitest";
import { blockTermsOf } from "../../../src/core/chain/chain.ts";
import { addressOf } from "../../support/commands.ts";
import { readBack, requireEqual } from "../document/read-back.ts";
import { openSettlement, played } from "./settlement-exchange.ts";

const GWEI = 1_000_000_000;

it("dropping a transaction changes nothing if it is unknown or not from a wallet", () => {
  const exchange = played("trade");
  const before = exchange.exchange.sequence;
  for (const transaction of [9_999, exchange.settlement().number])
    expect(exchange.submit({ kind: "dropTransaction", transaction })).toEqual({ ok: true, events: [] });
  expect(exchange.exchange.sequence).toBe(before);
});

it("header fields of blocks are those set last before each block, field by field", () => {
  const exchange = openSettlement();
  const miner = addressOf("zoe");
  exchange.act("mine");
  for (const terms of [
    { miner, gasLimit: null },
    { miner: null, gasLimit: 5 },
  ]) {
    exchange.mustSubmit({ kind: "setBlockTerms", ...terms });
    exchange.act("mine");
  }
  const found = [2, 3, 4, 5].map((serial) => blockTermsOf(exchange.state.chain, serial));
  const expected = [
    { miner: null, gasLimit: null },
    { miner, gasLimit: null },
    ...Array(2).fill({ miner, gasLimit: 5 }),
  ];
  expect(found).toMatchObject(expected);
  requireEqual(readBack(exchange.state), exchange.state);
});

it("the next base fee is used up by the first block of a reorganization", () => {
  const exchange = openSettlement();
  exchange.act("mine 2; base-fee 3; reorg 2; mine");
  const baseFees = Array.from(exchange.state.chain.blocks, ({ baseFee }) => baseFee);
  expect(baseFees.slice(-3)).toEqual([3 * GWEI, GWEI, GWEI]);
});
