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
import { rowsOf } from "../../support/table.ts";
import {
  approve,
  mineCall,
  openSettlement,
  played,
  type SettlementExchange,
  settlementIn,
} from "./settlement-exchange.ts";

const ALICE = addressOf("alice");

const hashAt = (exchange: SettlementExchange, height: number): string => {
  const block = blockAt(exchange.state.chain, height);
  if (block === undefined) throw new Error(`no block ${height}`);
  return blockHash(exchange.state, block);
};

describe("a reorganization", () => {
  it("leaves a settlement its hash", () => {
    const exchange = played("trade; mine");
    const hash = transactionHash(exchange.state, exchange.settlement());
    exchange.act("reorg 1");
    expect(exchange.statuses).toEqual(["MATCHED"]);
    exchange.act("mine");
    expect(exchange.statuses).toEqual(["MINED"]);
    expect(transactionOfHash(exchange.state, hash)).toBe(exchange.settlement());
  });

  it("replaces the latest blocks with others, on top of the remaining ones", () => {
    const exchange = played("trade; mine 3");
    const hashes = (): string[] => [1, 2, 3].map((height) => hashAt(exchange, height));
    const before = hashes();
    exchange.act("reorg 2");
    const after = hashes();
    expect(after.map((hash, index) => hash === before[index])).toEqual([true, false, false]);
    expect(blockOfHash(exchange.state, before[2] as string)).toBe(undefined);
    expect(blockOfHash(exchange.state, after[2] as string)?.height).toBe(3);
  });

  it.each(
    rowsOf(`
      moves the time of its settlements on, as every block does that defers one | manual | advance 1s; trade ? @1 > advance 1s; mine ? @1 > advance 1s; reorg 1 ? @1 > advance 1s; fault retry times=2 ? @1 > advance 1s; mine ? @1 > advance 1s; mine ? @1 > advance 1s; mine ? @1 > advance 1s; mine 2 ? @1 | MATCHED at 0, @1 1 > MINED at 1, @1 2 > MATCHED at 1, @1 3 > MATCHED at 1, @1 3 > RETRYING at 2, @1 5 > RETRYING at 3, @1 6 > MINED at 4, @1 7 > CONFIRMED at 6, @1 8
      of a call that is then replaced undoes it and its dependents in the ledger | manual | pay alice carol 600 nonce=0; mine; reorg 1; carol BUY 2000 YES @ 0.7; pay carol bob 1500; pay alice bob 1 nonce=0 gwei=3 ? alice carol #1 > mine ? alice bob carol | REPLACED PENDING PENDING at 1, alice 1000 0 0, carol 1000 500 500, #1 CANCELED 0/2000 SETTLEMENT_FAILED > REPLACED REVERTED MINED at 2, alice 999 0 0, bob 1 500 0, carol 1000 500 500
      cancels orders that rely on its funds if only settled funds can be spent | manual settled | trade; mine; alice SELL 40 YES @ 0.9; reorg 1 ? #3 | MATCHED at 1, #3 CANCELED 0/40 SETTLEMENT_FAILED
    `),
  )("%s", (_rule, settlement = "", words = "", expected = "") => {
    expect(openSettlement(settlementIn(settlement)).story(words)).toBe(expected);
  });

  it("keeps the order of its transactions", () => {
    const exchange = played(
      "trade; mine; carol BUY 40 YES @ 0.6; alice SELL 40 YES @ 0.6; mine; reorg 2; mine",
    );
    const [first, second] = [exchange.settlement(1), exchange.settlement(2)];
    expect(first.block).toBe(second.block);
    expect(first.place).toBeLessThan(second.place);
  });

  it("takes the block of a failed settlement", () => {
    const exchange = played("fault fail; trade; mine");
    const story = () => settlementWords(exchange.state, exchange.settlement());
    expect(story()).toMatch(/^settlement failed in block 1: /);
    exchange.act("reorg 1");
    expect(exchange.settlement().block).toBe(0);
    exchange.act("mine");
    expect(story()).toMatch(/^settlement failed, in no block: /);
  });

  it("makes a wallet's call pending; it is mined again and pays gas once", () => {
    const exchange = openSettlement();
    const before = exchange.native("alice");
    mineCall(exchange, "alice", exchange.split(100));
    const [paid, split] = [exchange.native("alice"), { usdc: 900, yes: 100, no: 100 }];
    exchange.act("reorg 1");
    expect([exchange.native("alice"), exchange.inLedger("alice")]).toEqual([before, split]);
    expect(exchange.onChain("alice")).toEqual({ usdc: 1000, yes: 0, no: 0 });
    exchange.act("mine");
    expect([exchange.native("alice"), exchange.onChain("alice")]).toEqual([paid, split]);
  });

  it("reverts permissions granted, revoked and used in the replaced blocks, also by a call", () => {
    const exchange = openSettlement();
    const { exchange: spender, conditionalTokens } = CONTRACTS;
    const wallet = () => exchange.state.chain.wallets.get(ALICE);
    const allowance = (): number => Number(wallet()?.allowances.get(spender)) / 1e6;
    exchange.call("alice", approve(spender, 30));
    exchange.call("alice", approve(conditionalTokens, 150));
    exchange.act("mine; trade; mine");
    expect(allowance()).toBe(8);
    const split = exchange.call("alice", exchange.split(100));
    exchange.call("alice", { kind: "setApprovalForAll", operator: spender, approved: false });
    exchange.act("mine; reorg 2");
    expect([allowance(), exchange.state.chain.restricted]).toEqual([30, 1]);
    exchange.act("mine");
    expect([exchange.statuses, split.status, allowance()]).toEqual([["MINED"], "MINED", 8]);
    expect(wallet()?.allowances.get(conditionalTokens)).toBe(50_000_000n);
    expect(wallet()?.operators.get(spender)).toBe(false);
  });
});
