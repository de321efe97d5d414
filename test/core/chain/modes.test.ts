import { describe, expect, it } from "vitest";
import { blockAt } from "../../../src/core/chain/chain.ts";
import { settledAt } from "../../../src/core/chain/settlement.ts";
import { START } from "../../support/exchange.ts";
import { openSettlement } from "./settlement-exchange.ts";

describe("instant settlement", () => {
  it("mines one block for all fills of an order, and none for an order without fills", () => {
    const floor = openSettlement({ settlement: "instant" });
    floor.send("alice BUY 10 YES @ 0.5", "carol BUY 10 YES @ 0.5");
    expect(floor.head).toBe(0);
    floor.send("bob SELL 15 YES @ 0.5");
    expect(floor.head).toBe(1);
    expect(floor.settlement(1)).toBe(floor.settlement(2));
  });
});

describe("automatic settlement", () => {
  it("mines a block every two seconds with all trades since the previous one", () => {
    const floor = openSettlement({ settlement: "auto" });
    floor.trade();
    floor.advance("1s");
    floor.send("alice BUY 5 YES @ 0.55", "bob SELL 5 YES @ 0.55");
    floor.advance("1s");
    expect(floor.statuses).toEqual(["MINED", "MINED"]);
    floor.send("alice BUY 5 YES @ 0.55", "bob SELL 5 YES @ 0.55");
    floor.advance("2s");
    expect(floor.statuses).toEqual(["MINED", "MINED", "MINED"]);
    expect(floor.head).toBe(2);
  });

  it("reports when each status was reached", () => {
    const floor = openSettlement({ settlement: "auto" });
    floor.trade();
    const at = (): number => settledAt(floor.state, floor.state.trades.get(1)) - START;
    expect(at()).toBe(0);
    floor.advance("2s");
    expect(at()).toBe(2000);
    floor.advance("1h");
    expect(at()).toBe(6000);
  });
});

describe("manual settlement", () => {
  it("mines all pending transactions in the first of several blocks", () => {
    const floor = openSettlement();
    floor.trade();
    floor.mine(1000);
    const counts = Array.from(
      { length: floor.head + 1 },
      (_, height) => blockAt(floor.state.chain, height)?.count,
    );
    expect(floor.head).toBe(1000);
    expect(counts.slice(2).every((count) => count === 0)).toBe(true);
    expect(floor.statuses).toEqual(["CONFIRMED"]);
  });
});

describe("in every mode", () => {
  it.each(["instant", "auto", "manual"] as const)("blocks can be requested: %s", (settlement) => {
    const floor = openSettlement({ settlement });
    floor.trade();
    floor.mine(3);
    expect(floor.statuses).toEqual(["CONFIRMED"]);
  });

  it("deposits are on chain at once and make no block due", () => {
    const floor = openSettlement({ settlement: "auto" });
    expect(floor.onChain("alice")).toEqual({ usdc: 1000, yes: 0, no: 0 });
    expect(floor.state.chain.pending).toBe(0);
    floor.advance("10s");
    expect(floor.head).toBe(0);
    floor.mine();
    expect(blockAt(floor.state.chain, 1)?.count).toBe(floor.state.chain.transactions.size);
  });
});
