import { describe, expect, it } from "vitest";
import { blockAt } from "../../../src/core/chain/chain.ts";
import {
  blockHash,
  blockOfHash,
  transactionHash,
  transactionOfHash,
} from "../../../src/core/chain/chain-hashes.ts";
import { CONTRACTS } from "../../../src/core/chain/contracts.ts";
import { approve, mineCall, openSettlement, type SettlementExchange, shares } from "./settlement-exchange.ts";

const hashAt = (floor: SettlementExchange, height: number): string => {
  const block = blockAt(floor.state.chain, height);
  if (block === undefined) throw new Error(`no block ${height}`);
  return blockHash(floor.state, block);
};

describe("a reorganization", () => {
  it("makes settlements pending and keeps the ledger; the next block mines them with the same hash", () => {
    const floor = openSettlement();
    floor.trade();
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

  it("replaces the latest blocks with others, on top of the remaining ones", () => {
    const floor = openSettlement();
    floor.trade();
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

  it("cannot replace final blocks", () => {
    const floor = openSettlement();
    floor.trade();
    floor.mine(3);
    expect(floor.statuses).toEqual(["CONFIRMED"]);
    expect(floor.reorganize(3)).toMatchObject({
      ok: false,
      refusal: { code: "REORGANIZATION_TOO_DEEP", depth: 3, most: 2 },
    });
  });

  it("keeps the order of its transactions", () => {
    const floor = openSettlement();
    floor.trade();
    floor.mine();
    floor.send("carol BUY 40 YES @ 0.6", "alice SELL 40 YES @ 0.6");
    floor.mine();
    floor.reorganize(2);
    floor.mine();
    const [first, second] = [floor.settlement(1), floor.settlement(2)];
    expect(first.block).toBe(second.block);
    expect(first.place).toBeLessThan(second.place);
  });

  it("makes the next block due in auto mode", () => {
    const floor = openSettlement({ settlement: "auto" });
    floor.trade();
    floor.advance("2s");
    floor.reorganize(1);
    floor.advance("2s");
    expect(floor.statuses).toEqual(["MINED"]);
    floor.advance("4s");
    expect(floor.statuses).toEqual(["CONFIRMED"]);
  });

  it("leaves a failed settlement failed, without a block", () => {
    const floor = openSettlement();
    floor.fault("fail");
    floor.trade();
    floor.mine();
    floor.reorganize(1);
    expect([floor.statuses, floor.settlement().block]).toEqual([["FAILED"], 0]);
    floor.mine();
    expect(floor.statuses).toEqual(["FAILED"]);
  });

  it("makes a wallet's call pending; it is mined again and pays gas once", () => {
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

  it("leaves a call that loses its funds pending, and later calls of its wallet work", () => {
    const floor = openSettlement();
    floor.send("carol BUY 100 YES @ 0.5", "bob SELL 100 YES @ 0.5");
    floor.mine();
    const split = floor.call("bob", floor.split(50));
    floor.mine();
    expect(split.status).toBe("MINED");
    floor.reorganize(2);
    floor.fault("fail");
    floor.mine();
    expect([floor.statuses, split.status]).toEqual([["FAILED"], "REVERTED"]);
    expect(floor.inLedger("bob")).toEqual({ usdc: 0, yes: 500, no: 0 });
    expect(mineCall(floor, "bob", shares(floor, "bob", "alice", 5))).toBe("MINED");
  });

  it("reverts permissions granted, revoked and used in the replaced blocks", () => {
    const floor = openSettlement();
    const allowance = () => floor.state.chain.wallets.get(ALICE)?.allowances.get(CONTRACTS.exchange);
    floor.call("alice", approve(CONTRACTS.exchange, 30));
    floor.mine();
    floor.trade();
    floor.mine();
    expect(allowance()).toBe(8_000_000n);
    floor.call("alice", { kind: "setApprovalForAll", operator: CONTRACTS.exchange, approved: false });
    floor.mine();
    floor.reorganize(2);
    expect([allowance(), floor.state.chain.restricted]).toEqual([30_000_000n, 1]);
    floor.mine();
    expect([floor.statuses, allowance()]).toEqual([["MINED"], 8_000_000n]);
    expect(floor.state.chain.wallets.get(ALICE)?.operators.get(CONTRACTS.exchange)).toBe(false);
  });

  it("restores the allowance that a call spent", () => {
    const floor = openSettlement();
    floor.call("alice", approve(CONTRACTS.conditionalTokens, 150));
    floor.mine();
    const split = floor.call("alice", floor.split(100));
    floor.mine();
    floor.reorganize(1);
    floor.mine();
    expect(split.status).toBe("MINED");
    expect(floor.state.chain.wallets.get(ALICE)?.allowances.get(CONTRACTS.conditionalTokens)).toBe(
      50_000_000n,
    );
  });

  it("makes a report pending; it is mined again", () => {
    const floor = openSettlement();
    floor.demand({ kind: "resolveMarket", market: 1, winningOutcome: "YES" });
    floor.mine();
    floor.reorganize(1);
    const early = floor.call("bob", floor.redeem(), { nonce: 0 });
    floor.mine();
    expect(early.status).toBe("MINED");
    expect(floor.inLedger("bob")).toEqual({ usdc: 500, yes: 0, no: 0 });
  });

  it("cancels orders that rely on its funds if only settled funds can be spent", () => {
    const floor = openSettlement({ balances: "settled" });
    floor.trade();
    floor.mine();
    const order = floor.send("alice SELL 40 YES @ 0.9");
    floor.reorganize(1);
    expect(floor.order(order)).toBe("CANCELED 0/40 SETTLEMENT_FAILED");
  });
});

const ALICE = "0x000000000000000000000000000000616c696365";
