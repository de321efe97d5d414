import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { rowsOf } from "../support/table.ts";
import { type Ran, run } from "./tools.ts";

const folder = temporaryFolder();
const isTerminal = process.stderr.isTTY;

afterEach(() => {
  process.stderr.isTTY = isTerminal;
});

const shrink = (words: readonly string[], flags: Readonly<Record<string, string>> = {}): Promise<Ran> =>
  run("shrink", words, flags);

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const FAILING = `scenario: a bid is too small
accounts: { alice: { USDC: 100 }, bob: { YES: 10 } }
steps:
  - bob: SELL 10 YES @ 0.70
  - alice: BUY 10 YES @ 0.50 as bid
  - alice: BUY 20 YES @ 0.40
  - expect: { orders: { bid: LIVE 0/11 } }
`;
const SMALL = `scenario: a bid is too small
accounts: { alice: { USDC: 100 } }
steps:
  - alice: BUY 10 YES @ 0.50 as bid
  - expect: { orders: { bid: LIVE 0/11 } }
`;
const ENDING = `clobsim: 4 steps → 2 steps
  it fails at step 2, expect: { orders: { bid: LIVE 0/11 } }: bid is LIVE 0/10, expected LIVE 0/11
`;

describe("clobsim shrink", () => {
  it("prints the scenario alone, and says on stderr how it fails", async () => {
    expect(await shrink([write("failing.yaml", FAILING)])).toEqual({
      code: 0,
      stdout: SMALL,
      stderr: ENDING,
    });
  });

  it("writes it to a file, and says how to run that", async () => {
    const out = join(folder, "small.yaml");
    const { code, stdout, stderr } = await shrink([write("failing.yaml", FAILING)], { out });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toBe(`${ENDING}  clobsim run ${out}\n`);
    expect(readFileSync(out, "utf8")).toBe(SMALL);
    expect(await shrink([out])).toMatchObject({ code: 0, stdout: SMALL });
  });

  it("shows on a terminal how far it is, in one line", async () => {
    process.stderr.isTTY = true;
    const { stderr } = await shrink([write("failing.yaml", FAILING)]);
    const [line = "", ending] = stderr.split("\n");
    expect(line.split("\r\u001b[K").at(-1)).toMatch(/^4 steps( → \d)* → 2$/);
    expect(ending).toBe("clobsim: 4 steps → 2 steps");
  });

  it("does not write over what it shrinks", async () => {
    const path = write("failing.yaml", FAILING);
    const { stderr } = await shrink([path], { out: path });
    expect(stderr).toMatch(/^clobsim: --out expects another file/);
    expect(readFileSync(path, "utf8")).toBe(FAILING);
  });

  it("ends with 1 where the scenario does not fail", async () => {
    const path = write("passing.yaml", FAILING.replace("0/11", "0/10"));
    const out = join(folder, "never.yaml");
    const { code, stdout, stderr } = await shrink([path], { out });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("passing.yaml does not fail, nothing was written\n");
    expect(existsSync(out)).toBe(false);
  });

  it("ends with 2 where the file is wrong", async () => {
    const { code, stderr } = await shrink([write("wrong.yaml", FAILING.replace("BUY 10", "BUYS 10"))]);
    expect(code).toBe(2);
    expect(stderr).toContain('wrong.yaml:5:12: expected BUY or SELL, found "BUYS" (did you mean BUY?)');
  });

  it("writes what it has when its time is over", async () => {
    const steps = Array.from({ length: 60 }, (_, step) => `  - bob: SELL 0.0${(step % 9) + 1} YES @ 0.70\n`);
    const text = FAILING.replace("steps:\n", `steps:\n${steps.join("")}`).replace(
      "accounts",
      "market: { minOrderSize: 0.01 }\naccounts",
    );
    let looks = 0;
    // The clock goes on with each look at it, however busy the machine is.
    vi.spyOn(performance, "now").mockImplementation(() => ++looks / 10);
    const { code, stdout, stderr } = await shrink([write("long.yaml", text)], { budget: "1ms" });
    expect(code).toBe(0);
    expect(stdout).toContain("LIVE 0/11");
    expect(stderr).toContain(", not minimal because the time was up\n");
  });

  it("says which files the result needs in another folder", async () => {
    write("flow.csv", "at,account,op,ref,side,outcome,price,size,type\n0,bob,place,,SELL,YES,0.7,5,GTX\n");
    mkdirSync(join(folder, "other"));
    const path = write("flowing.yaml", FAILING.replace("  - alice", "  - replay: flow.csv\n  - alice"));
    const { code, stderr } = await shrink([path], { out: join(folder, "other", "small.yaml") });
    expect(code).toBe(0);
    expect(stderr).toContain(`  it names flow.csv, which must be copied from ${folder} to beside it\n`);
  });

  it.each(["", '{"a":1}\n'])("refuses a .ndjson of %j as every tool of journals does", async (text) => {
    const path = write("foreign.ndjson", text);
    const stderr = `clobsim: ${path} is neither a report nor the journal of a data directory\n`;
    expect(await shrink([path])).toEqual({ code: 2, stdout: "", stderr });
  });

  it.each(
    rowsOf(`
    .             | . | . | shrink expects one file, found none (see clobsim shrink --help)
    a.yaml b.yaml | . | . | shrink expects one file, found 2 (see clobsim shrink --help)
    a.yaml | budget | fast | --budget expects a duration such as 60s or 5m, found "fast"
    a.yaml | budget | 0s   | --budget expects a duration such as 60s or 5m, found "0s"
    a.yaml | out    | .    | --out expects the path of a file to write, found nothing
    `),
  )("refuses %j with --%s %j", async (words = "", flag = "", text = "", message = "") => {
    const files = words.split(" ").filter((word) => word !== "");
    const refused = await shrink(files, flag === "" ? {} : { [flag]: text });
    expect(refused).toEqual({ code: 2, stdout: "", stderr: `clobsim: ${message}\n` });
  });
});
