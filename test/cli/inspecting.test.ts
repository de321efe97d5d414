import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { run, tradeIn } from "./tools.ts";

const data = join(temporaryFolder(), "data");
/** The lines at which Alice rests a bid and cancels it. */
let [placed, canceled] = [0, 0];

beforeAll(async () => {
  await tradeIn(data);
  const { stdout } = await run("journal", [data]);
  const lineOf = (pattern: RegExp): number => 1 + stdout.split("\n").findIndex((line) => pattern.test(line));
  [placed, canceled] = [lineOf(/BUY 100 YES/), lineOf(/ cancel order/)];
});

const stateAt = async (line: number) =>
  JSON.parse((await run("inspect", [data], { at: String(line), json: "true" })).stdout);

describe("clobsim inspect", () => {
  it("prints books, open orders and balances after a line, not those at the end", async () => {
    const then = await stateAt(placed);
    const later = await stateAt(canceled);
    expect(then.orders).toMatchObject([{ side: "BUY", size: 100, price: 0.01, matched: 0 }]);
    expect(later.orders).toEqual([]);
    expect(then.accounts[0].sharesOfEveryOtherToken).toBe(10_000);
    expect(then.accounts[0].assets[0]).toMatchObject({ asset: "USDC", reserved: 1 });
    expect(later.accounts[0].assets[0]).toMatchObject({ reserved: 0 });
    expect(then.markets[0].books[0].bids).toContainEqual({ price: 0.01, size: 100, orders: 1 });
    expect(later.markets[0].books[0].bids).not.toContainEqual(expect.objectContaining({ price: 0.01 }));
  });

  it("prints the same as tables of bid, price and ask", async () => {
    const { code, stdout } = await run("inspect", [data], { at: String(placed) });
    expect(code).toBe(0);
    expect(stdout).toMatch(/ +bid │ +price │ ask\n/);
    expect(stdout).toMatch(/100 \(1\) │ +0\.01 │\n/);
    expect(stdout).toMatch(/^ +each other token +10000 +10000 +0$/m);
    expect(stdout).toMatch(/open orders\n {2}order \d+ {2}0x19e7e376 {2}BUY 100 YES @ 0\.01/);
  });

  it("accepts a time instead of a line", async () => {
    const { stdout } = await run("inspect", [data], { at: "2026-01-01T00:00:05Z" });
    expect(stdout).toMatch(/^line \d+, 2026-01-01T00:00:04\.000Z/);
  });

  it("shows only one account or market, named by a unique prefix", async () => {
    const one = await run("inspect", [data], { account: "0x19E7E376", json: "true" });
    expect(JSON.parse(one.stdout).accounts).toHaveLength(1);
    const none = await run("inspect", [data], { account: "0x0123456789" });
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining("there was none") });
    expect((await run("inspect", [data], { market: "no-such-market" })).code).toBe(2);
  });

  it("refuses a line that the journal does not have", async () => {
    const { code, stderr } = await run("inspect", [data], { at: "999" });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/--at expects a line of .*, found 999/)]);
  });
});
