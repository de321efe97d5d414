import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { mulberry32 } from "../flow.ts";
import { type Call, crossingOrders } from "../http/client.ts";
import { benchFolder, buildProgram, inCheckout, millisecondsToEnd, serveClobsim } from "../programs.ts";
import { median, takeTurns } from "../rounds.ts";
import { measurementOf, type Section } from "../section.ts";
import { writeLongReport } from "./long-report.ts";

const COMMANDS = 1_000_000;
const MANY = COMMANDS.toLocaleString("en");
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
  async measure(rounds) {
    await buildProgram();
    const report = join(benchFolder(), "long.ndjson");
    await writeLongReport(report, COMMANDS);
    const server = await serveClobsim("--log-level", "silent");
    const browser = await chromium.launch({
      executablePath: process.env.CLOBSIM_TEST_BROWSER ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu"],
    });
    try {
      const slow = { rounds: Math.min(rounds, SLOW_ROUNDS), warmUps: 0 };
      const moves: number[] = [];
      const [paints = []] = await takeTurns([() => firstPaint(browser, server.port)], { rounds, warmUps: 1 });
      const [replays = [], openings = []] = await takeTurns(
        [
          () => millisecondsToEnd([inCheckout("bin/clobsim.js"), "replay", report]),
          () => openingIn(browser, report, moves),
        ],
        slow,
      );
      const [frames = []] = await takeTurns([() => frameWhileTrading(browser, server.port)], slow);
      const opening = `a report of ${MANY} commands, decided anew`;
      return {
        unit: "ms",
        baseline: "clobsim replay of the same report, its whole process; a frame at 60 a second",
        rounds,
        measurements: [
          measurementOf("first paint, on loopback", "page", paints, null),
          measurementOf(opening, "clobsim replay", replays, median(replays)),
          measurementOf(opening, "page", openings, median(replays)),
          measurementOf("to any command of it, drawn", "page", moves, null),
          measurementOf(
            `a frame while ${ORDERS_A_SECOND} orders a second change a book`,
            "page",
            frames,
            FRAME_MS,
          ),
        ],
        notes: [
          `The report and the frames in ${slow.rounds} rounds, ${MOVES} moves in each; frames are means of ${WATCHED_MS / 1_000} s, drawn without a graphics card beside the server and its client.`,
        ],
      };
    } finally {
      await browser.close();
      await server.stop();
    }
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
    const start = performance.now();
    await chooser.setInputFiles(report);
    await page.locator(".panes").waitFor();
    const opened = performance.now() - start;
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
  const answers: Promise<void>[] = [];
  const timer = setInterval(() => {
    const due = ((performance.now() - start) * ORDERS_A_SECOND) / 1_000;
    while (answers.length < due)
      answers.push(answered(calls[answers.length % calls.length] as Call, port, agent));
  }, ORDER_BATCH_MS);
  return async () => {
    clearInterval(timer);
    await Promise.all(answers);
    agent.destroy();
    return (answers.length * 1_000) / (performance.now() - start);
  };
}

const answered = ({ method, path, headers, body }: Call, port: number, agent: Agent): Promise<void> =>
  new Promise((resolve, reject) => {
    const length = { "content-length": Buffer.byteLength(body) };
    const sent = request({
      port,
      host: "127.0.0.1",
      method,
      path,
      headers: { ...headers, ...length },
      agent,
    });
    sent.on("error", reject).on("response", (reply) => reply.resume().on("end", resolve));
    sent.end(body);
  });
