import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_ISSUANCE, MAX_SIZE, money, price, size } from "../../src/core/units.ts";
import type { FlowFormat, FlowRow } from "../../src/simulation/flow.ts";
import { writeFlow } from "../../src/simulation/flow-text.ts";
import { rowsIn } from "./flow-text.ts";

const BASE = { at: 0, account: "alice", market: null } as const;
const ORDER = {
  ...BASE,
  op: "place",
  ref: "bid",
  side: "BUY",
  outcome: "YES",
  price: price(5500),
  size: size(10_050),
  type: "GTD",
  expiresIn: 60_000,
} as const;
const ROWS: readonly FlowRow[] = [
  { ...BASE, op: "fund", asset: "USDC", amount: money(1_500_000) },
  { ...BASE, op: "fund", asset: "NO", amount: size(50_000) },
  ORDER,
  { ...ORDER, ref: "", type: "GTC", expiresIn: null },
  { ...BASE, op: "cancel", ref: "bid", at: 1500 },
  { ...BASE, op: "cancel-all", at: 1500 },
];

const names = fc.stringMatching(/^[azAZ][azAZ09_-]{0,20}$/);
const orders = fc.stringMatching(/^[azAZ09][azAZ09_.:-]{0,20}$/);
const shares = fc.integer({ min: 1, max: MAX_ISSUANCE / 10_000 }).map(size);

const base = { at: fc.oneof(fc.constant(0), fc.nat(100_000)), account: names, market: fc.option(names) };
const outcomes = fc.constantFrom("YES", "NO");
const terms = {
  op: fc.constant("place"),
  ref: fc.oneof(fc.constant(""), orders),
  side: fc.constantFrom("BUY", "SELL"),
  outcome: outcomes,
  price: fc.integer({ min: 1, max: 9999 }).map(price),
  size: fc.oneof(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 1, max: MAX_SIZE })).map(size),
};
const untimed = fc.constantFrom("GTC", "FOK", "FAK");
const lives = fc.oneof(
  fc.integer({ min: 1, max: 120 }).map((s) => s * 1000),
  fc.integer({ min: 1, max: 100_000_000_000_000 }),
);

const rows: fc.Arbitrary<FlowRow> = fc.oneof(
  fc.record({ ...base, ...terms, type: untimed, expiresIn: fc.constant(null) }),
  fc.record({ ...base, ...terms, type: fc.constant("GTD"), expiresIn: lives }),
  fc.record({ ...base, op: fc.constant("cancel"), ref: orders }),
  fc.record({ ...base, op: fc.constant("cancel-all") }),
  fc.record({
    ...base,
    op: fc.constant("fund"),
    asset: fc.constant("USDC"),
    amount: fc.integer({ min: 1, max: MAX_ISSUANCE }).map(money),
  }),
  fc.record({ ...base, op: fc.constant("fund"), asset: outcomes, amount: shares }),
);

/** Flows with all kinds of rows, sorted by time. */
const flows: fc.Arbitrary<readonly FlowRow[]> = fc.array(rows, { maxLength: 40 }).map((steps) => {
  let at = 0;
  return steps.map((row) => {
    at += row.at;
    return { ...row, at };
  });
});

/** Writes a flow, and adds the markets of its rows. */
function textOf(rows: readonly FlowRow[], format: FlowFormat): string {
  const lines = [...writeFlow(rows, format)].join("").split("\n");
  const header = format === "csv" ? [`${lines.shift()},market`] : [];
  const ofMarkets = rows.map(({ market }, index) => {
    const line = lines[index] ?? "";
    if (format === "csv") return `${line},${market ?? ""}`;
    return market === null ? line : `${line.slice(0, -1)},"market":"${market}"}`;
  });
  return [...header, ...ofMarkets, ""].join("\n");
}

describe("a written flow", () => {
  it("is CSV with the shortest decimals", () => {
    expect([...writeFlow(ROWS, "csv")].join("")).toBe(
      [
        "at,account,op,ref,side,outcome,price,size,type",
        "0,alice,fund,,,USDC,,1.5,",
        "0,alice,fund,,,NO,,500,",
        "0,alice,place,bid,BUY,YES,0.55,100.5,GTD +60s",
        "0,alice,place,,BUY,YES,0.55,100.5,GTC",
        "1500,alice,cancel,bid,,,,,",
        "1500,alice,cancel-all,,,,,,",
        "",
      ].join("\n"),
    );
  });

  it("or NDJSON", () => {
    expect([...writeFlow(ROWS, "ndjson")].join("")).toBe(
      [
        '{"at":0,"account":"alice","op":"fund","outcome":"USDC","size":1.5}',
        '{"at":0,"account":"alice","op":"fund","outcome":"NO","size":500}',
        '{"at":0,"account":"alice","op":"place","ref":"bid","side":"BUY","outcome":"YES","price":0.55,"size":100.5,"type":"GTD +60s"}',
        '{"at":0,"account":"alice","op":"place","side":"BUY","outcome":"YES","price":0.55,"size":100.5,"type":"GTC"}',
        '{"at":1500,"account":"alice","op":"cancel","ref":"bid"}',
        '{"at":1500,"account":"alice","op":"cancel-all"}',
        "",
      ].join("\n"),
    );
  });

  it("has a header even without rows", () => {
    expect([...writeFlow([], "csv")]).toEqual(["at,account,op,ref,side,outcome,price,size,type\n"]);
  });

  it.each(["csv", "ndjson"] as const)(
    "gives the same rows however its lines end and wherever it is cut, as %s",
    async (format) => {
      const cuts = fc.array(fc.nat(3000), { maxLength: 30 });
      await fc.assert(
        fc.asyncProperty(flows, cuts, fc.boolean(), fc.boolean(), async (rows, cuts, hasReturns, hasMark) => {
          const lines = textOf(rows, format);
          const text = hasReturns ? lines.replaceAll("\n", "\r\n") : lines.trimEnd();
          expect(await rowsIn((hasMark ? "\ufeff" : "") + text, { format, cuts })).toEqual(rows);
        }),
      );
    },
  );

  it("is written in batches, lazily", () => {
    let asked = 0;
    function* endless(): Generator<FlowRow> {
      for (;;) {
        asked += 1;
        yield ORDER;
      }
    }
    const texts = writeFlow(endless(), "csv");
    const length = texts.next().value?.length ?? 0;
    expect(length).toBeGreaterThan(60_000);
    expect(length).toBeLessThan(70_000);
    expect(asked).toBeLessThan(2000);
  });
});
