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
  it.for([
    [
      "debits down to the reserved amount",
      credit,
      -6,
      { balance: 4, reserved: 4 },
      "balance 3 below reserved 4",
    ],
    [
      "reserves up to the balance",
      reserve,
      6,
      { balance: 10, reserved: 10 },
      "reserved 11 of a balance of 10",
    ],
    ["releases down to 0", reserve, -4, { balance: 10, reserved: 0 }, "reserved -1 of a balance of 10"],
  ] as const)("%s, and throws beyond", ([_rule, change, amount, expected, error]) => {
    const balance = balanceOf(10, 4);
    change(balance, amount);
    expect(balance).toMatchObject(expected);
    expect(() => change(balance, Math.sign(amount))).toThrow(error);
  });
});
