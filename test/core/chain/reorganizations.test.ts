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
import { addressOf } from "../../support/commands.ts";
import { approve, openSettlement, type SettlementExchange } from "./settlement-exchange.ts";

const ALICE = addressOf("alice");

const hashAt = (exchange: SettlementExchange, height: number): string => {
  const block = blockAt(exchange.state.chain, height);
  if (block === undefined) throw new Error(`no block ${height}`);
  return blockHash(exchange.state, block);
};

describe("a reorganization", () => {
  it("leaves a settlement its hash", () => {
    const exchange = openSettlement();
    exchange.trade();
    exchange.mine();
    const hash = transactionHash(exchange.state, exchange.settlement());
    exchange.reorganize(1);
    expect(exchange.statuses).toEqual(["MATCHED"]);
    exchange.mine();
    expect(exchange.statuses).toEqual(["MINED"]);
    expect(transactionOfHash(exchange.state, hash)).toBe(exchange.settlement());
  });

  it("replaces the latest blocks with others, on top of the remaining ones", () => {
    const exchange = openSettlement();
    exchange.trade();
    exchange.mine(3);
    const hashes = (): string[] => [1, 2, 3].map((height) => hashAt(exchange, height));
    const before = hashes();
    exchange.reorganize(2);
    const after = hashes();
    expect(after.map((hash, index) => hash === before[index])).toEqual([true, false, false]);
    expect(blockOfHash(exchange.state, before[2] as string)).toBe(undefined);
    expect(blockOfHash(exchange.state, after[2] as string)?.height).toBe(3);
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
    const [paid, split] = [native(), { usdc: 900, yes: 100, no: 100 }];
    exchange.reorganize(1);
    expect([native(), exchange.inLedger("alice")]).toEqual([before, split]);
    expect(exchange.onChain("alice")).toEqual({ usdc: 1000, yes: 0, no: 0 });
    exchange.mine();
    expect([native(), exchange.onChain("alice")]).toEqual([paid, split]);
  });

  it("reverts permissions granted, revoked and used in the replaced blocks, also by a call", () => {
    const exchange = openSettlement();
    const { exchange: spender, conditionalTokens } = CONTRACTS;
    const wallet = () => exchange.state.chain.wallets.get(ALICE);
    const allowance = (): number => Number(wallet()?.allowances.get(spender)) / 1e6;
    exchange.call("alice", approve(spender, 30));
    exchange.call("alice", approve(conditionalTokens, 150));
    exchange.mine();
    exchange.trade();
    exchange.mine();
    expect(allowance()).toBe(8);
    const split = exchange.call("alice", exchange.split(100));
    exchange.call("alice", { kind: "setApprovalForAll", operator: spender, approved: false });
    exchange.mine();
    exchange.reorganize(2);
    expect([allowance(), exchange.state.chain.restricted]).toEqual([30, 1]);
    exchange.mine();
    expect([exchange.statuses, split.status, allowance()]).toEqual([["MINED"], "MINED", 8]);
    expect(wallet()?.allowances.get(conditionalTokens)).toBe(50_000_000n);
    expect(wallet()?.operators.get(spender)).toBe(false);
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
