import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { orThrow } from "../../src/client/result.ts";
import { temporaryFolder } from "../support/folder.ts";
import { tokensOf, yesOf } from "../support/http.ts";
import { pairOn, refused, run, says, serve, tradeIn } from "./tools.ts";

const folder = temporaryFolder();
const data = join(folder, "data");
/** A session with ids of the API. */
const session = join(folder, "session");

const linesOf = (stdout: string): string[] => stdout.trimEnd().split("\n");

describe("a session of trades", () => {
  /** The lines at which Alice rests a bid and cancels it. */
  let [placed, canceled] = [0, 0];
  let journal: readonly string[];

  beforeAll(async () => {
    await tradeIn(data);
    journal = linesOf((await run("journal", [data])).stdout);
    const lineOf = (pattern: RegExp): number => 1 + journal.findIndex((line) => pattern.test(line));
    [placed, canceled] = [lineOf(/BUY 100 YES/), lineOf(/ cancel order/)];
  });

  describe("clobsim journal", () => {
    it("prints the time, account, command and outcome of each line, without colours", () => {
      expect(journal[0]).toMatch(/^ {5}1 {2}2026-01-01T00:00:00\.000Z .*opens from a world/);
      const text = journal.join("\n");
      expect(text).toMatch(/0x19e7e376 {2}BUY 100 YES @ 0\.01 in \S+ +→ order \d+, rests 100 @ 0\.01/);
      expect(text).toMatch(/0x\w{8} {2}SELL 5 YES @ 0\.01 in \S+ +→ order \d+, fills 5 @ \S+ from 0x\w{8}/);
      expect(text).toMatch(/cancel order (\d+) +→ canceled order \1 with \d+ open/);
      expect(journal.at(-1)).toMatch(/00:00:10\.000Z .*stopped cleanly, state [0-9a-f]{12}$/);
      expect(text).not.toContain("\u001b");
    });

    it("prints a range of lines, and lines that match", async () => {
      const part = await run("journal", [data], { from: "2", to: "3" });
      expect(linesOf(part.stdout).map((line) => Number(line.slice(0, 6)))).toEqual([2, 3]);
      expect(linesOf((await run("journal", [data], { grep: "SELL" })).stdout)).toHaveLength(1);
    });

    it.each(["from", "to"])("refuses a line after the last: --%s", async (flag) => {
      const message = `--${flag} expects a line of ${data}, which has ${journal.length}, found 2000`;
      const stdout = flag === "from" ? "" : `${journal.join("\n")}\n`;
      expect(await run("journal", [data], { [flag]: "2000" })).toEqual({ ...refused(message), stdout });
    });

    it("prints a JSON object per line, with the events of each command", async () => {
      const { stdout } = await run("journal", [data], { json: "true", grep: "derive" });
      const line = JSON.parse(linesOf(stdout)[0] ?? "");
      expect(line).toMatchObject({ kind: "deriveCredentials", text: "derive credentials" });
      expect(line.events.at(-1)).toMatchObject({ kind: "credentialsDerived" });
    });
  });

  describe("clobsim inspect", () => {
    const stateAt = async (line: number) =>
      JSON.parse((await run("inspect", [data], { at: String(line), json: "true" })).stdout);

    it("prints books, open orders and balances after a line, not those at the end", async () => {
      const [then, later] = [await stateAt(placed), await stateAt(canceled)];
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

    it("shows only one account, named by a unique prefix", async () => {
      const { stdout } = await run("inspect", [data], { account: "0x19E7E376", json: "true" });
      expect(JSON.parse(stdout).accounts).toHaveLength(1);
      const none = await run("inspect", [data], { account: "0x0123456789" });
      expect(none).toEqual(refused(says("there was none")));
    });

    it("refuses a line that the journal does not have", async () => {
      const message = says(/--at expects a line of .*, found 999/);
      expect(await run("inspect", [data], { at: "999" })).toEqual(refused(message));
    });
  });
});

const SLUG = "will-the-longest-of-all-slugs-be-printed-from-its-first-letter-to-its-last";

describe("a session with ids of the API", () => {
  /** Alice's bid, Bob's sale to it, their trade, and an undone order. */
  const ids = { market: "", token: "", alice: "", bid: "", sale: "", trade: "", undone: "" };
  /** The API's explanation of Alice's bid. */
  let story: unknown;

  beforeAll(async () => {
    const server = await serve({ data: session });
    const [alice, bob] = await pairOn(server.url);
    const market = orThrow(await alice.control.createMarket({ question: "Long?", slug: SLUG }));
    const old = orThrow(await alice.markets({ active: true })).data.find(({ slug }) => slug !== SLUG);
    const [token] = tokensOf(market);
    const place = async (
      client: typeof alice,
      side: "BUY" | "SELL",
      size: number,
      price: number,
      at = token,
    ) => orThrow(await client.place({ tokenId: at, side, size, price })).id;
    const bid = await place(alice, "BUY", 10, 0.4);
    const sale = await place(bob, "SELL", 4, 0.4);
    await place(alice, "BUY", 5, 0.01, yesOf(old));
    const headers = { "content-type": "application/json" };
    await fetch(`${server.url}/sim/snapshots`, { method: "POST", headers, body: '{"name":"here"}' });
    const undone = await place(alice, "BUY", 10, 0.3);
    await fetch(`${server.url}/sim/snapshots/here/restore`, { method: "POST" });
    orThrow(await alice.cancel(bid));
    const trade = orThrow(await bob.trades()).data[0]?.id ?? "";
    const address = alice.credentials?.address ?? "";
    Object.assign(ids, { market: market.id, token, alice: address, bid, sale, trade, undone });
    story = await (await fetch(`${server.url}/sim/orders/${bid}`)).json();
    for (const client of [alice, bob]) client.close();
    await server.close();
  });

  /** Returns the texts of the lines that match a pattern. */
  async function grep(pattern: string): Promise<string[]> {
    const { code, stdout } = await run("journal", [session], { grep: pattern });
    expect(code).toBe(0);
    return linesOf(stdout).map((line) => line.slice(44));
  }

  const PLACED = says("BUY 10 YES @ 0.4");
  const SOLD = says("SELL 4 YES @ 0.4");
  const CANCELED = says("cancel order");
  const CREATED = says("create market");

  describe("an id", () => {
    it("finds the lines of an order, in either case, and of a trade, a market, a token and a slug", async () => {
      for (const id of [ids.bid, ids.bid.toUpperCase()])
        expect(await grep(id)).toEqual([PLACED, SOLD, CANCELED]);
      for (const id of [ids.sale, ids.trade]) expect(await grep(id)).toEqual([SOLD]);
      const ofMarket = [CREATED, PLACED, SOLD, says("BUY 10 YES @ 0.3"), CANCELED];
      for (const id of [ids.market, ids.token, SLUG]) expect(await grep(id), id).toEqual(ofMarket);
    });

    it("finds the lines of an account", async () => {
      const ofAlice = await grep(ids.alice);
      expect(ofAlice).toEqual(expect.arrayContaining([says("derive credentials"), SOLD]));
      expect(ofAlice).not.toContainEqual(CREATED);
    });

    it("finds nothing by a part of it", async () => {
      expect(await grep(ids.token.slice(0, 20))).toEqual([""]);
    });

    it("is printed completely: no slug is truncated", async () => {
      const { stdout } = await run("journal", [session]);
      expect(stdout).toContain(`BUY 10 YES @ 0.4 in ${SLUG} `);
      expect(stdout).not.toContain("…");
    });
  });

  describe("clobsim inspect --order", () => {
    it("prints the API's explanation and the lines of an order, by id in either case and by number", async () => {
      const byId = await run("inspect", [session], { order: ids.bid.toUpperCase(), json: "true" });
      const { number, lines, line, time, sequence, ...explanation } = JSON.parse(byId.stdout);
      expect([line, time, sequence].map((value) => typeof value)).toEqual(["number", "string", "number"]);
      expect(explanation).toEqual(story);
      expect(lines.map(({ text }: { text: string }) => text)).toEqual([PLACED, SOLD, CANCELED]);
      const byNumber = await run("inspect", [session], { order: String(number), json: "true" });
      expect(byNumber.stdout).toBe(byId.stdout);
    });

    it("prints it as text, and as it was after a line", async () => {
      const { code, stdout } = await run("inspect", [session], { order: ids.bid });
      expect(code).toBe(0);
      expect(stdout).toMatch(new RegExp(`order \\d+, ${ids.bid}, of ${ids.alice}\\nBUY 10 YES @ 0\\.4 GTC `));
      expect(stdout).toContain(` in ${SLUG}: CANCELED, 4 matched\n`);
      expect(stdout).toContain("filled 4 @ 0.4 (COMPLEMENTARY)");
      const placed = / +(\d+) {2}.*BUY 10 YES @ 0\.4/.exec(stdout)?.[1] ?? "";
      const then = await run("inspect", [session], { order: ids.bid, at: placed });
      expect(then.stdout).toContain(": LIVE, 0 matched\n");
      expect(then.stdout).not.toContain("filled");
    });

    it.each<[what: string, flags: () => Record<string, string>, message: () => string | RegExp]>([
      [
        "an order that a restored snapshot has undone",
        () => ({ order: ids.undone }),
        () => /--order expects the id of an order, or its number; there were the orders 1 to \d+ then/,
      ],
      ["a trade", () => ({ order: ids.trade }), () => `a trade of ${ids.sale} and ${ids.bid}`],
      ["a market", () => ({ order: ids.market }), () => `the market ${SLUG}`],
      ["a word", () => ({ order: "bid" }), () => "--order expects the id of an order, or its number, found"],
      ["--market", () => ({ order: "1", market: SLUG }), () => "--order"],
    ])("refuses %s", async (_what, flags, message) => {
      const ended = await run("inspect", [session], flags());
      expect(ended).toEqual(refused(says(message())));
    });
  });

  describe("clobsim inspect --market", () => {
    it("accepts an id in either case, and the beginning of a slug", async () => {
      for (const market of [ids.market.toUpperCase(), SLUG.slice(0, -1)]) {
        const { stdout } = await run("inspect", [session], { market, json: "true" });
        expect(JSON.parse(stdout).markets).toMatchObject([{ market: SLUG }]);
      }
    });

    it.each([
      ["longest-of-all", `there was none longest-of-all then, did you mean ${SLUG}?`],
      [SLUG.replace("longest", "lungest"), `then, did you mean ${SLUG}?`],
      ["zzz", "there was none zzz then: there were "],
      ["will", /--market expects one market, \d+ begin with will: will-[a-z\d-]+, will-/],
    ])("refuses %s, and suggests markets", async (market, message) => {
      const ended = await run("inspect", [session], { market });
      expect(ended).toEqual(refused(says(message)));
    });
  });
});
