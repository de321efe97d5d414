import { existsSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runSuite } from "../../../src/scenario/run/run-suite.ts";
import { startScenarioServer } from "../../../src/start-exchange.ts";
import { diffOf, resultOf, ScenarioFolder, scenarioAt } from "./scenario-folder.ts";

const folder = new ScenarioFolder();
const updating = { isUpdating: true } as const;

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

/** Runs a file as it is now. */
const statusOf = async (name: string) => (await resultOf(scenarioAt(folder.at(name)))).status;

const HASH = /v2:[\da-f]{64}/g;

it("a state hash is not written into a file that somebody changed while it ran", async () => {
  const scenario = folder.scenario(`${OPENING}  - expect: { stateHash: "" }\n`, "edited.yaml");
  const edited = `# a remark\n${folder.read("edited.yaml")}`;
  folder.write("edited.yaml", edited);
  await expect(resultOf(scenario, updating)).rejects.toThrow(
    /edited\.yaml was changed while it ran: run it again/,
  );
  expect(folder.read("edited.yaml")).toBe(edited);
});

describe("a golden file", () => {
  it("that is missing is written with its folders, and matches from then on", async () => {
    const scenario = folder.scenario(`${OPENING}  - expect: { golden: deep/er/golden.txt }\n`);
    expect((await resultOf(scenario)).failure?.message).toBe("the golden file does not exist");
    expect(existsSync(folder.at("deep"))).toBe(false);
    const { status, written } = await resultOf(scenario, updating);
    expect({ status, written }).toEqual({ status: "passed", written: [folder.at("deep/er/golden.txt")] });
    expect(folder.read("deep/er/golden.txt")).toBe(GOLDEN);
    expect((await resultOf(scenario)).status).toBe("passed");
  });

  it("that differs is shown line by line, and overwritten", async () => {
    folder.write("stale.txt", GOLDEN.replace("15 (1)", "14 (2)"));
    const scenario = folder.scenario(`${OPENING}  - expect: { golden: stale.txt }\n`);
    const { failure } = await resultOf(scenario);
    expect(failure?.message).toBe("books and trades differ from the golden file");
    const lines = diffOf(failure);
    expect(lines.filter((line) => /^[-+]/.test(line))).toEqual([
      "-                  |    0.5 | 14 (2)",
      "+                  |    0.5 | 15 (1)",
    ]);
    expect(lines.at(-1)).toBe("# clobsim run --update overwrites it");
    await resultOf(scenario, updating);
    expect(folder.read("stale.txt")).toBe(GOLDEN);
  });

  it("may have Windows line ends, and is then not changed", async () => {
    const text = GOLDEN.replaceAll("\n", "\r\n");
    folder.write("windows.txt", text);
    const scenario = folder.scenario(`${OPENING}  - expect: { golden: windows.txt }\n`);
    expect(await resultOf(scenario, updating)).toMatchObject({ status: "passed", written: [] });
    expect(folder.read("windows.txt")).toBe(text);
  });

  it("that matches is not written", async () => {
    folder.write("right.txt", GOLDEN);
    const before = statSync(folder.at("right.txt"), { bigint: true }).mtimeNs;
    const { written } = await folder.run(`${OPENING}  - expect: { golden: right.txt }\n`, updating);
    expect(written).toEqual([]);
    expect(statSync(folder.at("right.txt"), { bigint: true }).mtimeNs).toBe(before);
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
  ])("replaces %s, and nothing else changes", async (what, value, quote, as) => {
    const around = (text: string): string =>
      as(`# é ∑ 😀 stays\n${OPENING}  - expect: { stateHash: ${text} }   # so does this\n  - advance: 1s\n`);
    const name = `hash-${what.replaceAll(" ", "-")}.yaml`;
    const scenario = folder.scenario(around(value), name);
    expect((await resultOf(scenario)).status).toBe("failed");
    expect(folder.read(name)).toBe(around(value));
    const { status, stateHash, written: files } = await resultOf(scenario, updating);
    expect({ status, files }).toEqual({ status: "passed", files: [folder.at(name)] });
    expect(folder.read(name)).toBe(around(`${quote}${stateHash}${quote}`));
    expect(await statusOf(name)).toBe("passed");
  });

  it("is written in quotes after a key without a value", async () => {
    const text = `${OPENING}  - expect:\n      stateHash:\n  - advance: 1s\n`;
    const { stateHash } = await resultOf(folder.scenario(text, "none.yaml"), updating);
    expect(folder.read("none.yaml")).toBe(text.replace("stateHash:", `stateHash: "${stateHash}"`));
  });

  it("is written into JSON, which stays JSON", async () => {
    const text = '{ "scenario": "x", "steps": [{ "expect": { "stateHash": null } }] }';
    const { stateHash } = await resultOf(folder.scenario(text, "json.yaml"), updating);
    expect(JSON.parse(folder.read("json.yaml"))).toMatchObject({ steps: [{ expect: { stateHash } }] });
  });

  it("is written in each of its places", async () => {
    const text = OPENING.replace("steps:\n", 'steps:\n  - expect: { stateHash: "" }\n');
    const scenario = folder.scenario(`${text}  - expect: { stateHash: "" }\n`, "twice.yaml");
    await resultOf(scenario, updating);
    const hashes = folder.read("twice.yaml").match(HASH) ?? [];
    expect(new Set(hashes).size).toBe(2);
    expect(await statusOf("twice.yaml")).toBe("passed");
  });

  it("of an included file is written to that file", async () => {
    folder.write("parts/_closing.yaml", '- advance: 1s\n- expect: { stateHash: "" }\n');
    const text = `${OPENING}  - include: parts/_closing.yaml\n`;
    const scenario = folder.scenario(text, "including.yaml");
    await resultOf(scenario, updating);
    expect(folder.read("including.yaml")).toBe(text);
    expect(folder.read("parts/_closing.yaml")).toMatch(
      /^- advance: 1s\n- expect: \{ stateHash: "v2:[\da-f]{64}" \}\n$/,
    );
    expect(await statusOf("including.yaml")).toBe("passed");
  });

  it("that a race checks in every order is written once, if it is always the same", async () => {
    const text = `scenario: nothing races
accounts: { alice: { USDC: 10 } }
steps:
  - race: [{ alice: cancel all }, { alice: cancel all }, { alice: cancel all }]
    after: { stateHash: "" }
  - expect: { stateHash: "" }
`;
    expect((await resultOf(folder.scenario(text, "race.yaml"), updating)).status).toBe("passed");
    expect(folder.read("race.yaml").replace(HASH, "")).toBe(text);
    expect(await statusOf("race.yaml")).toBe("passed");
  });

  it("that differs each time it is checked fails, and nothing is written", async () => {
    const part = "- alice: BUY 1 YES @ 0.4\n- expect: { stateHash: }\n";
    folder.write("_again.yaml", part);
    const text = `${OPENING}  - include: _again.yaml\n  - include: _again.yaml\n`;
    const { failure, written } = await folder.run(text, updating);
    expect(failure?.message).toBe(
      "no single value can be written, because this is checked more than once and differs",
    );
    expect(written).toEqual([]);
    expect(folder.read("_again.yaml")).toBe(part);
  });

  it("that holds in one order of a race is not overwritten for another", async () => {
    const text = (hash: string): string => `scenario: orders matter
accounts: { alice: { USDC: 10 } }
steps:
  - race: [{ alice: BUY 1 YES @ 0.5 }, { alice: BUY 2 YES @ 0.5 }]
    after: { stateHash: "${hash}" }
`;
    const { failure } = await folder.run(text(""));
    const [first = ""] = failure?.diff.map(({ text: line }) => line).filter((line) => HASH.test(line)) ?? [];
    const result = await resultOf(folder.scenario(text(first), "ordered.yaml"), updating);
    expect(result).toMatchObject({ status: "failed", written: [] });
    expect(folder.read("ordered.yaml")).toBe(text(first));
  });
});

describe("updating", () => {
  it("writes nothing for a scenario that fails", async () => {
    const text = `${OPENING}  - expect: { stateHash: "", golden: never.txt }
  - expect: { book: { YES: { asks: [] } } }
`;
    const result = await resultOf(folder.scenario(text, "failing.yaml"), updating);
    expect(result).toMatchObject({ status: "failed", written: [] });
    expect(result.failure?.message).toBe("the asks of YES are not as expected");
    expect(folder.read("failing.yaml")).toBe(text);
    expect(existsSync(folder.at("never.txt"))).toBe(false);
  });

  it.each([
    ["written once if it is the same", 5, ["passed", "passed"]],
    ["not overwritten with another", 6, ["passed", "failed"]],
  ])("a golden file that two scenarios share is %s", async (_what, shares, statuses) => {
    const name = `shared-${shares}`;
    const expecting = `- expect: { golden: ${name}.txt }\n`;
    const scenarios = [OPENING, OPENING.replace("BUY 5", `BUY ${shares}`)].map((text, index) =>
      folder.scenario(`${text}  ${expecting}`, `${name}-${index}.yaml`),
    );
    const options = { ...updating, via: "process", startServer: startScenarioServer } as const;
    const { results } = await runSuite(scenarios, options);
    expect(results.map(({ status }) => status)).toEqual(statuses);
    expect(results.map(({ written }) => written)).toEqual([[folder.at(`${name}.txt`)], []]);
    expect(folder.read(`${name}.txt`)).toBe(GOLDEN);
  });

  it("writes over HTTP what it writes in this process", async () => {
    const text = `${OPENING}  - expect: { stateHash: "", golden: ways.txt }\n`;
    await resultOf(folder.scenario(text, "ways.yaml"), { ...updating, via: "http" });
    expect(folder.read("ways.txt")).toBe(GOLDEN);
    expect(await statusOf("ways.yaml")).toBe("passed");
  });
});
