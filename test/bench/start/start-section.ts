import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  benchFolder,
  buildProgram,
  inCheckout,
  millisecondsToEnd,
  millisecondsToFirstAnswer,
  serveClobsim,
} from "../programs.ts";
import { median, takeTurns } from "../rounds.ts";
import { smallScenario } from "../scenario/small-scenario.ts";
import type { Section } from "../section.ts";
import { measurementOf } from "../section.ts";

const FEWEST_ROUNDS = 9;
const MARKETS = ["--markets", "5000"];
/** Rounds of starts that take seconds. */
const SLOW_ROUNDS = 7;
const SCENARIOS = 1_000;
/** Value of `CLOBSIM_CACHE` that disables the cache. */
const OFF = "off";

/** Start time of the program. */
export const startSection: Section = {
  name: "start",
  about: "from the start of a process to what it is for",
  async measure(asked) {
    await buildProgram();
    const folder = benchFolder();
    const kept = join(folder, "cache");
    const rounds = Math.max(asked, FEWEST_ROUNDS);
    await keepStart(kept);
    await keepStart(kept, ...MARKETS);
    const subjects = lineUp(kept, scenarios(folder));
    const samples = await takeTurns(
      subjects.map(({ measure }) => measure),
      { rounds, warmUps: 1 },
    );
    const slow = await takeTurns([serving(kept, ...MARKETS), serving(OFF, ...MARKETS)], {
      rounds: SLOW_ROUNDS,
      warmUps: 1,
    });
    const mid = (subject: string): number =>
      median(samples[subjects.findIndex((each) => each.subject === subject)] ?? []);
    const serve = `clobsim serve ${MARKETS.join(" ")}`;
    return {
      unit: "ms",
      baseline: "what Node alone needs for the same",
      rounds,
      measurements: [
        ...subjects.map(({ workload, subject }, index) =>
          measurementOf(workload, subject, samples[index] ?? [], mid(workload === END ? NOTHING : BARE)),
        ),
        measurementOf(FIRST_ANSWER, serve, slow[0] ?? [], mid(BARE)),
        measurementOf(FIRST_ANSWER, `${serve}, nothing kept`, slow[1] ?? [], mid(BARE)),
      ],
      notes: [
        "A program that was started before takes what it kept then from the user's cache folder; nothing kept: as the first time.",
        `${MARKETS.join(" ")} in ${SLOW_ROUNDS} rounds of its own.`,
        ...(process.env.NODE_EXTRA_CA_CERTS === undefined ? [] : [CERTIFICATES]),
      ],
    };
  },
};

const CERTIFICATES =
  "NODE_EXTRA_CA_CERTS is set: Node reads those certificates at every start, which makes all ratios smaller.";

const FIRST_ANSWER = "to the first 200";
const END = "to the end";
const BARE = "bare node:http";
const NOTHING = "node -e 0";

function lineUp(kept: string, folder: string) {
  const program = inCheckout("bin/clobsim.js");
  const bare = inCheckout("test/bench/start/bare-server.mjs");
  return [
    {
      workload: FIRST_ANSWER,
      subject: BARE,
      measure: () => millisecondsToFirstAnswer((port) => [bare, String(port)]),
    },
    { workload: FIRST_ANSWER, subject: "clobsim serve", measure: serving(kept) },
    { workload: FIRST_ANSWER, subject: "clobsim serve, nothing kept", measure: serving(OFF) },
    { workload: END, subject: NOTHING, measure: () => millisecondsToEnd(["-e", "0"]) },
    { workload: END, subject: "clobsim --version", measure: () => millisecondsToEnd([program, "--version"]) },
    {
      workload: END,
      subject: `clobsim run, ${SCENARIOS} small scenarios`,
      measure: keptIn(kept, () => millisecondsToEnd([program, "run", folder])),
    },
  ];
}

/** Lets a program use a folder as its cache. */
const keptIn = (folder: string, run: () => Promise<number>) => (): Promise<number> => {
  process.env.CLOBSIM_CACHE = folder;
  return run();
};

const serving = (folder: string, ...flags: readonly string[]): (() => Promise<number>) =>
  keptIn(folder, () =>
    millisecondsToFirstAnswer((port) => [
      inCheckout("bin/clobsim.js"),
      "serve",
      "--ephemeral",
      "--port",
      String(port),
      ...flags,
    ]),
  );

const RETRY_MS = 50;

/** Runs a server until it has written its cache. */
async function keepStart(folder: string, ...flags: readonly string[]): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const openings = () => readdirSync(folder).filter((name) => /^opening-[0-9a-f]+$/.test(name)).length;
  const before = openings();
  process.env.CLOBSIM_CACHE = folder;
  const served = await serveClobsim(...flags);
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
