import fc from "fast-check";
import { MAX_ISSUANCE, MAX_SIZE, money, price, size } from "../../src/core/units.ts";
import type { FlowRow } from "../../src/simulation/flow.ts";

const text = (first: string, others: string): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...first), fc.array(fc.constantFrom(...others), { maxLength: 20 }))
    .map(([start, rest]) => start + rest.join(""));

const LETTERS = "azAZ";
const names = text(LETTERS, `${LETTERS}09_-`);
const orders = text(`${LETTERS}09`, `${LETTERS}09_-.:`);
const shares = fc.integer({ min: 1, max: MAX_ISSUANCE / 10_000 }).map(size);

const base = { at: fc.oneof(fc.constant(0), fc.nat(100_000)), account: names, market: fc.option(names) };
const sides = fc.constantFrom("BUY" as const, "SELL" as const);
const outcomes = fc.constantFrom("YES" as const, "NO" as const);
const terms = {
  op: fc.constant("place" as const),
  ref: fc.oneof(fc.constant(""), orders),
  side: sides,
  outcome: outcomes,
  price: fc.integer({ min: 1, max: 9999 }).map(price),
  size: fc.oneof(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 1, max: MAX_SIZE })).map(size),
};
const untimed = fc.constantFrom("GTC" as const, "FOK" as const, "FAK" as const);
const lives = fc.oneof(
  fc.integer({ min: 1, max: 120 }).map((s) => s * 1000),
  fc.integer({ min: 1, max: 100_000_000_000_000 }),
);

const rows: fc.Arbitrary<FlowRow> = fc.oneof(
  fc.record({ ...base, ...terms, type: untimed, expiresIn: fc.constant(null) }),
  fc.record({ ...base, ...terms, type: fc.constant("GTD" as const), expiresIn: lives }),
  fc.record({ ...base, op: fc.constant("cancel" as const), ref: orders }),
  fc.record({ ...base, op: fc.constant("cancel-all" as const) }),
  fc.record({
    ...base,
    op: fc.constant("fund" as const),
    asset: fc.constant("USDC" as const),
    amount: fc.integer({ min: 1, max: MAX_ISSUANCE }).map(money),
  }),
  fc.record({ ...base, op: fc.constant("fund" as const), asset: outcomes, amount: shares }),
);

/** Flows with all kinds of rows, sorted by time. */
export const flows: fc.Arbitrary<readonly FlowRow[]> = fc.array(rows, { maxLength: 40 }).map((steps) => {
  let at = 0;
  return steps.map((row) => {
    at += row.at;
    return { ...row, at };
  });
});
