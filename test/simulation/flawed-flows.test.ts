import { describe, expect, it } from "vitest";
import { parseIso } from "../../src/core/time.ts";
import type { Millis } from "../../src/core/units.ts";
import { FlowError } from "../../src/simulation/flow-error.ts";
import { flawIn, HEADER, rowsIn } from "./flow-text.ts";

const START = parseIso("2026-01-01T00:00:00Z") as Millis;
const GOOD = "0,alice,place,bid,BUY,YES,0.5,1,GTC";

/** A row with one cell changed. */
function rowWith(column: string, cell: string, row = GOOD): string {
  const cells = row.split(",");
  cells[HEADER.split(",").indexOf(column)] = cell;
  return cells.join();
}

const flawInRow = (row: string, start?: Millis): Promise<string> =>
  flawIn(`${HEADER}\n${GOOD}\n${row}\n${GOOD}`, start === undefined ? {} : { start });

describe("a wrong cell is named with its line and column, what was expected and what was found", () => {
  it.each([
    [
      "at",
      "",
      "3:1 at expects milliseconds since the start, a duration such as 1m30s or a moment such as 2026-01-01T00:00:00Z, found nothing",
    ],
    ["at", "1.5", 'found "1.5"'],
    ["at", "-1", 'found "-1"'],
    ["at", "1e3", 'found "1e3"'],
    ["at", "soon", 'found "soon"'],
    ["at", "9999999999999999999999", 'found "9999999999999999999999"'],
    [
      "account",
      "",
      "3:3 account expects a name such as trader-1: a letter, then letters, digits, _ and -, found nothing",
    ],
    ["account", "1alice", 'found "1alice"'],
    ["account", "al ice", 'found "al ice"'],
    ["account", "__proto__", 'found "__proto__"'],
    ["account", "é", 'found "é"'],
    ["account", "a".repeat(129), `_ and -, 128 at most, found "${"a".repeat(60)}..."`],
    ["op", "canel", '3:9 op expects place, cancel, cancel-all or fund, found "canel", did you mean cancel?'],
    ["op", "PLACE", 'found "PLACE", did you mean place?'],
    [
      "ref",
      "my bid",
      '3:15 ref expects the name of an order such as o1: a letter or digit, then letters, digits, _, -, . and :, found "my bid"',
    ],
    ["side", "", "3:19 side expects BUY or SELL, found nothing"],
    ["side", "buy", 'side expects BUY or SELL, found "buy", did you mean BUY?'],
    ["outcome", "Yes", '3:23 outcome expects YES or NO, found "Yes", did you mean YES?'],
    ["outcome", "USDC", 'outcome expects YES or NO, found "USDC"'],
    [
      "price",
      "",
      "3:27 price expects USDC above 0 and below 1 in plain digits with at most 4 decimal places, found nothing",
    ],
    ["price", "0", 'found "0"'],
    ["price", "1", 'found "1"'],
    ["price", "0.00001", 'found "0.00001"'],
    ["price", ".5", 'found ".5"'],
    ["price", "5e-1", 'found "5e-1"'],
    ["price", "0.30000000000000004", 'found "0.30000000000000004"'],
    ["price", "-0.5", 'found "-0.5"'],
    ["price", "0x1", 'found "0x1"'],
    [
      "size",
      "0",
      '3:31 size expects shares above 0 and up to 10000000 in plain digits with at most 2 decimal places, found "0"',
    ],
    ["size", "0.001", 'found "0.001"'],
    ["size", "10000000.01", 'found "10000000.01"'],
    ["size", "Infinity", 'found "Infinity"'],
    ["type", "GTX", '3:33 type expects GTC, GTD, FOK or FAK, found "GTX", did you mean GTC?'],
    [
      "type",
      "GTD",
      'GTD expects its end after one space, such as GTD +60s or GTD 2026-01-01T00:00:00Z, found "GTD"',
    ],
    ["type", "GTD 60s", "GTD expects its end after one space"],
    ["type", "GTD +", "GTD expects its end after one space"],
    ["type", "GTD  +60s", "GTD expects its end after one space"],
    [
      "type",
      "GTD +0s",
      'GTD expects an end later than the order itself and not after the year 9999, found "GTD +0s"',
    ],
    ["type", "GTD +3000000d", "GTD expects its end after one space"],
    ["type", "GTD +2920000d", "GTD expects an end later than the order itself and not after the year 9999"],
    ["type", "GTD 2026-01-01T00:00:00Z", "GTD expects an end later than the order itself"],
    ["type", "GTD tomorrow", "GTD expects its end after one space"],
  ])("%s %j", async (column, cell, words) => {
    expect(await flawInRow(rowWith(column, cell), START)).toContain(words);
  });

  it("and time that goes back", async () => {
    const file = `${HEADER}\n${rowWith("at", "10s")}\n\n# later\n${rowWith("at", "9999")}`;
    expect(await flawIn(file)).toBe(
      '5:1 at expects no moment before that of the row before, which comes 10000 ms after the start, found "9999"',
    );
  });

  it("and a moment before the start", async () => {
    expect(await flawInRow(rowWith("at", "2025-12-31T23:59:59Z"), START)).toBe(
      '3:1 at expects no moment before the start, found "2025-12-31T23:59:59Z"',
    );
  });

  it.each([
    ["at", "2026-01-01T00:00:00Z", "3:1 at"],
    ["type", "GTD 2026-01-01T00:00:00Z", "3:33 type"],
  ])("and a moment in %s when the start is not known", async (column, cell, place) => {
    expect(await flawInRow(rowWith(column, cell))).toBe(
      `${place} expects a time since the start, for the moment of the start is not known, found "2026-01-01T00:00:00Z"`,
    );
  });

  it.each([
    ["0,alice,cancel,,,,,,", "3:16 ref expects the name of an order"],
    ["0,alice,cancel,bid,BUY,,,,", '3:20 cancel expects no side, found "BUY"'],
    ["0,alice,cancel-all,bid,,,,,", '3:20 cancel-all expects no ref, found "bid"'],
    ["0,alice,fund,,,USD,,5,", '3:16 outcome expects USDC, YES or NO, found "USD", did you mean USDC?'],
    [
      "0,alice,fund,,,USDC,,0.0000001,",
      "3:22 size expects USDC above 0 and up to 4000000000 in plain digits with at most 6",
    ],
    ["0,alice,fund,,,USDC,,4000000001,", 'found "4000000001"'],
    [
      "0,alice,fund,,,YES,,4000000000.01,",
      "shares above 0 and up to 4000000000 in plain digits with at most 2",
    ],
    ["0,alice,fund,,,NO,0.5,4,", '3:19 fund expects no price, found "0.5"'],
  ])("in a row that places nothing: %s", async (row, words) => {
    expect(await flawInRow(row)).toContain(words);
  });

  it("and a name of a market that is none", async () => {
    const flaw = await flawIn(`market,${HEADER}\nin rain,${GOOD}`);
    expect(flaw).toBe(
      '2:1 market expects a name such as rain: a letter or digit, then letters, digits, _ and -, found "in rain"',
    );
  });

  it("behind quotes and commas between quotes", async () => {
    const row = '"0","alice","place","a,""b,",BUY,"YES",0.5,1,GTC';
    expect(await flawInRow(row)).toMatch(/^3:21 ref .*found "a,\\"b,"$/);
    const next = '"0" ,"alice",place,"bid",BUY,"YES","0,5",1,GTC';
    expect(await flawInRow(next)).toMatch(/^3:36 price .*found "0,5"$/);
  });
});

describe("a wrong line is named", () => {
  it("behind cells with commas of their own", async () => {
    const file = 'ref,type,at,account,side,outcome,price,size\n"a,""b""",",",soon,alice,BUY,YES,0.5,1';
    expect(await flawIn(file)).toMatch(/^2:15 at expects/);
  });

  it.each([
    ["more cells than the header", `${GOOD},1`, "3:37 expected 9 cells as in the header, found 10"],
    ["fewer cells than the header", "0,alice,cancel,bid", "3:19 expected 9 cells as in the header, found 4"],
    [
      "a quote that is not closed",
      '0,alice,"place,x,BUY,YES,0.5,1,GTC',
      "3:9 a cell that opens with a quote",
    ],
    [
      "a quote closed on another line",
      '0,"alice\n",place,x,BUY,YES,0.5,1,GTC',
      "3:3 a cell that opens with a quote",
    ],
    [
      "a quote closed inside its cell",
      '"0"0,alice,place,x,BUY,YES,0.5,1,GTC',
      "3:1 a cell that opens with a quote",
    ],
  ])("with %s", async (_name, line, words) => {
    expect(await flawInRow(line)).toContain(words);
  });

  it.each([
    [
      "an unknown column",
      "at,acount,side,outcome,price,size",
      '1:4 expected columns such as at, account, op, ref, side, outcome, price, size, type or market between commas, found "acount", did you mean account?',
    ],
    [
      "a column twice",
      "at,account,side,outcome,price,size,price",
      "1:36 expected each column once, found price again",
    ],
    [
      "a column too few",
      "at,account,side,outcome,size",
      '1:29 expected a column price, found "at,account,side,outcome,size"',
    ],
    ["the wrong separator", "at;account;side", 'between commas, found "at;account;side"'],
    ["no header at all", GOOD, "1:1 expected columns such as"],
    [
      "no lines at all",
      "",
      "1:1 expected a header such as at,account,op,ref,side,outcome,price,size,type, found nothing",
    ],
    ["nothing but comments", "# a\n\n# b\n", "4:1 expected a header"],
    ["a header like an object's innards", "at,__proto__", 'found "__proto__"'],
  ])("with %s", async (_name, file, words) => {
    expect(await flawIn(file)).toContain(words);
  });

  it("and nothing invisible is printed with it", async () => {
    const flaw = await flawInRow(rowWith("account", "a\u001b[31m\u202e\u0085b"));
    expect(flaw).toContain('found "a\\u001b[31m\\u{202e}\\u{85}b"');
  });

  it("the first of several, wherever the file is cut", async () => {
    const bytes = Buffer.from(`${HEADER}\n${GOOD}\n${rowWith("side", "B")}\n\xff\n`, "latin1");
    for (let cut = 0; cut < bytes.length; cut += 1) {
      expect(await flawIn(bytes, { cuts: [cut] })).toMatch(/^3:19 side/);
    }
  });
});

describe("a line that is no text is named", () => {
  const start = `${HEADER}\n${GOOD}\n0,al`;

  it.each([
    ["bytes that are not UTF-8", "\xff", "3:5 expected UTF-8 text, found a byte that is none"],
    ["a character cut short", "\xc3\n", "3:5 expected UTF-8 text, found a byte that is none"],
    ["half a surrogate pair", "\xed\xa0\x80", "3:5 expected UTF-8 text, found a byte that is none"],
    ["a NUL", "\0", "3:5 expected text, found a NUL byte"],
    [
      "a byte order mark inside",
      "\xef\xbb\xbf",
      "3:5 expected text, found a byte order mark that is not at the start",
    ],
    ["no end within 64 KiB", "a".repeat(65_536), "3:65537 a line has at most 65536 bytes, this one has more"],
  ])("with %s", async (_name, bytes, flaw) => {
    const file = Buffer.concat([Buffer.from(start), Buffer.from(bytes, "latin1"), Buffer.from(",x\n")]);
    for (const cuts of [[], [file.length - 5], [start.length - 2, start.length + 1]]) {
      expect(await flawIn(file, { cuts })).toBe(flaw);
    }
  });

  it("with columns counted as an editor counts them", async () => {
    const file = Buffer.concat([Buffer.from(`# é🚀`), Buffer.from([0xff]), Buffer.from("\n")]);
    expect(await flawIn(file)).toMatch(/^1:6 /);
  });

  it("while one of exactly 64 KiB is read", async () => {
    expect(await rowsIn(`#${"a".repeat(65_535)}\n${HEADER}\r\n${GOOD}\n`)).toHaveLength(1);
  });

  it("and an endless line is not read to its end", async () => {
    let pieces = 0;
    const { parseFlow } = await import("../../src/simulation/read-flow.ts");
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

describe("a wrong object of an NDJSON file is named", () => {
  const good = '{"at":0,"account":"alice","op":"cancel-all"}';
  const place = (text: string): string =>
    `{"at":0,"account":"a","side":"BUY","outcome":"YES","price":0.5,"size":1${text}}`;

  it.each([
    ["nothing but a bracket", "{", "2:2 expected a name in quotes, found the end of the line"],
    ["no object", "[1]", '2:1 expected an object such as {"at":0}, found "[1]"'],
    ["a number", "1", "2:1 expected an object"],
    ["two objects", `${good}{}`, '2:45 expected nothing after the object, found "{}"'],
    [
      "an unknown name",
      '{"at":0,"acount":"a"}',
      '2:9 expected names such as at, account, op, ref, side, outcome, price, size, type, market, found "acount", did you mean account?',
    ],
    ["a prototype", '{"__proto__":{"at":0}}', "2:2 expected names such as"],
    ["a name twice", '{"at":0,"at":1}', "2:9 expected each name once, found at again"],
    ["depth", `{"at":${"[".repeat(60_000)}`, '2:7 expected a number or a text in quotes as at, found "[[['],
    ["a truth", '{"at":true}', '2:7 expected a number or a text in quotes as at, found "true}"'],
    ["a number for a text", '{"at":0,"account":5}', '2:19 expected a text in quotes as account, found "5}"'],
    ["no colon", '{"at" 0}', '2:7 expected a colon, found "0}"'],
    ["no comma", '{"at":0 "op":"place"}', "2:9 expected a comma or the end of the object"],
    ["a comma too many", '{"at":0,}', '2:9 expected a name in quotes, found "}"'],
    ["a zero before a number", '{"at":01}', '2:8 expected a comma or the end of the object, found "1}"'],
    ["no number", '{"at":-}', "2:7 expected a number or a text in quotes as at"],
    [
      "an open text",
      '{"at":0,"account":"ali',
      "2:23 expected a quote that closes the text, found the end of the line",
    ],
    [
      "an open text at an escape",
      '{"at":0,"account":"ali\\',
      "expected a quote that closes the text, found the end of the line",
    ],
    ["a tab in a text", '{"at":0,"account":"a\tb"}', "2:21 expected a quote that closes the text"],
    [
      "a wrong escape",
      '{"at":0,"account":"\\x"}',
      '2:19 expected a text with the escapes of JSON, found "\\"\\\\x\\""',
    ],
    [
      "a wrong cell",
      place(',"type":"GTX"'),
      '2:80 type expects GTC, GTD, FOK or FAK, found "GTX", did you mean GTC?',
    ],
    ["a missing name", '{"at":0}', "2:1 account expects a name such as trader-1"],
    ["half a number", place("").replace("0.5", "0.5e1"), "2:60 price expects"],
    [
      "a number that a double rounds",
      place("").replace("0.5", "0.5000000000000000001"),
      'found "0.5000000000000000001"',
    ],
    [
      "a number beyond a double",
      place("").replace('"size":1', '"size":9007199254740993'),
      'found "9007199254740993"',
    ],
    ["a negative number", place("").replace("0.5", "-0.5"), 'found "-0.5"'],
  ])("with %s", async (_name, line, words) => {
    expect(await flawIn(`${good}\n${line}`, { format: "ndjson" })).toContain(words);
  });
});
