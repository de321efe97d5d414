import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import type { PaneName } from "../../src/inspector/model.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** The path of a browser to try the page in; null where there is none, which is said. */
export const BROWSER = browserPath();

function browserPath(): string | null {
  const { CLOBSIM_TEST_BROWSER: named, PATH = "" } = process.env;
  if (named !== undefined && named !== "") return named;
  const places = NAMES.flatMap((name) => PATH.split(delimiter).map((folder) => join(folder, name)));
  const found = places.find((path) => existsSync(path)) ?? null;
  if (found === null)
    console.warn(`no ${NAMES.join(", ")} is found: the inspector was not tried in a browser`);
  return found;
}

/** How a page is shown. */
export interface Shown {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: "light" | "dark";
  /** Whether something that the page was kept from is what the test is about. */
  readonly isProvoked?: boolean;
  /** Whether it stays open to the end of the file's tests. */
  readonly isShared?: boolean;
}

/** Names that end in .example are this machine: pages of other origins come from there. */
const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP *.example 127.0.0.1"];
const USUAL = { width: 1280, height: 720 } as const;

/** A page with the inspector. */
export class Inspector {
  readonly page: Page;
  /** What it asked of another origin than its own. */
  readonly foreign: string[] = [];
  /** What it threw, and what it was kept from by its policy. */
  readonly wrong: string[] = [];

  constructor(page: Page) {
    this.page = page;
    page.on("request", (request) => {
      const [asked, own] = [new URL(request.url()), new URL(page.url())];
      const isOwn = ["data:", "blob:"].includes(asked.protocol) || page.url() === "about:blank";
      if (!isOwn && !request.isNavigationRequest() && asked.origin !== own.origin)
        this.foreign.push(asked.href);
    });
    page.on("dialog", (dialog) => void dialog.accept());
    page.on("pageerror", (error) => void this.wrong.push(error.stack ?? error.message));
    page.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) this.wrong.push(message.text());
    });
  }

  pane(name: PaneName): Locator {
    return this.page.locator(`.pane[data-pane="${name}"]`);
  }

  /** Brings a pane to the front and answers it. */
  async open(name: PaneName): Promise<Locator> {
    const tab = this.page.locator(`nav.tabs [data-tab="${name}"]`);
    if (await tab.isVisible()) await tab.click();
    await this.pane(name).waitFor();
    return this.pane(name);
  }

  /** What the page says of where it stands: `row 5 of 40 sequence 5 2026-...`. */
  async where(): Promise<string> {
    return (await this.page.locator(".where > *").allTextContents()).join(" ");
  }

  /** Waits until the page stands somewhere. */
  async stands(pattern: RegExp): Promise<void> {
    const holds = (source: string): boolean =>
      new RegExp(source).test(
        [...document.querySelectorAll(".where > *")].map((part) => part.textContent).join(" "),
      );
    await this.page.waitForFunction(holds, pattern.source);
  }

  /** Goes to a sequence, as somebody does who types it. */
  async goTo(sequence: number): Promise<void> {
    const field = this.page.getByLabel("Go to sequence");
    await field.fill(String(sequence));
    await field.press("Enter");
    await this.stands(new RegExp(`sequence ${sequence}(?!\\d)`));
  }

  button(name: string | RegExp, within: Locator | Page = this.page): Locator {
    return within.getByRole("button", typeof name === "string" ? { name, exact: true } : { name });
  }
}

interface Opened {
  readonly context: BrowserContext;
  readonly inspector: Inspector;
  readonly isProvoked: boolean;
}

/**
 * Opens pages in a browser that is started for the tests of a file. What a test opens is closed behind it, and asked
 * whether it behaved; a page that tests share, behind all of them.
 */
export function useBrowser(): (url: string, shown?: Shown) => Promise<Inspector> {
  let browser: Browser;
  const opened: Opened[] = [];
  const shared: Opened[] = [];
  const close = async (pages: Opened[]): Promise<void> => {
    for (const { context, inspector, isProvoked } of pages.splice(0)) {
      await context.close();
      expect(inspector.foreign).toEqual([]);
      if (!isProvoked) expect(inspector.wrong).toEqual([]);
    }
  };
  beforeAll(async () => {
    if (BROWSER === null) return;
    browser = await chromium.launch({ executablePath: BROWSER, args: ARGUMENTS });
  });
  afterEach(() => close(opened));
  afterAll(async () => {
    await close(shared);
    await browser?.close();
  });
  return async (url, { width, height, colorScheme = "light", isProvoked = false, isShared = false } = {}) => {
    const viewport = { width: width ?? USUAL.width, height: height ?? USUAL.height };
    const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" });
    context.setDefaultTimeout(15_000);
    const inspector = new Inspector(await context.newPage());
    (isShared ? shared : opened).push({ context, inspector, isProvoked });
    await inspector.page.goto(url);
    return inspector;
  };
}

/** A level of a ladder. */
export interface Level {
  readonly price: number;
  readonly size: number;
  readonly orders: number;
}

/** The book that a page shows, best prices first. */
export const shownBook = (page: Page): Promise<{ bids: Level[]; asks: Level[] }> =>
  page.evaluate(() => {
    const levels = (side: string) =>
      [...document.querySelectorAll<HTMLElement>(`.ladder tr.${side}`)].map((row) => ({
        price: Number(row.dataset.price),
        size: Number(row.querySelector(".value")?.textContent?.replace("● ", "")),
        orders: Number(row.querySelector("td:last-child")?.textContent),
      }));
    return { bids: levels("bid"), asks: levels("ask").reverse() };
  });
