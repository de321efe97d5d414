import { mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readJournal } from "../../src/fuzz/http/answer-replay.ts";
import { check } from "../../src/fuzz/http/check.ts";
import type { httpRunner } from "../../src/fuzz/http/session.ts";
import { profileOf } from "../../src/fuzz/http/traffic.ts";
import type { SeedResult, SeedRunner } from "../../src/fuzz/seeds.ts";
import { readLog } from "../fuzz/http/observed.ts";
import { bundleInto, planted } from "../support/bundled.ts";
import { temporaryFolder } from "../support/folder.ts";

/** A defect that only concurrent clients or a crash reveal: one change in one source file. */
interface Defect {
  readonly name: string;
  readonly file: string;
  readonly right: string;
  readonly wrong: string;
  /** Fingerprints of the failures that may reveal it. */
  readonly fingerprint: RegExp;
  /** Range of seeds to try, the end excluded. Single seeds may pass because they depend on timing. */
  readonly seeds: readonly [number, number];
  /** Whether only seeds with a killed server reveal it. Then the program is built with the defect too. */
  readonly isOfCrashes?: boolean;
}

const DEFECTS: readonly Defect[] = [
  {
    name: "a book is served from a stale cache",
    file: "src/api/order-book.ts",
    right: "text?.sequence !== bookState.sequence",
    wrong: "text === undefined || text.sequence < bookState.sequence - 1",
    fingerprint: /^http: another answer: getBook 200: /,
    seeds: [0, 10],
  },
  {
    name: "requests of one connection do not wait for each other",
    file: "src/server/http-server.ts",
    right: "take(turn: Turn): void {",
    wrong: "take(turn: Turn): void {\n    if (turn !== this.#current) return this.#begin(turn);",
    fingerprint: /^http: older sequence against order of connection: /,
    seeds: [0, 80],
  },
  {
    name: "an order is answered before it is journalled, and then undone",
    file: "src/server/handlers/trading.ts",
    right: "    const firstTrade = view.state.trades.next;",
    wrong: `    const before = service.exchange.snapshot();
    queueMicrotask(() => {
      if (service.exchange.sequence % 20 === 0) setImmediate(() => service.exchange.restore(before));
    });
    const firstTrade = view.state.trades.next;`,
    fingerprint: /^http: /,
    seeds: [0, 10],
  },
  {
    name: "an answer has the sequence at which it is sent",
    file: "src/server/send.ts",
    right: "else write(service, response, reply, headers);",
    wrong: "else write(service, response, reply, simHeaders(service, request.requestId));",
    fingerprint: /^http: /,
    seeds: [0, 20],
  },
  {
    name: "a request whose answer is lost is executed twice",
    file: "src/server/router.ts",
    right: "else execute();",
    wrong: 'else {\n      if (fault.drop === "reply") execute();\n      execute();\n    }',
    fingerprint: /^http: (?:executed twice|without a request): /,
    seeds: [0, 40],
  },
  {
    name: "a request that a fault refuses is executed all the same",
    file: "src/server/router.ts",
    right: "const apply = (): void => {",
    wrong: "const apply = (): void => {\n    if (fault.status === 503) setImmediate(execute);",
    fingerprint: /^http: without a request: /,
    seeds: [10, 60],
  },
  {
    name: "answers are sent before the journal is flushed",
    file: "src/server/send.ts",
    right: "const flushed = persistence.flush(position);",
    wrong: "const flushed = position < 0 ? persistence.flush(position) : undefined;",
    fingerprint: /^http: (?:older sequence|beyond the journal|acknowledged and lost|another)/,
    seeds: [22, 200],
    isOfCrashes: true,
  },
];

const COMMANDS = 150;

/** A defect of the core, which HTTP clients reveal too: shares of a canceled sale stay reserved. */
const CORE_DEFECT: Pick<Defect, "file" | "right" | "wrong"> = {
  file: "src/core/rules/trading.ts",
  right: "market, order, remaining, size(0));",
  wrong: 'market, order, remaining, order.side === "SELL" ? remaining : size(0));',
};

const folder = temporaryFolder();

interface Module {
  readonly httpRunner: typeof httpRunner;
}

/** Builds the fuzzer, and the program that it kills, from sources with a defect. */
async function builtWith(plan: Partial<Defect> & typeof CORE_DEFECT): Promise<SeedRunner> {
  const { file, right, wrong, isOfCrashes = false } = plan;
  const built = mkdtempSync(join(folder, "built-"));
  const program = isOfCrashes && { cli: "src/cli/main.ts" };
  const packages = isOfCrashes ? "bundle" : "external";
  const entries = { fuzz: "src/fuzz/http/session.ts", ...program };
  await bundleInto(built, entries, planted(file, right, wrong), packages);
  const module = (await import(join(built, "fuzz.js"))) as Module;
  return module.httpRunner(join(built, "cli.js"));
}

/** Returns the first failure, of seeds whose server is killed or of the others. */
async function firstFailure(
  runner: SeedRunner,
  [first, end]: readonly [number, number],
  isOfCrashes = false,
): Promise<SeedResult | null> {
  for (let seed = first; seed < end; seed += 1) {
    if ((profileOf(seed).server === "killed") !== isOfCrashes) continue;
    const outcome = await runner.run(seed, COMMANDS);
    if (outcome.failure !== null) return outcome;
  }
  return null;
}

it.each(DEFECTS)("a defect that only HTTP clients reveal is found: $name", async (defect) => {
  const outcome = await firstFailure(await builtWith(defect), defect.seeds, defect.isOfCrashes);
  expect(outcome?.failure?.fingerprint).toMatch(defect.fingerprint);
});

it("the observations are one history if long work yields after every step", async () => {
  const yielding = { file: "src/engine/clock.ts", right: "SLICE_MS = 5;", wrong: "SLICE_MS = 0;" };
  expect(await firstFailure(await builtWith(yielding), [0, 12])).toBeNull();
});

describe("the files of a failure", () => {
  /** Lets a defect fail. Returns its runner, the outcome and the failure. */
  async function failing(defect: typeof CORE_DEFECT, seeds: readonly [number, number]) {
    const runner = await builtWith(defect);
    const outcome = await firstFailure(runner, seeds);
    if (outcome?.failure == null) throw new Error("nothing fails");
    return { runner, outcome, failure: outcome.failure };
  }

  it("are a report and the observations, which fail again, if answers differ from the journal", async () => {
    const [defect] = DEFECTS as [Defect];
    const { runner, outcome, failure } = await failing(defect, defect.seeds);
    // The campaign sends the outcome to its thread by structured clone.
    const files = await runner.write(structuredClone(outcome), COMMANDS, folder, "stale");
    expect(files).toEqual({
      scenario: null,
      report: join(folder, "stale.ndjson"),
      remark: expect.stringContaining(join(folder, "stale.observations.ndjson")),
    });
    const journal = readJournal(readFileSync(join(folder, "stale.ndjson")));
    const log = readLog(readFileSync(join(folder, "stale.observations.ndjson"), "utf8"));
    // The replay runs without the defect.
    const found = await check(journal, log);
    expect([found?.fingerprint, found?.message]).toEqual([failure.fingerprint, failure.sentence]);
  });

  it("include a scenario if an invariant does not hold", async () => {
    const { runner, outcome, failure } = await failing(CORE_DEFECT, [0, 10]);
    expect(failure.fingerprint).toMatch(/^invariant |^defect /);
    const files = await runner.write(outcome, COMMANDS, folder, "core");
    const [scenario, report] = [join(folder, "core.yaml"), join(folder, "core.ndjson")];
    expect(files).toEqual({ scenario, report, remark: null });
    expect(readFileSync(scenario, "utf8")).toMatch(/^scenario: "an invariant does not hold: .*SELL/ms);
  });
});
