import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { repairCommand } from "../../src/cli/repair.ts";
import { replayCommand } from "../../src/cli/replay.ts";
import { ownFolder, run, serve, trade } from "./tools.ts";

const folder = ownFolder();
const data = join(folder, "data");
const journal = join(data, "journal.ndjson");
const repaired = join(folder, "repaired");

beforeAll(async () => {
  const server = await serve({ data });
  await trade(server.url);
  await server.close();
  const bytes = readFileSync(journal);
  const at = bytes.indexOf('{"n":5,') + 30;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(journal, bytes);
});

describe("clobsim repair", () => {
  it("does nothing without consent, but says what would be lost", async () => {
    const { code, stdout } = await run(repairCommand, [data], { out: repaired });
    expect({ code, isThere: existsSync(repaired) }).toEqual({ code: 2, isThere: false });
    expect(stdout).toMatch(/is whole up to line 4 at 2026-01-01T00:00:00\.000Z, [\d,]+ bytes\n/);
    expect(stdout).toMatch(/lost: [\d,]+ bytes from line 5 on, \d+ lines, \d+ of them whole/);
  });

  it("copies what is whole into a new directory that can be replayed and served, and touches nothing else", async () => {
    const before = readFileSync(journal);
    expect((await run(repairCommand, [data], { "accept-loss": "true", out: repaired })).code).toBe(0);
    expect(readFileSync(journal).equals(before)).toBe(true);
    const copy = readFileSync(join(repaired, "journal.ndjson"));
    expect(before.subarray(0, copy.length).equals(copy)).toBe(true);
    expect(copy.toString().trimEnd().split("\n")).toHaveLength(4);
    expect((await run(replayCommand, [repaired])).code).toBe(0);
    await (await serve({ data: repaired })).close();
  });

  it("says where a state has more than it can save, and only where one has", async () => {
    const state = join(data, "db.json");
    const { line } = JSON.parse(readFileSync(state, "utf8")).clobsim as { readonly line: number };
    expect(line).toBeGreaterThan(4);
    const told = `${state} has the exchange as it stood after line ${line}: clobsim serve --world ${state} --data NEW`;
    expect((await run(repairCommand, [data])).stdout).toContain(told);
    writeFileSync(state, readFileSync(state, "utf8").replace("sha256", "sha255"));
    expect((await run(repairCommand, [data])).stdout).not.toContain("db.json");
  });

  it("refuses a place where something is", async () => {
    const { code, stderr } = await run(repairCommand, [data], { "accept-loss": "true", out: repaired });
    expect({ code, isTold: stderr.includes("new or empty") }).toEqual({ code: 2, isTold: true });
  });
});
