import { describe, expect, it } from "vitest";
import { availableOf } from "../../../src/core/account.ts";
import { findAccount } from "../../../src/core/state.ts";
import { addressOf } from "../../support/commands.ts";
import { openSettlement, type SettlementExchange } from "./settlement-exchange.ts";

const availableUsdc = (exchange: SettlementExchange, name: string): number => {
  const account = findAccount(exchange.state, addressOf(name));
  return account === undefined
    ? 0
    : availableOf(account.collateral, exchange.state.config.balances) / 1_000_000;
};

describe("with balances of settled funds only", () => {
  it("payments are deducted at once", () => {
    const exchange = openSettlement({ balances: "settled" });
    exchange.trade();
    expect(availableUsdc(exchange, "alice")).toBe(978);
  });

  it("deposits can be spent at once", () => {
    const exchange = openSettlement({ balances: "settled" });
    exchange.fund("dave", { everyMarket: 10 });
    expect(exchange.try("dave SELL 10 YES @ 0.5").ok).toBe(true);
  });

  it("proceeds can be spent at once in instant mode", () => {
    const exchange = openSettlement({ balances: "settled", settlement: "instant" });
    exchange.trade();
    expect(exchange.try("alice SELL 40 YES @ 0.6").ok).toBe(true);
  });

  it("proceeds of a ghost fill can never be spent", () => {
    const exchange = openSettlement({ balances: "settled" });
    exchange.fault("ghost");
    exchange.trade();
    exchange.mine(10);
    expect(exchange.try("alice SELL 1 YES @ 0.6").ok).toBe(false);
  });
});
