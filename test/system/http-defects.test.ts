import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readJournal } from "../../src/fuzz/http/answers.ts";
import { check } from "../../src/fuzz/http/check.ts";
import type { OverHttp } from "../../src/fuzz/http/session.ts";
import { httpProfile } from "../../src/fuzz/http/traffic.ts";
import type { SeedOutcome } from "../../src/fuzz/outcome.ts";
import { readLog } from "../fuzz/http/read-log.ts";
import { bundleInto } from "../support/bundled.ts";

/** Something wrong that only several clients at once, or a crash, can see: one change of one source. */
interface Defect {
  readonly name: string;
  readonly file: string;
  readonly right: string;
  readonly wrong: string;
  /** What the failure that finds it may be called. */
  readonly fingerprint: RegExp;
  /** Seeds that are tried, from the first to before the second: a seed may pass, for much depends on timing. */
  readonly seeds: readonly [number, number];
  /** Whether it shows only where a server is killed: the program is built with it, too. */
  readonly isOfCrashes?: boolean;
}

const DEFECTS: readonly Defect[] = [
  {
    name: "a book is served from a stale cache",
    file: "src/api/order-book.ts",
    right: "page.sequence !== bookState.sequence",
    wrong: "page.sequence < bookState.sequence - 1",
    fingerprint: /^http: another answer: getBook 200: /,
    seeds: [0, 10],
  },
  {
    name: "requests of one connection do not wait for each other",
    file: "src/server/connection.ts",
    right: "take(turn: Turn): void {",
    wrong: "take(turn: Turn): void {\n    if (turn !== this.#current) return this.#begin(turn);",
    fingerprint: /^http: older sequence against order of connection: /,
    seeds: [0, 80],
  },
  {
    name: "an order is answered before it is journalled, and then undone",
    file: "src/server/handlers/trading.ts",
    right: "  placeOrder: ({ body, caller }, service, view) => placeOrder(service, view, caller, body),",
    wrong: `  placeOrder: ({ body, caller }, service, view) => {
    const before = service.exchange.snapshot();
    const reply = placeOrder(service, view, caller, body);
    if (service.exchange.sequence % 20 === 0) setImmediate(() => service.exchange.restore(before));
    return reply;
  },`,
    fingerprint: /^http: /,
    seeds: [0, 10],
  },
  {
    name: "an answer says the sequence at which it leaves",
    file: "src/server/send.ts",
    right: "sendNow(service, request, response, content, headers));",
    wrong: "sendNow(service, request, response, content, simHeaders(service, request.requestId)));",
    fingerprint: /^http: /,
    seeds: [0, 20],
  },
  {
    name: "a request whose answer is lost is carried out twice",
    file: "src/server/router.ts",
    right: "else execute();",
    wrong: 'else {\n      if (fault.drop === "reply") execute();\n      execute();\n    }',
    fingerprint: /^http: (?:carried out twice|nobody asked): /,
    seeds: [0, 40],
  },
  {
    name: "a request that a fault refuses is carried out all the same",
    file: "src/server/router.ts",
    right: "const apply = (): void => {",
    wrong: "const apply = (): void => {\n    if (fault.status === 503) setImmediate(execute);",
    fingerprint: /^http: nobody asked: /,
    seeds: [10, 60],
  },
  {
    name: "answers leave before what they show is kept",
    file: "src/server/send.ts",
    right: "const kept = service.persistence.flush(position);",
    wrong: "const kept = position < 0 ? service.persistence.flush(position) : undefined;",
    fingerprint: /^http: (?:older sequence|beyond the journal|acknowledged and lost|another)/,
    seeds: [22, 200],
    isOfCrashes: true,
  },
];

const COMMANDS = 150;

/** What no client is needed for, but every client shows: shares of a canceled sale stay reserved. */
const OF_THE_CORE: Pick<Defect, "file" | "right" | "wrong"> = {
  file: "src/core/rules/apply-trading.ts",
  right: "    -reservationOf(order, remaining, market.feeRateBps),",
  wrong: '    order.side === "SELL" ? 0 : -reservationOf(order, remaining, market.feeRateBps),',
};

const folder = mkdtempSync(join(tmpdir(), "clobsim-http-defects-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface Module {
  readonly OverHttp: new (program: string) => OverHttp;
}

/** The fuzzer, and the program that it kills, built from sources of which one is changed. */
async function builtWith({
  file,
  right,
  wrong,
  isOfCrashes = false,
}: Partial<Defect> & typeof OF_THE_CORE): Promise<OverHttp> {
  const text = readFileSync(file, "utf8");
  expect(text.split(right)).toHaveLength(2);
  const built = mkdtempSync(join(folder, "built-"));
  const entryPoints = {
    fuzz: "src/fuzz/http/session.ts",
    ...(isOfCrashes && { cli: "src/cli/main.ts" }),
  };
  await bundleInto(built, entryPoints, new Map([[file, text.replace(right, wrong)]]));
  const { OverHttp: Built } = (await import(join(built, "fuzz.js"))) as Module;
  return new Built(join(built, "cli.js"));
}

/** The first seed that fails, of those whose server is killed or of the others. */
async function firstFailure(
  runner: OverHttp,
  [first, end]: readonly [number, number],
  isOfCrashes = false,
): Promise<SeedOutcome | null> {
  for (let seed = first; seed < end; seed += 1) {
    if ((httpProfile(seed).server === "killed") !== isOfCrashes) continue;
    const outcome = await runner.run(seed, { commands: COMMANDS });
    if (outcome.failure !== null) return outcome;
  }
  return null;
}

describe("each defect that only real clients see is found", () => {
  it.each(DEFECTS)("$name", async (defect) => {
    const runner = await builtWith(defect);
    const outcome = await firstFailure(runner, defect.seeds, defect.isOfCrashes);
    expect(outcome?.failure?.fingerprint).toMatch(defect.fingerprint);
  });
});

describe("where long work yields after every step", () => {
  it("what clients see is one history all the same", async () => {
    const yielding = { file: "src/engine/slices.ts", right: "SLICE_MS = 5;", wrong: "SLICE_MS = 0;" };
    const outcome = await firstFailure(await builtWith(yielding), [0, 12]);
    expect(outcome).toBeNull();
  });
});

describe("what tells a failure", () => {
  it("is a report and the observations, which fail again, where answers differ from the journal", async () => {
    const [defect] = DEFECTS as [Defect];
    const runner = await builtWith(defect);
    const outcome = await firstFailure(runner, defect.seeds);
    if (outcome?.failure == null) throw new Error("nothing fails");
    // As it comes to the campaign's thread and back.
    const files = await runner.write(structuredClone(outcome), { commands: COMMANDS }, folder, "stale");
    expect(files).toEqual({
      scenario: null,
      report: join(folder, "stale.ndjson"),
      remark: expect.stringContaining(join(folder, "stale.observations.ndjson")),
    });
    const journal = readJournal(readFileSync(join(folder, "stale.ndjson")));
    const log = readLog(readFileSync(join(folder, "stale.observations.ndjson"), "utf8"));
    // Here the sources are right, so that what is made again is, too.
    const { fingerprint, sentence } = outcome.failure;
    const found = await check(journal, log);
    expect([found?.fingerprint, found?.message]).toEqual([fingerprint, sentence]);
  });

  it("is a scenario, too, where an invariant does not hold", async () => {
    const runner = await builtWith(OF_THE_CORE);
    const outcome = await firstFailure(runner, [0, 10]);
    if (outcome?.failure == null) throw new Error("nothing fails");
    expect(outcome.failure.fingerprint).toMatch(/^invariant |^defect /);
    const files = await runner.write(outcome, { commands: COMMANDS }, folder, "core");
    expect(files).toEqual({
      scenario: join(folder, "core.yaml"),
      report: join(folder, "core.ndjson"),
      remark: null,
    });
    expect(readFileSync(join(folder, "core.yaml"), "utf8")).toMatch(
      /^scenario: "an invariant does not hold: .*SELL/ms,
    );
  });
});
