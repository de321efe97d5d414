import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import type { PaneName } from "../../src/inspector/model.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** Path of the browser for these tests; null, with a warning, if there is none. */
export const BROWSER = browserPath();

function browserPath(): string | null {
  const { CLOBSIM_TEST_BROWSER: named, PATH = "" } = process.env;
  if (named !== undefined && named !== "") return named;
  const paths = NAMES.flatMap((name) => PATH.split(delimiter).map((folder) => join(folder, name)));
  const found = paths.find((path) => existsSync(path)) ?? null;
  if (found === null) console.warn(`no ${NAMES.join(", ")} found: the inspector was not tested in a browser`);
  return found;
}

/** Options of a page. */
export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: "light" | "dark";
  /** Whether the test causes errors or violations of the policy. */
  readonly expectsErrors?: boolean;
  /** Whether the page stays open for all tests of the file. */
  readonly isShared?: boolean;
}

/** Maps names that end in .example to this machine, for pages of other origins. */
const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP *.example 127.0.0.1"];
const DEFAULT_SIZE = { width: 1280, height: 720 } as const;

/** A page with the inspector. */
export class Inspector {
  readonly page: Page;
  /** URLs of requests to other origins. */
  readonly foreign: string[] = [];
  /** Uncaught errors and violations of the content security policy. */
  readonly errors: string[] = [];

  constructor(page: Page) {
    this.page = page;
    page.on("request", (request) => {
      const [requested, own] = [new URL(request.url()), new URL(page.url())];
      const isOwn = ["data:", "blob:"].includes(requested.protocol) || page.url() === "about:blank";
      if (!isOwn && !request.isNavigationRequest() && requested.origin !== own.origin)
        this.foreign.push(requested.href);
    });
    page.on("dialog", (dialog) => void dialog.accept());
    page.on("pageerror", (error) => void this.errors.push(error.stack ?? error.message));
    page.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) this.errors.push(message.text());
    });
  }

  pane(name: PaneName): Locator {
    return this.page.locator(`.pane[data-pane="${name}"]`);
  }

  /** Brings a pane to the front and returns it. */
  async open(name: PaneName): Promise<Locator> {
    const tab = this.page.locator(`nav.tabs [data-tab="${name}"]`);
    if (await tab.isVisible()) await tab.click();
    await this.pane(name).waitFor();
    return this.pane(name);
  }

  /** Drops a file on the page. */
  async drop(name: string, text: string): Promise<void> {
    await this.page.evaluate(
      ([as, content]) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([content as string], as as string));
        document.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
      },
      [name, text],
    );
  }

  /** The position of the cursor as shown: `line 5 of 40 sequence 5 2026-...`. */
  async position(): Promise<string> {
    return (await this.page.locator(".where > *").allTextContents()).join(" ");
  }

  /** Waits for a position of the cursor. */
  async waitForPosition(pattern: RegExp): Promise<void> {
    const matches = (source: string): boolean =>
      new RegExp(source).test(
        [...document.querySelectorAll(".where > *")].map((part) => part.textContent).join(" "),
      );
    await this.page.waitForFunction(matches, pattern.source);
  }

  /** Enters a sequence to go to. */
  async goTo(sequence: number): Promise<void> {
    const field = this.page.getByLabel("Go to sequence");
    await field.fill(String(sequence));
    await field.press("Enter");
    await this.waitForPosition(new RegExp(`sequence ${sequence}(?!\\d)`));
  }

  button(name: string | RegExp, within: Locator | Page = this.page): Locator {
    return within.getByRole("button", typeof name === "string" ? { name, exact: true } : { name });
  }
}

interface Opened {
  readonly context: BrowserContext;
  readonly inspector: Inspector;
  readonly expectsErrors: boolean;
}

/**
 * Opens pages in a browser that runs for the tests of a file. After each test its pages are closed and their errors
 * and foreign requests checked; shared pages after all tests.
 */
export function useBrowser(): (url: string, shown?: PageOptions) => Promise<Inspector> {
  let browser: Browser;
  const opened: Opened[] = [];
  const shared: Opened[] = [];
  const close = async (pages: Opened[]): Promise<void> => {
    for (const { context, inspector, expectsErrors } of pages.splice(0)) {
      await context.close();
      expect(inspector.foreign).toEqual([]);
      if (!expectsErrors) expect(inspector.errors).toEqual([]);
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
  return async (
    url,
    { width, height, colorScheme = "light", expectsErrors = false, isShared = false } = {},
  ) => {
    const viewport = { width: width ?? DEFAULT_SIZE.width, height: height ?? DEFAULT_SIZE.height };
    const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" });
    context.setDefaultTimeout(60_000);
    const inspector = new Inspector(await context.newPage());
    (isShared ? shared : opened).push({ context, inspector, expectsErrors });
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

/** The book shown by a page, best prices first. */
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
