import { describe, expect, it } from "vitest";
import { parseIso } from "../../src/core/time.ts";
import type { Millis } from "../../src/core/units.ts";
import { HEADER, rowsIn, rowsUnder } from "./flow-text.ts";

const START = parseIso("2026-01-01T00:00:00Z") as Millis;

const PLACED = {
  op: "place",
  at: 1500,
  account: "alice",
  market: null,
  ref: "bid",
  side: "BUY",
  outcome: "YES",
  price: 5500,
  size: 10_000,
  type: "GTC",
  expiresIn: null,
};

describe("a row", () => {
  it("places an order, in the core's units", async () => {
    expect(await rowsUnder("1500,alice,place,bid,BUY,YES,0.55,100,GTC")).toEqual([PLACED]);
  });

  it("without operation, reference and type places a GTC order without a name", async () => {
    expect(await rowsUnder("1500,alice,,,BUY,YES,0.55,100,")).toEqual([{ ...PLACED, ref: "" }]);
  });

  it("cancels one order, or all", async () => {
    expect(await rowsUnder("1,alice,cancel,bid,,,,,\n1,bob,cancel-all,,,,,,")).toEqual([
      { op: "cancel", at: 1, account: "alice", market: null, ref: "bid" },
      { op: "cancel-all", at: 1, account: "bob", market: null },
    ]);
  });

  it("funds with USDC to six places, and with shares to two", async () => {
    const lines = ["0,a,fund,,,USDC,,1.000001,", "0,a,fund,,,YES,,500,", "0,a,fund,,,NO,,0.01,"];
    expect(await rowsUnder(lines.join("\n"))).toEqual([
      { op: "fund", at: 0, account: "a", market: null, asset: "USDC", amount: 1_000_001 },
      { op: "fund", at: 0, account: "a", market: null, asset: "YES", amount: 50_000 },
      { op: "fund", at: 0, account: "a", market: null, asset: "NO", amount: 1 },
    ]);
  });

  it("may name its market", async () => {
    const file = `${HEADER},market\n0,a,place,x,SELL,NO,0.5,1,,rain\n0,a,cancel,x,,,,,,\n`;
    expect((await rowsIn(file)).map(({ market }) => market)).toEqual(["rain", null]);
  });

  it.each([
    ["0", 0],
    ["1500", 1500],
    ["1m30s", 90_000],
    ["1d", 86_400_000],
    ["2026-01-01T00:00:01Z", 1000],
    ["2026-01-01T01:00:00.250+01:00", 250],
  ])("has the time %s", async (text, at) => {
    const [row] = await rowsUnder(`${text},a,cancel-all,,,,,,`, { start: START });
    expect(row?.at).toBe(at);
  });

  it("may have the time of the row before", async () => {
    expect(await rowsUnder("5,a,cancel-all,,,,,,\n5ms,a,cancel-all,,,,,,")).toHaveLength(2);
  });

  it.each([
    ["GTC", "GTC", null],
    ["FOK", "FOK", null],
    ["FAK", "FAK", null],
    ["GTD +60s", "GTD", 60_000],
    ["GTD +1ms", "GTD", 1],
    ["GTD 2026-01-01T00:01:00Z", "GTD", 59_000],
  ])("has the type %s", async (text, type, expiresIn) => {
    const [row] = await rowsUnder(`1s,a,place,,BUY,YES,0.5,1,${text}`, { start: START });
    expect(row).toMatchObject({ type, expiresIn });
  });

  it.each([
    ["0.0001", 1],
    ["0.9999", 9999],
    ["0.1", 1000],
    ["0.50000", 5000],
    ["00.25", 2500],
  ])("has the price %s", async (text, price) => {
    expect(await rowsUnder(`0,a,place,,BUY,YES,${text},1,`)).toMatchObject([{ price }]);
  });

  it.each([
    ["0.01", 1],
    ["10000000", 1_000_000_000],
    ["1.5", 150],
    ["33.10", 3310],
  ])("has the size %s", async (text, size) => {
    expect(await rowsUnder(`0,a,place,,BUY,YES,0.5,${text},`)).toMatchObject([{ size }]);
  });

  it("keeps names of any allowed length", async () => {
    const ref = `0x${"a1".repeat(63)}`;
    const account = `maker-${"m".repeat(122)}`;
    expect(await rowsUnder(`0,${account},cancel,${ref},,,,,`)).toMatchObject([{ account, ref }]);
  });
});

describe("a CSV file", () => {
  const ROW = "1500,alice,place,bid,BUY,YES,0.55,100,GTC";

  it("may have its columns in any order, and leave out optional ones", async () => {
    const file = "size,price,outcome,side,account,at\n100,0.55,YES,BUY,alice,1500";
    expect(await rowsIn(file)).toEqual([{ ...PLACED, ref: "" }]);
  });

  it("may have blank lines and comments anywhere", async () => {
    const file = `\n# a "flow, of mine\n${HEADER}\n  \n${ROW}\n#,"\n#\n\n`;
    expect(await rowsIn(file)).toEqual([PLACED]);
  });

  it("may have quotes and spaces around its cells", async () => {
    const quoted = (line: string): string => line.replace(/[^,]+/g, '"$&"');
    const spaced = (line: string): string => line.replaceAll(",", " ,\t ");
    const file = `${quoted(HEADER)}\n${quoted(ROW)}\n${ROW}\n${spaced(ROW)}  \n ${ROW}\n"1500" ,${ROW.slice(5)}`;
    expect(await rowsIn(file)).toEqual(new Array(5).fill(PLACED));
  });

  it.each([
    ["CRLF", `${HEADER}\r\n${ROW}\r\n\r\n${ROW}\r\n`],
    ["CRLF and quotes", `${HEADER}\r\n"1500"${ROW.slice(4)}\r\n${ROW.slice(0, -3)}"GTC"\r\n`],
    ["a byte order mark", `\ufeff${HEADER}\n${ROW}\n${ROW}\n`],
    ["no last line end", `${HEADER}\n${ROW}\n${ROW}`],
    ["half a last line end", `${HEADER}\r\n${ROW}\r\n${ROW}\r`],
  ])("reads the same with %s", async (_name, file) => {
    expect(await rowsIn(file)).toEqual([PLACED, PLACED]);
  });

  it("may have a header and no rows", async () => {
    expect(await rowsIn(HEADER)).toEqual([]);
  });
});

describe("an NDJSON file", () => {
  const ndjson = (text: string) => rowsIn(text, { format: "ndjson", start: START });

  it("has the same rows, with numbers or numeric texts", async () => {
    const bare =
      '{"at":1500,"account":"alice","ref":"bid","side":"BUY","outcome":"YES","price":0.55,"size":100}';
    const texts =
      '{ "size" : "100", "price": "0.55" ,"outcome":"YES","side":"BUY","ref":"bid","account":"alice","at":"1s500ms",\t"op":"place","type":"GTC","market":null }';
    expect(await ndjson(bare)).toEqual([PLACED]);
    expect(await ndjson(texts)).toEqual([PLACED]);
  });

  it("has all operations, without fields that they do not need", async () => {
    const lines = [
      '{"at":0,"account":"a","op":"fund","outcome":"USDC","size":1000}',
      '{"at":0,"account":"a","op":"place","ref":"x","side":"SELL","outcome":"NO","price":"0.3","size":1.5,"type":"GTD +60s"}',
      '{"at":1,"account":"a","op":"cancel","ref":"x"}',
      '{"at":2,"account":"a","op":"cancel-all"}',
    ];
    const rows = await ndjson(lines.join("\n"));
    expect(rows.map(({ op }) => op)).toEqual(["fund", "place", "cancel", "cancel-all"]);
    expect(rows[0]).toMatchObject({ asset: "USDC", amount: 1_000_000_000 });
    expect(rows[1]).toMatchObject({ price: 3000, size: 150, type: "GTD", expiresIn: 60_000 });
  });

  it("may have escapes, blank lines, comments and CRLF", async () => {
    const file =
      '\ufeff\r\n# {\r\n{"\\u0061t":1,"account":"\\u0061lice","op":"cancel-all"}\r\n\r\n{"at":2,"account":"bob","op":"cancel-all"}';
    expect(await ndjson(file)).toMatchObject([
      { at: 1, account: "alice" },
      { at: 2, account: "bob" },
    ]);
  });

  it("may be empty", async () => {
    expect(await ndjson("")).toEqual([]);
  });
});
