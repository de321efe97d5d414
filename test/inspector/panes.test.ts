import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Account, AuthExplanation, Chain, OrderStory } from "../../src/client/api-messages.ts";
import { run } from "../cli/tools.ts";
import { fetchJson, serverOfTest } from "../support/http.ts";
import { BROWSER, type Inspector, useBrowser } from "./browser.ts";
import { useStory } from "./story.ts";

const open = useBrowser();
const story = await useStory();

const NO_BREAK = /\s+/g;
const textOf = (text: string): string => text.replace(NO_BREAK, " ").trim();

describe.runIf(BROWSER !== null).each([
  ["a report in the page", () => story.html],
  ["a running exchange", () => `${story.url}/`],
])("the panes, of %s", (name, address) => {
  const isLive = name === "a running exchange";
  let inspector: Inspector;
  beforeAll(async () => {
    inspector = await open(address(), { isShared: true });
  });
  /** Each test starts at the end of the history. */
  beforeEach(async () => {
    await inspector.page.getByTitle("Go to the end and follow it (l)").click();
    await inspector.waitForPosition(isLive ? /^live/ : /^line (\d+) of \1 /);
  });

  it("list rows with account, command and result, and filter them", async () => {
    const journal = await inspector.open("journal");
    const rows = journal.getByRole("listitem");
    const count = journal.locator("header").getByRole("status");
    const filter = journal.getByLabel("Filter by text");
    const texts = async (): Promise<string[]> => (await rows.locator(".what").allTextContents()).map(textOf);
    const filtered = async (choose: () => Promise<unknown>, expected: RegExp): Promise<string[]> => {
      await choose();
      await count.filter({ hasText: expected }).waitFor();
      await expect.poll(texts).not.toContainEqual(expect.stringContaining("…"));
      return texts();
    };
    expect(await filtered(() => filter.fill("INVALID_tick"), /^1 of \d+ rows$/)).toEqual([
      expect.stringMatching(
        /BUY 10 YES @ 0\.555 → refused: INVALID_TICK_SIZE \(price\) will-the-page-show-it/,
      ),
    ]);
    const cancels = await filtered(() => filter.fill("cancel order"), /^1 of/);
    expect(cancels).toEqual([expect.stringContaining("canceled order")]);
    await filtered(() => filter.fill("failed: made to fail"), /^1 of/);
    expect(await rows.locator(".wrong").textContent()).toContain("failed: made to fail");
    await filter.fill("");
    const trades = await filtered(() => journal.getByLabel("Kind of row").selectOption("trades"), /^2 of/);
    expect(trades).toEqual([
      expect.stringMatching(/SELL 40 YES @ 0\.4 .* fills/),
      expect.stringMatching(/SELL 5 YES @ 0\.39 .* fills/),
    ]);
    await inspector.button("Previous row found").click();
    const current = rows.filter({ has: inspector.page.locator('[aria-current="true"]') });
    await current.filter({ hasText: "SELL 5 YES @ 0.39" }).waitFor();
    const alice = { label: `${story.alice.toLowerCase().slice(0, 8)}…` };
    expect(await filtered(() => journal.getByLabel("Account").selectOption(alice), /^0 of/)).toEqual([]);
    await filtered(() => journal.getByLabel("Kind of row").selectOption("refused"), /^1 of/);
    await journal.getByLabel("Account").selectOption("0");
    await journal.getByLabel("Kind of row").selectOption("all");
    const ofMarket = () => journal.getByLabel("Market").selectOption({ label: story.slug });
    const inMarket = await filtered(ofMarket, /^[1-9]\d* of/);
    expect(inMarket.length).toBeGreaterThan(5);
    expect(inMarket).toContainEqual(expect.stringContaining("refused: INVALID_TICK_SIZE"));
    for (const row of inMarket) expect(row).toMatch(/will-the-page-show-it|order \d+|fault|block/);
  });

  it("open a row with its request, and copy it as a step and as curl", async () => {
    const journal = await inspector.open("journal");
    if (isLive) await inspector.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await journal.getByLabel("Filter by text").fill("SELL 40 YES");
    await journal.getByRole("listitem").first().click();
    const detail = journal.getByRole("complementary");
    await inspector.waitForPosition(/^(?:row|line)/);
    const details = JSON.parse((await detail.locator("pre").textContent()) ?? "") as object;
    const kinds = [expect.objectContaining({ kind: "orderTraded" })];
    expect(details).toMatchObject({
      command: { kind: "placeOrder", side: "SELL", orderType: "GTC" },
      outcome: { kind: "accepted", events: expect.arrayContaining(kinds) },
    });
    // An accepted command is not shown a second time, as the data of its line.
    expect(details).not.toHaveProperty("data");
    // Keys open the details of other rows, and close them.
    const heading = (): Promise<string | null> => detail.getByRole("heading").textContent();
    const opened = await heading();
    await inspector.page.keyboard.press("ArrowLeft");
    await expect.poll(heading).not.toBe(opened);
    await inspector.page.keyboard.press("Escape");
    await expect.poll(() => detail.count()).toBe(0);
    await inspector.page.keyboard.press("ArrowRight");
    await inspector.page.keyboard.press("d");
    await expect.poll(heading).toBe(opened);
    const copied = async (button: string): Promise<string> => {
      await inspector.button(button, detail).click();
      await detail.getByRole("status").filter({ hasText: "copied" }).waitFor();
      return inspector.page.evaluate(() => navigator.clipboard.readText());
    };
    if (isLive) {
      expect(await copied("Copy as step")).toMatch(/^- wallet-\d+: SELL 40 YES @ 0\.4/);
      const curl = await copied("Copy as curl");
      expect(curl).toMatch(/^curl -X POST http:\/\/[\w.:]+\/clob\/order \\\n/);
      expect(curl).toContain("-H 'poly_signature: ");
      // The copied request can be explained.
      const auth = await inspector.open("auth");
      await auth.getByRole("textbox").first().fill(curl);
      await inspector.button("Explain", auth).click();
      const accepted = auth.getByText("This request is accepted.");
      await auth.getByText("TIMESTAMP_OUT_OF_WINDOW").or(accepted).waitFor();
      // So can one that was changed after it was signed.
      await auth.getByRole("textbox").first().fill(curl.replace('"size":40', '"size":41'));
      await inspector.button("Explain", auth).click();
      await auth.getByText("the signature is that of this request (wrong)").waitFor();
      await journal.getByLabel("Filter by text").fill("INVALID_TICK_SIZE");
      await journal.getByRole("listitem").filter({ hasText: "BUY 10 YES" }).first().click();
      expect(await copied("Copy as step")).toMatch(
        /^- wallet-\d+: BUY 10 YES @ 0\.555 in [\w-]+\n {2}rejects: INVALID_TICK_SIZE$/,
      );
      await journal.getByLabel("Market").selectOption("0");
      await journal.getByLabel("Filter by text").fill("derive credentials");
      await journal.getByRole("listitem").filter({ hasText: "derive" }).first().click();
      expect(await inspector.button("Copy as step", detail).isDisabled()).toBe(true);
      await journal.getByLabel("Filter by text").fill("");
    }
  });

  it("show a book with the queue of a level, for both outcomes", async () => {
    const book = await inspector.open("book");
    await book.getByLabel("Market").selectOption({ label: story.slug });
    expect(await book.locator(".quote").textContent()).toContain("bid 0.38");
    expect(textOf((await book.locator('tr[data-price="0.45"]').textContent()) ?? "")).toBe("0.4542.52");
    await inspector.button("0.45", book).click();
    const queue = book.locator(".queue");
    expect(await queue.getByRole("heading").textContent()).toBe("Queue at 0.45: 2 orders, 42.5 shares");
    const orders = (await queue.getByRole("listitem").allTextContents()).map(textOf);
    expect(orders).toEqual([expect.stringMatching(/30 of 30$/), expect.stringMatching(/12\.5 of 12\.5$/)]);
    await inspector.button("NO", book).click();
    expect(await book.locator(".quote").textContent()).toContain("bid 0.55");
    await inspector.button("YES", book).click();
    await queue.getByRole("button").first().click();
    expect(await inspector.pane("order").locator("h3").first().textContent()).toMatch(/^order \d+/);
  });

  it("show the trades of a market, with their orders", async () => {
    await (await inspector.open("book")).getByLabel("Market").selectOption({ label: story.slug });
    const chart = await inspector.open("chart");
    const trades = chart.getByRole("table").getByRole("row");
    expect(await trades.count()).toBe(3);
    expect(textOf((await trades.nth(2).textContent()) ?? "")).toMatch(/▼ 0\.40\s*40/);
    const count = chart.locator("header .number");
    expect(await count.textContent()).toBe("2 trades");
    await chart.locator(".plot .u-over").hover();
    await chart.getByRole("status").getByRole("button").first().waitFor();
    expect(await chart.getByRole("status").textContent()).toMatch(
      / YES @ 0\.\d+: order \d+ SELL YES of .* matched order \d+/,
    );
    const separate = { label: "will-the-series-the-gold-horde-be-renewed" };
    await inspector.pane("book").getByLabel("Market").selectOption(separate);
    await count.filter({ hasText: /^\d+ trades of YES, \d+ of both outcomes$/ }).waitFor();
  });

  it("show the story of an order like GET /sim/orders/{id}", async () => {
    const pane = await inspector.open("order");
    for (const id of [story.bid, story.failed]) {
      const expected = await fetchJson<OrderStory>(story.url, `/sim/orders/${id}`);
      await inspector.enter("Order by id or number", id.toUpperCase());
      await pane.getByText(id).waitFor();
      const lines = (await pane.locator(".events li").allTextContents()).map(textOf);
      expect(lines).toEqual(expected.story.map(({ at, what }) => textOf(`${at.slice(11, 23)} ${what}`)));
      const text = textOf((await pane.locator("article").textContent()) ?? "");
      expect(text).toContain(`${expected.order.status}: ${expected.summary}`);
      expect(await pane.getByRole("table").getByRole("row").count()).toBe(expected.fills.length + 1);
    }
    // The name of its market opens the book.
    const market = inspector.pane("book").getByLabel("Market");
    await market.selectOption({ index: 0 });
    await inspector.button(story.slug, pane).click();
    await expect.poll(() => market.locator("option:checked").textContent()).toBe(story.slug);
    await inspector.open("order");
    await inspector.enter("Order by id or number", "nonsense");
    await pane.getByText("no such order").waitFor();
  });

  it("are below a timeline with the times at its ends and in its middle", async () => {
    const times = (): Promise<string[]> => inspector.page.locator(".timeline .times span").allTextContents();
    const [start, middle, end] = ["00:00:00", "00:00:10", "00:00:20"].map((time) => `2026-01-01 ${time}`);
    expect(await times()).toEqual([start, expect.stringMatching(/^2026-01-01 00:00:\d\d$/), end]);
    await inspector.button("By time").click();
    expect(await times()).toEqual([start, middle, end]);
    await inspector.button("By time").click();
  });

  it("find an order by its number as the page writes it", async () => {
    const pane = await inspector.open("order");
    for (const [text, number] of Object.entries({ 1: 1, "#2": 2, "order 3": 3 })) {
      await inspector.enter("Order by id or number", text);
      await pane.getByRole("heading", { name: new RegExp(`^order ${number}(?!\\d)`) }).waitFor();
    }
  });

  it("show the balances of an account like GET /sim/accounts/{address}", async () => {
    const pane = await inspector.open("accounts");
    // The newest account is the first after "choose".
    await pane.getByLabel("Account").selectOption({ index: 1 });
    await pane.getByText(story.bob.toLowerCase()).waitFor();
    const { collateral, tokens } = await fetchJson<Account>(story.url, `/sim/accounts/${story.bob}`);
    const cells = async (row: string): Promise<string[]> =>
      pane
        .getByRole("row")
        .filter({ has: inspector.page.getByRole("rowheader", { name: row, exact: true }) })
        .getByRole("cell")
        .allTextContents();
    const held = tokens.find(({ tokenId }) => tokenId === story.yes);
    for (const [row, of] of [
      ["USDC", collateral],
      [`YES ${story.slug}`, held],
    ] as const) {
      const [balance, available, reserved] = (await cells(row)).map(Number);
      expect([balance, available, reserved]).toEqual([of?.balance, of?.available, of?.reserved]);
    }
    expect(await pane.getByText(/^Open orders: 2$/).count()).toBe(1);
    const order = pane.getByRole("button", { name: /^order \d+$/ }).first();
    await order.click();
    await inspector.pane("order").locator("article").waitFor();
  });

  it("show blocks, and trades by status of their settlement", async () => {
    const pane = await inspector.open("chain");
    const statuses = await pane.locator("[data-status] h3").allTextContents();
    expect(statuses.map(textOf)).toContainEqual("FAILED 1");
    await pane.getByText("Trades by their settlement").waitFor();
    const { head } = await fetchJson<Chain>(story.url, "/sim/chain");
    expect(textOf((await pane.locator("dl.facts").textContent()) ?? "")).toContain(`head${head.number}`);
    const blocks = pane.getByRole("table", { name: /^Blocks/ }).getByRole("row");
    expect(await blocks.count()).toBeGreaterThan(2);
  });

  it("show the clock, and explain a 401 like POST /sim/explain-auth", async () => {
    const { time } = await fetchJson<{ time: string }>(story.url, "/sim/clock");
    expect(await (await inspector.open("clock")).locator(".big").textContent()).toBe(time);
    const headers = {
      ...{ poly_address: story.alice, poly_api_key: "3e2f1a00-0000-4000-8000-000000000000" },
      ...{ poly_passphrase: "p", poly_timestamp: String(Date.parse(time) / 1000), poly_signature: "00" },
    };
    const request = { method: "DELETE", url: `${story.url}/clob/order`, headers, body: '{"orderId":"x"}' };
    const expected = await fetchJson<AuthExplanation>(story.url, "/sim/explain-auth", request);
    const pane = await inspector.open("auth");
    const flags = Object.entries(headers).map((pair) => `-H '${pair.join(": ")}'`);
    const curl = `curl -X DELETE ${request.url} ${flags.join(" \\\n  ")} -d '${request.body}'`;
    await pane.getByRole("textbox").first().fill(curl);
    const signed = expected.canonicalMessage.replace("DELETE", "delete");
    await pane.getByRole("textbox").nth(1).fill(signed);
    await inspector.button("Explain", pane).click();
    await pane.getByText(expected.verdict).waitFor();
    const checks = (await pane.locator(".checks li").allTextContents()).map(textOf);
    expect(checks).toEqual(
      expected.checks.map(({ check, ok, message }) =>
        textOf(`${ok === null ? "–" : ok ? "✓" : "✗"}${check}${ok === false ? " (wrong)" : ""}: ${message}`),
      ),
    );
    expect(await pane.locator("pre").allTextContents()).toEqual([expected.canonicalMessage, signed]);
    expect(await pane.locator("mark").allTextContents()).toEqual(["DELETE", "delete"]);
    await pane.getByText('They differ from character 11 on: expected "DELETE", found "delete".').waitFor();
  });

  it("download a report that can be replayed", async () => {
    const pane = await inspector.open("session");
    const [download] = await Promise.all([
      inspector.page.waitForEvent("download"),
      inspector.button("Download report", pane).click(),
    ]);
    const path = `${story.folder}/${isLive ? "live" : "file"}.ndjson`;
    await download.saveAs(path);
    expect(await run("replay", [path])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("each has the recorded result"),
    });
  });
});

describe.runIf(BROWSER !== null)("the chart", () => {
  it("labels a time of days at least twice, however narrow", async () => {
    const busiest = await open(story.url, { at: /^live/ });
    const labels = await busiest.page.evaluateHandle(() => {
      const { fillText } = CanvasRenderingContext2D.prototype;
      const drawn = new Set<string>();
      CanvasRenderingContext2D.prototype.fillText = function (...args) {
        drawn.add(args[0]);
        fillText.apply(this, args);
      };
      return drawn;
    });
    for (const width of [1280, 1024, 901]) {
      await labels.evaluate((drawn) => drawn.clear());
      await busiest.page.setViewportSize({ width, height: 768 });
      const dates = () => labels.evaluate((drawn) => [...drawn].filter((text) => /^\d\d-\d\d$/.test(text)));
      await expect.poll(async () => (await dates()).length).toBeGreaterThan(1);
    }
  });
});

describe.runIf(BROWSER !== null)("choices of an account", () => {
  it("have the newest of many, and the chosen one", async () => {
    const crowded = await serverOfTest();
    const numbers = Array.from({ length: 501 }, (_, index) => index.toString(16).padStart(6, "0"));
    for (const number of numbers)
      await fetchJson(crowded.url, `/sim/accounts/0x${number}${"0".repeat(34)}/fund`, { collateral: 1 });
    const inspector = await open(crowded.url, { at: /^live/ });
    const journal = inspector.pane("journal");
    await journal.getByText("501 rows").waitFor();
    const accounts = await inspector.open("accounts");
    for (const pane of [journal, accounts])
      await pane.getByLabel("Account").selectOption({ label: `0x${numbers.at(-1)}…` });
    await accounts.getByText(/^0x0001f40+$/).waitFor();
    await journal.getByText("1 of 501 rows").waitFor();
    await journal.getByLabel("Account").selectOption({ label: "all accounts" });
    await journal.getByLabel("Filter by text").fill(`0x${numbers[0]}0`);
    await journal.getByRole("listitem").click();
    await inspector.button(`0x${numbers[0]}…`, journal.getByRole("complementary")).click();
    for (const key of ["Escape", "l"]) await inspector.page.keyboard.press(key);
    await inspector.waitForPosition(/^live/);
    const chosen = accounts.getByLabel("Account").locator("option:checked");
    expect(await chosen.textContent()).toBe(`0x${numbers[0]}…`);
  });
});
