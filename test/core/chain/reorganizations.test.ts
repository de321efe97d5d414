import { describe, expect, it } from "vitest";
import { settlementWords } from "../../../src/api/explanations.ts";
import { blockAt } from "../../../src/core/chain/chain.ts";
import {
  blockHash,
  blockOfHash,
  transactionHash,
  transactionOfHash,
} from "../../../src/core/chain/chain-hashes.ts";
import { CONTRACTS } from "../../../src/core/chain/contracts.ts";
import { approve, mineCall, openSettlement, type SettlementExchange, shares } from "./settlement-exchange.ts";

const hashAt = (exchange: SettlementExchange, height: number): string => {
  const block = blockAt(exchange.state.chain, height);
  if (block === undefined) throw new Error(`no block ${height}`);
  return blockHash(exchange.state, block);
};

describe("a reorganization", () => {
  it("makes settlements pending and keeps the ledger; the next block mines them with the same hash", () => {
    const exchange = openSettlement();
    exchange.trade();
    exchange.mine();
    const hash = transactionHash(exchange.state, exchange.settlement());
    const ledger = exchange.inLedger("alice");
    expect(exchange.reorganize(1).ok).toBe(true);
    expect(exchange.statuses).toEqual(["MATCHED"]);
    expect(exchange.inLedger("alice")).toEqual(ledger);
    expect(exchange.onChain("alice").yes).toBe(0);
    exchange.mine();
    expect(exchange.statuses).toEqual(["MINED"]);
    expect(transactionOfHash(exchange.state, hash)).toBe(exchange.settlement());
  });

  it("replaces the latest blocks with others, on top of the remaining ones", () => {
    const exchange = openSettlement();
    exchange.trade();
    exchange.mine(3);
    const before = [1, 2, 3].map((height) => hashAt(exchange, height));
    exchange.reorganize(2);
    const after = [1, 2, 3].map((height) => hashAt(exchange, height));
    expect(after[0]).toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);
    expect(after[2]).not.toBe(before[2]);
    expect(blockOfHash(exchange.state, before[2] as string)).toBe(undefined);
    expect(blockOfHash(exchange.state, after[2] as string)?.height).toBe(3);
  });

  it("cannot replace final blocks", () => {
    const exchange = openSettlement();
    exchange.trade();
    exchange.mine(3);
    expect(exchange.statuses).toEqual(["CONFIRMED"]);
    expect(exchange.reorganize(3)).toMatchObject({
      ok: false,
      refusal: { code: "REORGANIZATION_TOO_DEEP", depth: 3, most: 2 },
    });
  });

  it("keeps the order of its transactions", () => {
    const exchange = openSettlement();
    exchange.trade();
    exchange.mine();
    exchange.send("carol BUY 40 YES @ 0.6", "alice SELL 40 YES @ 0.6");
    exchange.mine();
    exchange.reorganize(2);
    exchange.mine();
    const [first, second] = [exchange.settlement(1), exchange.settlement(2)];
    expect(first.block).toBe(second.block);
    expect(first.place).toBeLessThan(second.place);
  });

  it("makes the next block due in auto mode", () => {
    const exchange = openSettlement({ settlement: "auto" });
    exchange.trade();
    exchange.advance("2s");
    exchange.reorganize(1);
    exchange.advance("2s");
    expect(exchange.statuses).toEqual(["MINED"]);
    exchange.advance("4s");
    expect(exchange.statuses).toEqual(["CONFIRMED"]);
  });

  it("leaves a failed settlement failed, without a block", () => {
    const exchange = openSettlement();
    const story = () => settlementWords(exchange.state, exchange.settlement());
    exchange.fault("fail");
    exchange.trade();
    exchange.mine();
    expect(story()).toMatch(/^settlement failed in block 1: /);
    exchange.reorganize(1);
    expect([exchange.statuses, exchange.settlement().block]).toEqual([["FAILED"], 0]);
    exchange.mine();
    expect(exchange.statuses).toEqual(["FAILED"]);
    expect(story()).toMatch(/^settlement failed, and no block has it: /);
  });

  it("makes a wallet's call pending; it is mined again and pays gas once", () => {
    const exchange = openSettlement();
    const native = (): bigint | undefined => exchange.state.chain.wallets.get(ALICE)?.native;
    const before = native();
    exchange.call("alice", exchange.split(100));
    exchange.mine();
    const paid = native();
    expect(exchange.inLedger("alice")).toEqual({ usdc: 900, yes: 100, no: 100 });
    exchange.reorganize(1);
    expect(native()).toBe(before);
    expect(exchange.inLedger("alice")).toEqual({ usdc: 900, yes: 100, no: 100 });
    expect(exchange.onChain("alice")).toEqual({ usdc: 1000, yes: 0, no: 0 });
    exchange.mine();
    expect(native()).toBe(paid);
    expect(exchange.onChain("alice")).toEqual({ usdc: 900, yes: 100, no: 100 });
  });

  it("leaves a call that loses its funds pending, and later calls of its wallet work", () => {
    const exchange = openSettlement();
    exchange.send("carol BUY 100 YES @ 0.5", "bob SELL 100 YES @ 0.5");
    exchange.mine();
    const split = exchange.call("bob", exchange.split(50));
    exchange.mine();
    expect(split.status).toBe("MINED");
    exchange.reorganize(2);
    exchange.fault("fail");
    exchange.mine();
    expect([exchange.statuses, split.status]).toEqual([["FAILED"], "REVERTED"]);
    expect(exchange.inLedger("bob")).toEqual({ usdc: 0, yes: 500, no: 0 });
    expect(mineCall(exchange, "bob", shares(exchange, "bob", "alice", 5))).toBe("MINED");
  });

  it("reverts permissions granted, revoked and used in the replaced blocks", () => {
    const exchange = openSettlement();
    const allowance = () => exchange.state.chain.wallets.get(ALICE)?.allowances.get(CONTRACTS.exchange);
    exchange.call("alice", approve(CONTRACTS.exchange, 30));
    exchange.mine();
    exchange.trade();
    exchange.mine();
    expect(allowance()).toBe(8_000_000n);
    exchange.call("alice", { kind: "setApprovalForAll", operator: CONTRACTS.exchange, approved: false });
    exchange.mine();
    exchange.reorganize(2);
    expect([allowance(), exchange.state.chain.restricted]).toEqual([30_000_000n, 1]);
    exchange.mine();
    expect([exchange.statuses, allowance()]).toEqual([["MINED"], 8_000_000n]);
    expect(exchange.state.chain.wallets.get(ALICE)?.operators.get(CONTRACTS.exchange)).toBe(false);
  });

  it("restores the allowance that a call spent", () => {
    const exchange = openSettlement();
    exchange.call("alice", approve(CONTRACTS.conditionalTokens, 150));
    exchange.mine();
    const split = exchange.call("alice", exchange.split(100));
    exchange.mine();
    exchange.reorganize(1);
    exchange.mine();
    expect(split.status).toBe("MINED");
    expect(exchange.state.chain.wallets.get(ALICE)?.allowances.get(CONTRACTS.conditionalTokens)).toBe(
      50_000_000n,
    );
  });

  it("makes a report pending; it is mined again", () => {
    const exchange = openSettlement();
    exchange.mustSubmit({ kind: "resolveMarket", market: 1, winningOutcome: "YES" });
    exchange.mine();
    exchange.reorganize(1);
    const early = exchange.call("bob", exchange.redeem(), { nonce: 0 });
    exchange.mine();
    expect(early.status).toBe("MINED");
    expect(exchange.inLedger("bob")).toEqual({ usdc: 500, yes: 0, no: 0 });
  });

  it("cancels orders that rely on its funds if only settled funds can be spent", () => {
    const exchange = openSettlement({ balances: "settled" });
    exchange.trade();
    exchange.mine();
    const order = exchange.send("alice SELL 40 YES @ 0.9");
    exchange.reorganize(1);
    expect(exchange.order(order)).toBe("CANCELED 0/40 SETTLEMENT_FAILED");
  });
});

const ALICE = "0x000000000000000000000000000000616c696365";
