import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { linesIn, withChecksums } from "../cli/journal-lines.ts";
import { run } from "../cli/tools.ts";
import { fetchJson, serverOfTest } from "../support/http.ts";
import { BROWSER, type Inspector, useBrowser } from "./browser.ts";
import { linesOf, useStory } from "./story.ts";

const EMPTY_PAGE = new URL("../../dist/inspector.html", import.meta.url).href;
const open = useBrowser();
const story = await useStory();

function file(name: string, bytes: string): string {
  const path = join(story.folder, name);
  writeFileSync(path, bytes);
  return path;
}

const reportText = (): string => readFileSync(story.report, "utf8");

const openStory = (): Promise<Inspector> => open(story.html, { at: /^line/ });

/** Chooses a report on the page by keyboard. */
async function choose(inspector: Inspector, path: string): Promise<void> {
  const [chooser] = await Promise.all([
    inspector.page.waitForEvent("filechooser"),
    inspector.button("Choose a report").press("Enter"),
  ]);
  await chooser.setFiles(path);
}

describe.runIf(BROWSER !== null)("the inspector as a file", () => {
  it("opens a chosen report at its end, with the market of its last command", async () => {
    const inspector = await open(EMPTY_PAGE);
    await inspector.page.getByText("no report is open").waitFor();
    await choose(inspector, story.report);
    await inspector.waitForPosition(new RegExp(`^line ${linesOf(story.report)} of`));
    expect(await inspector.page.locator("h1").textContent()).toBe("clobsim story.ndjson");
    await expect.poll(() => inspector.page.title()).toBe("story.ndjson - clobsim");
    const market = inspector.pane("book").getByLabel("Market").locator("option:checked");
    expect(await market.textContent()).toBe(story.slug);
  });

  it("opens a chosen report in place of another, and the same file again after it has changed", async () => {
    const inspector = await openStory();
    const path = file("chosen.ndjson", reportText());
    await choose(inspector, path);
    await inspector.page.getByText("clobsim chosen.ndjson").waitFor();
    const lines = reportText().split("\n");
    file("chosen.ndjson", `${lines.slice(0, 5).join("\n")}\n`);
    await choose(inspector, path);
    await inspector.waitForPosition(/^line 5 of 5 /);
    // Keys move the cursor at once.
    await inspector.page.keyboard.press("ArrowLeft");
    await inspector.waitForPosition(/^line 4 of 5 /);
  });

  it("opens a dropped report, also in place of another", async () => {
    const inspector = await openStory();
    await inspector.drop("dropped.ndjson", reportText());
    await inspector.page.getByText("clobsim dropped.ndjson").waitFor();
    await inspector.drop("hello.txt", "hello");
    await inspector.page.getByRole("alert").filter({ hasText: "hello.txt is not a report" }).waitFor();
    // The open report stays.
    await inspector.page.getByText("clobsim dropped.ndjson").waitFor();
    await inspector.drop("another.ndjson", reportText());
    await inspector.page.getByText("clobsim another.ndjson").waitFor();
  });

  it("shows a dropped report in place of a running exchange, and follows the exchange no longer", async () => {
    const server = await serverOfTest();
    const inspector = await open(server.url, { at: /^live/ });
    await fetchJson(server.url, "/sim/chain/mine", { blocks: 1 });
    const durations = inspector.pane("journal").getByText(/\d ms$/);
    await durations.first().waitFor();
    await Promise.all([
      inspector.page.waitForEvent("requestfailed", (request) => request.url().includes("/sim/stream")),
      inspector.drop("dropped.ndjson", reportText()),
    ]);
    await inspector.waitForPosition(new RegExp(`^line ${linesOf(story.report)} of`));
    expect(await inspector.page.locator("h1").textContent()).toBe("clobsim dropped.ndjson");
    await inspector.page.keyboard.press("Home");
    await inspector.pane("journal").locator(".place").getByText("2", { exact: true }).waitFor();
    expect(await durations.count()).toBe(0);
  });

  it("shows the error of a file that is no report", async () => {
    const inspector = await open(EMPTY_PAGE);
    await choose(inspector, file("hello.ndjson", "hello\nworld\n"));
    const sentence = "hello.ndjson is not a report: expected a file written by GET /sim/report";
    await inspector.page.getByRole("alert").filter({ hasText: sentence }).waitFor();
    await inspector.button("Choose a report").waitFor();
  });

  it("shows the beginning of a row that is too long for a page", async () => {
    const [last, ...before] = linesIn(reportText()).reverse();
    const long = { ...last, d: { ...(last?.d as object), reason: "x".repeat(300_000) } };
    const inspector = await openStory();
    await inspector.drop("long.ndjson", withChecksums([...before.reverse(), long]));
    await inspector.page.getByText("clobsim long.ndjson").waitFor();
    await inspector.page.keyboard.press("d");
    const text = (await inspector.page.locator(".detail pre").textContent()) ?? "";
    expect(text).toMatch(/"reason": "x+\.\.\.$/);
    expect(text).toHaveLength(200_003);
  });

  it("shows a damaged report up to the damage, and the line of the damage", async () => {
    const lines = reportText().split("\n");
    lines[12] = (lines[12] as string).replace('"t":', '"T":');
    const [damaged, html] = [file("damaged.ndjson", lines.join("\n")), join(story.folder, "damaged.html")];
    expect((await run("inspect", [damaged], { html })).code).toBe(3);
    const inspector = await open(pathToFileURL(html).href, { at: /^line 12 of 12 / });
    await inspector.page
      .getByRole("alert")
      .filter({ hasText: /damaged\.ndjson.*line 13/ })
      .waitFor();
  });

  it("stops at the row whose result differs in the replay, and shows both results", async () => {
    const lines = linesIn(reportText());
    const at = lines.findIndex(({ n, k }) => Number(n) > 8 && k === "placeOrder");
    const changed = lines.map((line, index) => (index === at ? { ...line, r: "00000001" } : line));
    const inspector = await open(EMPTY_PAGE);
    await choose(inspector, file("changed.ndjson", withChecksums(changed)));
    await inspector.waitForPosition(new RegExp(`^line ${at + 1} of ${lines.length} `));
    await inspector.page
      .getByRole("alert")
      .filter({
        hasText: /placeOrder, has another result than recorded.*recorded 00000001; now [0-9a-f]{8}/s,
      })
      .waitFor();
    const journal = inspector.pane("journal");
    await journal.getByLabel("Kind of row").selectOption("refused");
    await journal.locator(".wrong-row").first().waitFor();
    await inspector.page.keyboard.press("Home");
    await expect.poll(() => journal.locator(".wrong-row .place").first().textContent()).toBe(String(at + 1));
  });

  it("shows the rows of a filter after one without rows", async () => {
    const inspector = await openStory();
    await inspector.page.keyboard.press("ArrowLeft");
    const journal = inspector.pane("journal");
    const filter = journal.getByLabel("Filter by text");
    await filter.fill("no such row");
    await journal.getByText("No row matches the filter.").waitFor();
    await filter.fill("BUY 100 YES");
    await journal.getByRole("listitem").filter({ hasText: "BUY 100 YES" }).waitFor();
  });

  it("disables commands, with a hint how to continue from a report", async () => {
    const inspector = await open(story.html);
    const button = inspector.button("Mine a block", await inspector.open("chain"));
    expect(await button.isDisabled()).toBe(true);
    expect(await button.getAttribute("title")).toContain("clobsim serve --from REPORT");
    for (const [pane, names] of [
      ["clock", ["Freeze", "Advance by", "To the next timer"]],
      ["session", ["Reset", "Record as scenario"]],
    ] as const) {
      const within = await inspector.open(pane);
      for (const name of names) expect(await inspector.button(name, within).isDisabled(), name).toBe(true);
    }
  });
});

const EXPECTED_PATH = "?report= expects a path on the server of this page, such as /sim/report";

describe.runIf(BROWSER !== null)("a report in the query", () => {
  it("is fetched from the server of the page and shown", async () => {
    const inspector = await open(`${story.url}/?report=/sim/report`);
    await inspector.waitForPosition(new RegExp(`^line ${linesOf(story.report)} of`));
  });

  it.each([
    ["that does not exist", "/sim/no-such-report", "/sim/no-such-report: the server responded with 404"],
    ["that is not one", "/clob/time", "/clob/time is not a report"],
    ["on another server", "http://elsewhere.example/", `${EXPECTED_PATH}, found http://elsewhere.example/`],
    ["without a name", "", `${EXPECTED_PATH}, found nothing`],
  ])("%s is an error, and no other server is asked", async (_, path, sentence) => {
    const inspector = await open(`${story.url}/?report=${path}`);
    await inspector.page.getByRole("alert").filter({ hasText: sentence }).waitFor();
  });
});

describe.runIf(BROWSER !== null)("keys", () => {
  it("move the cursor outside text fields", async () => {
    const inspector = await open(story.html);
    const { keyboard } = inspector.page;
    const count = linesOf(story.report);
    await inspector.waitForPosition(new RegExp(`^line ${count} of ${count} `));
    const rows: number[] = [];
    for (const [key, expected] of [
      ["ArrowLeft", count - 1],
      ["ArrowLeft", count - 2],
      ["ArrowRight", count - 1],
      ["Home", 1],
      ["ArrowLeft", 1],
      ["l", count],
      ["ArrowRight", count],
    ] as const) {
      await keyboard.press(key);
      await inspector.waitForPosition(new RegExp(`^line ${expected} of`));
    }
    await keyboard.press("Home");
    for (const key of ["Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowLeft"]) {
      const before = await inspector.position();
      await keyboard.press(key);
      await expect.poll(() => inspector.position()).not.toBe(before);
      rows.push(Number(/^line (\d+)/.exec(await inspector.position())?.[1]));
    }
    expect(rows[0]).toBeLessThan(rows[1] as number);
    expect(rows[2]).toBe(rows[0]);
    const current = inspector.pane("journal").locator('[aria-current="true"]');
    expect(await current.textContent()).toContain("SELL 40 YES");
    const [, sequence] = /sequence (\d+)/.exec(await inspector.position()) ?? [];
    await keyboard.press("l");
    await keyboard.press("g");
    await keyboard.type(String(sequence));
    await keyboard.press("Enter");
    await inspector.waitForPosition(new RegExp(`^line .* sequence ${sequence} `));
    const before = await inspector.position();
    await keyboard.press("/");
    await keyboard.type("l");
    expect(await inspector.page.getByLabel("Filter by text").inputValue()).toBe("l");
    expect(await inspector.position()).toBe(before);
    await keyboard.press("Escape");
    // The field shows the filter that applies, although browsers empty search fields on Escape.
    expect(await inspector.page.getByLabel("Filter by text").inputValue()).toBe("l");
    await keyboard.press("l");
    await inspector.waitForPosition(new RegExp(`^line ${count} of`));
  });

  it("stop after every row, also within a block", async () => {
    const inspector = await open(story.html);
    const count = linesOf(story.report);
    await inspector.open("clock");
    await inspector.waitForPosition(new RegExp(`^line ${count} of`));
    for (let line = count - 1; line >= 1; line -= 1) {
      await inspector.page.keyboard.press("ArrowLeft");
      await inspector.waitForPosition(new RegExp(`^line ${line} of`));
    }
  });

  it("stop at the line that clobsim inspect --at shows", async () => {
    const inspector = await openStory();
    for (const key of ["ArrowLeft", "Shift+ArrowLeft", "Home"]) {
      await inspector.page.keyboard.press(key);
      const position = /^line (?<line>\d+) of \d+ sequence (?<sequence>\d+) (?<time>\S+)/;
      const { line = "", sequence, time } = position.exec(await inspector.position())?.groups ?? {};
      const { stdout } = await run("inspect", [story.report], { at: line });
      expect(stdout).toContain(`line ${line}, ${time}, sequence ${sequence}\n`);
    }
  });

  it("that move the cursor or follow the end remove the error of a sequence or an order", async () => {
    const inspector = await openStory();
    const { page } = inspector;
    await inspector.open("order");
    const errors = page.getByRole("status").filter({ hasText: /expected a sequence|no such order/ });
    for (const act of [
      () => page.keyboard.press("ArrowLeft"),
      () => page.keyboard.press("l"),
      // The cursor is at the end already.
      () => page.keyboard.press("l"),
    ]) {
      for (const label of ["Go to sequence", "Order by id or number"] as const)
        await inspector.enter(label, "99999999");
      await errors.filter({ hasText: /expected a sequence from \d+ to \d+, found 99999999/ }).waitFor();
      await expect.poll(() => errors.count()).toBe(2);
      await page.keyboard.press("Escape");
      await act();
      await expect.poll(() => errors.count()).toBe(0);
    }
  });

  it("are listed on the page, and buttons do the same", async () => {
    const inspector = await open(story.html);
    await inspector.page.getByText("Keys", { exact: true }).click();
    const keys = ["← →", "Shift ← →", "Home", "End l", "g", "/", "d", "Esc"];
    expect(await inspector.page.locator("kbd").allTextContents()).toEqual(keys);
    await inspector.page.getByText("Keys", { exact: true }).click();
    const count = linesOf(story.report);
    for (const [name, expected] of [
      ["Previous command", count - 1],
      ["Previous command", count - 2],
      ["Next command", count - 1],
    ] as const) {
      await inspector.button(name).click();
      await inspector.waitForPosition(new RegExp(`^line ${expected} of`));
    }
    await inspector.button("Previous trade").click();
    const before = await inspector.position();
    await inspector.button("Previous trade").click();
    await expect.poll(() => inspector.position()).not.toBe(before);
    await inspector.button("Next trade").click();
    await expect.poll(() => inspector.position()).toBe(before);
    const strip = inspector.page.getByRole("slider");
    // A part of the timeline follows the cursor.
    await inspector.page.keyboard.press("l");
    await inspector.button("Zoom in").click();
    await inspector.page.keyboard.press("Home");
    await inspector.waitForPosition(/^line 1 of/);
    await strip.click({ position: { x: ((await strip.boundingBox())?.width ?? 0) - 1, y: 10 } });
    await inspector.waitForPosition(/^line (?!1 )/);
    expect(Number(/^line (\d+)/.exec(await inspector.position())?.[1])).toBeLessThan(count / 2);
    for (const name of ["Zoom out", "By time"]) await inspector.button(name).click();
    const box = await strip.boundingBox();
    await strip.click({ position: { x: 1, y: 10 } });
    await inspector.waitForPosition(/^line (?:\d|10) /);
    await inspector.page.mouse.move((box?.x ?? 0) + 2, (box?.y ?? 0) + 10);
    await inspector.page.mouse.down();
    await inspector.page.mouse.move((box?.x ?? 0) + (box?.width ?? 0) + 5, (box?.y ?? 0) + 10);
    await inspector.page.mouse.up();
    await inspector.waitForPosition(new RegExp(`^line ${count} of`));
  });
});
