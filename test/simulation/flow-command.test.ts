import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { price } from "../../src/core/units.ts";
import { PROFILES } from "../../src/simulation/flow.ts";
import { writeFlow } from "../../src/simulation/flow-text.ts";
import { generateFlow } from "../../src/simulation/generate-flow.ts";
import { run, runLine } from "../cli/tools.ts";
import { temporaryFolder } from "../support/folder.ts";

const SOURCES = fileURLToPath(new URL("../../src/cli", import.meta.url));
/** The command, with the program's handling of a closed stdout. */
const PROGRAM = `
  import { valuesOf } from "../setting.ts";
  import { SUBCOMMANDS } from "./commands.ts";
  import { flow } from "./generate.ts";
  import { whenClosed } from "./process.ts";
  whenClosed(process.stdout, () => {});
  const [orders] = process.argv.slice(2);
  const given = { flags: { orders: [orders] }, environment: {} };
  process.exitCode = await flow(valuesOf(SUBCOMMANDS.flow.settings, given), [], given);
`;

const folder = temporaryFolder();
const program = join(folder, "flow.mjs");
const children = new Set<ChildProcess>();

beforeAll(async () => {
  await build({
    stdin: { contents: PROGRAM, resolveDir: SOURCES },
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
  });
});
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
});

function start(orders: number, ...nodeOptions: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [...nodeOptions, program, `${orders}`], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.add(child);
  return child;
}

function ended(child: ChildProcess): Promise<{ code: number | null; lines: number; stderr: string }> {
  let lines = 0;
  let stderr = "";
  child.stdout?.on("data", (bytes: Buffer) => {
    for (const byte of bytes) if (byte === 10) lines += 1;
  });
  child.stderr?.on("data", (bytes: Buffer) => {
    stderr += bytes.toString();
  });
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, lines, stderr })));
}

/** Runs the command in this process, and returns the file that it wrote. */
async function written(
  flags: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { out = join(folder, "out.csv") } = flags;
  expect(await run("flow", [], { ...flags, out }, environment)).toMatchObject({ code: 0, stderr: "" });
  return readFileSync(out, "utf8");
}

const PLAIN = { seed: "1", orders: 1000, accounts: 20, profile: PROFILES.balanced };

describe("clobsim flow", () => {
  it("writes the balanced flow of seed 1 by default", async () => {
    expect(await written({})).toBe([...writeFlow(generateFlow(PLAIN), "csv")].join(""));
  });

  it("writes the requested flow", async () => {
    const options = { seed: "x", orders: 50, accounts: 3, profile: PROFILES.bursts, tickSize: price(25) };
    const rows = generateFlow(options);
    const flags = { profile: "bursts", seed: "x", orders: "50", accounts: "3", "tick-size": "0.0025" };
    expect(await written(flags)).toBe([...writeFlow(rows, "csv")].join(""));
  });

  it("also reads variables", async () => {
    expect(await written({}, { CLOBSIM_SEED: "7" })).toBe(await written({ seed: "7" }));
  });

  it.each([
    [{ format: "ndjson", out: join(folder, "flow") }, "{"],
    [{ out: join(folder, "flow.ndjson") }, "{"],
    [{ out: join(folder, "flow.jsonl") }, "{"],
    [{ out: join(folder, "flow.csv") }, "a"],
    [{ format: "csv", out: join(folder, "flow.txt") }, "a"],
  ])("writes the format of the flag or of the file's extension: %j", async (flags, first) => {
    expect((await written(flags)).charAt(0)).toBe(first);
  });

  const PROFILE = "balanced, trending, one-sided, cancel-heavy or bursts";
  it.each<[flags: string, sentence: string]>([
    ["--profile balancd", `--profile expects ${PROFILE}, found "balancd", did you mean balanced?`],
    ["--profile toString", `--profile expects ${PROFILE}, found "toString"`],
    ["--orders 0", '--orders expects a whole number from 1 to 10000000, found "0"'],
    ["--orders 10000001", '--orders expects a whole number from 1 to 10000000, found "10000001"'],
    ["--accounts many", '--accounts expects a whole number from 1 to 10000, found "many"'],
    ["--seed ", "--seed expects a text of 1 to 128 characters on one line, found nothing"],
    ["--tick-size 0.02", '--tick-size expects 0.1, 0.01, 0.005, 0.0025, 0.001 or 0.0001, found "0.02"'],
    ["--format xml", '--format expects csv or ndjson, found "xml"'],
    ["--out ", "--out expects the path of a file to write, found nothing"],
    [`--out ${folder}`, `--out expects a file that can be written, found ${folder} (EISDIR)`],
    ["--out f.json", "--out expects a file ending in .csv, .ndjson or .jsonl, or --format, found f.json"],
    [
      "--out f.csv --format ndjson",
      "--format ndjson and --out f.csv contradict each other: its ending says csv",
    ],
  ])("refuses %s with one sentence", async (flags, sentence) => {
    const result = await runLine(["flow", ...flags.split(" ")], folder);
    expect(result).toEqual({ code: 2, stdout: "", stderr: `clobsim: ${sentence}\n` });
  });

  it("writes a long flow to stdout without buffering it", async () => {
    const { code, lines, stderr } = await ended(start(300_000, "--max-old-space-size=24"));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(lines).toBeGreaterThan(300_000);
  });

  it("ends without an error when its reader closes stdout", async () => {
    const child = start(10_000_000);
    child.stdout?.destroy();
    expect(await ended(child)).toMatchObject({ code: 0, stderr: "" });
  });
});
