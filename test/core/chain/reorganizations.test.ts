import { describe, expect, it } from "vitest";
import { blockAt } from "../../../src/core/chain/chain.ts";
import {
  blockHash,
  blockOfHash,
  transactionHash,
  transactionOfHash,
} from "../../../src/core/chain/chain-hashes.ts";
import { openSettlement, type SettlementFloor } from "./settlement-floor.ts";

const trade = (floor: SettlementFloor): void => {
  floor.send("alice BUY 40 YES @ 0.55", "bob SELL 40 YES @ 0.55");
};

const hashAt = (floor: SettlementFloor, height: number): string => {
  const block = blockAt(floor.state.chain, height);
  if (block === undefined) throw new Error(`no block ${height}`);
  return blockHash(floor.state, block);
};

describe("a reorganization", () => {
  it("takes MINED back, keeps the ledger, and the next block has it again under the same hash", () => {
    const floor = openSettlement();
    trade(floor);
    floor.mine();
    const hash = transactionHash(floor.state, floor.settlement());
    const ledger = floor.inLedger("alice");
    expect(floor.reorganize(1).ok).toBe(true);
    expect(floor.statuses).toEqual(["MATCHED"]);
    expect(floor.inLedger("alice")).toEqual(ledger);
    expect(floor.onChain("alice").yes).toBe(0);
    floor.mine();
    expect(floor.statuses).toEqual(["MINED"]);
    expect(transactionOfHash(floor.state, hash)).toBe(floor.settlement());
  });

  it("leaves as many blocks as there were, other ones, of which the first stands on what stayed", () => {
    const floor = openSettlement();
    trade(floor);
    floor.mine(3);
    const before = [1, 2, 3].map((height) => hashAt(floor, height));
    floor.reorganize(2);
    const after = [1, 2, 3].map((height) => hashAt(floor, height));
    expect(after[0]).toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);
    expect(after[2]).not.toBe(before[2]);
    expect(blockOfHash(floor.state, before[2] as string)).toBe(undefined);
    expect(blockOfHash(floor.state, after[2] as string)?.height).toBe(3);
  });

  it("cannot undo what is final", () => {
    const floor = openSettlement();
    trade(floor);
    floor.mine(3);
    expect(floor.statuses).toEqual(["CONFIRMED"]);
    expect(floor.reorganize(3)).toMatchObject({
      ok: false,
      refusal: { code: "REORGANIZATION_TOO_DEEP", depth: 3, most: 2 },
    });
  });

  it("cannot undo anything where every block is final at once", () => {
    const floor = openSettlement({ settlement: "instant" });
    trade(floor);
    expect(floor.reorganize(1)).toMatchObject({ ok: false, refusal: { most: 0 } });
  });

  it("brings back what was mined in its old order", () => {
    const floor = openSettlement();
    trade(floor);
    floor.mine();
    floor.send("carol BUY 40 YES @ 0.6", "alice SELL 40 YES @ 0.6");
    floor.mine();
    floor.reorganize(2);
    floor.mine();
    const [first, second] = [floor.settlement(1), floor.settlement(2)];
    expect(first.block).toBe(second.block);
    expect(first.place).toBeLessThan(second.place);
  });

  it("goes on by itself when blocks come by themselves", () => {
    const floor = openSettlement({ settlement: "auto" });
    trade(floor);
    floor.advance("2s");
    floor.reorganize(1);
    floor.advance("2s");
    expect(floor.statuses).toEqual(["MINED"]);
    floor.advance("4s");
    expect(floor.statuses).toEqual(["CONFIRMED"]);
  });

  it("leaves a failed settlement failed, in no block", () => {
    const floor = openSettlement();
    floor.fault("fail");
    trade(floor);
    floor.mine();
    floor.reorganize(1);
    expect([floor.statuses, floor.settlement().block]).toEqual([["FAILED"], 0]);
    floor.mine();
    expect(floor.statuses).toEqual(["FAILED"]);
  });

  it("lets a wallet's call be mined again, once, with gas paid once", () => {
    const floor = openSettlement();
    const native = (): bigint | undefined => floor.state.chain.wallets.get(ALICE)?.native;
    const before = native();
    floor.call("alice", floor.split(100));
    floor.mine();
    const paid = native();
    expect(floor.inLedger("alice")).toEqual({ usdc: 900, yes: 100, no: 100 });
    floor.reorganize(1);
    expect(native()).toBe(before);
    expect(floor.inLedger("alice")).toEqual({ usdc: 900, yes: 100, no: 100 });
    expect(floor.onChain("alice")).toEqual({ usdc: 1000, yes: 0, no: 0 });
    floor.mine();
    expect(native()).toBe(paid);
    expect(floor.onChain("alice")).toEqual({ usdc: 900, yes: 100, no: 100 });
  });

  it("lets a report be made again", () => {
    const floor = openSettlement();
    floor.demand({ kind: "resolveMarket", market: 1, winningOutcome: "YES" });
    floor.mine();
    floor.reorganize(1);
    const early = floor.call("bob", floor.redeem(), { nonce: 0 });
    floor.mine();
    expect(early.status).toBe("MINED");
    expect(floor.inLedger("bob")).toEqual({ usdc: 500, yes: 0, no: 0 });
  });

  it("cancels what rests on funds that can only be spent when they are mined", () => {
    const floor = openSettlement({ balances: "settled" });
    trade(floor);
    floor.mine();
    const order = floor.send("alice SELL 40 YES @ 0.9");
    floor.reorganize(1);
    expect(floor.order(order)).toBe("CANCELED 0/40 SETTLEMENT_FAILED");
  });
});

const ALICE = "0x000000000000000000000000000000616c696365";
