import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { START } from "../support/exchange.ts";
import { pageWith } from "../support/page.ts";
import { HEADER, rowsIn } from "./flow-text.ts";

it("rows are read in the core's units, as their page says", async () => {
  const page = readFileSync(new URL("rows.txt", import.meta.url), "utf8");
  const written = await pageWith(page, async ({ heading, text }) => {
    const format = heading === "ndjson" ? "ndjson" : "csv";
    const rows = await rowsIn(heading === "csv" ? `${HEADER}\n${text}` : text, { format, start: START });
    return rows.map((row) => JSON.stringify(row));
  });
  await expect(written).toMatchFileSnapshot("rows.txt");
});

it("names of rows may have any allowed length", async () => {
  const ref = `0x${"a1".repeat(63)}`;
  const account = `maker-${"m".repeat(122)}`;
  expect(await rowsIn(`${HEADER}\n0,${account},cancel,${ref},,,,,`)).toMatchObject([{ account, ref }]);
});

const ROW = "1500,alice,place,bid,BUY,YES,0.55,100,GTC";
const OBJECT = '{"at":1,"account":"alice","op":"cancel-all"}';

it.each([
  ["CSV with CRLF", `${HEADER}\r\n${ROW}\r\n\r\n${ROW}\r\n`, "csv"],
  ["CSV with CRLF and quotes", `${HEADER}\r\n"1500"${ROW.slice(4)}\r\n${ROW.slice(0, -3)}"GTC"\r\n`, "csv"],
  ["CSV with a byte order mark", `\ufeff${HEADER}\n${ROW}\n${ROW}\n`, "csv"],
  ["CSV with no last line end", `${HEADER}\n${ROW}\n${ROW}`, "csv"],
  ["CSV with half a last line end", `${HEADER}\r\n${ROW}\r\n${ROW}\r`, "csv"],
  ["NDJSON with a mark, comments and CRLF", `\ufeff\r\n# {\r\n${OBJECT}\r\n\r\n${OBJECT}`, "ndjson"],
  ["an empty NDJSON file", "", "ndjson"],
] as const)("reads the same: %s", async (_name, file, format) => {
  const own = format === "csv" ? [HEADER, ROW, ROW] : [OBJECT, OBJECT];
  const plain = file === "" ? [] : await rowsIn(own.join("\n"), { format });
  expect(await rowsIn(file, { format })).toEqual(plain);
});
