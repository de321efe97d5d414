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

const drop = (floor: SettlementExchange, transaction: number): void => {
  floor.demand({ kind: "dropTransaction", transaction });
};

describe("dropping a transaction", () => {
  it("removes it from the pool; its nonce is free and it can be sent again", () => {
    const floor = openSettlement();
    const hash = `0x${"5".repeat(64)}`;
    const { number } = floor.call("alice", transfer("bob", 7), { hash });
    drop(floor, number);
    expect(floor.state.chain).toMatchObject({ pending: 0, pendingCalls: 0 });
    expect(floor.state.chain.transactions.get(number).status).toBe("DROPPED");
    expect(stateLines(readBack(floor.state))).toEqual(stateLines(floor.state));
    const again = floor.call("alice", transfer("bob", 7), { nonce: 0, hash });
    floor.mine();
    expect(again.status).toBe("MINED");
    expect(floor.onChain("bob").usdc).toBe(7);
  });

  it("after a reorganization undoes it and its dependents in the ledger", () => {
    const floor = openSettlement({ settlement: "manual" });
    const sent = floor.call("alice", transfer("carol", 600));
    floor.mine();
    floor.reorganize(1);
    expect(floor.inLedger("carol").usdc).toBe(1600);
    const spent = floor.call("carol", transfer("bob", 1500));
    drop(floor, sent.number);
    expect(floor.inLedger("alice").usdc).toBe(1000);
    expect(floor.inLedger("carol").usdc).toBe(1000);
    floor.mine();
    expect([sent.status, spent.status]).not.toContain("MINED");
  });

  it("changes nothing if it is unknown or not from a wallet", () => {
    const floor = openSettlement({ settlement: "manual" });
    floor.send("alice BUY 10 YES @ 0.5", "bob SELL 10 YES @ 0.5");
    const before = floor.exchange.sequence;
    for (const transaction of [9_999, floor.settlement().number])
      expect(floor.submit({ kind: "dropTransaction", transaction })).toEqual({ ok: true, events: [] });
    expect(floor.exchange.sequence).toBe(before);
  });
});

describe("setting a nonce", () => {
  it("drops pending transactions below it and mines the one that waited for it", () => {
    const floor = openSettlement({ settlement: "instant" });
    const below = floor.call("alice", transfer("bob", 1), { nonce: 1 });
    const next = floor.call("alice", transfer("bob", 2), { nonce: 5 });
    floor.demand({ kind: "setNonce", address: addressOf("alice"), nonce: 5 });
    expect([below.status, next.status]).toEqual(["DROPPED", "MINED"]);
    expect(floor.state.chain.wallets.get(addressOf("alice"))?.mined).toBe(6);
    expect(floor.trySend("alice", transfer("bob", 1), { nonce: 4 }).ok).toBe(false);
  });
});

describe("setting the mining mode", () => {
  const settled = (floor: SettlementExchange): string[] => {
    floor.send("alice BUY 10 YES @ 0.5", "bob SELL 10 YES @ 0.5");
    return floor.statuses;
  };

  it.each(["instant", "auto", "manual"] as const)("to instant settles at once, from %s", (settlement) => {
    const floor = openSettlement({ settlement });
    floor.demand({ kind: "setMining", mode: "instant", intervalMs: 2_000 });
    expect(settled(floor)[0]).toMatch(/^(?:MINED|CONFIRMED)$/);
    expect(stateLines(readBack(floor.state))).toEqual(stateLines(floor.state));
  });

  it("to auto mines at the interval, without end", () => {
    const floor = openSettlement({ settlement: "manual" });
    floor.demand({ kind: "setMining", mode: "auto", intervalMs: 10_000 });
    expect(settled(floor)).toEqual(["MATCHED"]);
    wait(floor, 9);
    expect(floor.statuses).toEqual(["MATCHED"]);
    wait(floor, 1);
    expect(floor.statuses).toEqual(["MINED"]);
    wait(floor, 20);
    expect(floor.statuses).toEqual(["CONFIRMED"]);
    const { head } = floor;
    wait(floor, 25);
    expect(floor.head).toBe(head + 2);
  });

  it.each(["instant", "auto"] as const)("to manual settles on request, from %s", (settlement) => {
    const floor = openSettlement({ settlement });
    floor.demand({ kind: "setMining", mode: "manual", intervalMs: 2_000 });
    expect(settled(floor)).toEqual(["MATCHED"]);
    wait(floor, 3_600);
    expect(floor.statuses).toEqual(["MATCHED"]);
    floor.mine();
    expect(floor.statuses).not.toEqual(["MATCHED"]);
  });

  it("to instant settles pending trades at once", () => {
    const floor = openSettlement({ settlement: "manual" });
    expect(settled(floor)).toEqual(["MATCHED"]);
    floor.demand({ kind: "setMining", mode: "instant", intervalMs: 2_000 });
    expect(floor.statuses).toEqual(["MINED"]);
  });
});

describe("header fields of blocks", () => {
  it("are those set last before each block, field by field", () => {
    const floor = openSettlement();
    const miner = addressOf("zoe");
    floor.mine();
    floor.demand({ kind: "setBlockTerms", miner, gasLimit: null });
    floor.mine();
    floor.demand({ kind: "setBlockTerms", miner: null, gasLimit: 5 });
    floor.mine();
    const { chain } = floor.state;
    const of = (serial: number) => blockTermsOf(chain, serial);
    expect([2, 3, 4, 5].map((serial) => [of(serial).miner, of(serial).gasLimit])).toEqual([
      [null, null],
      [miner, null],
      [miner, 5],
      [miner, 5],
    ]);
    expect(stateLines(readBack(floor.state))).toEqual(stateLines(floor.state));
  });
});

describe("the next base fee", () => {
  const baseFees = ({ state: { chain } }: SettlementExchange) =>
    [...chain.blocks].map(({ baseFee }) => baseFee);

  it("applies to one block only", () => {
    const floor = openSettlement();
    floor.demand({ kind: "setNextBaseFee", baseFee: 3 * GWEI });
    expect(stateLines(readBack(floor.state))).toEqual(stateLines(floor.state));
    const cheap = floor.call("alice", transfer("bob", 1), { gwei: 2 });
    const dear = floor.call("carol", transfer("bob", 1), { gwei: 4 });
    floor.mine(2);
    expect(baseFees(floor).slice(-2)).toEqual([3 * GWEI, GWEI]);
    expect([dear.status, cheap.status]).toEqual(["MINED", "MINED"]);
    expect((dear.block as number) < (cheap.block as number)).toBe(true);
  });

  it("above the maximum fee of the exchange defers its settlements by one block", () => {
    const floor = openSettlement({ settlement: "auto" });
    floor.demand({ kind: "setNextBaseFee", baseFee: 500 * GWEI });
    floor.send("alice BUY 10 YES @ 0.5", "bob SELL 10 YES @ 0.5");
    wait(floor, 2);
    expect(floor.statuses).toEqual(["MATCHED"]);
    wait(floor, 2);
    expect(floor.statuses).toEqual(["MINED"]);
  });
});
