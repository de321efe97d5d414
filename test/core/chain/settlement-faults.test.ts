import { describe, expect, it } from "vitest";
import { whyUnsettled } from "../../../src/api/explanations.ts";
import { violations } from "../../../src/core/invariants/invariants.ts";
import { documentLines } from "../../../src/core/state-document.ts";
import { millis } from "../../../src/core/units.ts";
import { readBack } from "../document/read-back.ts";
import { openSettlement, type SettlementExchange } from "./settlement-exchange.ts";

/** Mines blocks; returns the statuses of all trades after each. */
function statusesPerBlock(testExchange: SettlementExchange, blocks: number): string[] {
  const seen: string[] = [];
  for (let count = 0; count < blocks; count += 1) {
    testExchange.mine();
    seen.push(testExchange.statuses.join(" "));
  }
  return seen;
}

describe("a fault of one order", () => {
  it("hits only the settlement of that order, and is part of the state document", () => {
    const testExchange = openSettlement();
    const { state } = testExchange.exchange;
    const order = state.orders.next + 3;
    testExchange.fault("fail", { order });
    expect(readBack(state).chain.faults).toEqual([expect.objectContaining({ order })]);
    expect([...documentLines(readBack(state))]).toEqual([...documentLines(state)]);
    testExchange.trade();
    testExchange.trade();
    testExchange.mine();
    expect(testExchange.statuses).toEqual(["MINED", "FAILED"]);
  });
});

describe("a settlement that is retried", () => {
  it("makes further blocks due", () => {
    const testExchange = openSettlement({ settlement: "auto" });
    testExchange.fault("retry", { times: 2 });
    testExchange.trade();
    testExchange.advance("4s");
    expect(testExchange.statuses).toEqual(["RETRYING"]);
    testExchange.advance("2s");
    expect(testExchange.statuses).toEqual(["MINED"]);
    testExchange.advance("4s");
    expect([testExchange.statuses, testExchange.exchange.nextDueAt]).toEqual([["CONFIRMED"], null]);
  });
});

describe("a block assembled transaction by transaction", () => {
  it("is assembled in one step of an advance of time", () => {
    const testExchange = openSettlement({ settlement: "auto" });
    const { exchange } = testExchange;
    testExchange.fault("retry", { times: 2 });
    for (let count = 0; count < 3; count += 1) testExchange.trade();
    const seen: unknown[] = [];
    for (const _step of { [Symbol.iterator]: () => exchange.advanceInSteps(millis(exchange.now + 4_000)) }) {
      seen.push([testExchange.statuses.join(" "), violations(exchange.state), exchange.nextDueAt !== null]);
    }
    expect(seen).toEqual([
      ["RETRYING RETRYING MINED", [], true],
      ["MINED MINED MINED", [], true],
    ]);
  });
});

describe("a ghost fill", () => {
  it("makes no block due", () => {
    const testExchange = openSettlement({ settlement: "auto" });
    testExchange.fault("ghost");
    testExchange.trade();
    testExchange.advance("2s");
    expect(testExchange.exchange.nextDueAt).toBe(null);
  });

  it("fails if the ledger has not enough funds otherwise", () => {
    const testExchange = openSettlement();
    testExchange.fault("ghost");
    testExchange.send("alice BUY 400 YES @ 0.5", "bob SELL 400 YES @ 0.5");
    testExchange.mine();
    testExchange.call("alice", {
      kind: "transfer",
      to: "0x00000000000000000000000000000000000000aa",
      amount: "900000000",
    });
    testExchange.mine();
    expect(testExchange.statuses).toEqual(["FAILED"]);
    expect(testExchange.inLedger("alice")).toEqual({ usdc: 100, yes: 0, no: 0 });
    expect(testExchange.inLedger("bob")).toEqual({ usdc: 0, yes: 500, no: 0 });
  });
});

describe("a gas spike", () => {
  it("makes no block due while settlements cannot be mined", () => {
    const testExchange = openSettlement({ settlement: "auto" });
    testExchange.fault("gasSpike");
    testExchange.trade();
    testExchange.advance("1d");
    expect(testExchange.head).toBe(1);
  });

  it("is why a settlement waits, from its start to its end, unless its fee is raised", () => {
    const testExchange = openSettlement();
    const why = () => whyUnsettled(testExchange.state, testExchange.settlement());
    const waits = "waits until somebody mines a block";
    const spike =
      "waits until its fee is raised or the base fee falls: the base fee is 500 gwei, the exchange offers 100";
    testExchange.trade();
    expect(why()).toBe(waits);
    testExchange.fault("gasSpike");
    expect(why()).toBe(spike);
    testExchange.mine();
    expect(why()).toBe(spike);
    testExchange.mustSubmit({ kind: "endSettlementFault", number: null });
    expect(why()).toBe(waits);
    testExchange.fault("gasSpike");
    testExchange.mustSubmit({ kind: "bumpFees" });
    expect(why()).toBe(waits);
    expect(statusesPerBlock(testExchange, 1)).toEqual(["MINED"]);
  });

  it("up to the maximum fee of the exchange defers nothing", () => {
    const testExchange = openSettlement();
    testExchange.fault("gasSpike", { baseFee: 100_000_000_000 });
    testExchange.trade();
    expect(statusesPerBlock(testExchange, 1)).toEqual(["MINED"]);
  });
});

describe("faults", () => {
  it("apply in the order of setting, one per attempt", () => {
    const testExchange = openSettlement();
    testExchange.fault("delay", { blocks: 1 });
    testExchange.fault("fail");
    testExchange.trade();
    expect(statusesPerBlock(testExchange, 2)).toEqual(["MATCHED", "FAILED"]);
  });

  it("end by number", () => {
    const testExchange = openSettlement();
    testExchange.fault("fail");
    testExchange.fault("ghost");
    testExchange.mustSubmit({ kind: "endSettlementFault", number: 1 });
    expect(testExchange.state.chain.faults.map(({ number }) => number)).toEqual([2]);
    expect(testExchange.submit({ kind: "endSettlementFault", number: 1 })).toMatchObject({
      ok: false,
      refusal: { code: "FAULT_NOT_FOUND", number: 1 },
    });
  });
});
