import { describe, expect, it } from "vitest";
import { availableOf } from "../../../src/core/account.ts";
import { findAccount } from "../../../src/core/state.ts";
import { addressOf } from "../../support/commands.ts";
import { openSettlement, type SettlementFloor } from "./settlement-floor.ts";

const availableUsdc = (floor: SettlementFloor, name: string): number => {
  const account = findAccount(floor.state, addressOf(name));
  return account === undefined ? 0 : availableOf(account.collateral, floor.state.config.balances) / 1_000_000;
};

describe("balances that must be settled first", () => {
  it("take what is paid at once", () => {
    const floor = openSettlement({ balances: "settled" });
    floor.trade();
    expect(availableUsdc(floor, "alice")).toBe(978);
  });

  it("are spendable at once where what the exchange gives is concerned", () => {
    const floor = openSettlement({ balances: "settled" });
    floor.fund("dave", { everyMarket: 10 });
    expect(floor.try("dave SELL 10 YES @ 0.5").ok).toBe(true);
  });

  it("come with the fill when blocks are mined at once", () => {
    const floor = openSettlement({ balances: "settled", settlement: "instant" });
    floor.trade();
    expect(floor.try("alice SELL 40 YES @ 0.6").ok).toBe(true);
  });

  it("never come of a ghost fill", () => {
    const floor = openSettlement({ balances: "settled" });
    floor.fault("ghost");
    floor.trade();
    floor.mine(10);
    expect(floor.try("alice SELL 1 YES @ 0.6").ok).toBe(false);
  });
});
