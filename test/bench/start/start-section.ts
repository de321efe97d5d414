import { buildProgram, inCheckout, millisecondsToEnd, millisecondsToFirstAnswer } from "../programs.ts";
import { median, takeTurns } from "../rounds.ts";
import type { Section } from "../section.ts";
import { measurementOf } from "../section.ts";

const FEWEST_ROUNDS = 9;
/** A start that takes seconds needs no more. */
const SLOW_ROUNDS = 3;
const MARKETS = "5000";

/** How long a person, or a test, waits for the program. */
export const startSection: Section = {
  name: "start",
  about: "from the start of a process to what it is for",
  async measure(asked) {
    await buildProgram();
    const rounds = Math.max(asked, FEWEST_ROUNDS);
    const subjects = lineUp();
    const samples = await takeTurns(
      subjects.map(({ measure }) => measure),
      { rounds, warmUps: 1 },
    );
    const slow = await takeTurns([serving("--markets", MARKETS)], { rounds: SLOW_ROUNDS, warmUps: 0 });
    const [bare = [], , nothing = []] = samples;
    const baselines = [median(bare), median(bare), median(nothing), median(nothing)];
    return {
      unit: "ms",
      baseline: "what Node alone needs for the same",
      rounds,
      measurements: [
        ...subjects.map(({ workload, subject }, index) =>
          measurementOf(workload, subject, samples[index] ?? [], baselines[index] ?? null),
        ),
        measurementOf(FIRST_ANSWER, `clobsim serve --markets ${MARKETS}`, slow[0] ?? [], median(bare)),
      ],
      notes: [`--markets ${MARKETS} in ${SLOW_ROUNDS} rounds of its own.`],
    };
  },
};

const FIRST_ANSWER = "to the first 200";
const END = "to the end";

function lineUp() {
  const program = inCheckout("bin/clobsim.js");
  const bare = inCheckout("test/bench/start/bare-server.mjs");
  return [
    {
      workload: FIRST_ANSWER,
      subject: "bare node:http",
      measure: () => millisecondsToFirstAnswer((port) => [bare, String(port)]),
    },
    { workload: FIRST_ANSWER, subject: "clobsim serve", measure: serving() },
    { workload: END, subject: "node -e 0", measure: () => millisecondsToEnd(["-e", "0"]) },
    { workload: END, subject: "clobsim --version", measure: () => millisecondsToEnd([program, "--version"]) },
  ];
}

const serving =
  (...flags: readonly string[]) =>
  (): Promise<number> =>
    millisecondsToFirstAnswer((port) => [
      inCheckout("bin/clobsim.js"),
      "serve",
      "--ephemeral",
      "--port",
      String(port),
      ...flags,
    ]);
