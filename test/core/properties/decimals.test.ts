import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { numbersAs } from "../../../src/api/view.ts";
import { decimalText, MONEY_PLACES, plainNumber, SIZE_PLACES, unitsOf } from "../../../src/core/format.ts";
import { MAX_ISSUANCE, MAX_SIZE } from "../../../src/core/units.ts";
import { forAll, runs } from "../../support/runs.ts";

const places = fc.integer({ min: 0, max: 6 });
const units = fc.oneof(
  fc.maxSafeNat(),
  fc.nat({ max: 100_000 }),
  fc.constantFrom(0, 1, 9, 10, Number.MAX_SAFE_INTEGER),
);
const digits = (minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength, maxLength, size: "max" })
    .map((each) => each.join(""));
/** Converts a decimal text to units of 10^-places with BigInt; null if not exact. */
function exactUnits(whole: string, fraction: string, count: number): number | null {
  const kept = fraction.slice(0, count).padEnd(count, "0");
  if (/[1-9]/.test(fraction.slice(count))) return null;
  const exact = BigInt(whole + kept);
  return exact <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(exact) : null;
}

describe("reading a decimal", () => {
  it("agrees with BigInt for every text of digits, with and without a fraction", () => {
    forAll(runs(2500), [digits(1, 19), digits(0, 9), places], (whole, fraction, count) => {
      const text = fraction === "" ? whole : `${whole}.${fraction}`;
      expect(unitsOf(text, count)).toBe(exactUnits(whole, fraction, count));
    });
  });

  it("is the inverse of writing, for every amount", () => {
    forAll(runs(2500), [units, places], (amount, count) => {
      expect(unitsOf(decimalText(amount, count), count)).toBe(amount);
    });
  });

  it("reads every price of four decimals from a number, a text and a text with trailing zeros", () => {
    for (let price = 1; price < 10_000; price += 1) {
      const text = decimalText(price, 4);
      for (const value of [price / 10_000, JSON.parse(text), text, text.includes(".") ? `${text}0` : text])
        if (unitsOf(value, 4) !== price) expect.fail(`${value}: ${unitsOf(value, 4)}`);
    }
  });

  it.each([
    ["sizes", SIZE_PLACES, MAX_SIZE],
    ["money", MONEY_PLACES, MAX_ISSUANCE],
  ])("reads %s from the JSON number written for it", (_case, count, max) => {
    forAll(
      runs(2500),
      [fc.oneof(fc.integer({ min: 0, max }), fc.integer({ min: max - 1000, max }))],
      (amount) => {
        const sent = JSON.stringify(numbersAs("number").decimal(amount, count));
        expect(unitsOf(JSON.parse(sent), count)).toBe(amount);
      },
    );
  });

  it.each([0.1 + 0.2, 1.1 * 3, 0.7 + 0.1, 1 - 0.9, 1.005 * 1000, 1 / 3])(
    "does not round a result of float arithmetic: %d",
    (value) => expect(unitsOf(value, 4)).toBe(null),
  );

  it.each([
    [1e-7, 6, null],
    [0.000001, 6, 1],
    [1e21, 0, null],
    [5e-324, 6, null],
    [100, 2, 10_000],
    [-0, 2, 0],
    [-1, 2, null],
    [Number.NaN, 2, null],
    [Number.POSITIVE_INFINITY, 2, null],
    [Number.MAX_SAFE_INTEGER, 0, Number.MAX_SAFE_INTEGER],
    [Number.MAX_SAFE_INTEGER + 1, 0, null],
    [4_000_000_000.000001, 6, 4_000_000_000_000_001],
    ["9007199254740991", 0, Number.MAX_SAFE_INTEGER],
    ["9007199254740992", 0, null],
    ["9007199254.740991", 6, Number.MAX_SAFE_INTEGER],
    ["9007199254.740992", 6, null],
    ["90071992547409920", 0, null],
    ["9".repeat(400), 0, null],
    [`0.${"0".repeat(400)}`, 2, 0],
    [`0.${"0".repeat(400)}1`, 2, null],
    ["00.50", 2, 50],
    ["0.0000010", 6, 1],
  ])("reads %j with %d places as %s", (value, count, expected) => {
    expect(unitsOf(value, count)).toBe(expected);
  });

  const ODD =
    "|.|.5|5.|1..2|1.2.3|-1|+1| 1|1 |1\n|1,5|1_000|1e3|1E-1|0x10|Infinity|NaN|\u0661|\uff11|½|null|1n";
  it.each(ODD.split("|"))("rejects %j, which is not a plain decimal", (text) => {
    expect(unitsOf(text, 4)).toBe(null);
  });
});

describe("writing a decimal", () => {
  it.each([
    [-0, 2, "0"],
    [10, 6, "0.00001"],
    [-1, 6, "-0.000001"],
    [-1_500_000, 6, "-1.5"],
  ])("%d with %d places is %s", (amount, count, text) => {
    expect(decimalText(amount, count)).toBe(text);
  });

  it("never gives an exponent, a superfluous zero or a point without digits", () => {
    forAll(runs(1500), [units, places], (amount, count) => {
      expect(decimalText(amount, count)).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/);
    });
  });

  it("as a JSON number has the same digits as the text, up to the maximum issuance", () => {
    const [asNumbers, asTexts] = [numbersAs("number"), numbersAs("string")];
    const amounts = fc.oneof(
      fc.integer({ min: 0, max: MAX_ISSUANCE }),
      fc.integer({ min: 0, max: 1_000_000 }),
      fc.integer({ min: MAX_ISSUANCE - 1_000_000, max: MAX_ISSUANCE }),
    );
    forAll(runs(2500), [amounts, fc.constantFrom(2, 4, 6)], (amount, count) => {
      expect(JSON.stringify(asNumbers.decimal(amount, count))).toBe(asTexts.decimal(amount, count));
    });
  });
});

it.each([
  [0, 0, "0"],
  [0, 1, "0.000001"],
  [0, 500_000, "0.5"],
  [10, 0, "10"],
  [12_345, 678_900, "12345.6789"],
  [9_007_199_254_740_991, 999_999, "9007199254740991.999999"],
])(
  "writing a total of %d USDC and %d micro-USDC gives the exact text, or the nearest number",
  (usdc, micro, text) => {
    expect(numbersAs("string").total({ usdc, micro })).toBe(text);
    expect(numbersAs("number").total({ usdc, micro })).toBe(Number(text));
  },
);

it("a number in plain digits is the same number without an exponent", () => {
  forAll(runs(1500), [fc.double({ noNaN: true, noDefaultInfinity: true })], (value) => {
    expect(plainNumber(value)).toMatch(/^-?\d+(\.\d+)?$/);
    expect(Number(plainNumber(value)) === value).toBe(true);
    expect(JSON.stringify(numbersAs("number").sent(value))).not.toContain("e");
    expect(numbersAs("string").sent(value)).toBe(plainNumber(value));
  });
});
