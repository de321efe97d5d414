import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ExchangeClient } from "../../src/client/client.ts";
import { orThrow } from "../../src/client/result.ts";
import { type RunningServer, startServer } from "../../src/compose.ts";
import { DEFAULT_CONFIG } from "../../src/config.ts";
import { clientOn, run, serve } from "../cli/tools.ts";
import { temporaryFolder } from "../support/folder.ts";
import { TINY_WORLD } from "../support/http.ts";
import { BROWSER, type Inspector, useBrowser } from "./browser.ts";
import { askedOf, type Story, tellStory } from "./story.ts";

const folder = temporaryFolder();
const open = useBrowser();
let server: RunningServer;
let story: Story;
let client: ExchangeClient;
let inspector: Inspector;
beforeAll(async () => {
  server = await serve({});
  story = await tellStory(server, folder);
  client = await clientOn(server.url, "3");
  if (BROWSER !== null) inspector = await open(server.url, { isShared: true });
});
afterAll(async () => {
  client.close();
  await server.close();
});

const sequenceNow = async ({ url } = server): Promise<number> =>
  (await askedOf<{ sequence: number }>(url, "/sim")).sequence;

/** Waits until the page stands where the exchange does. */
const caughtUp = async (): Promise<void> =>
  inspector.stands(new RegExp(`^live sequence ${await sequenceNow()} `));

describe.runIf(BROWSER !== null)("the inspector of a running exchange", () => {
  beforeEach(async () => {
    await inspector.page.keyboard.press("Escape");
    await inspector.page.keyboard.press("l");
    await inspector.stands(/^live/);
  });

  it("shows what a client does as it does it, with how long it took", async () => {
    const { status, id } = orThrow(
      await client.place({ tokenId: story.yes, side: "BUY", price: 0.31, size: 7 }),
    );
    expect(status).toBe("LIVE");
    const row = inspector.pane("journal").getByRole("listitem").filter({ hasText: "BUY 7 YES @ 0.31" });
    await row.filter({ hasText: /\d\.\d ms/ }).waitFor();
    await caughtUp();
    orThrow(await client.cancel(id));
    await inspector
      .pane("journal")
      .getByText(/^ → canceled order \d+ with 7 open/)
      .waitFor();
    await client.place({ tokenId: story.yes, side: "BUY", price: 0.315, size: 7 });
    await inspector.pane("journal").getByText("refused: INVALID_TICK_SIZE").last().waitFor();
  });

  it("stays where somebody looks while more happens, and gives no command there", async () => {
    const rows = inspector.page.locator(".where span").first();
    await inspector.page.keyboard.press("ArrowLeft");
    await inspector.stands(/^row/);
    const [stood] = /^row \d+/.exec((await rows.textContent()) ?? "") ?? [];
    const past = "this is the past: go to the end first (l)";
    for (const [pane, buttons] of [
      ["chain", ["Mine a block", "Bump fees", "Set fault", "End faults"]],
      ["clock", ["Freeze", "Run", "Run at", "+1s", "+1m", "+1h", "+1d", "Advance by", "To the next timer"]],
      ["session", ["Reset", "Take", "Inject", "Start", "Stop"]],
    ] as const) {
      const within = await inspector.open(pane);
      for (const name of buttons) {
        expect([name, await inspector.button(name, within).isDisabled()]).toEqual([name, true]);
        expect(await inspector.button(name, within).getAttribute("title")).toBe(past);
      }
    }
    orThrow(await client.place({ tokenId: story.yes, side: "BUY", price: 0.3, size: 1 }));
    orThrow(await client.cancelAll());
    await expect.poll(async () => /of (\d+)/.exec((await rows.textContent()) ?? "")?.[1]).not.toBe("");
    expect(await rows.textContent()).toMatch(new RegExp(`^${stood} of`));
    await inspector.page.keyboard.press("l");
    await caughtUp();
  });

  it("mines, bumps fees, sets and ends faults", async () => {
    const pane = await inspector.open("chain");
    const head = async () =>
      (await askedOf<{ head: { number: number } }>(server.url, "/sim/chain")).head.number;
    const before = await head();
    // The second click comes while the first is carried out.
    await inspector.button("Mine a block", pane).evaluate((button: HTMLButtonElement) => {
      for (let click = 0; click < 2; click += 1) button.click();
    });
    await pane
      .locator("dl.facts")
      .getByText(String(before + 2), { exact: true })
      .first()
      .waitFor();
    expect(await head()).toBe(before + 2);
    await inspector.button("Bump fees", pane).click();
    for (const kind of ["delay", "retry"]) {
      await pane.getByLabel("Kind of fault").selectOption(kind);
      await pane.getByLabel("How many settlements it hits").fill("3");
      await inspector.button("Set fault", pane).click();
      await pane.getByText(new RegExp(`: ${kind}, hit 0, 3 remaining`)).waitFor();
    }
    const faults = async () =>
      (await askedOf<{ data: unknown[] }>(server.url, "/sim/chain/faults")).data.length;
    expect(await faults()).toBe(2);
    await inspector.button("End", pane).first().click();
    await expect.poll(() => inspector.button("End", pane).count()).toBe(1);
    await inspector.button("End faults", pane).click();
    await expect.poll(() => inspector.button("End", pane).count()).toBe(0);
    expect(await faults()).toBe(0);
    await pane.getByLabel("Kind of fault").selectOption("reorg");
    await inspector.button("Set fault", pane).click();
    await pane.getByText("replaced by a reorganization").first().waitFor();
  });

  it("moves the clock, and says what is wrong with what it is told", async () => {
    const pane = await inspector.open("clock");
    const time = async () => Date.parse((await askedOf<{ time: string }>(server.url, "/sim/clock")).time);
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
    await pane
      .getByText(/^order \d+$/)
      .first()
      .waitFor();
    await inspector.button("To the next timer", pane).click();
    await expect.poll(time).toBe(expiration * 1000);
    await expect.poll(shows).toBe(expiration * 1000);
    const mode = async () => (await askedOf<{ mode: string; rate: number }>(server.url, "/sim/clock")).mode;
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

  it("funds an account", async () => {
    const pane = await inspector.open("accounts");
    await pane.getByLabel("Account").selectOption({ label: `${story.bob.toLowerCase().slice(0, 8)}…` });
    const balance = async () =>
      (await askedOf<{ collateral: { balance: number } }>(server.url, `/sim/accounts/${story.bob}`))
        .collateral.balance;
    const before = await balance();
    await pane.getByRole("spinbutton").fill("12.5");
    await inspector.button("Fund", pane).click();
    await pane.getByText("funded", { exact: true }).waitFor();
    expect(await balance()).toBe(before + 12.5);
  });

  it("takes, restores and deletes snapshots, and stands where the exchange does", async () => {
    const pane = await inspector.open("session");
    await pane.getByLabel("Name of the snapshot").fill("before <b>rain</b>");
    await inspector.button("Take", pane).click();
    await pane.getByText("before <b>rain</b>").waitFor();
    const [kept, hash] = [await sequenceNow(), await hashNow()];
    orThrow(await client.place({ tokenId: story.yes, side: "BUY", price: 0.29, size: 3 }));
    await inspector.pane("journal").getByText("BUY 3 YES @ 0.29").waitFor();
    await inspector.button("Restore", pane).click();
    await inspector.stands(new RegExp(`^live sequence ${kept} `));
    expect(await hashNow()).toBe(hash);
    await expect.poll(() => inspector.pane("journal").getByText("BUY 3 YES @ 0.29").count()).toBe(0);
    await inspector.button("Delete", pane).click();
    await expect.poll(() => pane.getByText("before <b>rain</b>").count()).toBe(0);
    orThrow(await client.place({ tokenId: story.yes, side: "BUY", price: 0.28, size: 3 }));
    await inspector.pane("journal").getByText("BUY 3 YES @ 0.28").waitFor();
  });

  it("breaks requests, and shows which fault hit which", async () => {
    const pane = await inspector.open("session");
    const faults = pane.getByRole("region", { name: "Faults on requests" });
    await faults.getByLabel("How many times").fill("1");
    await inspector.button("Inject", faults).click();
    await faults.getByText(/POST \/clob\/order: 503, fired 0 times/).waitFor();
    const hit = await client.place({ tokenId: story.yes, side: "BUY", price: 0.3, size: 1 });
    expect(hit).toMatchObject({ ok: false, error: { code: "UNAVAILABLE" } });
    await inspector.pane("journal").getByText("POST /clob/order → 503 UNAVAILABLE").waitFor();
    await faults.getByLabel("What goes wrong").selectOption("hang up");
    await inspector.button("Inject", faults).click();
    await faults
      .getByText(/hang up|connection/)
      .last()
      .waitFor();
    for (let left = await inspector.button("Remove", faults).count(); left > 0; left -= 1) {
      await inspector.button("Remove", faults).first().click();
      await expect.poll(() => inspector.button("Remove", faults).count()).toBe(left - 1);
    }
    await faults.getByLabel("Route").fill("POST /nowhere");
    await inspector.button("Inject", faults).click();
    await faults
      .getByRole("status")
      .filter({ hasText: /nowhere/ })
      .waitFor();
  });

  it("starts and stops bots", async () => {
    const bots = (await inspector.open("session")).getByRole("region", { name: "Bots" });
    await bots.getByLabel("Profile").selectOption("thin");
    await inspector.button("Start", bots).click();
    await bots.getByText("they trade as time passes").waitFor();
    expect(await askedOf(server.url, "/sim/bots")).toMatchObject({ profile: "thin" });
    const before = await sequenceNow();
    await askedOf(server.url, "/sim/clock", { advance: "1h" });
    expect(await sequenceNow()).toBeGreaterThan(before);
    await caughtUp();
    await inspector.button("Stop", bots).click();
    await bots.getByText("stopped").waitFor();
  });

  it("opens the world anew, and records a session as a scenario that passes", async () => {
    const pane = await inspector.open("session");
    await inspector.button("Reset", pane).click();
    await caughtUp();
    const own = await clientOn(server.url, "4");
    const [market] = orThrow(await own.markets({ active: true, limit: 1 })).data;
    orThrow(
      await own.place({ tokenId: market?.tokens[0]?.tokenId ?? "", side: "BUY", price: 0.01, size: 9 }),
    );
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

const hashNow = async (): Promise<string> =>
  (await askedOf<{ hash: string }>(server.url, "/sim/state/hash")).hash;

describe.runIf(BROWSER !== null)("a server", () => {
  it("that is gone is said to be, and followed again once it is back", async () => {
    const first = await serve({});
    const { port } = first;
    const page = await open(first.url);
    await page.stands(/^live/);
    await first.close();
    await page.page.getByText(", not connected").waitFor();
    expect(await page.button("Mine a block", await page.open("chain")).isDisabled()).toBe(true);
    const second = await serve({ port });
    await page.page.getByText(", not connected").waitFor({ state: "detached" });
    await page.stands(/^live/);
    const head = page.pane("chain").locator("dl.facts");
    const before = (await head.textContent()) ?? "";
    await page.button("Mine a block", page.pane("chain")).click();
    await expect.poll(() => head.textContent()).not.toBe(before);
    await second.close();
  });

  it("that has much to tell is live when all of it is told, and how much is said meanwhile", async () => {
    let tellRest = (): void => {};
    const rest = new Promise<void>((resolve) => {
      tellRest = resolve;
    });
    const busy = await serve({});
    for (let block = 0; block < 20; block += 1) await askedOf(busy.url, "/sim/chain/mine", { blocks: 1 });
    // It passes everything on, and tells the rest of a session only when it is let.
    const slow = createServer(async ({ url, headers: { accept = "" } }, response) => {
      const { status, headers, body } = await fetch(busy.url + url, { headers: { accept } });
      const kept = ["content-type", "content-security-policy", "x-sim-sequence"];
      const passed = kept.flatMap((name) => (headers.has(name) ? [name, headers.get(name) ?? ""] : []));
      response.writeHead(status, passed);
      let told = 0;
      for await (const chunk of body ?? []) {
        for (const event of Buffer.from(chunk)
          .toString()
          .split(/(?<=\n\n)/)) {
          if (url?.startsWith("/sim/stream") && event.includes("event: command")) told += 1;
          if (told === 10) await rest;
          response.write(event);
        }
      }
      response.end();
    });
    await new Promise<void>((resolve) => void slow.listen(0, "127.0.0.1", resolve));
    const page = await open(`http://127.0.0.1:${(slow.address() as AddressInfo).port}/`);
    await page.stands(/^catching up, \d\d? % sequence/);
    tellRest();
    await page.stands(new RegExp(`^live sequence ${await sequenceNow(busy)} `));
    slow.closeAllConnections();
    slow.close();
    await busy.close();
  });

  it("whose clock has not moved has no marks by time, and says so", async () => {
    const still = await serve({});
    const page = await open(still.url);
    await page.stands(/^live/);
    const byTime = page.button("By time");
    const mine = async (): Promise<void> => {
      await askedOf(still.url, "/sim/chain/mine", { blocks: 1 });
    };
    await mine();
    await page.pane("journal").getByRole("listitem").first().waitFor();
    expect(await byTime.isDisabled()).toBe(true);
    expect(await byTime.getAttribute("title")).toBe("all rows are of one moment");
    await askedOf(still.url, "/sim/clock", { advance: "1h" });
    await mine();
    await expect.poll(() => byTime.isDisabled()).toBe(false);
    await byTime.click();
    expect(await byTime.getAttribute("aria-pressed")).toBe("true");
    await still.close();
  });

  it("whose control plane has a token is asked with it", async () => {
    const guarded = await serve({ simToken: "let me in" });
    const page = await open(guarded.url);
    const field = page.page.getByLabel("Token of the control plane");
    await field.fill("let me in");
    await page.button("Open").click();
    await page.stands(/^live/);
    await page.button("Mine a block", await page.open("chain")).click();
    await page.pane("journal").getByRole("listitem").first().waitFor();
    await guarded.close();
  });

  it("that has a pool shows each exchange alone", async () => {
    const pool = await startServer({
      ...{ ...DEFAULT_CONFIG, port: 0, world: TINY_WORLD, logLevel: "silent" },
      ...{ pool: 3, clock: { mode: "frozen" } },
    });
    const [one, two] = [await open(`${pool.url}/1/`), await open(`${pool.url}/2`)];
    for (const page of [one, two]) await page.stands(/^live/);
    await two.button("Mine a block", await two.open("chain")).click();
    await two.pane("journal").getByRole("listitem").first().waitFor();
    expect(await one.pane("journal").getByRole("listitem").count()).toBe(0);
    await pool.close();
  });
});
