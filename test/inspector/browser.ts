import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type Browser, chromium, type Locator, type Page } from "playwright-core";
import { afterAll, afterEach, expect } from "vitest";
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
  /** The position of the cursor to wait for. */
  readonly at?: RegExp;
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

  async waitForPosition(pattern: RegExp): Promise<void> {
    const matches = (source: string): boolean =>
      new RegExp(source).test(
        [...document.querySelectorAll(".where > *")].map((part) => part.textContent).join(" "),
      );
    await this.page.waitForFunction(matches, pattern.source);
  }

  async enter(label: "Go to sequence" | "Order by id or number", text: string): Promise<void> {
    const field = this.page.getByLabel(label);
    await field.fill(text);
    await field.press("Enter");
  }

  async goTo(sequence: number): Promise<void> {
    await this.enter("Go to sequence", String(sequence));
    await this.waitForPosition(new RegExp(`sequence ${sequence}(?!\\d)`));
  }

  button(name: string | RegExp, within: Locator | Page = this.page): Locator {
    return within.getByRole("button", typeof name === "string" ? { name, exact: true } : { name });
  }
}

interface Opened {
  readonly inspector: Inspector;
  readonly expectsErrors: boolean;
}

/** The browser of this process, with which it ends, and pages that no test uses: both take longer to start than most tests. */
let browser: Promise<Browser> | undefined;
const idle: Page[] = [];

async function launched(executablePath: string): Promise<Browser> {
  const folder = mkdtempSync(join(tmpdir(), "clobsim-browser-"));
  const env = { ...process.env, TMPDIR: folder };
  // Vitest sends a signal and does not wait until a browser has closed; on exit, it is killed and its files are removed.
  process.once("SIGTERM", () => process.exit());
  const running = await chromium.launch({ executablePath, args: ARGUMENTS, env, handleSIGTERM: false });
  process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return running;
}

async function newPage(executablePath: string): Promise<Page> {
  browser ??= launched(executablePath);
  const context = await (await browser).newContext();
  context.setDefaultTimeout(60_000);
  return context.newPage();
}

/**
 * Opens pages in the browser. After each test its pages are left and their errors and foreign requests checked; shared pages
 * after all tests of the file.
 */
export function useBrowser(): (url: string, shown?: PageOptions) => Promise<Inspector> {
  const opened: Opened[] = [];
  const shared: Opened[] = [];
  const close = async (pages: Opened[]): Promise<void> => {
    for (const { inspector, expectsErrors } of pages.splice(0)) {
      const { page, foreign, errors } = inspector;
      page.removeAllListeners();
      await page.goto("about:blank");
      idle.push(page);
      expect(foreign).toEqual([]);
      if (!expectsErrors) expect(errors).toEqual([]);
    }
  };
  afterEach(() => close(opened));
  afterAll(() => close(shared));
  return async (
    url,
    { width, height, at, colorScheme = "light", expectsErrors = false, isShared = false } = {},
  ) => {
    const page = idle.pop() ?? (await newPage(BROWSER ?? ""));
    await page.setViewportSize({ width: width ?? DEFAULT_SIZE.width, height: height ?? DEFAULT_SIZE.height });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const inspector = new Inspector(page);
    (isShared ? shared : opened).push({ inspector, expectsErrors });
    await page.goto(url);
    if (at !== undefined) await inspector.waitForPosition(at);
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
