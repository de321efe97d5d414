import { describe, expect, it } from "vitest";
import { blockAt } from "../../../src/core/chain/chain.ts";
import { settledAt } from "../../../src/core/chain/settlement.ts";
import { START } from "../../support/exchange.ts";
import { openSettlement } from "./settlement-exchange.ts";

describe("instant settlement", () => {
  it("mines one block for all fills of an order, and none for an order without fills", () => {
    const exchange = openSettlement({ settlement: "instant" });
    exchange.send("alice BUY 10 YES @ 0.5", "carol BUY 10 YES @ 0.5");
    expect(exchange.head).toBe(0);
    exchange.send("bob SELL 15 YES @ 0.5");
    expect(exchange.head).toBe(1);
    expect(exchange.settlement(1)).toBe(exchange.settlement(2));
  });
});

describe("automatic settlement", () => {
  it("mines a block every two seconds with all trades since the previous one", () => {
    const exchange = openSettlement({ settlement: "auto" });
    exchange.trade();
    exchange.advance("1s");
    exchange.send("alice BUY 5 YES @ 0.55", "bob SELL 5 YES @ 0.55");
    exchange.advance("1s");
    expect(exchange.statuses).toEqual(["MINED", "MINED"]);
    exchange.send("alice BUY 5 YES @ 0.55", "bob SELL 5 YES @ 0.55");
    exchange.advance("2s");
    expect(exchange.statuses).toEqual(["MINED", "MINED", "MINED"]);
    expect(exchange.head).toBe(2);
  });

  it("reports when each status was reached", () => {
    const exchange = openSettlement({ settlement: "auto" });
    exchange.trade();
    const at = (): number => settledAt(exchange.state, exchange.state.trades.get(1)) - START;
    expect(at()).toBe(0);
    exchange.advance("2s");
    expect(at()).toBe(2000);
    exchange.advance("1h");
    expect(at()).toBe(6000);
  });
});

describe("manual settlement", () => {
  it("mines all pending transactions in the first of several blocks", () => {
    const exchange = openSettlement();
    exchange.trade();
    exchange.mine(1000);
    const counts = Array.from(
      { length: exchange.head + 1 },
      (_, height) => blockAt(exchange.state.chain, height)?.count,
    );
    expect(exchange.head).toBe(1000);
    expect(counts.slice(2).every((count) => count === 0)).toBe(true);
    expect(exchange.statuses).toEqual(["CONFIRMED"]);
  });
});

describe("in every mode", () => {
  it.each(["instant", "auto", "manual"] as const)("blocks can be requested: %s", (settlement) => {
    const exchange = openSettlement({ settlement });
    exchange.trade();
    exchange.mine(3);
    expect(exchange.statuses).toEqual(["CONFIRMED"]);
  });

  it("deposits are on chain at once and make no block due", () => {
    const exchange = openSettlement({ settlement: "auto" });
    expect(exchange.onChain("alice")).toEqual({ usdc: 1000, yes: 0, no: 0 });
    expect(exchange.state.chain.pending).toBe(0);
    exchange.advance("10s");
    expect(exchange.head).toBe(0);
    exchange.mine();
    expect(blockAt(exchange.state.chain, 1)?.count).toBe(exchange.state.chain.transactions.size);
  });
});
