import { existsSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runSuite } from "../../../src/scenario/run/run-suite.ts";
import { startScenarioServer } from "../../../src/start-exchange.ts";
import { diffOf, resultOf, ScenarioFolder, scenarioAt } from "./scenario-folder.ts";

const folder = new ScenarioFolder();

const OPENING = `scenario: a trade is recorded
accounts: { alice: { USDC: 100 }, bob: { YES: 100 } }
steps:
  - bob: SELL 20 YES @ 0.50
  - alice: BUY 5 YES @ 0.50
`;

const GOLDEN = `# a trade is recorded

trades
  alice BUY 5 YES @ 0.5 from bob

market YES
             bid |  price | ask
                 |    0.5 | 15 (1)
`;

const HASH = /v2:[\da-f]{64}/g;

let files = 0;
/** Writes a scenario file, and runs it with updates. Returns its result, its name, its text, and whether it passes from then on. */
async function updated(text: string, options = {}) {
  files += 1;
  const name = `updated-${files}.yaml`;
  const result = await resultOf(folder.scenario(text, name), { isUpdating: true, ...options });
  const again = (await resultOf(scenarioAt(folder.at(name)))).status;
  return { ...result, name, text: folder.read(name), again };
}

/** Returns a scenario that expects a golden file. */
const expecting = (golden: string): string => `${OPENING}  - expect: { golden: ${golden} }\n`;

describe("a golden file", () => {
  it("that is missing is written with its folders, and matches from then on", async () => {
    const text = expecting("deep/er/golden.txt");
    expect((await folder.failure(text)).message).toBe("the golden file does not exist");
    expect(existsSync(folder.at("deep"))).toBe(false);
    const written = [folder.at("deep/er/golden.txt")];
    expect(await updated(text)).toMatchObject({ status: "passed", written, text, again: "passed" });
    expect(folder.read("deep/er/golden.txt")).toBe(GOLDEN);
  });

  it("that differs is shown line by line, and overwritten", async () => {
    folder.write("stale.txt", GOLDEN.replace("15 (1)", "14 (2)"));
    const failure = await folder.failure(expecting("stale.txt"));
    expect(failure.message).toBe("books and trades differ from the golden file");
    const lines = diffOf(failure);
    expect(lines.filter((line) => /^[-+]/.test(line))).toEqual([
      "-                  |    0.5 | 14 (2)",
      "+                  |    0.5 | 15 (1)",
    ]);
    expect(lines.at(-1)).toBe("# clobsim run --update overwrites it");
    await updated(expecting("stale.txt"));
    expect(folder.read("stale.txt")).toBe(GOLDEN);
  });

  it.each([
    ["matches", GOLDEN],
    ["has Windows line ends", GOLDEN.replaceAll("\n", "\r\n")],
  ])("that %s is not written", async (_what, text) => {
    const path = folder.write("right.txt", text);
    const before = statSync(path, { bigint: true }).mtimeNs;
    expect(await updated(expecting("right.txt"))).toMatchObject({ status: "passed", written: [] });
    expect(folder.read("right.txt")).toBe(text);
    expect(statSync(path, { bigint: true }).mtimeNs).toBe(before);
  });

  it.each([
    ["written once if it is the same", 5, ["passed", "passed"]],
    ["not overwritten with another", 6, ["passed", "failed"]],
  ])("that two scenarios share is %s", async (_what, shares, statuses) => {
    const name = `shared-${shares}.txt`;
    const texts = [expecting(name), expecting(name).replace("BUY 5", `BUY ${shares}`)];
    const options = { isUpdating: true, via: "process", startServer: startScenarioServer } as const;
    const scenarios = texts.map((text) => folder.scenario(text));
    const { results } = await runSuite(scenarios, options);
    expect(results.map(({ status }) => status)).toEqual(statuses);
    expect(results.map(({ written }) => written)).toEqual([[folder.at(name)], []]);
    expect(folder.read(name)).toBe(GOLDEN);
  });
});

describe("a state hash", () => {
  const WRONG = `v2:${"ab".repeat(32)}`;

  const plain = (text: string): string => text;
  const crlf = (text: string): string => text.replaceAll("\n", "\r\n");
  it.each<[what: string, value: string, quote: string, as: (text: string) => string]>([
    ["an empty one in double quotes", '""', '"', plain],
    ["an empty one in single quotes", "''", "'", plain],
    ["null", "null", '"', plain],
    ["a tilde", "~", '"', plain],
    ["a wrong one", `"${WRONG}"`, '"', plain],
    ["a wrong one without quotes", WRONG, '"', plain],
    ["one of an earlier version", `"${WRONG.slice(3)}"`, '"', plain],
    ["one among line ends of Windows", '""', '"', crlf],
    ["one behind a byte order mark", '""', '"', (text) => `\ufeff${text}`],
    ["one in a file with both", '""', '"', (text) => `\ufeff${crlf(text)}`],
  ])("replaces %s, and nothing else changes", async (_what, value, quote, as) => {
    const around = (text: string): string =>
      as(`# é ∑ 😀 stays\n${OPENING}  - expect: { stateHash: ${text} }   # so does this\n  - advance: 1s\n`);
    const unchanged = folder.scenario(around(value), "unchanged.yaml");
    expect((await resultOf(unchanged)).status).toBe("failed");
    expect(folder.read("unchanged.yaml")).toBe(around(value));
    const { stateHash, name, ...rest } = await updated(around(value));
    const text = around(`${quote}${stateHash}${quote}`);
    expect(rest).toMatchObject({ status: "passed", written: [folder.at(name)], text, again: "passed" });
  });

  it("is written in quotes after a key without a value", async () => {
    const text = `${OPENING}  - expect:\n      stateHash:\n  - advance: 1s\n`;
    const { stateHash, ...rest } = await updated(text);
    expect(rest.text).toBe(text.replace("stateHash:", `stateHash: "${stateHash}"`));
  });

  it("is written into JSON of one line behind a byte order mark, in each of its places, which stays JSON", async () => {
    const expectation = '{ "expect": { "stateHash": null } }';
    const json = `{ "scenario": "x", "steps": [${expectation}, { "advance": "1s" }, ${expectation}] }`;
    const { stateHash, text, again } = await updated(`\ufeff${json}`);
    expect(text.replaceAll(/"v2:[\da-f]{64}"/g, "null")).toBe(`\ufeff${json}`);
    expect(JSON.parse(text.slice(1)).steps.at(-1)).toEqual({ expect: { stateHash } });
    expect(again).toBe("passed");
  });

  it("is written in each of its places", async () => {
    const expectation = '  - expect: { stateHash: "" }\n';
    const { text, again } = await updated(
      OPENING.replace("steps:\n", `steps:\n${expectation}`) + expectation,
    );
    expect([new Set(text.match(HASH)).size, again]).toEqual([2, "passed"]);
  });

  it("of an included file is written to that file", async () => {
    folder.write("parts/_closing.yaml", '- advance: 1s\n- expect: { stateHash: "" }\n');
    const text = `${OPENING}  - include: parts/_closing.yaml\n`;
    expect(await updated(text)).toMatchObject({ text, again: "passed" });
    expect(folder.read("parts/_closing.yaml")).toMatch(
      /^- advance: 1s\n- expect: \{ stateHash: "v2:[\da-f]{64}" \}\n$/,
    );
  });

  it("is not written into a file that somebody changed while it ran, unless another run has written it", async () => {
    const text = `${OPENING}  - expect: { stateHash: "" }\n`;
    const scenario = folder.scenario(text, "edited.yaml");
    const runOver = async (changed: string) => {
      folder.write("edited.yaml", changed);
      await resultOf(scenario, { isUpdating: true });
    };
    await expect(runOver(`# a remark\n${text}`)).rejects.toThrow(
      /edited\.yaml was changed while it ran: run it again/,
    );
    expect(folder.read("edited.yaml")).toBe(`# a remark\n${text}`);
    const written = (await updated(text)).text;
    await runOver(written);
    expect(folder.read("edited.yaml")).toBe(written);
  });

  it("that a race checks in every order is written once, if it is always the same", async () => {
    const text = `scenario: nothing races
accounts: { alice: { USDC: 10 } }
steps:
  - race: [{ alice: cancel all }, { alice: cancel all }, { alice: cancel all }]
    after: { stateHash: "" }
  - expect: { stateHash: "" }
`;
    const result = await updated(text);
    expect(result).toMatchObject({ status: "passed", again: "passed" });
    expect(result.text.replace(HASH, "")).toBe(text);
  });

  it("that differs each time it is checked fails, and nothing is written", async () => {
    const part = "- alice: BUY 1 YES @ 0.4\n- expect: { stateHash: }\n";
    folder.write("_again.yaml", part);
    const message = "no single value can be written, because this is checked more than once and differs";
    expect(await updated(`${OPENING}  - include: _again.yaml\n  - include: _again.yaml\n`)).toMatchObject({
      failure: { message },
      written: [],
    });
    expect(folder.read("_again.yaml")).toBe(part);
  });

  it("that holds in one order of a race is not overwritten for another", async () => {
    const racing = (hash: string): string => `scenario: orders matter
accounts: { alice: { USDC: 10 } }
steps:
  - race: [{ alice: BUY 1 YES @ 0.5 }, { alice: BUY 2 YES @ 0.5 }]
    after: { stateHash: "${hash}" }
`;
    const { diff } = await folder.failure(racing(""));
    const [first = ""] = diff.flatMap(({ text }) => text.match(HASH) ?? []);
    const text = racing(first);
    expect(await updated(text)).toMatchObject({ status: "failed", written: [], text });
  });
});

describe("updating", () => {
  it("writes nothing for a scenario that fails", async () => {
    const text = `${OPENING}  - expect: { stateHash: "", golden: never.txt }
  - expect: { book: { YES: { asks: [] } } }
`;
    const failure = { message: "the asks of YES are not as expected" };
    expect(await updated(text)).toMatchObject({ status: "failed", written: [], failure, text });
    expect(existsSync(folder.at("never.txt"))).toBe(false);
  });

  it("writes over HTTP what it writes in this process", async () => {
    const text = `${OPENING}  - expect: { stateHash: "", golden: ways.txt }\n`;
    expect(await updated(text, { via: "http" })).toMatchObject({ again: "passed" });
    expect(folder.read("ways.txt")).toBe(GOLDEN);
  });
});
