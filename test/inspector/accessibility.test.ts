import axe from "axe-core";
import { describe, expect, it } from "vitest";
import { orThrow } from "../../src/client/result.ts";
import type { PaneName } from "../../src/inspector/model.ts";
import { pairOn } from "../cli/tools.ts";
import { fetchJson, yesOf } from "../support/http.ts";
import { BROWSER, type Inspector, type PageOptions, useBrowser } from "./browser.ts";
import { useStory } from "./story.ts";

const PANES: readonly PaneName[] = [
  ...(["journal", "book", "chart", "order", "accounts", "chain", "clock", "auth", "session"] as const),
];
const open = useBrowser();
const story = await useStory();

/** Serious accessibility problems that axe finds in a part of the page, one per line. */
async function findings(
  { page }: Inspector,
  part = "html",
  rules: readonly string[] = [],
): Promise<string[]> {
  const options = { resultTypes: ["violations"], ...(rules.length === 0 ? {} : { runOnly: rules }) };
  const { violations } = await page.evaluate<axe.AxeResults>(
    `axe.run(document.querySelector(${JSON.stringify(part)}), ${JSON.stringify(options)})`,
  );
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} ${target.join()}: ${failureSummary}`),
    );
}

/** Opens the page after a trade of many shares at a price with four decimals, in a new market. */
async function withLongFigures(size: PageOptions) {
  const [alice, bob] = await pairOn(story.url);
  const market = orThrow(await alice.control.createMarket({ question: "Fine?", tickSize: 0.0001 }));
  const tokenId = yesOf(market);
  const funds = { collateral: 1_000_000, tokens: { [tokenId]: 1_000_000 } };
  for (const { credentials } of [alice, bob])
    orThrow(await alice.control.fund(credentials?.address ?? "", funds));
  orThrow(await alice.place({ tokenId, side: "BUY", price: 0.5001, size: 888_888.88 }));
  orThrow(await alice.place({ tokenId, side: "BUY", price: 0.5, size: 1 }));
  orThrow(await bob.place({ tokenId, side: "SELL", price: 0.5001, size: 888_888.88 }));
  for (const client of [alice, bob]) client.close();
  const inspector = await open(story.url, { ...size, at: /^live/ });
  return { inspector, slug: market.slug };
}

describe.runIf(BROWSER !== null).each([
  [1280, 720],
  [390, 844],
])("at %i x %i", (width, height) => {
  it("no pane has a serious problem in light or dark colours", async () => {
    const inspector = await open(story.url, { width, height, at: /^live/ });
    const { page } = inspector;
    await (await inspector.open("accounts")).getByLabel("Account").selectOption({ index: 3 });
    await page.evaluate(axe.source);
    const found = await findings(inspector);
    for (const name of PANES) {
      await inspector.open(name);
      const part = `.pane[data-pane="${name}"]`;
      found.push(...(await findings(inspector, part)).map((line) => `${name}: ${line}`));
      // In the dark only the colours differ, and those are the same at any size.
      if (width !== 1280) continue;
      await page.emulateMedia({ colorScheme: "dark" });
      found.push(
        ...(await findings(inspector, part, ["color-contrast"])).map((line) => `${name}, dark: ${line}`),
      );
      await page.emulateMedia({ colorScheme: "light" });
    }
    await page.emulateMedia({ colorScheme: "dark" });
    found.push(...(await findings(inspector, "html", ["color-contrast"])));
    expect(found).toEqual([]);
  });

  it("no price or size is cut, however long", async () => {
    const { inspector, slug } = await withLongFigures({ width, height });
    await (await inspector.open("book")).getByLabel("Market").selectOption({ label: slug });
    for (const [name, figure] of [
      ["book", "0.5000"],
      ["chart", "888888.88"],
      ["chain", "888888.88 @ 0.5001"],
    ] as const) {
      const figures = (await inspector.open(name)).locator("td.number, li.number");
      await figures.filter({ hasText: figure }).first().waitFor();
      const cut = await figures.evaluateAll((cells) =>
        cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent),
      );
      expect([name, cut]).toEqual([name, []]);
    }
  });

  it("no tab is hidden or wider than the page, and account, command and result of the journal's rows are not cut", async () => {
    const inspector = await open(story.html, { width, height, at: /^line/ });
    const { page } = inspector;
    for (const tab of await page.locator("nav.tabs button:visible").all()) {
      const { x = -1, width: tabWidth = 0 } = (await tab.boundingBox()) ?? {};
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x + tabWidth).toBeLessThanOrEqual(width);
      await tab.click();
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect([await tab.textContent(), overflow]).toEqual([await tab.textContent(), 0]);
    }
    const journal = await inspector.open("journal");
    await journal.getByLabel("Filter by text").fill("YES @");
    await journal.getByText("refused: INVALID_TICK_SIZE (price)").waitFor();
    // On a small screen a long result may be cut; the opened row has all of it.
    const parts = width < 900 ? ".who, bdi" : ".who, bdi, .result, .what .wrong";
    const cut = await journal.locator(".row-of").evaluateAll(
      (rows, selector) =>
        rows
          .flatMap((row) => [...row.querySelectorAll(selector)])
          .filter((part) => {
            const { right } = part.closest(".row-of > span")?.getBoundingClientRect() ?? { right: 0 };
            return part.getBoundingClientRect().right > right || part.scrollWidth > part.clientWidth + 1;
          })
          .map((part) => part.textContent),
      parts,
    );
    expect(cut).toEqual([]);
  });
});

describe.runIf(BROWSER !== null)("tables", () => {
  it("name each of their columns, above its figures, and their rows in full", async () => {
    await fetchJson(story.url, "/sim/chain/faults", { kind: "delay", times: 1 });
    const inspector = await open(story.url, { at: /^live/ });
    await (await inspector.open("accounts")).getByLabel("Account").selectOption({ index: 1 });
    await inspector
      .button(/^order \d+$/, inspector.pane("accounts"))
      .first()
      .click();
    const found: string[] = [];
    for (const name of PANES) {
      const tables = (await inspector.open(name)).locator("table:has(td)");
      for (const table of await tables.all()) {
        const wrong = await table.evaluate(({ tHead, tBodies }: HTMLTableElement) => {
          const alignment = (cell: Element | undefined) => cell && getComputedStyle(cell).textAlign;
          const heads = [...(tHead?.rows[0]?.cells ?? [])];
          const cells = [...(tBodies[0]?.rows ?? [])].flatMap(({ cells }) => [...cells]);
          return cells
            .filter((cell) => cell.textContent !== "")
            .filter(
              (cell) =>
                alignment(heads[cell.cellIndex]) !== alignment(cell) || cell.scrollWidth > cell.clientWidth,
            )
            .map((cell) => cell.textContent);
        });
        found.push(...wrong.map((text) => `${name}: ${text}`));
      }
    }
    expect(found).toEqual([]);
    await fetchJson(story.url, "/sim/chain/mine", { blocks: 2 });
  });

  it("say how many orders they leave out", async () => {
    const [alice, bob] = await pairOn(story.url);
    for (let count = 0; count < 501; count += 1)
      orThrow(await bob.place({ tokenId: story.yes, side: "BUY", price: 0.01, size: 5 }));
    const inspector = await open(story.url, { at: /^live/ });
    const pane = await inspector.open("accounts");
    const name = `${story.bob.toLowerCase().slice(0, 8)}…`;
    await pane.getByLabel("Account").selectOption({ label: name });
    const [, all = ""] = /(\d+)$/.exec((await pane.getByText(/^Open orders/).textContent()) ?? "") ?? [];
    await pane.getByText(`and ${Number(all) - 500} more`).waitFor();
    orThrow(await bob.cancelAll());
    for (const client of [alice, bob]) client.close();
  });
});

describe.runIf(BROWSER !== null)("fields", () => {
  it("show the whole hint of what to type, and the end of a long choice as an ellipsis", async () => {
    const { page } = await open(story.html);
    for (const width of [1920, 1280, 1024, 390]) {
      await page.setViewportSize({ width, height: 800 });
      // Panes that are hidden at this width are removed when it is drawn.
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))));
      const cut = await page.locator("input[placeholder]:visible, select:visible").evaluateAll(
        (fields) =>
          fields.filter((field) => {
            const style = getComputedStyle(field);
            if (!(field instanceof HTMLInputElement)) return style.textOverflow !== "ellipsis";
            const pen = document.createElement("canvas").getContext("2d");
            if (pen === null) return true;
            pen.font = style.font;
            const padding = Number.parseFloat(style.paddingLeft) + Number.parseFloat(style.paddingRight);
            return pen.measureText(field.placeholder).width > field.clientWidth - padding;
          }).length,
      );
      expect([width, cut]).toEqual([width, 0]);
    }
  });
});

describe.runIf(BROWSER !== null).each(["light", "dark"] as const)("in the %s", (colorScheme) => {
  it("fields have a border with at least three times the contrast of what is around them", async () => {
    const inspector = await open(story.url, { colorScheme, at: /^live/ });
    for (const name of PANES) {
      await inspector.open(name);
      const faint = await inspector.page.locator("input, select, textarea").evaluateAll((fields) => {
        const luminance = (colour: string): number => {
          const [r = 0, g = 0, b = 0] = (colour.match(/[\d.]+/g) ?? []).map((part) => {
            const share = Number(part) / 255;
            return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
          });
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        return fields
          .filter((field) => field.checkVisibility())
          .filter((field) => {
            const pane = field.closest(".pane, .timeline") ?? document.body;
            const [a, b] = [getComputedStyle(field).borderTopColor, getComputedStyle(pane).backgroundColor];
            const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((one, other) => one - other);
            return (high + 0.05) / (low + 0.05) < 3;
          })
          .map((field) => field.ariaLabel);
      });
      expect([name, faint]).toEqual([name, []]);
    }
  });
});

describe.runIf(BROWSER !== null)("the keyboard", () => {
  it("scrolls the journal from its end, and a row with the focus stays while rows are added", async () => {
    const inspector = await open(story.url, { at: /^live/ });
    const { page } = inspector;
    const journal = inspector.pane("journal");
    const placesOf = (part: string) => journal.locator(`.row-of${part} .place`);
    await journal.getByLabel("Market").focus();
    for (const _ of ["the list", "its first row"]) await page.keyboard.press("Tab");
    const focused = Number(await placesOf(":focus").textContent());
    const count = journal.locator("header [aria-live=off]");
    const before = Number.parseInt((await count.textContent()) ?? "", 10);
    for (let row = 0; row < 20; row += 1) await fetch(`${story.url}/sim/orders/none`);
    await count.filter({ hasText: `${before + 20} rows` }).waitFor();
    expect(await placesOf(":focus").textContent()).toBe(String(focused));
    const first = async () => Number(await placesOf("").first().textContent());
    await page.keyboard.press("PageUp");
    await expect.poll(first).toBeLessThan(focused);
    await page.keyboard.press("PageDown");
    await expect.poll(first).toBeGreaterThanOrEqual(focused - 1);
    await page.keyboard.press("l");
    await placesOf("")
      .getByText(String(before + 20), { exact: true })
      .waitFor();
  });

  it("returns from closed details to their row", async () => {
    const inspector = await open(story.html, { at: /^line/ });
    for (const key of ["Home", "ArrowRight"]) await inspector.page.keyboard.press(key);
    await inspector.pane("journal").locator(".row-of[aria-current]").press("Enter");
    const details = inspector.pane("journal").getByRole("complementary");
    await inspector.button("Close", details).press("Enter");
    await details.waitFor({ state: "detached" });
    expect(await inspector.page.locator(":focus").getAttribute("aria-current")).toBe("true");
  });
});

describe.runIf(BROWSER !== null)("with the few colours that the user forces on pages", () => {
  it("the pressed buttons and the row at the cursor differ from the others", async () => {
    const { page } = await open(story.html);
    await page.emulateMedia({ forcedColors: "active" });
    const colourOf = (part: string): Promise<string> =>
      page
        .locator(part)
        .first()
        .evaluate((element) => getComputedStyle(element).backgroundColor);
    for (const [part, chosen] of [
      [".tools button", '[aria-pressed="true"]'],
      [".row-of", "[aria-current]"],
    ] as const)
      expect(await colourOf(part + chosen)).not.toBe(await colourOf(`${part}:not(${chosen})`));
    await page.emulateMedia({ forcedColors: "none" });
  });
});

describe.runIf(BROWSER !== null)("a screen reader", () => {
  it("is told of the rows that a filter finds, but not of each row that is added", async () => {
    const inspector = await open(story.html);
    const journal = inspector.pane("journal");
    const said = journal.locator("header").getByRole("status");
    const total = said.locator('[aria-live="off"]');
    const all = (await total.textContent()) ?? "";
    expect(all).toMatch(/^\d+ rows$/);
    expect([await said.textContent(), await said.getAttribute("aria-atomic")]).toEqual([all, "false"]);
    await journal.getByLabel("Filter by text").fill("INVALID_TICK");
    await said.filter({ hasText: `1 of ${all}` }).waitFor();
    expect(await total.textContent()).toBe(all);
  });

  it("is told what the mark beside a size means", async () => {
    const inspector = await open(story.html);
    await (await inspector.open("accounts")).getByLabel("Account").selectOption({ index: 1 });
    await inspector.pane("book").getByRole("img", { name: "42.5 of the chosen account" }).waitFor();
  });
});

describe.runIf(BROWSER !== null)("on a small or much enlarged screen", () => {
  it("a pane keeps a height to read it, and the page scrolls", async () => {
    const { page } = await open(story.html, { width: 320, height: 256 });
    const { height = 0 } = (await page.locator(".pane:visible").boundingBox()) ?? {};
    expect(height).toBeGreaterThan(300);
    await page.locator(".depth figcaption").scrollIntoViewIfNeeded();
    expect(await page.evaluate(() => scrollY)).toBeGreaterThan(0);
  });
});

describe.runIf(BROWSER !== null)("without an open history", () => {
  it.each([
    ["no report", new URL("../../dist/inspector.html", import.meta.url).href],
    ["a wrong address", "?report=/nowhere"],
  ])("the page with %s has no serious problem", async (_, address) => {
    const inspector = await open(address.startsWith("?") ? `${story.url}/${address}` : address);
    await inspector.page.getByRole("alert").waitFor();
    await inspector.page.evaluate(axe.source);
    expect(await findings(inspector)).toEqual([]);
  });
});
