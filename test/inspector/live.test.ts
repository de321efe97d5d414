import { join } from "node:path";
import type { Route } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { orThrow } from "../../src/client/result.ts";
import { clientOn, firstMarket, run } from "../cli/tools.ts";
import { temporaryFolder } from "../support/folder.ts";
import { fetchJson, noOf, serverOfTest, useServer } from "../support/http.ts";
import { httpServer } from "../support/local-server.ts";
import { BROWSER, type Inspector, useBrowser } from "./browser.ts";
import { playStory } from "./story.ts";

const folder = temporaryFolder();
const open = useBrowser();
const server = await useServer();
const story = await playStory(server, folder);
const client = await clientOn(server.url, "3");
let inspector: Inspector;
beforeAll(async () => {
  if (BROWSER !== null) inspector = await open(server.url, { isShared: true });
});
afterAll(() => client.close());

const sequenceNow = async ({ url } = server): Promise<number> =>
  (await fetchJson<{ sequence: number }>(url, "/sim")).sequence;

const bidding = (price: number, size: number) =>
  client.place({ tokenId: story.yes, side: "BUY", price, size });

/** Waits until the page has caught up with the exchange. */
const caughtUp = async (): Promise<void> =>
  inspector.waitForPosition(new RegExp(`^live sequence ${await sequenceNow()} `));

describe.runIf(BROWSER !== null)("the inspector of a running exchange", () => {
  beforeEach(async () => {
    await inspector.page.keyboard.press("Escape");
    await inspector.page.keyboard.press("l");
    await inspector.waitForPosition(/^live/);
  });

  it("shows requests of a client as they come, with their durations", async () => {
    const { status, id } = orThrow(await bidding(0.31, 7));
    expect(status).toBe("LIVE");
    const row = inspector.pane("journal").getByRole("listitem").filter({ hasText: "BUY 7 YES @ 0.31" });
    await row.filter({ hasText: /\d\.\d ms/ }).waitFor();
    await caughtUp();
    orThrow(await client.cancel(id));
    const canceled = inspector.pane("journal").getByText(/^ → canceled order \d+ with 7 open/);
    await canceled.waitFor();
    await bidding(0.315, 7);
    await inspector.pane("journal").getByText("refused: INVALID_TICK_SIZE").last().waitFor();
  });

  it("shows the status and the terms of a market beside its book, and in the past those of then", async () => {
    const { control } = client;
    const { slug } = orThrow(await control.createMarket({ question: "Who won?", feeRateBps: 20 }));
    orThrow(await control.resolve(slug, "SPLIT"));
    const book = await inspector.open("book");
    await book.getByLabel("Market").selectOption({ label: slug });
    await book.getByText("RESOLVED as SPLIT, tick 0.01, at least 1 share, fee 20 bps").waitFor();
    expect(await book.locator(".quote").textContent()).toBe("no bidemptyno ask");
    await inspector.page.keyboard.press("Escape");
    await inspector.page.keyboard.press("ArrowLeft");
    await book.getByText("ACTIVE, tick 0.01").waitFor();
    await inspector.page.keyboard.press("Home");
    await book.getByText(`${slug} is created after the cursor.`).waitFor();
    await book.getByLabel("Market").selectOption({ label: story.slug });
  });

  it("keeps an earlier position while rows are added, and disables commands there", async () => {
    const rows = inspector.page.locator(".where span").first();
    await inspector.page.keyboard.press("ArrowLeft");
    await inspector.waitForPosition(/^row/);
    const [before] = /^row \d+/.exec((await rows.textContent()) ?? "") ?? [];
    const count = async (): Promise<number> => Number(/of (\d+)/.exec((await rows.textContent()) ?? "")?.[1]);
    const countBefore = await count();
    const past = "an earlier row is shown: go to the end first (l)";
    for (const [pane, buttons] of [
      ["chain", ["Mine a block", "Bump fees", "Set fault", "End faults"]],
      ["clock", ["Freeze", "Run", "Run at", "+1s", "+1m", "+1h", "+1d", "Advance by", "To the next timer"]],
      ["session", ["Reset", "Take", "Inject", "Start", "Stop"]],
    ] as const) {
      const within = await inspector.open(pane);
      for (const name of buttons) {
        expect(await inspector.button(name, within).isDisabled(), name).toBe(true);
        expect(await inspector.button(name, within).getAttribute("title")).toBe(past);
      }
    }
    orThrow(await bidding(0.3, 1));
    orThrow(await client.cancelAll());
    await expect.poll(count).toBeGreaterThan(countBefore);
    expect(await rows.textContent()).toMatch(new RegExp(`^${before} of`));
    await inspector.page.keyboard.press("l");
    await caughtUp();
  });

  it("compares the options of its choices, of which there may be thousands, only when they change", async () => {
    await inspector.open("order");
    const reads = await inspector.page.evaluateHandle(() => {
      const values: string[] = [];
      const { get, ...rest } = Object.getOwnPropertyDescriptor(HTMLOptionElement.prototype, "value") ?? {};
      Object.defineProperty(HTMLOptionElement.prototype, "value", {
        ...rest,
        get() {
          values.push(get?.call(this));
          return values.at(-1);
        },
      });
      return values;
    });
    orThrow(await bidding(0.3, 1));
    await caughtUp();
    await inspector.pane("journal").getByText("BUY 1 YES @ 0.3").last().waitFor();
    expect(await reads.jsonValue()).toEqual([]);
    orThrow(await client.control.createMarket({ question: "One option more?" }));
    await inspector
      .pane("book")
      .getByLabel("Market")
      .getByText("one-option-more")
      .waitFor({ state: "attached" });
    expect(await reads.jsonValue()).not.toEqual([]);
    orThrow(await client.cancelAll());
  });

  it("leaves its connection to other pages while it is hidden, and catches up when it is shown", async () => {
    const { page } = inspector;
    const hide = (isHidden: boolean): Promise<unknown> =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, isHidden);
    await hide(true);
    const disconnected = page.waitForEvent("requestfailed", (request) => /stream/.test(request.url()));
    const other = await page.context().newPage();
    await other.goto(server.url);
    await disconnected;
    const before = await inspector.position();
    orThrow(await bidding(0.3, 1));
    await other.getByText(`sequence ${await sequenceNow()}`).waitFor();
    await other.close();
    expect(await inspector.position()).toBe(before);
    await hide(false);
    await caughtUp();
    expect(await page.getByRole("alert").count()).toBe(0);
    orThrow(await client.cancelAll());
  });

  it("mines, bumps fees, sets and ends faults", async () => {
    const pane = await inspector.open("chain");
    const head = async () => orThrow(await client.control.chain.info()).head.number;
    const before = await head();
    // The second click comes while the first is executed.
    await inspector.button("Mine a block", pane).evaluate((button: HTMLButtonElement) => {
      for (let click = 0; click < 2; click += 1) button.click();
    });
    const facts = pane.locator("dl.facts");
    await facts
      .getByText(String(before + 2), { exact: true })
      .first()
      .waitFor();
    expect(await head()).toBe(before + 2);
    await inspector.button("Bump fees", pane).click();
    for (const kind of ["delay", "retry"]) {
      await pane.getByLabel("Kind of fault").selectOption(kind);
      await pane.getByLabel("Number of settlements").fill("3");
      await inspector.button("Set fault", pane).click();
      await pane.getByText(new RegExp(`: ${kind}.*, hit 0, 3 remaining`)).waitFor();
    }
    const faults = async () => orThrow(await client.control.chain.faults()).data.length;
    expect(await faults()).toBe(2);
    await inspector.button("End", pane).first().click();
    await expect.poll(() => inspector.button("End", pane).count()).toBe(1);
    await inspector.button("End faults", pane).click();
    await expect.poll(() => inspector.button("End", pane).count()).toBe(0);
    expect(await faults()).toBe(0);
    await pane.getByLabel("Kind of fault").selectOption("gas-spike");
    expect(await pane.getByRole("spinbutton").count()).toBe(0);
    await pane.getByLabel("Kind of fault").selectOption("reorg");
    await pane.getByLabel("Number of blocks").fill("2");
    await inspector.button("Set fault", pane).click();
    await expect.poll(() => pane.getByText("replaced by a reorganization").count()).toBe(2);
  });

  it("shows a trade of the other outcome by its side in the chosen one", async () => {
    const tokenId = noOf(orThrow(await client.market(story.slug)));
    const book = await inspector.open("book");
    await book.getByLabel("Market").selectOption({ label: story.slug });
    orThrow(await client.place({ tokenId, side: "BUY", price: 0.62, size: 1 }));
    const latest = (await inspector.open("chart")).getByRole("table").getByRole("row").nth(1);
    await latest.filter({ hasText: /▼ 0\.38\s*1/ }).waitFor();
    await inspector.button("NO", book).click();
    await latest.filter({ hasText: /▲ 0\.62\s*1/ }).waitFor();
    await inspector.button("YES", book).click();
  });

  it("moves the clock, and shows the error of an invalid duration", async () => {
    const pane = await inspector.open("clock");
    const time = async () => Date.parse(orThrow(await client.control.clock()).time);
    const shows = async () => Date.parse((await pane.locator(".big").textContent()) ?? "");
    for (const [name, ms] of [
      ["+1s", 1e3],
      ["+1m", 6e4],
      ["+1h", 36e5],
      ["+1d", 864e5],
    ] as const) {
      const before = await time();
      await inspector.button(name, pane).click();
      await expect.poll(time).toBe(before + ms);
    }
    await pane.getByLabel("A duration such as 90s").fill("soon");
    await inspector.button("Advance by", pane).click();
    await pane.getByRole("status").filter({ hasText: "soon" }).waitFor();
    await pane.getByLabel("A duration such as 90s").fill("90s");
    const before = await time();
    await inspector.button("Advance by", pane).click();
    await expect.poll(time).toBe(before + 9e4);
    const expiration = Math.floor(before / 1000) + 400;
    orThrow(
      await client.place({
        ...{ tokenId: story.yes, side: "BUY", price: 0.3, size: 1 },
        ...{ orderType: "GTD", expiration: new Date(expiration * 1000) },
      }),
    );
    const timer = pane.getByText(/^order \d+$/).first();
    await timer.waitFor();
    await inspector.button("To the next timer", pane).click();
    await expect.poll(time).toBe(expiration * 1000);
    await expect.poll(shows).toBe(expiration * 1000);
    const mode = async () => orThrow(await client.control.clock()).mode;
    for (const [name, expected, says] of [
      ["Run", "real", "runs with the wall clock"],
      ["Run at", "scaled", "runs 60 times as fast as the wall clock"],
      ["Freeze", "frozen", "frozen"],
    ] as const) {
      await inspector.button(name, pane).click();
      await pane.getByText(says).waitFor();
      expect(await mode()).toBe(expected);
    }
  });

  it("marks each change of the clock in one row, whether it runs commands or not", async () => {
    const journal = inspector.pane("journal");
    const rows = journal.getByRole("listitem");
    const kind = journal.getByLabel("Kind of row");
    await kind.selectOption("clock");
    onTestFinished(async () => void (await kind.selectOption("all")));
    const shown = journal.locator("header").getByRole("status");
    const count = async () => Number(/^(\d+) of/.exec((await shown.textContent()) ?? "")?.[1]);
    const set = async (change: object, text: string): Promise<void> => {
      await fetchJson(server.url, "/sim/clock", change);
      const last = rows.last().filter({ hasText: text });
      await last.filter({ hasText: /\d ms$/ }).waitFor();
    };
    const { time } = await fetchJson<{ time: string }>(server.url, "/sim/clock");
    const expiration = new Date(Math.floor(Date.parse(time) / 1_000) * 1_000 + 90_000);
    const order = { tokenId: story.yes, side: "BUY", price: 0.3, size: 1 } as const;
    const { id } = orThrow(await client.place({ ...order, orderType: "GTD", expiration }));
    // No other row has this text: the filter has read all rows when it stands there.
    await set({ mode: "scaled", rate: 0.002 }, "clock set to 0.002x");
    for (const [change, text] of [
      [{ advance: "1ms" }, "POST /sim/clock → 200"],
      [{ advance: "100s" }, "POST /sim/clock → 200"],
      [{ mode: "scaled", rate: 0.001 }, "clock set to 0.001x"],
      [{ mode: "frozen" }, "clock set to frozen"],
    ] as const) {
      const before = await count();
      await set(change, text);
      await expect.poll(count).toBe(before + 1);
    }
    expect(await fetchJson(server.url, `/sim/orders/${id}`)).toMatchObject({ order: { status: "EXPIRED" } });
  });

  it("shows the mode of the clock at the cursor", async () => {
    const pane = await inspector.open("clock");
    for (const change of [{ mode: "scaled", rate: 0.004 }, { mode: "frozen" }])
      await fetchJson(server.url, "/sim/clock", change);
    await inspector.pane("journal").getByText("clock set to frozen").last().waitFor();
    await pane.getByText("frozen", { exact: true }).waitFor();
    await inspector.page.keyboard.press("ArrowLeft");
    await pane.getByText("runs 0.004 times as fast as the wall clock").waitFor();
    await inspector.page.keyboard.press("Home");
    await pane.getByText("frozen", { exact: true }).waitFor();
  });

  it("funds an account, and asks for an amount", async () => {
    const pane = await inspector.open("accounts");
    await pane.getByLabel("Account").selectOption({ label: `${story.bob.toLowerCase().slice(0, 8)}…` });
    const balance = async () => orThrow(await client.control.account(story.bob)).collateral.balance;
    const before = await balance();
    await pane.getByRole("spinbutton").fill("12.5");
    await inspector.button("Fund", pane).click();
    await pane.getByText("funded", { exact: true }).waitFor();
    expect(await balance()).toBe(before + 12.5);
    const sequence = await sequenceNow();
    await pane.getByRole("spinbutton").fill("");
    await inspector.button("Fund", pane).click();
    await pane.getByText("expected an amount of USDC, found nothing").waitFor();
    expect(await sequenceNow()).toBe(sequence);
  });

  it("takes, restores and deletes snapshots, and shows the new history without errors of the old", async () => {
    const pane = await inspector.open("session");
    await pane.getByLabel("Name of the snapshot").fill("before <b>rain</b>");
    await inspector.button("Take", pane).click();
    await pane.getByText("before <b>rain</b>").waitFor();
    const [sequence, hash] = [await sequenceNow(), await hashNow()];
    const { id } = orThrow(await bidding(0.29, 3));
    await inspector.pane("journal").getByText("BUY 3 YES @ 0.29").waitFor();
    const orders = await inspector.open("order");
    await inspector.enter("Order by id or number", id);
    await orders.getByText(id).waitFor();
    await inspector.open("session");
    const error = inspector.page.getByText("expected a sequence");
    await inspector.enter("Go to sequence", "99999999");
    await error.waitFor();
    await inspector.button("Restore", pane).click();
    await inspector.waitForPosition(new RegExp(`^live sequence ${sequence} `));
    expect(await hashNow()).toBe(hash);
    await expect.poll(() => inspector.pane("journal").getByText("BUY 3 YES @ 0.29").count()).toBe(0);
    await error.waitFor({ state: "detached" });
    // The order does not exist any more, before or after the cursor.
    await (await inspector.open("order")).getByText("Click an order anywhere").waitFor();
    await inspector.open("session");
    await inspector.button("Delete", pane).click();
    await expect.poll(() => pane.getByText("before <b>rain</b>").count()).toBe(0);
    orThrow(await bidding(0.28, 3));
    await inspector.pane("journal").getByText("BUY 3 YES @ 0.28").waitFor();
  });

  it("is not live after a snapshot is restored until it has the new history", async () => {
    const { page } = inspector;
    const held: Route[] = [];
    await page.route("**/sim/stream*", (route) => void held.push(route), { times: 1 });
    orThrow(await client.control.snapshot("early"));
    orThrow(await client.control.restore("early"));
    await inspector.waitForPosition(/^catching up, 0 %/);
    await expect.poll(() => held.length).toBe(1);
    await held[0]?.continue();
    await caughtUp();
    orThrow(await client.control.deleteSnapshot("early"));
  });

  it("injects faults into requests, and shows the fault of a request", async () => {
    const pane = await inspector.open("session");
    const faults = pane.getByRole("region", { name: "Faults on requests" });
    await faults.getByLabel("Number of times").fill("1");
    await inspector.button("Inject", faults).click();
    await faults.getByText(/POST \/clob\/order: 503, fired 0 times/).waitFor();
    const hit = await bidding(0.3, 1);
    expect(hit).toMatchObject({ ok: false, error: { code: "UNAVAILABLE" } });
    await inspector.pane("journal").getByText("POST /clob/order → 503 UNAVAILABLE").waitFor();
    await faults.getByLabel("Effect").selectOption("drop reply");
    await inspector.button("Inject", faults).click();
    await faults.getByText(/: reply, fired 0 times/).waitFor();
    const lost = await bidding(0.3, 2);
    expect(lost).toMatchObject({ ok: false, error: { code: "CONNECTION_LOST" } });
    const journal = inspector.pane("journal");
    await journal.getByLabel("Kind of row").selectOption("faults");
    await journal.getByText("BUY 2 YES @ 0.3").waitFor();
    await journal.getByText("POST /clob/order → 503 UNAVAILABLE").waitFor();
    await journal.getByLabel("Kind of row").selectOption("all");
    await faults.getByLabel("Effect").selectOption("drop connection");
    await faults.getByLabel("Number of times").fill("");
    await inspector.button("Inject", faults).click();
    const dropping = faults.getByText(/: connection/).last();
    await dropping.waitFor();
    const { data } = orThrow(await client.control.faults());
    expect(data.map(({ times }) => times)).toEqual([1, 1, null]);
    for (let left = await inspector.button("Remove", faults).count(); left > 0; left -= 1) {
      await inspector.button("Remove", faults).first().click();
      await expect.poll(() => inspector.button("Remove", faults).count()).toBe(left - 1);
    }
    await faults.getByLabel("Route").fill("POST /nowhere");
    await inspector.button("Inject", faults).click();
    const status = faults.getByRole("status").filter({ hasText: /nowhere/ });
    await status.waitFor();
  });

  it("finds refused requests without a command by kind and by text", async () => {
    const journal = inspector.pane("journal");
    await fetch(`${server.url}/clob/orders?limit=2`);
    await journal.getByLabel("Kind of row").selectOption("refused");
    await journal.getByText("GET /clob/orders → 401 MISSING_AUTH_HEADER").waitFor();
    await journal.getByLabel("Kind of row").selectOption("all");
    await journal.getByLabel("Filter by text").fill("get /clob/orders → 401");
    await journal.getByRole("status").filter({ hasText: /^1 of/ }).waitFor();
    await journal.getByLabel("Filter by text").fill("");
  });

  it("starts and stops bots", async () => {
    const bots = (await inspector.open("session")).getByRole("region", { name: "Bots" });
    await bots.getByLabel("Profile").selectOption("thin");
    await inspector.button("Start", bots).click();
    await bots.getByText("they trade as time passes").waitFor();
    expect(await fetchJson(server.url, "/sim/bots")).toMatchObject({ profile: "thin" });
    const before = await sequenceNow();
    await fetchJson(server.url, "/sim/clock", { advance: "1h" });
    expect(await sequenceNow()).toBeGreaterThan(before);
    await caughtUp();
    await inspector.button("Stop", bots).click();
    await bots.getByText("stopped").waitFor();
  });

  it("shows snapshots, faults and bots that others change", async () => {
    const pane = await inspector.open("session");
    const { control } = client;
    const waitFor = (text: string | RegExp): Promise<void> => pane.getByText(text).waitFor();
    const waitForNo = (text: string | RegExp): Promise<void> =>
      pane.getByText(text).waitFor({ state: "detached" });
    orThrow(await control.snapshot("of a test"));
    await waitFor("of a test");
    const fault = orThrow(await control.addFault({ route: "POST /clob/order", status: 503, times: 2 }));
    await waitFor(/POST \/clob\/order: 503, fired 0 times/);
    await bidding(0.3, 1);
    await waitFor(/POST \/clob\/order: 503, fired 1 time, 1 remaining/);
    orThrow(await control.startBots({ profile: "thin" }));
    await waitFor(/running, profile thin/);
    // Changes that come while another pane is shown.
    await inspector.open("clock");
    orThrow(await control.deleteFault(fault.id));
    orThrow(await control.endBots());
    await inspector.open("session");
    await waitForNo(/POST \/clob\/order: 503/);
    await waitFor("none running");
    orThrow(await control.deleteSnapshot("of a test"));
    await waitForNo("of a test");
  });

  it("resets the exchange, and records a session as a scenario that passes", async () => {
    const pane = await inspector.open("session");
    await inspector.button("Reset", pane).click();
    await caughtUp();
    const own = await clientOn(server.url, "4");
    const { tokenId } = await firstMarket(own);
    orThrow(await own.place({ tokenId, side: "BUY", price: 0.01, size: 9 }));
    own.close();
    await inspector.pane("journal").getByText("BUY 9 YES @ 0.01").waitFor();
    const [download] = await Promise.all([
      inspector.page.waitForEvent("download"),
      inspector.button("Record as scenario", pane).click(),
    ]);
    const path = join(folder, "recorded.yaml");
    await download.saveAs(path);
    expect(await run("run", [path])).toMatchObject({ code: 0 });
  });
});

const hashNow = async () => orThrow(await client.control.stateHash()).hash;

describe.runIf(BROWSER !== null)("a server", () => {
  it("that stops is shown as not connected, and followed again when it is back", async () => {
    const first = await serverOfTest();
    const { port } = first;
    const other = await open(first.url, { at: /^live/ });
    await fetchJson(first.url, "/sim/chain/mine", { blocks: 1 });
    const sequence = await sequenceNow(first);
    await other.waitForPosition(new RegExp(`^live sequence ${sequence} `));
    await first.close();
    const lost = other.page.getByRole("status").filter({ hasText: "not connected" });
    await lost.waitFor();
    const mine = other.button("Mine a block", await other.open("chain"));
    expect(await mine.isDisabled()).toBe(true);
    expect(await mine.getAttribute("title")).toBe("the server is not connected");
    // Collects what the header says from now on.
    const said = await other.page.evaluateHandle(() => {
      const where = document.querySelector(".where") as HTMLElement;
      const texts: string[] = [];
      const observer = new MutationObserver(() => texts.push(where.textContent ?? ""));
      observer.observe(where, { subtree: true, childList: true, characterData: true });
      return texts;
    });
    await serverOfTest({ port });
    await lost.waitFor({ state: "detached" });
    await other.waitForPosition(/^live/);
    const positions = await said.jsonValue();
    expect(positions).toContainEqual(expect.stringMatching(/^livesequence/));
    expect(positions.filter((text) => text.startsWith(`livesequence ${sequence}2`))).toEqual([]);
    const head = other.pane("chain").locator("dl.facts");
    const before = (await head.textContent()) ?? "";
    await other.button("Mine a block", other.pane("chain")).click();
    await expect.poll(() => head.textContent()).not.toBe(before);
  });

  it("with a long session shows its progress until it is live", async () => {
    let sendRest = (): void => {};
    const rest = new Promise<void>((resolve) => {
      sendRest = resolve;
    });
    const busy = await serverOfTest();
    for (let block = 0; block < 20; block += 1) await fetchJson(busy.url, "/sim/chain/mine", { blocks: 1 });
    // A proxy that holds the rest of the feed back after ten commands.
    const slow = await httpServer(async ({ url, headers: { accept = "" } }, response) => {
      const { status, headers, body } = await fetch(busy.url + url, { headers: { accept } });
      const names = ["content-type", "content-security-policy", "x-sim-sequence"];
      const forwarded = names.flatMap((name) => (headers.has(name) ? [name, headers.get(name) ?? ""] : []));
      response.writeHead(status, forwarded);
      let commands = 0;
      for await (const chunk of body ?? []) {
        for (const event of Buffer.from(chunk)
          .toString()
          .split(/(?<=\n\n)/)) {
          if (url?.startsWith("/sim/stream") && event.includes("event: command")) commands += 1;
          if (commands === 10) await rest;
          response.write(event);
        }
      }
      response.end();
    });
    onTestFinished(() => slow.close());
    const other = await open(`${slow.url}/`, { at: /^catching up, \d\d? % sequence/ });
    sendRest();
    await other.waitForPosition(new RegExp(`^live sequence ${await sequenceNow(busy)} `));
  });

  it("whose clock has not moved disables the timeline by time", async () => {
    const frozen = await serverOfTest();
    const other = await open(frozen.url, { at: /^live/ });
    const byTime = other.button("By time");
    const mine = async (): Promise<void> => {
      await fetchJson(frozen.url, "/sim/chain/mine", { blocks: 1 });
    };
    await mine();
    await other.pane("journal").getByRole("listitem").first().waitFor();
    expect(await byTime.isDisabled()).toBe(true);
    expect(await byTime.getAttribute("title")).toBe("all rows have the same time");
    await fetchJson(frozen.url, "/sim/clock", { advance: "1h" });
    await mine();
    await expect.poll(() => byTime.isDisabled()).toBe(false);
    await byTime.click();
    expect(await byTime.getAttribute("aria-pressed")).toBe("true");
  });

  it("whose clock jumps by days shows the date of each time that is not on the day of the cursor", async () => {
    const jumping = await serverOfTest();
    const trader = await clientOn(jumping.url, "5");
    const { tokenId } = await firstMarket(trader);
    const { id } = orThrow(await trader.place({ tokenId, side: "BUY", price: 0.01, size: 5 }));
    orThrow(await trader.control.setClock({ advance: "2d" }));
    const expiration = new Date("2026-01-09T12:00:00Z");
    const order = { tokenId, side: "BUY", price: 0.01, size: 6 } as const;
    orThrow(await trader.place({ ...order, orderType: "GTD", expiration }));
    orThrow(await trader.cancel(id));
    trader.close();
    const wide = await open(jumping.url, { width: 3_100, height: 900 });
    const { page } = wide;
    await wide.enter("Order by id or number", id);
    const times = (part: string): Promise<string[]> => page.locator(`${part} time`).allTextContents();
    await expect.poll(() => times(".events")).toEqual(["01-01 00:00:00", "01-01 00:00:00", "00:00:00.000"]);
    expect((await times('[data-pane="clock"] table')).at(-1)).toBe("01-09 12:00:00");
    const rows = page.locator(".row-of time");
    await expect.poll(() => rows.last().textContent()).toBe("00:00:00.000");
    expect(await rows.first().textContent()).toBe("01-01 00:00:00");
    expect(await rows.first().evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    await page.keyboard.press("Home");
    await expect.poll(() => rows.first().textContent()).toBe("00:00:00.000");
    expect(await rows.last().textContent()).toBe("01-03 00:00:00");
  });

  it("with a token for its control plane is opened with it", async () => {
    const guarded = await serverOfTest({ simToken: "let me in" });
    const other = await open(guarded.url);
    const field = other.page.getByLabel("Token of the control plane");
    await field.fill("let me in");
    await other.button("Open").click();
    await other.waitForPosition(/^live/);
    await other.button("Mine a block", await other.open("chain")).click();
    await other.pane("journal").getByRole("listitem").first().waitFor();
  });

  it("with a pool shows each exchange separately", async () => {
    const pool = await serverOfTest({ pool: 3 });
    const [one, two] = [await open(`${pool.url}/1/`), await open(`${pool.url}/2`)];
    for (const page of [one, two]) await page.waitForPosition(/^live/);
    await two.button("Mine a block", await two.open("chain")).click();
    await two.pane("journal").getByRole("listitem").first().waitFor();
    expect(await one.pane("journal").getByRole("listitem").count()).toBe(0);
  });
});
