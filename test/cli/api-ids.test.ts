import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { orThrow } from "../../src/client/result.ts";
import { temporaryFolder } from "../support/folder.ts";
import { pairOn, run, serve } from "./tools.ts";

const data = join(temporaryFolder(), "data");
const SLUG = "will-the-longest-of-all-slugs-be-printed-from-its-first-letter-to-its-last";

/** Ids of the API: Alice's bid, Bob's sale to it, their trade, Alice's bid in another market, and an undone order. */
const ids = { market: "", token: "", alice: "", bid: "", sale: "", trade: "", other: "", undone: "" };
/** The API's explanation of Alice's bid. */
let story: unknown;

beforeAll(async () => {
  const server = await serve({ data });
  const [alice, bob] = await pairOn(server.url);
  const { control } = alice;
  const market = orThrow(await control.createMarket({ question: "Long?", slug: SLUG }));
  const old = orThrow(await alice.markets({ active: true })).data.find(({ slug }) => slug !== SLUG);
  const token = market.tokens[0]?.tokenId ?? "";
  const order = { tokenId: token, price: 0.4, size: 10 };
  const bid = orThrow(await alice.place({ ...order, side: "BUY" }));
  const sale = orThrow(await bob.place({ ...order, side: "SELL", size: 4 }));
  const other = orThrow(
    await alice.place({ tokenId: old?.tokens[0]?.tokenId ?? "", side: "BUY", price: 0.01, size: 5 }),
  );
  await fetch(`${server.url}/sim/snapshots`, { method: "POST", headers: JSON_BODY, body: '{"name":"here"}' });
  const undone = orThrow(await alice.place({ ...order, side: "BUY", price: 0.3 }));
  await fetch(`${server.url}/sim/snapshots/here/restore`, { method: "POST" });
  orThrow(await alice.cancel(bid.id));
  const trade = orThrow(await bob.trades()).data[0]?.id ?? "";
  const ids_ = {
    market: market.id,
    token,
    alice: alice.credentials?.address ?? "",
    bid: bid.id,
    sale: sale.id,
    trade,
  };
  Object.assign(ids, ids_, { other: other.id, undone: undone.id });
  story = await (await fetch(`${server.url}/sim/orders/${bid.id}`)).json();
  for (const client of [alice, bob]) client.close();
  await server.close();
});

const JSON_BODY = { "content-type": "application/json" };

/** Returns the texts of the lines that match a pattern. */
async function grep(pattern: string): Promise<string[]> {
  const { code, stdout } = await run("journal", [data], { grep: pattern });
  expect(code).toBe(0);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.slice(44));
}

const PLACED = expect.stringContaining("BUY 10 YES @ 0.4");
const SOLD = expect.stringContaining("SELL 4 YES @ 0.4");
const CANCELED = expect.stringContaining("cancel order");
const CREATED = expect.stringContaining("create market");

describe("an id of the API", () => {
  it("finds the lines of an order, in either case: placed, matched, canceled", async () => {
    expect(await grep(ids.bid)).toEqual([PLACED, SOLD, CANCELED]);
    expect(await grep(ids.bid.toUpperCase())).toEqual([PLACED, SOLD, CANCELED]);
    expect(await grep(ids.sale)).toEqual([SOLD]);
  });

  it("finds the lines of a trade, a market, a token, a slug and an account", async () => {
    expect(await grep(ids.trade)).toEqual([SOLD]);
    const ofMarket = [CREATED, PLACED, SOLD, expect.stringContaining("BUY 10 YES @ 0.3"), CANCELED];
    for (const id of [ids.market, ids.token, SLUG]) expect(await grep(id), id).toEqual(ofMarket);
    const ofAlice = await grep(ids.alice);
    expect(ofAlice).toContainEqual(expect.stringContaining("derive credentials"));
    expect(ofAlice).toContainEqual(SOLD);
    expect(ofAlice).not.toContainEqual(CREATED);
  });

  it("finds nothing by a part of it", async () => {
    expect(await grep(ids.token.slice(0, 20))).toEqual([""]);
  });

  it("is printed completely: no slug is truncated", async () => {
    const { stdout } = await run("journal", [data]);
    expect(stdout).toContain(`BUY 10 YES @ 0.4 in ${SLUG} `);
    expect(stdout).not.toContain("…");
  });
});

describe("clobsim inspect --order", () => {
  it("prints the API's explanation and the lines of an order, by id in either case and by number", async () => {
    const byId = await run("inspect", [data], { order: ids.bid.toUpperCase(), json: "true" });
    const { number, lines, line, time, sequence, ...explanation } = JSON.parse(byId.stdout);
    expect([line, time, sequence].map((value) => typeof value)).toEqual(["number", "string", "number"]);
    expect(explanation).toEqual(story);
    expect(lines.map(({ text }: { text: string }) => text)).toEqual([PLACED, SOLD, CANCELED]);
    const byNumber = await run("inspect", [data], { order: String(number), json: "true" });
    expect(byNumber.stdout).toBe(byId.stdout);
  });

  it("prints it as text, and as it was after a line", async () => {
    const { code, stdout } = await run("inspect", [data], { order: ids.bid });
    expect(code).toBe(0);
    expect(stdout).toMatch(
      new RegExp(
        `order \\d+, ${ids.bid}, of ${ids.alice}\\nBUY 10 YES @ 0\\.4 GTC in ${SLUG}: CANCELED, 4 matched\\n`,
      ),
    );
    expect(stdout).toMatch(/filled 4 @ 0\.4 \(COMPLEMENTARY\)/);
    const placed = Number(/ +(\d+) {2}.*BUY 10 YES @ 0\.4/.exec(stdout)?.[1]);
    const then = await run("inspect", [data], { order: ids.bid, at: String(placed) });
    expect(then.stdout).toContain(": LIVE, 0 matched\n");
    expect(then.stdout).not.toContain("filled");
  });

  it("does not know an order that a restored snapshot has undone", async () => {
    const { code, stderr } = await run("inspect", [data], { order: ids.undone });
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(
        /--order expects the id of an order, or its number; there were the orders 1 to \d+ then/,
      ),
    ]);
  });

  it("explains an id of a trade or a market", async () => {
    const trade = await run("inspect", [data], { order: ids.trade });
    expect([trade.code, trade.stderr]).toEqual([
      2,
      expect.stringContaining(`a trade of ${ids.sale} and ${ids.bid}`),
    ]);
    const market = await run("inspect", [data], { order: ids.market });
    expect([market.code, market.stderr]).toEqual([2, expect.stringContaining(`the market ${SLUG}`)]);
    await expect(run("inspect", [data], { order: "bid" })).resolves.toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--order expects the id of an order, or its number, found"),
    });
  });

  it("refuses --market and other selections", async () => {
    expect((await run("inspect", [data], { order: "1", market: SLUG })).code).toBe(2);
  });
});

describe("clobsim inspect --market", () => {
  it("accepts an id in either case", async () => {
    const { stdout } = await run("inspect", [data], { market: ids.market.toUpperCase(), json: "true" });
    expect(JSON.parse(stdout).markets).toMatchObject([{ market: SLUG }]);
  });

  it.each([
    ["will-the-longest-of-all-slugs-be-printed-from-its-first-letter-to-its-las", "", 0],
    ["longest-of-all", `there was none longest-of-all then, did you mean ${SLUG}?`, 2],
    [SLUG.replace("longest", "lungest"), `then, did you mean ${SLUG}?`, 2],
    ["zzz", "there was none zzz then: there were ", 2],
  ])("%s: suggests markets if there is none", async (market, words, code) => {
    const { code: found, stderr } = await run("inspect", [data], { market });
    expect([found, stderr]).toEqual([code, expect.stringContaining(words)]);
  });

  it("names all markets with a prefix", async () => {
    const { stderr } = await run("inspect", [data], { market: "will" });
    expect(stderr).toMatch(/--market expects one market, \d+ begin with will: will-[a-z\d-]+, will-/);
  });
});
