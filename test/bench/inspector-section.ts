import { Agent } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { DEFAULT_CONFIG } from "../../src/config.ts";
import type { Command } from "../../src/core/commands.ts";
import { idOf } from "../../src/core/ids.ts";
import { type Market, tokenIdIn } from "../../src/core/market.ts";
import { type Millis, money, size } from "../../src/core/units.ts";
import type { Exchange } from "../../src/engine/exchange.ts";
import { openConfigured } from "../../src/engine/open-exchange.ts";
import { addressOf, fundCommand } from "../support/commands.ts";
import { mulberry32 } from "./flow.ts";
import { gtcOrder, mustSubmit } from "./funded-exchange.ts";
import { answerTo, type Call, crossingOrders } from "./load-client.ts";
import { CLOBSIM, inCheckout, millisecondsToEnd } from "./programs.ts";
import { alone, elapsed, lineOf, measured, measurementOf, type Section } from "./rounds.ts";
import { whole } from "./table.ts";

const COMMANDS = 1_000_000;
const MOVES = 20;
/** Rounds of opening a long report, which takes seconds. */
const SLOW_ROUNDS = 3;
const ORDERS_A_SECOND = 1_000;
const WATCHED_MS = 3_000;
const ORDER_BATCH_MS = 10;
/** Duration of a frame at 60 frames per second. */
const FRAME_MS = 1_000 / 60;

/** Waiting times of the inspector, in headless Chromium. */
export const inspectorSection: Section = {
  name: "inspector",
  about: "the page in a browser: first paint, a long report, any command of it, frames while a book changes",
  unit: "ms",
  baseline: "clobsim replay of the same report, its whole process; a frame at 60 a second",
  async measure(rounds, programs) {
    const report = await writeLongReport(programs.folder());
    const { port } = await programs.clobsim("--log-level", "silent");
    await using browser = await chromium.launch({
      executablePath: process.env.CLOBSIM_TEST_BROWSER ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu"],
    });
    const slow = { rounds: Math.min(rounds, SLOW_ROUNDS), warmUps: 0 };
    const moves: number[] = [];
    const opening = `a report of ${whole(COMMANDS)} commands, decided anew`;
    const replay = () => millisecondsToEnd([CLOBSIM, "replay", report]);
    const openings = [
      lineOf(opening, "clobsim replay", replay),
      lineOf(opening, "page", () => openingIn(browser, report, moves)),
    ];
    const paints = [lineOf("first paint, on loopback", "page", () => firstPaint(browser, port))];
    const trading = `a frame while ${ORDERS_A_SECOND} orders a second change a book`;
    const measurements = [
      ...(await measured(paints, { rounds, warmUps: 1 }, alone)),
      ...(await measured(openings, slow)),
      measurementOf("to any command of it, drawn", "page", moves),
    ];
    const frames: number[] = [];
    for (let round = 0; round < slow.rounds; round += 1) frames.push(await frameWhileTrading(browser, port));
    return {
      measurements: [...measurements, measurementOf(trading, "page", frames, FRAME_MS)],
      notes: [
        `The report and the frames in ${slow.rounds} rounds, ${MOVES} moves in each; frames are means of ${WATCHED_MS / 1_000} s, drawn without a graphics card beside the server and its client.`,
      ],
    };
  },
};

/** Opens a page while it is used. */
async function onPage<Result>(browser: Browser, use: (page: Page) => Promise<Result>): Promise<Result> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  page.setDefaultTimeout(120_000);
  try {
    return await use(page);
  } finally {
    await page.close();
  }
}

/** Milliseconds from the start of a navigation to the first contentful paint. */
const firstPaint = (browser: Browser, port: number): Promise<number> =>
  onPage(browser, async (page) => {
    await page.goto(`http://127.0.0.1:${port}/`);
    return page.evaluate<number>(
      `new Promise((resolve) => new PerformanceObserver((list) => {
        const [paint] = list.getEntriesByName("first-contentful-paint");
        if (paint) resolve(paint.startTime);
      }).observe({ type: "paint", buffered: true }))`,
    );
  });

/** Returns the milliseconds from choosing a report to its panes; then moves the cursor and records the time of each move. */
const openingIn = (browser: Browser, report: string, moves: number[]): Promise<number> =>
  onPage(browser, async (page) => {
    await page.goto(pathToFileURL(inCheckout("dist/inspector.html")).href);
    const chooser = page.locator("input[type=file]");
    await chooser.waitFor({ state: "attached" });
    const opened = await elapsed(async () => {
      await chooser.setInputFiles(report);
      await page.locator(".panes").waitFor();
    });
    const below = mulberry32(2);
    for (let move = 0; move < MOVES; move += 1) {
      moves.push(await page.evaluate<number>(moveTo(20_000 + below(COMMANDS - 20_000))));
    }
    return opened;
  });

/** A script that goes to a sequence number and returns the milliseconds until it is drawn. */
const moveTo = (sequence: number): string => `(async () => {
  const field = document.getElementById("go-to");
  field.value = "${sequence}";
  field.dispatchEvent(new Event("input", { bubbles: true }));
  const start = performance.now();
  field.form.requestSubmit();
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const passed = performance.now() - start;
  const where = document.querySelector(".where").textContent;
  if (!where.includes("sequence ${sequence}")) throw new Error("the page stands at " + where);
  return passed;
})()`;

/** Mean milliseconds per frame while signed orders change a book. */
const frameWhileTrading = (browser: Browser, port: number): Promise<number> =>
  onPage(browser, async (page) => {
    await page.goto(`http://127.0.0.1:${port}/`);
    await page.locator(".panes").waitFor();
    const { buy, sell } = await crossingOrders(port);
    const stop = trade(port, [buy, sell]);
    await delay(1_000);
    const frame = await page.evaluate<number>(
      `new Promise((resolve) => {
        const start = performance.now();
        let frames = 0;
        const count = () => {
          frames += 1;
          const passed = performance.now() - start;
          if (passed < ${WATCHED_MS}) requestAnimationFrame(count);
          else resolve(passed / frames);
        };
        requestAnimationFrame(count);
      })`,
    );
    const sent = await stop();
    if (sent < 0.9 * ORDERS_A_SECOND) throw new Error(`only ${Math.round(sent)} orders a second were sent`);
    return frame;
  });

/** Sends requests in turn at a constant rate until stopped; then returns the responses per second. */
function trade(port: number, calls: readonly Call[]): () => Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const start = performance.now();
  const answers: Promise<unknown>[] = [];
  const timer = setInterval(() => {
    const due = ((performance.now() - start) * ORDERS_A_SECOND) / 1_000;
    while (answers.length < due)
      answers.push(answerTo(calls[answers.length % calls.length] as Call, port, agent));
  }, ORDER_BATCH_MS);
  return async () => {
    clearInterval(timer);
    await Promise.all(answers);
    agent.destroy();
    return (answers.length * 1_000) / (performance.now() - start);
  };
}

const START = Date.UTC(2026, 0, 1) as Millis;
const TRADERS = Array.from({ length: 40 }, (_, index) => addressOf(`trader-${index}`));
const MARKETS = 20;
/** Number of resting orders above which more are canceled than placed. */
const RESTING = 500;
/** Number of commands that are flushed at once. */
const GROUP = 10_000;

/** Writes a report of a million commands on the default world: orders in 20 markets, some of which trade, and cancels. */
async function writeLongReport(folder: string): Promise<string> {
  const data = join(folder, "data");
  const config = { ...DEFAULT_CONFIG, clock: { mode: "frozen" }, start: START, data } as const;
  const { exchange, persistence, close } = await openConfigured(config, () => {});
  const { state, sequence } = exchange;
  const funds = { collateral: money(9_000_000_000_000), everyMarket: size(100_000_000) };
  for (const address of TRADERS) mustSubmit(exchange, fundCommand(address, funds));
  const markets = [...state.markets].filter(({ status }) => status === "ACTIVE").slice(0, MARKETS);
  const next = commandsOf(exchange, markets);
  while (exchange.sequence - sequence < COMMANDS) {
    exchange.submit(next());
    if (exchange.sequence % GROUP === 0) await persistence.flush(persistence.position);
  }
  await close();
  const report = join(folder, "long.ndjson");
  await millisecondsToEnd([CLOBSIM, "report", data, "--out", report]);
  return report;
}

/** Generates orders around the mid price and cancels of resting orders. */
function commandsOf({ state }: Exchange, markets: readonly Market[]): () => Command {
  const below = mulberry32(1);
  const one = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item;
  let seen = state.orders.size;
  const resting: Command[] = [];
  return () => {
    for (; seen < state.orders.size; seen += 1) {
      const { status, account, number } = state.orders.get(seen + 1);
      const { address } = state.accounts.get(account);
      const orderId = idOf(state.idPrefixes.order, number);
      if (status === "LIVE") resting.push({ kind: "cancelOrder", address, orderId });
    }
    if (resting.length > RESTING && below(5) < 3) {
      const [canceled] = resting.splice(below(resting.length), 1);
      if (canceled !== undefined) return canceled;
    }
    const market = one(markets);
    const levels = 10_000 / market.tickSize;
    const tick = Math.round(levels * 0.2) + below(Math.round(levels * 0.3)) + below(Math.round(levels * 0.3));
    const tokenId = tokenIdIn(market, below(2) === 0 ? "YES" : "NO");
    const side = below(2) === 0 ? "BUY" : "SELL";
    const shares = Math.max(market.minOrderSize, 500 + below(5_000));
    return gtcOrder(one(TRADERS), tokenId, side, tick * market.tickSize, shares);
  };
}
