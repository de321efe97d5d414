import { describe, expect, it } from "vitest";
import { loadScenario } from "../../../src/scenario/language/read-scenario.ts";
import type { Scenario } from "../../../src/scenario/language/steps.ts";
import { resultOf, ScenarioFolder } from "./scenario-folder.ts";

const folder = new ScenarioFolder();

const LONG = `scenario: the sixth bid's "size" is wrong
accounts: { alice: { USDC: 1000 }, bob: { YES: 500 } }
steps:
  - alice: BUY 1 YES @ 0.51
  - alice: BUY 2 YES @ 0.52
  - alice: BUY 3 YES @ 0.53
  - alice: BUY 4 YES @ 0.54
  - alice: BUY 5 YES @ 0.55
  - bob: SELL 6 YES @ 0.54
  - expect: { book: { YES: { bids: [0.54 x 4] } } }
  - alice: BUY 1 YES @ 0.51
`;

/** Splits a command line like a POSIX shell: words, and words in single quotes. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/(?:'[^']*'|\\'|[^\s'])+/g)].map(([word]) =>
    word.replace(/'([^']*)'|\\(')/g, (_, quoted?: string, bare?: string) => quoted ?? bare ?? ""),
  );
}

/** Parses the flags of a repeat line. */
function readRepeat(line: string) {
  const [program, command, file = "", ...flags] = wordsOf(line);
  expect([program, command]).toEqual(["clobsim", "run"]);
  const flag = (name: string): string | undefined => {
    const at = flags.indexOf(`--${name}`);
    return at < 0 ? undefined : flags[at + 1];
  };
  return { file, seed: flag("seed"), step: Number(flag("step")), via: flag("via") };
}

describe("a failure shows the latest lines of the transcript", () => {
  it("the last six lines, oldest first, and later steps are not run", async () => {
    const { failure, steps, transcript } = await folder.run(LONG);
    expect({ steps, last: transcript.at(-1) }).toEqual({ steps: 7, last: failure?.recent.at(-1) });
    expect(failure?.recent).toEqual([
      "3. alice: BUY 3 YES @ 0.53 → LIVE 0/3",
      "4. alice: BUY 4 YES @ 0.54 → LIVE 0/4",
      "5. alice: BUY 5 YES @ 0.55 → LIVE 0/5",
      "6. bob: SELL 6 YES @ 0.54 → MATCHED 6/6",
      "   SELL 5 YES @ 0.55 from alice",
      "   SELL 1 YES @ 0.54 from alice",
    ]);
  });

  it.each([
    [6, []],
    [9, ["   ..."]],
  ])("after the step that they belong to, here one with %i fills", async (fills, omitted) => {
    const { recent } = await folder.failure(`scenario: a sweep
accounts: { alice: { USDC: 10 }, bob: { YES: 10 } }
steps:
  - { repeat: ${fills}, steps: [{ bob: SELL 1 YES @ 0.60 }] }
  - alice: BUY ${fills} YES @ 0.60 as sweep
  - expect: { orders: { sweep: LIVE 0/${fills} } }
`);
    expect(recent).toEqual([
      `${fills + 1}. alice: BUY ${fills} YES @ 0.60 as sweep → MATCHED ${fills}/${fills}`,
      ...omitted,
      ...Array(6).fill("   BUY 1 YES @ 0.6 from bob"),
    ]);
  });

  it("and names the failed step, with its round if it is repeated, or the opening", async () => {
    const textOf = async (usdc: string, step: string): Promise<string> =>
      (
        await folder.failure(
          `scenario: x\naccounts: { alice: { USDC: ${usdc} }, bob: { USDC: ${usdc} } }\nsteps:\n  - ${step}\n`,
        )
      ).text;
    expect(await textOf("1", "alice: BUY  10 YES @ 0.50")).toBe("alice: BUY 10 YES @ 0.50");
    const repeat = "{ repeat: 5, steps: [{ alice: BUY 10 YES @ 0.40 as bid }] }";
    expect(await textOf("10", repeat)).toBe("alice: BUY 10 YES @ 0.40 as bid (round 3 of 5)");
    expect(await textOf("3000000000", "advance: 1s")).toBe("opening");
  });

  it("with the failed step, if it had a result", async () => {
    const { recent } = await folder.failure(`scenario: too much
accounts: { alice: { USDC: 1 } }
steps:
  - alice: BUY 10 YES @ 0.50
`);
    expect(recent).toEqual(["1. alice: BUY 10 YES @ 0.50 → refused: INSUFFICIENT_BALANCE"]);
  });

  it("none if nothing happened", async () => {
    const { recent } = await folder.failure('scenario: empty\nsteps: [{ expect: { stateHash: "" } }]\n');
    expect(recent).toEqual([]);
  });
});

describe("the repeat line", () => {
  it("names file, seed and step", async () => {
    const { repeat } = await folder.failure(LONG, { seed: "s 1" });
    expect(repeat).toMatch(/^clobsim run \/\S+\.yaml --seed 's 1' --step 7$/);
  });

  it.each<[what: string, name: string, seed: string, via: "process" | "http"]>([
    ["in this process", "plain.yaml", "7", "process"],
    ["over HTTP", "served.yaml", "7", "http"],
    ["of a file and a seed that a shell would take apart", "bob's & co.yaml", "$HOME it's", "process"],
  ])("fails in the same way when it is run: %s", async (_case, name, seed, via) => {
    const first = await resultOf(folder.scenario(LONG, name), { via, seed });
    const repeat = readRepeat(first.failure?.repeat ?? "");
    expect(repeat).toMatchObject({ file: folder.at(name), seed, step: 7 });
    const { scenario } = loadScenario(repeat.file);
    const again = await resultOf(scenario as Scenario, {
      via: repeat.via === "http" ? "http" : "auto",
      seed: repeat.seed,
      lastStep: repeat.step,
    });
    expect(again.way).toBe(via);
    expect(again.failure).toEqual(first.failure);
    expect(again.transcript).toEqual(first.transcript);
  });
});

describe("a last step", () => {
  it("is the last that is run, and the final state is in the transcript", async () => {
    const { status, steps, transcript } = await folder.run(LONG, { lastStep: 2 });
    expect({ status, steps }).toEqual({ status: "passed", steps: 2 });
    expect(transcript).toEqual([
      "1. alice: BUY 1 YES @ 0.51 → LIVE 0/1",
      "2. alice: BUY 2 YES @ 0.52 → LIVE 0/2",
      "end",
      "   at 2026-01-01T00:00:00.000Z",
      "   market YES bids 0.52 x 2 (1), 0.51 x 1 (1); asks none",
      "   alice USDC 1000 (1.55 reserved)",
      "   bob USDC 0, market YES 500",
      expect.stringMatching(/^ {3}state v2:[\da-f]{64}$/),
    ]);
  });
});
