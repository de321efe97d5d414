import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { orThrow } from "../../src/client/result.ts";
import type { PaneName } from "../../src/inspector/model.ts";
import { clientOn } from "../cli/tools.ts";
import { fetchJson, serverOfTest, useServer, yesOf } from "../support/http.ts";
import { httpServer } from "../support/local-server.ts";
import { BROWSER, type Inspector, useBrowser } from "./browser.ts";

const open = useBrowser();
const server = await useServer();

const HOSTILE = [
  "<script>window.hacked = 1</script>",
  '"><img src=x onerror="window.hacked = 1">',
  "\u202Egnp.exe\u202C",
  "</script><svg onload=window.hacked=1>",
  "javascript:window.hacked=1",
];

const isHacked = ({ page }: Inspector): Promise<boolean> => page.evaluate(() => "hacked" in window);

describe.runIf(BROWSER !== null)("text of clients", () => {
  it("is shown as text in every pane", async () => {
    const client = await clientOn(server.url, "5");
    const { control } = client;
    for (const text of HOSTILE) {
      const tokenId = yesOf(orThrow(await control.createMarket({ question: text })));
      orThrow(await client.place({ tokenId, side: "BUY", price: 0.5, size: 10 }));
      orThrow(await control.snapshot(text));
      await fetch(`${server.url}/clob/order`, {
        method: "POST",
        headers: { "content-type": "application/json", poly_address: text.replace(/[^\x20-\x7e]/g, "") },
        body: JSON.stringify({ tokenId: text, side: text, orderType: text }),
      });
      await fetch(`${server.url}/clob/${encodeURIComponent(text)}?x=${encodeURIComponent(text)}`);
    }
    client.close();
    const inspector = await open(server.url, { at: /^live/ });
    const journal = inspector.pane("journal");
    const filter = journal.getByLabel("Filter by text");
    for (const text of HOSTILE) {
      // JSON escapes quotes, so the longest part without a quote is searched.
      const [fragment = ""] = text.split('"').sort((a, b) => b.length - a.length);
      await filter.fill(fragment);
      const row = journal.getByRole("listitem").filter({ hasText: fragment }).first();
      await row.getByRole("button").dispatchEvent("click");
      await journal.getByRole("complementary").locator("pre").getByText(fragment).waitFor();
    }
    await filter.fill("");
    const session = await inspector.open("session");
    for (const text of HOSTILE) await session.getByText(text, { exact: true }).waitFor();
    for (const name of ["order", "accounts", "chain", "clock", "auth"] as const) await inspector.open(name);
    await (await inspector.open("auth"))
      .getByRole("textbox")
      .first()
      .fill(`GET /clob/${HOSTILE[0]}\npoly_address: ${HOSTILE[1]}`);
    await inspector.button("Explain", inspector.pane("auth")).click();
    await inspector.pane("auth").locator(".checks").waitFor();
    expect(await inspector.page.locator("#app img, #app script, #app iframe").count()).toBe(0);
    expect(await isHacked(inspector)).toBe(false);
  });

  it("cannot change the direction of other text", async () => {
    const inspector = await open(server.url, { at: /^live/ });
    await inspector.pane("journal").getByLabel("Filter by text").fill("gnp.exe");
    const row = inspector.pane("journal").getByText("gnp.exe").first();
    await row.waitFor();
    expect(await row.evaluate((element) => getComputedStyle(element).unicodeBidi)).toBe("isolate");
  });
});

const LONG_WORD = "Pneumono".repeat(12);

/** Panes that show a part of themselves only when scrolled sideways. */
const tooWide = ({ page }: Inspector): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>(".pane:not([hidden])")]
      .filter((pane) => {
        const body = pane.querySelector(".body");
        return body !== null && body.scrollWidth > body.clientWidth;
      })
      .map((pane) => pane.dataset.pane ?? ""),
  );

describe.runIf(BROWSER !== null)("long texts of clients", () => {
  let address = "";
  beforeAll(async () => {
    const client = await clientOn(server.url, "6");
    const { control } = client;
    const tokenId = yesOf(orThrow(await control.createMarket({ question: LONG_WORD })));
    orThrow(await client.place({ tokenId, side: "BUY", price: 0.5, size: 2.34 }));
    orThrow(await control.snapshot(LONG_WORD));
    address = client.credentials?.address.toLowerCase() ?? "";
    client.close();
  });

  it.each([
    [1400, 900],
    [390, 844],
  ])("do not widen a pane at %i x %i", async (width, height) => {
    const inspector = await open(server.url, { width, height, at: /^live/ });
    const auth = await inspector.open("auth");
    for (const [index, text] of [
      `GET /clob/${LONG_WORD}\npoly_timestamp: ${LONG_WORD}`,
      `${LONG_WORD}\n${LONG_WORD}`,
    ].entries()) {
      await auth.getByRole("textbox").nth(index).fill(text);
    }
    await inspector.button("Explain", auth).click();
    await auth.getByText("They differ from character").waitFor();
    const accounts = await inspector.open("accounts");
    await accounts.getByLabel("Account").selectOption({ label: `${address.slice(0, 8)}…` });
    await accounts.getByText(`2.34 of 2.34 YES @ 0.5 in ${LONG_WORD.toLowerCase()}`).waitFor();
    await inspector
      .button(/^order \d+$/, accounts)
      .first()
      .click();
    const found = new Set<string>();
    for (const tab of await inspector.page.locator("nav.tabs [data-tab]").all()) {
      await inspector.open((await tab.getAttribute("data-tab")) as PaneName);
      for (const name of await tooWide(inspector)) found.add(name);
    }
    expect([...found]).toEqual([]);
  });
});

describe.runIf(BROWSER !== null)("the content security policy of the page", () => {
  it.each(["served", "as a file"])(
    "allows only its own script and requests to its own server: %s",
    async (how) => {
      const address =
        how === "served" ? server.url : new URL("../../dist/inspector.html", import.meta.url).href;
      const inspector = await open(address, { expectsErrors: true });
      await inspector.page.locator("header.top").waitFor();
      const blocked = await inspector.page.evaluate(async () => {
        const script = document.createElement("script");
        script.textContent = "window.hacked = 1";
        document.body.append(script);
        const box = document.createElement("div");
        box.innerHTML =
          '<img src="x" onerror="window.hacked = 1"><iframe src="https://example.org/"></iframe>';
        document.body.append(box);
        const other = document.createElement("script");
        other.src = "https://example.org/x.js";
        document.body.append(other);
        return fetch("https://example.org/x").then(
          () => "fetched",
          () => "blocked",
        );
      });
      expect(blocked).toBe("blocked");
      await expect.poll(() => inspector.errors.length).toBeGreaterThan(3);
      expect(await isHacked(inspector)).toBe(false);
      inspector.foreign.splice(0);
    },
  );
});

describe.runIf(BROWSER !== null)("served over plain HTTP from another machine", () => {
  it("the page copies, too", async () => {
    const remote = await serverOfTest({ allowHost: ["far.example"] });
    await fetchJson(remote.url, "/sim/chain/mine", { blocks: 1 });
    const inspector = await open(remote.url.replace("127.0.0.1", "far.example"));
    expect(await inspector.page.evaluate(() => isSecureContext)).toBe(false);
    const journal = inspector.pane("journal");
    await journal.getByRole("button", { name: "mine 1 block" }).click();
    await inspector.button("Copy as curl", journal).click();
    await journal.getByText("the command copied").waitFor();
    const field = (await inspector.open("auth")).getByRole("textbox").first();
    await field.press("Control+v");
    await expect.poll(() => field.inputValue()).toContain("far.example");
    expect(await field.inputValue()).toContain("/sim/chain/mine");
  });
});

const foreign = await httpServer((_request, response) => {
  response.writeHead(200, { "content-type": "text/html" });
  response.end("<!doctype html><title>foreign</title><p>foreign");
});
afterAll(() => foreign.close());

describe.runIf(BROWSER !== null)("a page of a foreign origin", () => {
  it("reads nothing, changes nothing, and cannot frame the inspector", async () => {
    const { port } = new URL(foreign.url);
    // The browser resolves names that end in .example to this machine.
    const inspector = await open(`http://evil.example:${port}/`, { expectsErrors: true });
    const before = await fetchJson<{ hash: string }>(server.url, "/sim/state/hash");
    const got = await inspector.page.evaluate(async (url) => {
      const tried: string[] = [];
      for (const [path, init] of [
        ["/", { headers: { accept: "text/html" } }],
        ["/sim", {}],
        ["/sim/stream", {}],
        ["/sim/reset", { method: "POST" }],
        ["/sim/chain/mine", { method: "POST", body: "{}", headers: { "content-type": "application/json" } }],
      ] as const) {
        tried.push(
          await fetch(url + path, init).then(
            () => "got",
            () => "nothing",
          ),
        );
      }
      const frame = document.createElement("iframe");
      frame.src = `${url}/`;
      document.body.append(frame);
      await new Promise((resolve) => frame.addEventListener("load", resolve));
      return { tried, framed: frame.contentDocument === null ? "" : frame.contentDocument.title };
    }, server.url);
    expect(got).toEqual({ tried: Array(5).fill("nothing"), framed: "" });
    expect(inspector.page.frames().map((frame) => frame.url())).not.toContain(`${server.url}/`);
    expect(await fetchJson(server.url, "/sim/state/hash")).toEqual(before);
    inspector.foreign.splice(0);
  });

  it("cannot use a name that is not the server's", async () => {
    const inspector = await open(`http://evil.example:${server.port}/`);
    expect(await inspector.page.locator("body").textContent()).toContain("HOST_NOT_ALLOWED");
  });
});
