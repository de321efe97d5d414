import { describe, expect, it } from "vitest";
import { blockTermsOf } from "../../../src/core/chain/chain.ts";
import type { SettlementMode } from "../../../src/core/terms.ts";
import { addressOf } from "../../support/commands.ts";
import { readBack } from "../document/read-back.ts";
import { stateLines } from "../properties/state-lines.ts";
import { openSettlement, type SettlementExchange, transfer } from "./settlement-exchange.ts";

const GWEI = 1_000_000_000;

const drop = (exchange: SettlementExchange, transaction: number): void =>
  exchange.mustSubmit({ kind: "dropTransaction", transaction });

function expectReadBack({ state }: SettlementExchange): void {
  expect(stateLines(readBack(state))).toEqual(stateLines(state));
}

describe("dropping a transaction", () => {
  it("removes it from the pool; its nonce is free and it can be sent again", () => {
    const exchange = openSettlement();
    const hash = `0x${"5".repeat(64)}`;
    const { number } = exchange.call("alice", transfer("bob", 7), { hash });
    drop(exchange, number);
    expect(exchange.state.chain).toMatchObject({ pending: 0, pendingCalls: 0 });
    expect(exchange.state.chain.transactions.get(number).status).toBe("DROPPED");
    expectReadBack(exchange);
    const again = exchange.call("alice", transfer("bob", 7), { nonce: 0, hash });
    exchange.mine();
    expect(again.status).toBe("MINED");
    expect(exchange.onChain("bob").usdc).toBe(7);
  });

  it("after a reorganization undoes it and its dependents in the ledger", () => {
    const exchange = openSettlement({ settlement: "manual" });
    const sent = exchange.call("alice", transfer("carol", 600));
    exchange.mine();
    exchange.reorganize(1);
    expect(exchange.inLedger("carol").usdc).toBe(1600);
    const spent = exchange.call("carol", transfer("bob", 1500));
    drop(exchange, sent.number);
    expect(exchange.inLedger("alice").usdc).toBe(1000);
    expect(exchange.inLedger("carol").usdc).toBe(1000);
    exchange.mine();
    expect([sent.status, spent.status]).not.toContain("MINED");
  });

  it("changes nothing if it is unknown or not from a wallet", () => {
    const exchange = openSettlement({ settlement: "manual" });
    exchange.trade();
    const before = exchange.exchange.sequence;
    for (const transaction of [9_999, exchange.settlement().number])
      expect(exchange.submit({ kind: "dropTransaction", transaction })).toEqual({ ok: true, events: [] });
    expect(exchange.exchange.sequence).toBe(before);
  });
});

describe("setting a nonce", () => {
  it("drops pending transactions below it and mines the one that waited for it", () => {
    const exchange = openSettlement({ settlement: "instant" });
    const below = exchange.call("alice", transfer("bob", 1), { nonce: 1 });
    const next = exchange.call("alice", transfer("bob", 2), { nonce: 5 });
    exchange.mustSubmit({ kind: "setNonce", address: addressOf("alice"), nonce: 5 });
    expect([below.status, next.status]).toEqual(["DROPPED", "MINED"]);
    expect(exchange.state.chain.wallets.get(addressOf("alice"))?.mined).toBe(6);
    expect(exchange.trySend("alice", transfer("bob", 1), { nonce: 4 }).ok).toBe(false);
  });
});

describe("setting the mining mode", () => {
  const setMode = (exchange: SettlementExchange, mode: SettlementMode, intervalMs = 2_000): void =>
    exchange.mustSubmit({ kind: "setMining", mode, intervalMs });

  it.each(["instant", "auto", "manual"] as const)("to instant settles at once, from %s", (settlement) => {
    const exchange = openSettlement({ settlement });
    exchange.trade();
    setMode(exchange, "instant");
    expect(exchange.statuses).not.toContain("MATCHED");
    exchange.trade();
    expect(exchange.statuses).not.toContain("MATCHED");
    expectReadBack(exchange);
  });

  it("to auto mines at the interval, without end", () => {
    const exchange = openSettlement({ settlement: "manual" });
    setMode(exchange, "auto", 10_000);
    exchange.trade();
    exchange.advance("9s");
    expect(exchange.statuses).toEqual(["MATCHED"]);
    exchange.advance("1s");
    expect(exchange.statuses).toEqual(["MINED"]);
    exchange.advance("20s");
    expect([exchange.statuses, exchange.head]).toEqual([["CONFIRMED"], 3]);
    exchange.advance("25s");
    expect(exchange.head).toBe(5);
  });

  it.each(["instant", "auto"] as const)("to manual settles on request, from %s", (settlement) => {
    const exchange = openSettlement({ settlement });
    setMode(exchange, "manual");
    exchange.trade();
    exchange.advance("1h");
    expect(exchange.statuses).toEqual(["MATCHED"]);
    exchange.mine();
    expect(exchange.statuses).not.toEqual(["MATCHED"]);
  });
});

describe("header fields of blocks", () => {
  it("are those set last before each block, field by field", () => {
    const exchange = openSettlement();
    const miner = addressOf("zoe");
    exchange.mine();
    exchange.mustSubmit({ kind: "setBlockTerms", miner, gasLimit: null });
    exchange.mine();
    exchange.mustSubmit({ kind: "setBlockTerms", miner: null, gasLimit: 5 });
    exchange.mine();
    const { chain } = exchange.state;
    const of = (serial: number) => blockTermsOf(chain, serial);
    expect([2, 3, 4, 5].map((serial) => [of(serial).miner, of(serial).gasLimit])).toEqual([
      [null, null],
      [miner, null],
      [miner, 5],
      [miner, 5],
    ]);
    expectReadBack(exchange);
  });
});

describe("the next base fee", () => {
  const baseFees = ({ state: { chain } }: SettlementExchange) =>
    [...chain.blocks].map(({ baseFee }) => baseFee);

  it("applies to one block only", () => {
    const exchange = openSettlement();
    exchange.mustSubmit({ kind: "setNextBaseFee", baseFee: 3 * GWEI });
    expectReadBack(exchange);
    const cheap = exchange.call("alice", transfer("bob", 1), { gwei: 2 });
    const dear = exchange.call("carol", transfer("bob", 1), { gwei: 4 });
    exchange.mine(2);
    expect(baseFees(exchange).slice(-2)).toEqual([3 * GWEI, GWEI]);
    expect([dear.status, cheap.status]).toEqual(["MINED", "MINED"]);
    expect((dear.block as number) < (cheap.block as number)).toBe(true);
  });

  it("above the maximum fee of the exchange defers its settlements by one block", () => {
    const exchange = openSettlement({ settlement: "auto" });
    exchange.mustSubmit({ kind: "setNextBaseFee", baseFee: 500 * GWEI });
    exchange.trade();
    exchange.advance("2s");
    expect(exchange.statuses).toEqual(["MATCHED"]);
    exchange.advance("2s");
    expect(exchange.statuses).toEqual(["MINED"]);
  });
});
