import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { price } from "../../src/core/units.ts";
import { PROFILES } from "../../src/simulation/flow.ts";
import { writeFlow } from "../../src/simulation/flow-text.ts";
import { generateFlow } from "../../src/simulation/generate-flow.ts";
import { run } from "../cli/tools.ts";
import { temporaryFolder } from "../support/folder.ts";
import { Program } from "../support/program.ts";

const folder = temporaryFolder();
const program = await Program.built();
afterAll(() => program.dispose());

type Words = Readonly<Record<string, string>>;

/** Runs the command in this process, and returns the file that it wrote. */
async function written(flags: Words, environment: Words = {}): Promise<string> {
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

  it("writes a long flow to stdout without buffering it", async () => {
    const args = ["flow", "--orders", "300000"];
    const { code, stdout, stderr } = await program.run(args, { flags: ["--max-old-space-size=24"] });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.match(/\n/g)?.length).toBeGreaterThan(300_000);
  });

  it("ends without an error when its reader closes stdout", async () => {
    const { ended, stopReading } = program.launch(["flow", "--orders", "10000000"]);
    stopReading("stdout");
    expect(await ended).toMatchObject({ code: 0, stderr: "" });
  });
});
