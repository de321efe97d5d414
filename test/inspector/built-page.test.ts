import { gzipSync } from "node:zlib";
import { expect, it, vi } from "vitest";
import { inspectorPage } from "../../src/inspector-page.ts";

const MAX_BYTES = 250_000;

it("the built page is one file of at most 250 kB compressed and loads no other file", async () => {
  const page = (await inspectorPage()) ?? "";
  expect(page).toContain("<title>clobsim inspector</title>");
  expect(gzipSync(page, { level: 9 }).length).toBeLessThan(MAX_BYTES);
  const [head = ""] = page.split("<style>");
  expect(page.match(/<link[^>]*>/g)).toEqual(['<link rel="icon" href="data:,">']);
  expect(page.match(/<script[^>]*>/g)).toEqual([
    '<script id="report" type="application/gzip">',
    '<script type="module">',
  ]);
  expect(head).not.toMatch(/https?:\/\//);
  const [, style = ""] = /<style>(.*)<\/style>/s.exec(page) ?? [];
  expect(style).not.toMatch(/@import|url\(/);
});

it("the page has the functions that the engine compiles for records of each command, because its policy forbids compiling", async () => {
  vi.resetModules();
  const sources: string[] = [];
  const compiler = Function;
  vi.stubGlobal("Function", function compile(...words: string[]) {
    sources.push(words.at(-1) ?? "");
    return new compiler(...words);
  });
  const { Order } = await import("../../src/core/order.ts");
  await import("../../src/core/chain/settlement.ts");
  const { CancelLine, OrderLine } = await import("../../src/engine/journal-line.ts");
  const { Transaction } = await import("../../src/core/chain/transaction.ts");
  const { Account, Holding } = await import("../../src/core/account.ts");
  const records = [Order, OrderLine, CancelLine, Transaction, Account, Holding];
  for (const { make } of records) expect(() => make({} as never)).toThrow("a new record needs");
  vi.unstubAllGlobals();
  const page = (await inspectorPage()) ?? "";
  // Other lines are escaped in the page.
  const lines = sources.flatMap((source) => source.split("\n")).filter((line) => !/[\\`$]/.test(line));
  expect(lines.length).toBeGreaterThan(50);
  expect(lines.filter((line) => !page.includes(line))).toEqual([]);
});
