import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { planted } from "../support/bundled.ts";
import { TestFolder } from "../support/folder.ts";
import { Program } from "../support/program.ts";

const levelLoop = (direction: "NEXT" | "PREVIOUS") =>
  `for (let slot = cells[level + ${direction}] as number; slot !== level; slot = cells[slot + ${direction}] as number) {
        if (cells[slot + ACCOUNT] === own)`;

const DEFECTS = {
  /** The latest order at a price is matched first. */
  reversed: planted("src/core/book/book.ts", levelLoop("NEXT"), levelLoop("PREVIOUS")),
  /** Large orders are reduced by a share, which breaks no invariant. */
  short: planted(
    "src/core/rules/rules.ts",
    "  ...tradingDeciders,\n",
    `  ...tradingDeciders,
  placeOrder: (state, command, rules, at) =>
    tradingDeciders.placeOrder(state, command.size > 25000 ? { ...command, size: command.size - 100 } : command, rules, at),
`,
  ),
};
type Build = "correct" | keyof typeof DEFECTS;

const folder = new TestFolder();
const SMALL = folder.at("small.yaml");
const programs = new Map<Build, Program>();
beforeAll(async () => {
  programs.set("correct", await Program.built());
  for (const [name, defect] of Object.entries(DEFECTS))
    programs.set(name as Build, await Program.bundled(defect));
});
afterAll(async () => {
  for (const program of programs.values()) await program.dispose();
});

const clobsim = (build: Build, ...args: readonly string[]) => (programs.get(build) as Program).run(args);

/** Writes a scenario and the golden file of the correct build, with which it passes. Returns its path. */
async function writeScenario(name: string, text: string): Promise<string> {
  const path = folder.write(name, text);
  expect((await clobsim("correct", "run", path, "--update")).code).toBe(0);
  expect((await clobsim("correct", "run", path)).code).toBe(0);
  return path;
}

const MADE = `scenario: a flow
seed: 4711
steps:
  - generate: { orders: 1500, accounts: 20 }
  - expect:
      golden: made.txt
`;
const FUNDS = `at,account,op,ref,side,outcome,price,size,type
0,ann,fund,,,USDC,,1000,
0,ben,fund,,,YES,,2000,
`;
/** A flow with refused rows and late cancels. */
const TOLERANT = `${FUNDS}1s,ann,place,big,BUY,YES,0.50,300,GTC
2s,ann,place,,BUY,YES,0.50,9000,GTC
3s,ben,place,,SELL,YES,0.50,40,GTC
4s,ann,place,small,BUY,YES,0.40,10,GTC
5s,ben,place,,SELL,YES,0.55,30,FOK
6s,ben,place,gone,SELL,YES,0.50,5,GTC
7s,ben,cancel,gone,,,,,
8s,ben,place,,SELL,YES,0.50,300,GTC
9s,ann,cancel,big,,,,,
10s,ann,place,,BUY,YES,0.45,20,GTC
`;
const REPLAYED = `scenario: a tolerant flow
steps:
  - replay: { file: tolerant.csv, rejected: 1 }
  - expect:
      golden: tolerant.txt
`;

describe("a scenario that fails because of a defect", () => {
  it.each<[Build, string, string, number]>([
    ["reversed", "made.yaml", MADE, 6],
    ["short", "made.yaml", MADE, 14],
    ["short", "tolerant.yaml", REPLAYED, 7],
  ])(
    "%s, %s: is reduced to few steps that fail with the defect and pass without",
    async (build, name, text, most) => {
      folder.write("tolerant.csv", TOLERANT);
      const path = await writeScenario(name, text);
      expect((await clobsim(build, "run", path)).code).toBe(1);
      const { code, stderr } = await clobsim(build, "shrink", path, "--out", SMALL);
      expect(stderr).toMatch(/^clobsim: [\d,]+ steps → \d+ steps\n/);
      expect(code).toBe(0);
      expect(folder.read("small.yaml").match(/^ {2}- /gm)?.length).toBeLessThanOrEqual(most);
      expect((await clobsim(build, "run", SMALL)).code).toBe(1);
      expect(await clobsim("correct", "run", SMALL)).toMatchObject({ code: 0 });
    },
  );

  it("is reduced with the first difference of its golden file", async () => {
    const path = await writeScenario("made.yaml", MADE);
    const { stderr } = await clobsim("short", "shrink", path, "--out", SMALL);
    expect(stderr).toMatch(/\n {2}it fails at step \d+, expect: .*: the trades are not as expected\n/);
    expect(stderr).toMatch(
      /\n {2}the golden file differs first in trade \d+: the trades up to there are expected instead\n/,
    );
  });
});
