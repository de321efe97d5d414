import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { TestExchanges } from "../../src/fixtures/test-exchange.ts";
import { openExchange, startExchange } from "../../src/index.ts";
import { listenLocally } from "../support/local-server.ts";
import {
  CLOBSIM,
  inCheckout,
  millisecondsToEnd,
  millisecondsToFirstAnswer,
  type Programs,
} from "./programs.ts";
import { against, elapsed, lineOf, type Measurement, measured, type Section } from "./rounds.ts";
import { smallScenario } from "./scenario-section.ts";

const MARKETS = ["--markets", "5000"];
/** Rounds of starts that take seconds. */
const SLOW_ROUNDS = 7;
const SCENARIOS = 1_000;
/** Value of `CLOBSIM_CACHE` that disables the cache. */
const OFF = "off";
const BARE = "bare node:http";
const NOTHING = "node -e 0";
const CERTIFICATES =
  "NODE_EXTRA_CA_CERTS is set: Node reads those certificates at every start, which makes all ratios smaller.";

/** Start time of the program. */
export const startSection: Section = {
  name: "start",
  about: "from the start of a process to what it is for",
  unit: "ms",
  baseline: "what Node alone needs for the same",
  fewest: 9,
  async measure(rounds, programs) {
    const folder = programs.folder();
    const cache = join(folder, "cache");
    await fillCache(programs, cache);
    await fillCache(programs, cache, ...MARKETS);
    const bare = (port: number) => [inCheckout("test/bench/start-server.mjs"), String(port)];
    const answers = (subject: string, sample: () => Promise<number>) =>
      lineOf("to the first 200", subject, sample);
    const ends = (subject: string, ...args: readonly string[]) =>
      lineOf(
        "to the end",
        subject,
        withCache(cache, () => millisecondsToEnd(args)),
      );
    const lines = [
      answers(BARE, () => millisecondsToFirstAnswer(bare)),
      answers("clobsim serve", serving(cache)),
      answers("clobsim serve, nothing kept", serving(OFF)),
      ends(NOTHING, "-e", "0"),
      ends("clobsim --version", CLOBSIM, "--version"),
      ends(`clobsim run, ${SCENARIOS} small scenarios`, CLOBSIM, "run", scenarios(folder)),
    ];
    const serve = `clobsim serve ${MARKETS.join(" ")}`;
    const slow = [
      answers(serve, serving(cache, ...MARKETS)),
      answers(`${serve}, nothing kept`, serving(OFF, ...MARKETS)),
    ];
    const measurements = await measured(lines, { rounds, warmUps: 1 }, against(BARE, NOTHING));
    const [{ median: fastest }] = measurements as [Measurement];
    const slowest = await measured(slow, { rounds: SLOW_ROUNDS, warmUps: 1 });
    return {
      measurements: [...measurements, ...slowest.map((each) => ({ ...each, ratio: each.median / fastest }))],
      notes: [
        "A program that was started before takes what it kept then from the user's cache folder; nothing kept: as the first time.",
        `${MARKETS.join(" ")} in ${SLOW_ROUNDS} rounds of its own.`,
        ...(process.env.NODE_EXTRA_CA_CERTS === undefined ? [] : [CERTIFICATES]),
      ],
    };
  },
};

/** Lets a program use a folder as its cache. */
const withCache = (folder: string, run: () => Promise<number>) => (): Promise<number> => {
  process.env.CLOBSIM_CACHE = folder;
  return run();
};

const serving = (folder: string, ...flags: readonly string[]): (() => Promise<number>) =>
  withCache(folder, () =>
    millisecondsToFirstAnswer((port) => [CLOBSIM, "serve", "--ephemeral", "--port", String(port), ...flags]),
  );

const RETRY_MS = 50;

/** Runs a server until it has written its cache. */
async function fillCache(programs: Programs, folder: string, ...flags: readonly string[]): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const openings = () => readdirSync(folder).filter((name) => /^opening-[0-9a-f]+$/.test(name)).length;
  const before = openings();
  process.env.CLOBSIM_CACHE = folder;
  const served = await programs.clobsim(...flags);
  while (openings() === before) await delay(RETRY_MS);
  await served.stop();
}

/** Writes a folder of small scenarios, one per file. */
function scenarios(parent: string): string {
  const folder = join(parent, "scenarios");
  mkdirSync(folder);
  for (let number = 1; number <= SCENARIOS; number += 1) {
    writeFileSync(join(folder, `${number}.yaml`), smallScenario(number));
  }
  return folder;
}

/** Time to open an exchange for a test, after the first one of the process has read the world. */
export const openingSection: Section = {
  name: "opening",
  about: "an exchange for a test: opened, served, restored",
  unit: "ms",
  baseline: "a bare server of node:http that begins to listen",
  fewest: 25,
  async measure(rounds) {
    const measurements = [];
    for (const world of ["tiny", "the default world"]) {
      const options = { clock: "frozen", ...(world === "tiny" ? { world } : {}) } as const;
      const lent = await new TestExchanges(options).acquire();
      const line = (subject: string, open: () => Promise<() => unknown>) =>
        lineOf(world, subject, async () => {
          let close: () => unknown = () => {};
          const ms = await elapsed(async () => {
            close = await open();
          });
          await close();
          return ms;
        });
      const lines = [
        line("bare node:http, listening", listening),
        line("startExchange", async () => (await startExchange(options)).close),
        line("openExchange", async () => (await openExchange(options)).close),
        line("restored, with ten accounts' keys", async () => {
          lent.begin();
          return () => {};
        }),
      ];
      measurements.push(...(await measured(lines, { rounds, warmUps: 5 })));
    }
    return { measurements, notes: ["In one process, after the first of each."] };
  },
};

async function listening(): Promise<() => unknown> {
  const server = createServer();
  await listenLocally(server);
  return () => new Promise((resolve) => server.close(resolve));
}
