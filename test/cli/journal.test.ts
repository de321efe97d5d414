import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { run, tradeIn } from "./tools.ts";

const data = join(temporaryFolder(), "data");

beforeAll(() => tradeIn(data));

describe("clobsim journal", () => {
  it("prints the time, account, command and outcome of each line", async () => {
    const { code, stdout } = await run("journal", [data]);
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^ {5}1 {2}2026-01-01T00:00:00\.000Z .*opens from a world/);
    expect(stdout).toMatch(/0x19e7e376 {2}BUY 100 YES @ 0\.01 in \S+ +→ order \d+, rests 100 @ 0\.01/);
    expect(stdout).toMatch(/0x\w{8} {2}SELL 5 YES @ 0\.01 in \S+ +→ order \d+, fills 5 @ \S+ from 0x\w{8}/);
    expect(stdout).toMatch(/cancel order (\d+) +→ canceled order \1 with \d+ open/);
    expect(lines.at(-1)).toMatch(/00:00:10\.000Z .*stopped cleanly, state [0-9a-f]{12}$/);
  });

  it("is not coloured by default", async () => {
    expect((await run("journal", [data])).stdout).not.toContain("\u001b");
  });

  it("prints a range of lines, and lines that match", async () => {
    const part = await run("journal", [data], { from: "2", to: "3" });
    expect(
      part.stdout
        .trimEnd()
        .split("\n")
        .map((line) => Number(line.slice(0, 6))),
    ).toEqual([2, 3]);
    const found = await run("journal", [data], { grep: "SELL" });
    expect(found.stdout.trimEnd().split("\n")).toHaveLength(1);
  });

  it.each(["from", "to"])("refuses a line after the last: --%s", async (flag) => {
    const { code, stdout, stderr } = await run("journal", [data], { [flag]: "2000" });
    const { stdout: whole } = await run("journal", [data]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: flag === "from" ? "" : whole });
    const last = whole.trimEnd().split("\n").length;
    expect(stderr).toBe(`clobsim: --${flag} expects a line of ${data}, which has ${last}, found 2000\n`);
  });

  it("prints a JSON object per line, with the events of each command", async () => {
    const { stdout } = await run("journal", [data], { json: "true", grep: "derive" });
    const [line] = stdout
      .trimEnd()
      .split("\n")
      .map((text) => JSON.parse(text));
    expect(line).toMatchObject({ kind: "deriveCredentials", text: "derive credentials" });
    expect(line.events.at(-1)).toMatchObject({ kind: "credentialsDerived" });
  });
});
