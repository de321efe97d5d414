import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { textsOf } from "../../support/page.ts";
import { fileOf, ofSteps, problemsOf, withLine } from "./scenario-texts.ts";
import { schemaOfScenarios, underlined } from "./schema.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const scenarios = readdirSync(join(ROOT, "scenarios"), { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".yaml"),
);

describe("the schema of scenarios", () => {
  it("matches the language", async () => {
    const text = `${JSON.stringify(schemaOfScenarios(), null, 2)}\n`;
    await expect(text).toMatchFileSnapshot("../../../fixtures/schemas/scenario.schema.json");
  });

  it("accepts every scenario of the suite", () => {
    expect(scenarios.length).toBeGreaterThan(270);
    const wrong = scenarios.map((name) => [
      name,
      underlined(readFileSync(join(ROOT, "scenarios", name), "utf8")),
    ]);
    expect(wrong.filter(([, problems = []]) => problems.length > 0)).toEqual([]);
  });

  it("accepts every file of the language's tests", async () => {
    const page = readFileSync(new URL("right-files.txt", import.meta.url), "utf8");
    const texts = (await textsOf(page)).map(fileOf);
    expect(texts.length).toBeGreaterThan(80);
    const wrong = texts.filter((text) => underlined(text).length > 0);
    expect(wrong.map((text) => `${text}${underlined(text).join("\n")}`)).toEqual([]);
  });

  it("accepts files of included steps", () => {
    expect(underlined("- bob: BUY 1 YES @ 0.45\n- advance: 1s\n")).toEqual([]);
  });

  it.each([
    "steps: [{ advance: 1s }]\n",
    "scenario: x\nacounts: {}\nsteps: [{ advance: 1s }]\n",
    "scenario: x\nsteps: []\n",
    "hello\n",
    withLine("settlement: sometimes"),
    withLine("balances: { alice: 1 }"),
    withLine("market: { tickSize: 0.02 }"),
    withLine("market: { fee: 1 }"),
    withLine("markets: { Rain: {} }"),
    withLine("market: {}\nmarkets: { rain: {} }"),
    "scenario: x\naccounts: { advance: {} }\nsteps: [{ advance: 1s }]\n",
    "scenario: x\naccounts: { alice: { EUR: 1 } }\nsteps: [{ advance: 1s }]\n",
    ...[
      "alice: HOLD 10 YES @ 0.5",
      "alice: BUY 10 YES 0.5",
      "alice: BUY YES 10 @ 0.5",
      "alice: fund 10 EUR",
      "alice: sleep",
      "{ alice: BUY 1 YES @ 0.5, status: LIVE }",
      "{ alice: BUY 1 YES @ 0.5, rejects: NO_SUCH_CODE }",
      "{ alice: BUY 1 YES @ 0.5, after: { trades: [] } }",
      "{ status: LIVE 0/1 }",
      "advance: soon",
      "{ advance: 1s, mine: 1 }",
      "{ advance: 1s, rejects: HTTP 500 }",
      "at: tomorrow",
      "mine: 0",
      "mine: two",
      "resolve: MAYBE",
      "race: [{ advance: 1s }]",
      "fault: { route: POST /order }",
      "fault: { route: POST /order, status: 418 }",
      "chain fault: { kind: ghost, blocks: 3 }",
      "chain fault: { kind: earthquake }",
      "fail settlement: often",
      "bump: everything",
      "request: /orders",
      "generate: { accounts: 3 }",
      "expect: {}",
      "expect: { books: { YES: { bids: [] } } }",
      "expect: { book: { MAYBE: { bids: [] } } }",
      "expect: { book: { YES: { bids: [0.55 60] } } }",
      "expect: { orders: { bid: LIVE } }",
      "expect: { quote: { YES: { best: 0.5 } } }",
      "expect: { chain: { settled: { bid: DONE } } }",
      'expect: { stateHash: "abc" }',
    ].map((step) => ofSteps(step)),
  ])("refuses what the language refuses: %j", (text) => {
    expect(problemsOf(text)).not.toEqual([]);
    expect(underlined(text)).not.toEqual([]);
  });
});
