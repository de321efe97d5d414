import { describe, expect, it } from "vitest";
import { violations } from "../../../src/core/invariants/invariants.ts";
import { documentLines } from "../../../src/core/state-document.ts";
import { millis } from "../../../src/core/units.ts";
import { readBack } from "../document/told.ts";
import { openSettlement, type SettlementFloor } from "./settlement-floor.ts";

/** What every trade is called after each of some blocks. */
function through(floor: SettlementFloor, blocks: number): string[] {
  const seen: string[] = [];
  for (let count = 0; count < blocks; count += 1) {
    floor.mine();
    seen.push(floor.statuses.join(" "));
  }
  return seen;
}

describe("a fault of one order", () => {
  it("hits what that order took, whatever waits before it, and is kept with the state", () => {
    const floor = openSettlement();
    const { state } = floor.exchange;
    const order = state.orders.next + 3;
    floor.fault("fail", { order });
    expect(readBack(state).chain.faults).toEqual([expect.objectContaining({ order })]);
    expect([...documentLines(readBack(state))]).toEqual([...documentLines(state)]);
    floor.trade();
    floor.trade();
    floor.mine();
    expect(floor.statuses).toEqual(["MINED", "FAILED"]);
  });
});

describe("a settlement that is retried", () => {
  it("keeps blocks coming by itself", () => {
    const floor = openSettlement({ settlement: "auto" });
    floor.fault("retry", { times: 2 });
    floor.trade();
    floor.advance("4s");
    expect(floor.statuses).toEqual(["RETRYING"]);
    floor.advance("2s");
    expect(floor.statuses).toEqual(["MINED"]);
    floor.advance("4s");
    expect([floor.statuses, floor.exchange.nextDueAt]).toEqual([["CONFIRMED"], null]);
  });
});

describe("a block that is put together transaction by transaction", () => {
  it("is one step of the time that passes, and nobody sees it half done", () => {
    const floor = openSettlement({ settlement: "auto" });
    const { exchange } = floor;
    floor.fault("retry", { times: 2 });
    for (let count = 0; count < 3; count += 1) floor.trade();
    const seen: unknown[] = [];
    for (const _step of { [Symbol.iterator]: () => exchange.advanceInSteps(millis(exchange.now + 4_000)) }) {
      seen.push([floor.statuses.join(" "), violations(exchange.state), exchange.nextDueAt !== null]);
    }
    expect(seen).toEqual([
      ["RETRYING RETRYING MINED", [], true],
      ["MINED MINED MINED", [], true],
    ]);
  });
});

describe("a ghost fill", () => {
  it("keeps no block coming", () => {
    const floor = openSettlement({ settlement: "auto" });
    floor.fault("ghost");
    floor.trade();
    floor.advance("2s");
    expect(floor.exchange.nextDueAt).toBe(null);
  });

  it("is taken back when the ledger could not pay otherwise", () => {
    const floor = openSettlement();
    floor.fault("ghost");
    floor.send("alice BUY 400 YES @ 0.5", "bob SELL 400 YES @ 0.5");
    floor.mine();
    floor.call("alice", {
      kind: "transfer",
      to: "0x00000000000000000000000000000000000000aa",
      amount: "900000000",
    });
    floor.mine();
    expect(floor.statuses).toEqual(["FAILED"]);
    expect(floor.inLedger("alice")).toEqual({ usdc: 100, yes: 0, no: 0 });
    expect(floor.inLedger("bob")).toEqual({ usdc: 0, yes: 500, no: 0 });
  });
});

describe("a gas spike", () => {
  it("asks nobody for blocks that would not help", () => {
    const floor = openSettlement({ settlement: "auto" });
    floor.fault("gasSpike");
    floor.trade();
    floor.advance("1d");
    expect(floor.head).toBe(1);
  });

  it("that stays below what the exchange offers keeps nothing out", () => {
    const floor = openSettlement();
    floor.fault("gasSpike", { baseFee: 100_000_000_000 });
    floor.trade();
    expect(through(floor, 1)).toEqual(["MINED"]);
  });
});

describe("faults", () => {
  it("strike in the order in which they were set, one a look", () => {
    const floor = openSettlement();
    floor.fault("delay", { blocks: 1 });
    floor.fault("fail");
    floor.trade();
    expect(through(floor, 2)).toEqual(["MATCHED", "FAILED"]);
  });

  it("end when they are told to, each by its number", () => {
    const floor = openSettlement();
    floor.fault("fail");
    floor.fault("ghost");
    floor.demand({ kind: "endSettlementFault", number: 1 });
    expect(floor.state.chain.faults.map(({ number }) => number)).toEqual([2]);
    expect(floor.submit({ kind: "endSettlementFault", number: 1 })).toMatchObject({
      ok: false,
      refusal: { code: "FAULT_NOT_FOUND", number: 1 },
    });
  });
});
