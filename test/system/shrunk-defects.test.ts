import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { bundleInto } from "../support/bundled.ts";
import { temporaryFolder } from "../support/folder.ts";

const folder = temporaryFolder();

/** A replaced text in a source file. */
interface PlantedDefect {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const DEFECTS = {
  /** The latest order at a price is matched first. */
  reversed: {
    file: "src/core/book/book.ts",
    from: `for (let slot = cells[level + NEXT] as number; slot !== level; slot = cells[slot + NEXT] as number) {
        if (cells[slot + ACCOUNT] === own)`,
    to: `for (let slot = cells[level + PREVIOUS] as number; slot !== level; slot = cells[slot + PREVIOUS] as number) {
        if (cells[slot + ACCOUNT] === own)`,
  },
  /** Large orders are reduced by a share, which breaks no invariant. */
  short: {
    file: "src/core/rules/rules.ts",
    from: "  ...tradingDeciders,\n",
    to: `  ...tradingDeciders,
  placeOrder: (state, command, rules, at) =>
    tradingDeciders.placeOrder(state, command.size > 25000 ? { ...command, size: command.size - 100 } : command, rules, at),
`,
  },
} as const satisfies Record<string, PlantedDefect>;
type Build = "correct" | keyof typeof DEFECTS;

/** Returns the source with a defect, by path. */
function planted({ file, from, to }: PlantedDefect): ReadonlyMap<string, string> {
  const source = readFileSync(file, "utf8");
  if (!source.includes(from)) throw new Error(`${file} has no such text: ${from}`);
  return new Map([[file, source.replace(from, () => to)]]);
}

beforeAll(async () => {
  const entry = { cli: "src/cli/main.ts" };
  await bundleInto(join(folder, "correct"), entry);
  for (const [name, defect] of Object.entries(DEFECTS)) {
    await bundleInto(join(folder, name), entry, planted(defect));
  }
}, 60_000);

interface ProcessResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of a build in the folder of test files. */
function clobsim(build: Build, args: readonly string[]): ProcessResult {
  const program = join(folder, build, "cli.js");
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: join(folder, "files"),
    encoding: "utf8",
  });
  return { code: status, stdout, stderr };
}

const write = (name: string, text: string): void => {
  mkdirSync(join(folder, "files"), { recursive: true });
  writeFileSync(join(folder, "files", name), text);
};
const stepsIn = (name: string): number =>
  readFileSync(join(folder, "files", name), "utf8").split(/^ {2}- /m).length - 1;

/** Writes a scenario and the golden file of the correct build, with which it passes. */
function writeScenario(name: string, text: string): void {
  write(name, text);
  expect(clobsim("correct", ["run", name, "--update"]).code).toBe(0);
  expect(clobsim("correct", ["run", name]).code).toBe(0);
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
    (build, name, text, most) => {
      write("tolerant.csv", TOLERANT);
      writeScenario(name, text);
      const original = clobsim(build, ["run", name]);
      expect(original.code).toBe(1);
      const { code, stderr } = clobsim(build, ["shrink", name, "--out", "small.yaml"]);
      expect(stderr).toMatch(/^clobsim: [\d,]+ steps → \d+ steps\n/);
      expect(code).toBe(0);
      expect(stepsIn("small.yaml")).toBeLessThanOrEqual(most);
      expect(clobsim(build, ["run", "small.yaml"]).code).toBe(1);
      expect(clobsim("correct", ["run", "small.yaml"])).toMatchObject({ code: 0 });
    },
    120_000,
  );

  it("is reduced with the first difference of its golden file", () => {
    writeScenario("made.yaml", MADE);
    const { stderr } = clobsim("short", ["shrink", "made.yaml", "--out", "small.yaml"]);
    expect(stderr).toMatch(/\n {2}it fails at step \d+, expect: .*: the trades are not as expected\n/);
    expect(stderr).toMatch(
      /\n {2}the golden file differs first in trade \d+: the trades up to there are expected instead\n/,
    );
  }, 60_000);
});
