import { describe, expect, it } from "vitest";
import { blockTermsOf } from "../../../src/core/chain/chain.ts";
import { addressOf } from "../../support/commands.ts";
import { readBack } from "../document/read-back.ts";
import { stateLines } from "../properties/state-lines.ts";
import { openSettlement, type SettlementExchange, transfer } from "./settlement-exchange.ts";

const GWEI = 1_000_000_000;

/** Advances time. */
const wait = ({ exchange }: SettlementExchange, seconds: number): void =>
  exchange.advanceTo((exchange.now + seconds * 1000) as typeof exchange.now);

const drop = (testExchange: SettlementExchange, transaction: number): void => {
  testExchange.mustSubmit({ kind: "dropTransaction", transaction });
};

describe("dropping a transaction", () => {
  it("removes it from the pool; its nonce is free and it can be sent again", () => {
    const testExchange = openSettlement();
    const hash = `0x${"5".repeat(64)}`;
    const { number } = testExchange.call("alice", transfer("bob", 7), { hash });
    drop(testExchange, number);
    expect(testExchange.state.chain).toMatchObject({ pending: 0, pendingCalls: 0 });
    expect(testExchange.state.chain.transactions.get(number).status).toBe("DROPPED");
    expect(stateLines(readBack(testExchange.state))).toEqual(stateLines(testExchange.state));
    const again = testExchange.call("alice", transfer("bob", 7), { nonce: 0, hash });
    testExchange.mine();
    expect(again.status).toBe("MINED");
    expect(testExchange.onChain("bob").usdc).toBe(7);
  });

  it("after a reorganization undoes it and its dependents in the ledger", () => {
    const testExchange = openSettlement({ settlement: "manual" });
    const sent = testExchange.call("alice", transfer("carol", 600));
    testExchange.mine();
    testExchange.reorganize(1);
    expect(testExchange.inLedger("carol").usdc).toBe(1600);
    const spent = testExchange.call("carol", transfer("bob", 1500));
    drop(testExchange, sent.number);
    expect(testExchange.inLedger("alice").usdc).toBe(1000);
    expect(testExchange.inLedger("carol").usdc).toBe(1000);
    testExchange.mine();
    expect([sent.status, spent.status]).not.toContain("MINED");
  });

  it("changes nothing if it is unknown or not from a wallet", () => {
    const testExchange = openSettlement({ settlement: "manual" });
    testExchange.send("alice BUY 10 YES @ 0.5", "bob SELL 10 YES @ 0.5");
    const before = testExchange.exchange.sequence;
    for (const transaction of [9_999, testExchange.settlement().number])
      expect(testExchange.submit({ kind: "dropTransaction", transaction })).toEqual({ ok: true, events: [] });
    expect(testExchange.exchange.sequence).toBe(before);
  });
});

describe("setting a nonce", () => {
  it("drops pending transactions below it and mines the one that waited for it", () => {
    const testExchange = openSettlement({ settlement: "instant" });
    const below = testExchange.call("alice", transfer("bob", 1), { nonce: 1 });
    const next = testExchange.call("alice", transfer("bob", 2), { nonce: 5 });
    testExchange.mustSubmit({ kind: "setNonce", address: addressOf("alice"), nonce: 5 });
    expect([below.status, next.status]).toEqual(["DROPPED", "MINED"]);
    expect(testExchange.state.chain.wallets.get(addressOf("alice"))?.mined).toBe(6);
    expect(testExchange.trySend("alice", transfer("bob", 1), { nonce: 4 }).ok).toBe(false);
  });
});

describe("setting the mining mode", () => {
  const settled = (testExchange: SettlementExchange): string[] => {
    testExchange.send("alice BUY 10 YES @ 0.5", "bob SELL 10 YES @ 0.5");
    return testExchange.statuses;
  };

  it.each(["instant", "auto", "manual"] as const)("to instant settles at once, from %s", (settlement) => {
    const testExchange = openSettlement({ settlement });
    testExchange.mustSubmit({ kind: "setMining", mode: "instant", intervalMs: 2_000 });
    expect(settled(testExchange)[0]).toMatch(/^(?:MINED|CONFIRMED)$/);
    expect(stateLines(readBack(testExchange.state))).toEqual(stateLines(testExchange.state));
  });

  it("to auto mines at the interval, without end", () => {
    const testExchange = openSettlement({ settlement: "manual" });
    testExchange.mustSubmit({ kind: "setMining", mode: "auto", intervalMs: 10_000 });
    expect(settled(testExchange)).toEqual(["MATCHED"]);
    wait(testExchange, 9);
    expect(testExchange.statuses).toEqual(["MATCHED"]);
    wait(testExchange, 1);
    expect(testExchange.statuses).toEqual(["MINED"]);
    wait(testExchange, 20);
    expect(testExchange.statuses).toEqual(["CONFIRMED"]);
    const { head } = testExchange;
    wait(testExchange, 25);
    expect(testExchange.head).toBe(head + 2);
  });

  it.each(["instant", "auto"] as const)("to manual settles on request, from %s", (settlement) => {
    const testExchange = openSettlement({ settlement });
    testExchange.mustSubmit({ kind: "setMining", mode: "manual", intervalMs: 2_000 });
    expect(settled(testExchange)).toEqual(["MATCHED"]);
    wait(testExchange, 3_600);
    expect(testExchange.statuses).toEqual(["MATCHED"]);
    testExchange.mine();
    expect(testExchange.statuses).not.toEqual(["MATCHED"]);
  });

  it("to instant settles pending trades at once", () => {
    const testExchange = openSettlement({ settlement: "manual" });
    expect(settled(testExchange)).toEqual(["MATCHED"]);
    testExchange.mustSubmit({ kind: "setMining", mode: "instant", intervalMs: 2_000 });
    expect(testExchange.statuses).toEqual(["MINED"]);
  });
});

describe("header fields of blocks", () => {
  it("are those set last before each block, field by field", () => {
    const testExchange = openSettlement();
    const miner = addressOf("zoe");
    testExchange.mine();
    testExchange.mustSubmit({ kind: "setBlockTerms", miner, gasLimit: null });
    testExchange.mine();
    testExchange.mustSubmit({ kind: "setBlockTerms", miner: null, gasLimit: 5 });
    testExchange.mine();
    const { chain } = testExchange.state;
    const of = (serial: number) => blockTermsOf(chain, serial);
    expect([2, 3, 4, 5].map((serial) => [of(serial).miner, of(serial).gasLimit])).toEqual([
      [null, null],
      [miner, null],
      [miner, 5],
      [miner, 5],
    ]);
    expect(stateLines(readBack(testExchange.state))).toEqual(stateLines(testExchange.state));
  });
});

describe("the next base fee", () => {
  const baseFees = ({ state: { chain } }: SettlementExchange) =>
    [...chain.blocks].map(({ baseFee }) => baseFee);

  it("applies to one block only", () => {
    const testExchange = openSettlement();
    testExchange.mustSubmit({ kind: "setNextBaseFee", baseFee: 3 * GWEI });
    expect(stateLines(readBack(testExchange.state))).toEqual(stateLines(testExchange.state));
    const cheap = testExchange.call("alice", transfer("bob", 1), { gwei: 2 });
    const dear = testExchange.call("carol", transfer("bob", 1), { gwei: 4 });
    testExchange.mine(2);
    expect(baseFees(testExchange).slice(-2)).toEqual([3 * GWEI, GWEI]);
    expect([dear.status, cheap.status]).toEqual(["MINED", "MINED"]);
    expect((dear.block as number) < (cheap.block as number)).toBe(true);
  });

  it("above the maximum fee of the exchange defers its settlements by one block", () => {
    const testExchange = openSettlement({ settlement: "auto" });
    testExchange.mustSubmit({ kind: "setNextBaseFee", baseFee: 500 * GWEI });
    testExchange.send("alice BUY 10 YES @ 0.5", "bob SELL 10 YES @ 0.5");
    wait(testExchange, 2);
    expect(testExchange.statuses).toEqual(["MATCHED"]);
    wait(testExchange, 2);
    expect(testExchange.statuses).toEqual(["MINED"]);
  });
});
