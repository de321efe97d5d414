import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { money, price, size } from "../../src/core/units.ts";
import type { FlowFormat, FlowRow } from "../../src/simulation/flow.ts";
import { writeFlow } from "../../src/simulation/flow-text.ts";
import { flows } from "./arbitrary-flow.ts";
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
