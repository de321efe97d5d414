import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { OverHttp } from "../../../src/fuzz/http/over-http.ts";
import type { Failure } from "../../../src/fuzz/outcome.ts";
import { bundleInto } from "../../support/bundled.ts";

/** Something wrong that only several clients at once, or a crash, can see: one change of one source. */
interface Defect {
  readonly name: string;
  readonly file: string;
  readonly right: string;
  readonly wrong: string;
  /** What the failure that finds it may be called. */
  readonly fingerprint: RegExp;
  /** Seeds that are tried, from the first to before the second. */
  readonly seeds: readonly [number, number];
}

const DEFECTS: readonly Defect[] = [
  {
    name: "a book is served from a stale cache",
    file: "src/wire/replies/book-reply.ts",
    right: "page.sequence !== lane.sequence",
    wrong: "page.sequence < lane.sequence - 1",
    fingerprint: /^http: another answer: getBook 200: /,
    seeds: [0, 10],
  },
  {
    name: "requests of one connection do not wait for each other",
    file: "src/http/connection.ts",
    right: "take(turn: Turn): void {",
    wrong: "take(turn: Turn): void {\n    if (turn !== this.#current) return this.#begin(turn);",
    fingerprint: /^http: older sequence against order of connection: /,
    seeds: [0, 60],
  },
  {
    name: "an order is answered before it is journalled, and then undone",
    file: "src/http/routes/trading.ts",
    right: "  placeOrder: ({ body, caller }, service) => placeOrder(service, caller, body),",
    wrong: `  placeOrder: ({ body, caller }, service) => {
    const before = service.exchange.snapshot();
    const reply = placeOrder(service, caller, body);
    if (service.exchange.sequence % 20 === 0) setImmediate(() => service.exchange.restore(before));
    return reply;
  },`,
    fingerprint: /^http: /,
    seeds: [0, 10],
  },
  {
    name: "an answer says the sequence at which it leaves",
    file: "src/http/send.ts",
    right: "sendNow(service, request, response, content, headers));",
    wrong: "sendNow(service, request, response, content, simHeaders(service, request.requestId)));",
    fingerprint: /^http: /,
    seeds: [0, 20],
  },
  {
    name: "a request whose answer is lost is carried out twice",
    file: "src/http/injected-fault.ts",
    right: "else execute();",
    wrong: 'else {\n      if (fault.drop === "reply") execute();\n      execute();\n    }',
    fingerprint: /^http: (?:carried out twice|nobody asked): /,
    seeds: [0, 40],
  },
  {
    name: "a request that a fault refuses is carried out all the same",
    file: "src/http/injected-fault.ts",
    right: "const strike = (): void => {",
    wrong: "const strike = (): void => {\n    if (fault.status === 503) setImmediate(execute);",
    fingerprint: /^http: nobody asked: /,
    seeds: [0, 40],
  },
  {
    name: "answers leave before what they show is kept",
    file: "src/http/send.ts",
    right: "const kept = service.keeper.keep(position);",
    wrong: "const kept = position < 0 ? service.keeper.keep(position) : undefined;",
    fingerprint: /^http: /,
    seeds: [0, 200],
  },
];

const COMMANDS = 150;

const folder = mkdtempSync(join(tmpdir(), "clobsim-http-defects-"));
afterAll(() => rmSync(folder, { recursive: true }));

type Module = { readonly OverHttp: new (program: string) => OverHttp };

/** The fuzzer and the program it kills, built from sources of which one is changed. */
async function builtWith({ file, right, wrong }: Defect): Promise<OverHttp> {
  const text = readFileSync(file, "utf8");
  expect(text.split(right)).toHaveLength(2);
  const built = mkdtempSync(join(folder, "built-"));
  const entryPoints = { fuzz: "src/fuzz/http/over-http.ts", cli: "src/cli/main.ts" };
  await bundleInto(built, entryPoints, new Map([[file, text.replace(right, wrong)]]));
  const { OverHttp: Runner } = (await import(join(built, "fuzz.js"))) as Module;
  return new Runner(join(built, "cli.js"));
}

describe("each defect that only real clients see is found", () => {
  it.each(DEFECTS)("$name", async (defect) => {
    const runner = await builtWith(defect);
    const [first, end] = defect.seeds;
    let failure: Failure | null = null;
    for (let seed = first; seed < end && failure === null; seed += 1) {
      ({ failure } = await runner.run(seed, { commands: COMMANDS }));
    }
    expect(failure?.fingerprint).toMatch(defect.fingerprint);
  });
});
