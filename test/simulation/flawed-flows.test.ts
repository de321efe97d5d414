import { describe, expect, it } from "vitest";
import { FlowError } from "../../src/simulation/flow.ts";
import { parseFlow } from "../../src/simulation/read-flow.ts";
import { START } from "../support/exchange.ts";
import { type FileTerms, flawIn, HEADER, rowsIn } from "./flow-text.ts";

const GOOD = "0,alice,place,bid,BUY,YES,0.5,1,GTC";
const MOMENT = "2026-01-01T00:00:00Z";

/** A row with one cell changed. */
function rowWith(column: string, cell: string): string {
  const cells = GOOD.split(",");
  cells[HEADER.split(",").indexOf(column)] = cell;
  return cells.join();
}

const fileOf = (row: string): string => `${HEADER}\n${GOOD}\n${row}\n${GOOD}`;

/** Cells that are invalid in their column. */
const CELLS: Readonly<Record<string, readonly string[]>> = {
  at: ["", "1.5", "-1", "1e3", "soon", "9999999999999999999999", "2025-12-31T23:59:59Z"],
  account: ["", "1alice", "al ice", "__proto__", "é", "a".repeat(129), "a\u001b[31m\u202e\u0085b"],
  op: ["canel", "PLACE"],
  ref: ["my bid"],
  side: ["", "buy"],
  outcome: ["Yes", "USDC"],
  price: ["", "0", "1", "0.00001", ".5", "5e-1", "0.30000000000000004", "-0.5", "0x1"],
  size: ["0", "0.001", "10000000.01", "Infinity"],
  type: [
    ...["IOC", "GTX", "GTD", "GTD 60s", "GTD +", "GTD  +60s", "GTD +0s", "GTD +3000000d", "GTD +2920000d"],
    ...[`GTD ${MOMENT}`, "GTD tomorrow"],
  ],
};

const ROWS = [
  "0,alice,cancel,,,,,,",
  "0,alice,cancel,bid,BUY,,,,",
  "0,alice,cancel-all,bid,,,,,",
  "0,alice,fund,,,USD,,5,",
  "0,alice,fund,,,USDC,,0.0000001,",
  "0,alice,fund,,,USDC,,4000000001,",
  "0,alice,fund,,,YES,,4000000000.01,",
  "0,alice,fund,,,NO,0.5,4,",
  // After quotes, with commas in them.
  '"0","alice","place","a,""b,",BUY,"YES",0.5,1,GTC',
  '"0" ,"alice",place,"bid",BUY,"YES","0,5",1,GTC',
  // More cells than the header, and fewer.
  `${GOOD},1`,
  "0,alice,cancel,bid",
  // Quotes that are not closed, are closed on another line, or within their cell.
  '0,alice,"place,x,BUY,YES,0.5,1,GTC',
  '0,"alice\n",place,x,BUY,YES,0.5,1,GTC',
  '"0"0,alice,place,x,BUY,YES,0.5,1,GTC',
];

const FILES = [
  `market,${HEADER}\nin rain,${GOOD}`,
  'ref,type,at,account,side,outcome,price,size\n"a,""b""",",",soon,alice,BUY,YES,0.5,1',
  "at,acount,side,outcome,price,size",
  "at,account,side,outcome,price,size,price",
  "at,account,side,outcome,size",
  "at;account;side",
  GOOD,
  "",
  "# a\n\n# b\n",
  "at,__proto__",
  `${HEADER}\n${rowWith("at", "10s")}\n\n# later\n${rowWith("at", "9999")}`,
];

const OBJECT = '{"at":0,"account":"alice","op":"cancel-all"}';
const order = (text: string): string =>
  `{"at":0,"account":"a","side":"BUY","outcome":"YES","price":0.5,"size":1${text}}`;
const OBJECTS = [
  ...["{", "[1]", "1", `${OBJECT}{}`, '{"at":0,"acount":"a"}', '{"__proto__":{"at":0}}', '{"at":0,"at":1}'],
  ...['{"at":true}', '{"at":0,"account":5}', '{"at" 0}', '{"at":0 "op":"place"}', '{"at":0,}', '{"at":01}'],
  ...['{"at":-}', '{"at":0,"account":"ali', '{"at":0,"account":"ali\\', '{"at":0,"account":"a\tb"}'],
  ...['{"at":0,"account":"\\x"}', '{"at":0}', order(',"type":"GTX"'), order("").replace("0.5", "0.5e1")],
  // Numbers that a double rounds or cannot represent.
  order("").replace("0.5", "0.5000000000000000001"),
  order("").replace('"size":1', '"size":9007199254740993'),
  order("").replace("0.5", "-0.5"),
  `{"at":${"[".repeat(60_000)}`,
];

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

describe("an error has its line and column, what was expected and what was found", () => {
  const [MAX_INPUT, start] = [160, START];
  const cells = Object.entries(CELLS).flatMap(([column, found]) =>
    found.map((cell) => rowWith(column, cell)),
  );
  it.each<[string, readonly string[], (input: string) => [string, FileTerms]]>([
    ["rows", [...cells, ...ROWS], (row) => [fileOf(row), { start }]],
    ["files", FILES, (file) => [file, {}]],
    ["objects", OBJECTS, (object) => [`${OBJECT}\n${object}`, { format: "ndjson" }]],
  ])("in %s", async (name, inputs, terms) => {
    const page: string[] = [];
    for (const input of inputs) {
      const flaw = await flawIn(...terms(input));
      expect(flaw).not.toBe("nothing");
      const shown = JSON.stringify(input)
        .slice(0, MAX_INPUT)
        .replace(/[^ -~]/g, escaped);
      page.push(`${shown}\n  ${flaw}\n`);
    }
    await expect(page.join("")).toMatchFileSnapshot(`flawed-${name}.txt`);
  });

  it.each([
    ["at", MOMENT, "3:1 at"],
    ["type", `GTD ${MOMENT}`, "3:33 type"],
  ])("with an absolute time in %s if the start is unknown", async (column, cell, place) => {
    expect(await flawIn(fileOf(rowWith(column, cell)))).toBe(
      `${place} expects a time since the start, because the start is unknown, found "${MOMENT}"`,
    );
  });

  it("the first of several, for any boundaries of pieces", async () => {
    const bytes = Buffer.from(`${HEADER}\n${GOOD}\n${rowWith("side", "B")}\n\xff\n`, "latin1");
    for (let cut = 0; cut < bytes.length; cut += 1) {
      expect(await flawIn(bytes, { cuts: [cut] })).toMatch(/^3:19 side/);
    }
  });
});

describe("a line that is not text is refused", () => {
  const start = `${HEADER}\n${GOOD}\n0,al`;
  const noUtf8 = "3:5 expected UTF-8 text, found an invalid byte";
  const mark = "3:5 expected text, found a byte order mark that is not at the start";

  it.each([
    ["bytes that are not UTF-8", "\xff", noUtf8],
    ["a character cut short", "\xc3\n", noUtf8],
    ["half a surrogate pair", "\xed\xa0\x80", noUtf8],
    ["a NUL", "\0", "3:5 expected text, found a NUL byte"],
    ["a byte order mark inside", "\xef\xbb\xbf", mark],
    ["no end within 64 KiB", "a".repeat(65_536), "3:65537 a line has at most 65536 bytes, this one has more"],
  ])("with %s", async (_name, bytes, flaw) => {
    const file = Buffer.concat([Buffer.from(start), Buffer.from(bytes, "latin1"), Buffer.from(",x\n")]);
    for (const cuts of [[], [file.length - 5], [start.length - 2, start.length + 1]]) {
      expect(await flawIn(file, { cuts })).toBe(flaw);
    }
  });

  it("with columns counted as in an editor", async () => {
    const file = Buffer.concat([Buffer.from(`# é🚀`), Buffer.from([0xff]), Buffer.from("\n")]);
    expect(await flawIn(file)).toMatch(/^1:6 /);
  });

  it("but not with exactly 64 KiB", async () => {
    expect(await rowsIn(`#${"a".repeat(65_535)}\n${HEADER}\r\n${GOOD}\n`)).toHaveLength(1);
  });

  it("without reading an endless line to its end", async () => {
    let pieces = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        pieces += 1;
        yield Buffer.alloc(10_000, "a");
      }
    }
    await expect(parseFlow(endless(), "flow", "ndjson").next()).rejects.toThrow(FlowError);
    expect(pieces).toBe(7);
  });
});
