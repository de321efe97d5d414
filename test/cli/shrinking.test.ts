import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { rowsOf } from "../support/table.ts";
import { type CommandResult, refused, run, says } from "./tools.ts";

const folder = temporaryFolder();
const isTerminal = process.stderr.isTTY;

afterEach(() => {
  process.stderr.isTTY = isTerminal;
});

const shrink = (words: readonly string[], flags = {}): Promise<CommandResult> => run("shrink", words, flags);

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
  it("prints only the scenario on stdout, and how it fails on stderr", async () => {
    const ended = await shrink([write("failing.yaml", FAILING)]);
    expect(ended).toEqual({ code: 0, stdout: SMALL, stderr: ENDING });
  });

  it("writes the scenario to a file, and prints how to run it", async () => {
    const out = join(folder, "small.yaml");
    const ended = await shrink([write("failing.yaml", FAILING)], { out });
    expect(ended).toEqual({ code: 0, stdout: "", stderr: `${ENDING}  clobsim run ${out}\n` });
    expect(readFileSync(out, "utf8")).toBe(SMALL);
    expect(await shrink([out])).toMatchObject({ code: 0, stdout: SMALL });
  });

  it("shows its progress in one line on a terminal", async () => {
    process.stderr.isTTY = true;
    const { stderr } = await shrink([write("failing.yaml", FAILING)]);
    const [line = "", ending] = stderr.split("\n");
    expect(line.split("\r\u001b[K").at(-1)).toMatch(/^4 steps( → \d)* → 2$/);
    expect(ending).toBe("clobsim: 4 steps → 2 steps");
  });

  it("does not overwrite its input", async () => {
    const path = write("failing.yaml", FAILING);
    const { stderr } = await shrink([path], { out: path });
    expect(stderr).toMatch(/^clobsim: --out expects another file/);
    expect(readFileSync(path, "utf8")).toBe(FAILING);
  });

  it("exits with 1 if the scenario does not fail", async () => {
    const path = write("passing.yaml", FAILING.replace("0/11", "0/10"));
    const out = join(folder, "never.yaml");
    const error = says("passing.yaml does not fail, nothing was written\n");
    expect(await shrink([path], { out })).toEqual(refused(error, 1));
    expect(existsSync(out)).toBe(false);
  });

  it("exits with 2 if the file is invalid", async () => {
    const error = 'wrong.yaml:5:12: expected BUY or SELL, found "BUYS" (did you mean BUY?)';
    const ended = await shrink([write("wrong.yaml", FAILING.replace("BUY 10", "BUYS 10"))]);
    expect(ended).toEqual(refused(says(error)));
  });

  it("writes the smallest result so far when the time is up", async () => {
    const steps = Array.from({ length: 60 }, (_, step) => `  - bob: SELL 0.0${(step % 9) + 1} YES @ 0.70\n`);
    const text = FAILING.replace("steps:\n", `steps:\n${steps.join("")}`).replace(
      "accounts",
      "market: { minOrderSize: 0.01 }\naccounts",
    );
    let calls = 0;
    // The clock advances at each call, so that the load of the machine does not matter.
    vi.spyOn(performance, "now").mockImplementation(() => ++calls / 10);
    const ended = await shrink([write("long.yaml", text)], { budget: "1ms" });
    const stderr = says(", not minimal because the time was up\n");
    expect(ended).toEqual({ code: 0, stdout: says("LIVE 0/11"), stderr });
  });

  it("names the files that must be copied to another folder", async () => {
    write("flow.csv", "at,account,op,ref,side,outcome,price,size,type\n0,bob,place,,SELL,YES,0.7,5,GTX\n");
    mkdirSync(join(folder, "other"));
    const path = write("flowing.yaml", FAILING.replace("  - alice", "  - replay: flow.csv\n  - alice"));
    const stderr = says(`  it names flow.csv, which must be copied from ${folder} to beside it\n`);
    const ended = await shrink([path], { out: join(folder, "other", "small.yaml") });
    expect(ended).toMatchObject({ code: 0, stderr });
  });

  it.each(["", '{"a":1}\n'])("refuses a .ndjson file with %j like the other commands", async (text) => {
    const path = write("foreign.ndjson", text);
    const message = `${path} is neither a report nor the journal of a data directory`;
    expect(await shrink([path])).toEqual(refused(message));
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
    expect(await shrink(files, flag === "" ? {} : { [flag]: text })).toEqual(refused(message));
  });
});
