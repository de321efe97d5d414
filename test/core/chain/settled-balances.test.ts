import { describe, expect, it } from "vitest";
import { availableOf } from "../../../src/core/account.ts";
import { findAccount } from "../../../src/core/state.ts";
import { addressOf } from "../../support/commands.ts";
import { openSettlement, type SettlementExchange } from "./settlement-exchange.ts";

const availableUsdc = (floor: SettlementExchange, name: string): number => {
  const account = findAccount(floor.state, addressOf(name));
  return account === undefined ? 0 : availableOf(account.collateral, floor.state.config.balances) / 1_000_000;
};

describe("with balances of settled funds only", () => {
  it("payments are deducted at once", () => {
    const floor = openSettlement({ balances: "settled" });
    floor.trade();
    expect(availableUsdc(floor, "alice")).toBe(978);
  });

  it("deposits can be spent at once", () => {
    const floor = openSettlement({ balances: "settled" });
    floor.fund("dave", { everyMarket: 10 });
    expect(floor.try("dave SELL 10 YES @ 0.5").ok).toBe(true);
  });

  it("proceeds can be spent at once in instant mode", () => {
    const floor = openSettlement({ balances: "settled", settlement: "instant" });
    floor.trade();
    expect(floor.try("alice SELL 40 YES @ 0.6").ok).toBe(true);
  });

  it("proceeds of a ghost fill can never be spent", () => {
    const floor = openSettlement({ balances: "settled" });
    floor.fault("ghost");
    floor.trade();
    floor.mine(10);
    expect(floor.try("alice SELL 1 YES @ 0.6").ok).toBe(false);
  });
});
