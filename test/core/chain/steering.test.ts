import { describe, expect, it } from "vitest";
import { blockTermsOf } from "../../../src/core/chain/chain.ts";
import { addressOf } from "../../support/commands.ts";
import { readBack, requireEqual } from "../document/read-back.ts";
import { openSettlement, played, type SettlementExchange, transfer } from "./settlement-exchange.ts";

const GWEI = 1_000_000_000;

it("dropping a transaction changes nothing if it is unknown or not from a wallet", () => {
  const exchange = played("trade");
  const before = exchange.exchange.sequence;
  for (const transaction of [9_999, exchange.settlement().number])
    expect(exchange.submit({ kind: "dropTransaction", transaction })).toEqual({ ok: true, events: [] });
  expect(exchange.exchange.sequence).toBe(before);
});

describe("header fields of blocks", () => {
  it("are those set last before each block, field by field", () => {
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
});

describe("the next base fee", () => {
  const baseFees = ({ state: { chain } }: SettlementExchange) =>
    [...chain.blocks].map(({ baseFee }) => baseFee);

  it("applies to one block only", () => {
    const exchange = openSettlement();
    exchange.act("base-fee 3");
    requireEqual(readBack(exchange.state), exchange.state);
    const cheap = exchange.call("alice", transfer("bob", 1), { gwei: 2 });
    const dear = exchange.call("carol", transfer("bob", 1), { gwei: 4 });
    exchange.act("mine 2");
    expect(baseFees(exchange).slice(-2)).toEqual([3 * GWEI, GWEI]);
    expect([dear.status, cheap.status]).toEqual(["MINED", "MINED"]);
    expect((dear.block as number) < (cheap.block as number)).toBe(true);
  });

  it("is used up by the first block of a reorganization", () => {
    const exchange = openSettlement();
    exchange.act("mine 2; base-fee 3; reorg 2; mine");
    expect(baseFees(exchange).slice(-3)).toEqual([3 * GWEI, GWEI, GWEI]);
  });
});
