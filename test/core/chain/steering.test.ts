import { describe, expect, it } from "vitest";
import { blockTermsOf } from "../../../src/core/chain/chain.ts";
import { addressOf } from "../../support/commands.ts";
import { readBack } from "../document/told.ts";
import { portraitOf } from "../properties/portrait.ts";
import { openSettlement, type SettlementFloor, transfer } from "./settlement-floor.ts";

const GWEI = 1_000_000_000;

/** Waits so many seconds. */
const wait = ({ exchange }: SettlementFloor, seconds: number): void =>
  exchange.advanceTo((exchange.now + seconds * 1000) as typeof exchange.now);

const drop = (floor: SettlementFloor, transaction: number): void => {
  floor.demand({ kind: "dropTransaction", transaction });
};

describe("a transaction that is dropped", () => {
  it("is pending no more, frees its nonce, and may be sent again", () => {
    const floor = openSettlement();
    const hash = `0x${"5".repeat(64)}`;
    const { number } = floor.call("alice", transfer("bob", 7), { hash });
    drop(floor, number);
    expect(floor.state.chain).toMatchObject({ pending: 0, pendingCalls: 0 });
    expect(floor.state.chain.transactions.get(number).status).toBe("DROPPED");
    expect(portraitOf(readBack(floor.state))).toEqual(portraitOf(floor.state));
    const again = floor.call("alice", transfer("bob", 7), { nonce: 0, hash });
    floor.mine();
    expect(again.status).toBe("MINED");
    expect(floor.onChain("bob").usdc).toBe(7);
  });

  it("after a reorganization leaves the ledger, with what counted on it", () => {
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

  it("that is none, or none of a wallet, changes nothing", () => {
    const floor = openSettlement({ settlement: "manual" });
    floor.send("alice BUY 10 YES @ 0.5", "bob SELL 10 YES @ 0.5");
    const before = floor.exchange.sequence;
    for (const transaction of [9_999, floor.settlement().number])
      expect(floor.submit({ kind: "dropTransaction", transaction })).toEqual({ ok: true, events: [] });
    expect(floor.exchange.sequence).toBe(before);
  });
});

describe("a nonce that is set", () => {
  it("is the next one; what waited below is dropped, what waited for it is mined", () => {
    const floor = openSettlement({ settlement: "instant" });
    const below = floor.call("alice", transfer("bob", 1), { nonce: 1 });
    const next = floor.call("alice", transfer("bob", 2), { nonce: 5 });
    floor.demand({ kind: "setNonce", address: addressOf("alice"), nonce: 5 });
    expect([below.status, next.status]).toEqual(["DROPPED", "MINED"]);
    expect(floor.state.chain.wallets.get(addressOf("alice"))?.mined).toBe(6);
    expect(floor.trySending("alice", transfer("bob", 1), { nonce: 4 }).ok).toBe(false);
  });
});

describe("mining", () => {
  const settled = (floor: SettlementFloor): string[] => {
    floor.send("alice BUY 10 YES @ 0.5", "bob SELL 10 YES @ 0.5");
    return floor.statuses;
  };

  it.each(["instant", "auto", "manual"] as const)(
    "at once settles at once, where it was %s",
    (settlement) => {
      const floor = openSettlement({ settlement });
      floor.demand({ kind: "setMining", mode: "instant", intervalMs: 2_000 });
      expect(settled(floor)[0]).toMatch(/^(?:MINED|CONFIRMED)$/);
      expect(portraitOf(readBack(floor.state))).toEqual(portraitOf(floor.state));
    },
  );

  it("at an interval settles with the next block, confirms two later, and goes on", () => {
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

  it.each(["instant", "auto"] as const)("when asked to waits for that, where it was %s", (settlement) => {
    const floor = openSettlement({ settlement });
    floor.demand({ kind: "setMining", mode: "manual", intervalMs: 2_000 });
    expect(settled(floor)).toEqual(["MATCHED"]);
    wait(floor, 3_600);
    expect(floor.statuses).toEqual(["MATCHED"]);
    floor.mine();
    expect(floor.statuses).not.toEqual(["MATCHED"]);
  });

  it("at once begins with what waits", () => {
    const floor = openSettlement({ settlement: "manual" });
    expect(settled(floor)).toEqual(["MATCHED"]);
    floor.demand({ kind: "setMining", mode: "instant", intervalMs: 2_000 });
    expect(floor.statuses).toEqual(["MINED"]);
  });
});

describe("what blocks say of themselves", () => {
  it("is what was set before each, part by part", () => {
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
    expect(portraitOf(readBack(floor.state))).toEqual(portraitOf(floor.state));
  });
});

describe("the next base fee", () => {
  const baseFees = ({ state: { chain } }: SettlementFloor) => [...chain.blocks].map(({ baseFee }) => baseFee);

  it("is that of one block, with whatever is in it", () => {
    const floor = openSettlement();
    floor.demand({ kind: "setNextBaseFee", baseFee: 3 * GWEI });
    expect(portraitOf(readBack(floor.state))).toEqual(portraitOf(floor.state));
    const cheap = floor.call("alice", transfer("bob", 1), { gwei: 2 });
    const dear = floor.call("carol", transfer("bob", 1), { gwei: 4 });
    floor.mine(2);
    expect(baseFees(floor).slice(-2)).toEqual([3 * GWEI, GWEI]);
    expect([dear.status, cheap.status]).toEqual(["MINED", "MINED"]);
    expect((dear.block as number) < (cheap.block as number)).toBe(true);
  });

  it("above what the exchange offers puts its settlements off by a block", () => {
    const floor = openSettlement({ settlement: "auto" });
    floor.demand({ kind: "setNextBaseFee", baseFee: 500 * GWEI });
    floor.send("alice BUY 10 YES @ 0.5", "bob SELL 10 YES @ 0.5");
    wait(floor, 2);
    expect(floor.statuses).toEqual(["MATCHED"]);
    wait(floor, 2);
    expect(floor.statuses).toEqual(["MINED"]);
  });
});
