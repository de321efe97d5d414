import { describe, expect, it } from "vitest";
import { type Balance, emptyBalance } from "../../../src/core/account.ts";
import { credit, reserve } from "../../../src/core/rules/ledger.ts";
import { type Money, money } from "../../../src/core/units.ts";

const balanceOf = (balance: number, reserved: number): Balance<Money> => ({
  ...emptyBalance(),
  balance: money(balance),
  reserved: money(reserved),
});

describe("the ledger", () => {
  it("debits down to the reserved amount, and throws below", () => {
    const balance = balanceOf(10, 4);
    credit(balance, -6);
    expect(balance).toMatchObject({ balance: 4, reserved: 4 });
    expect(() => credit(balance, -1)).toThrow("balance 3 below reserved 4");
  });

  it("reserves up to the balance, and throws above", () => {
    const balance = balanceOf(10, 4);
    reserve(balance, 6);
    expect(balance).toMatchObject({ balance: 10, reserved: 10 });
    expect(() => reserve(balance, 1)).toThrow("reserved 11 of a balance of 10");
  });

  it("releases down to 0, and throws below", () => {
    const balance = balanceOf(10, 4);
    reserve(balance, -4);
    expect(balance).toMatchObject({ balance: 10, reserved: 0 });
    expect(() => reserve(balance, -1)).toThrow("reserved -1 of a balance of 10");
  });
});
