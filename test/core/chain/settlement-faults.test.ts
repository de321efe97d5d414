import { describe, expect, it } from "vitest";
import { violations } from "../../../src/core/invariants/invariants.ts";
import { documentLines } from "../../../src/core/state-document.ts";
import { millis } from "../../../src/core/units.ts";
import { readBack } from "../document/read-back.ts";
import { openSettlement, type SettlementExchange } from "./settlement-exchange.ts";

/** Mines blocks; returns the statuses of all trades after each. */
function statusesPerBlock(floor: SettlementExchange, blocks: number): string[] {
  const seen: string[] = [];
  for (let count = 0; count < blocks; count += 1) {
    floor.mine();
    seen.push(floor.statuses.join(" "));
  }
  return seen;
}

describe("a fault of one order", () => {
  it("hits only the settlement of that order, and is part of the state document", () => {
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
  it("makes further blocks due", () => {
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

describe("a block assembled transaction by transaction", () => {
  it("is assembled in one step of an advance of time", () => {
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
  it("makes no block due", () => {
    const floor = openSettlement({ settlement: "auto" });
    floor.fault("ghost");
    floor.trade();
    floor.advance("2s");
    expect(floor.exchange.nextDueAt).toBe(null);
  });

  it("fails if the ledger has not enough funds otherwise", () => {
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
  it("makes no block due while settlements cannot be mined", () => {
    const floor = openSettlement({ settlement: "auto" });
    floor.fault("gasSpike");
    floor.trade();
    floor.advance("1d");
    expect(floor.head).toBe(1);
  });

  it("up to the maximum fee of the exchange defers nothing", () => {
    const floor = openSettlement();
    floor.fault("gasSpike", { baseFee: 100_000_000_000 });
    floor.trade();
    expect(statusesPerBlock(floor, 1)).toEqual(["MINED"]);
  });
});

describe("faults", () => {
  it("apply in the order of setting, one per attempt", () => {
    const floor = openSettlement();
    floor.fault("delay", { blocks: 1 });
    floor.fault("fail");
    floor.trade();
    expect(statusesPerBlock(floor, 2)).toEqual(["MATCHED", "FAILED"]);
  });

  it("end by number", () => {
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
