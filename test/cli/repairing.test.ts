import type { Buffer } from "node:buffer";
import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { run, serve, trade } from "./tools.ts";

const folder = temporaryFolder();
const data = join(folder, "data");
const journal = join(data, "journal.ndjson");
const repaired = join(folder, "repaired");
/** The directory before it was damaged. */
const whole = join(folder, "whole");

beforeAll(async () => {
  const server = await serve({ data });
  await trade(server.url);
  await server.close();
  cpSync(data, whole, { recursive: true });
  const bytes = readFileSync(journal);
  const at = bytes.indexOf('{"n":5,') + 30;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(journal, bytes);
});

/** A copy of the directory as it was before anything was damaged, with its journal spoilt otherwise. */
function spoilt(name: string, spoil: (journal: Buffer) => Buffer, removed: readonly string[] = []): string {
  const copy = join(folder, name);
  cpSync(whole, copy, { recursive: true });
  writeFileSync(join(copy, "journal.ndjson"), spoil(readFileSync(join(copy, "journal.ndjson"))));
  for (const each of removed) rmSync(join(copy, each), { force: true });
  return copy;
}

const STATES = ["db.json", "db.previous.json"];
const firstLineChanged = (journal: Buffer): Buffer => {
  journal[20] = (journal[20] ?? 0) ^ 1;
  return journal;
};

describe("a journal whose first line is damaged", () => {
  it.each<[what: string, spoil: (journal: Buffer) => Buffer, why: string]>([
    ["changed", firstLineChanged, "it was written to its end, and is another line now"],
    ["cut", (journal) => journal.subarray(0, 900), "900 bytes are no whole line"],
  ])("and %s: repair says where, and how its state is saved", async (what, spoil, why) => {
    const damaged = spoilt(what, spoil);
    const { code, stdout } = await run("repair", [damaged], {
      "accept-loss": "true",
      out: `${damaged}-new`,
    });
    const file = join(damaged, "journal.ndjson");
    const place = `${file} is damaged at byte 0, where line 1 should begin: ${why} (sed -n 1p ${file} prints it)\n`;
    expect([code, stdout]).toEqual([3, expect.stringContaining(place)]);
    const state = join(damaged, "db.json");
    expect(stdout).toContain(`: clobsim serve --world ${state} --data NEW opens it\n`);
    expect(existsSync(`${damaged}-new`)).toBe(false);
    await (await serve({ world: state })).close();
  });

  it("has nothing to be saved where no whole state lies beside it", async () => {
    const damaged = spoilt("alone", firstLineChanged, STATES);
    const { code, stdout } = await run("repair", [damaged]);
    expect([code, stdout]).toEqual([
      3,
      expect.stringMatching(/neither db\.json nor db\.previous\.json: nothing can be saved\n$/),
    ]);
  });

  it("is saved from the state before, where the latest is damaged, too", async () => {
    const damaged = spoilt("before", firstLineChanged);
    renameSync(join(damaged, "db.json"), join(damaged, "db.previous.json"));
    writeFileSync(join(damaged, "db.json"), "null");
    const { stdout } = await run("repair", [damaged]);
    expect(stdout).toContain(
      `clobsim serve --world ${join(damaged, "db.previous.json")} --data NEW opens it`,
    );
  });

  it.each(["replay", "doctor"] as const)("is told by %s with its file and byte", async (command) => {
    const damaged = spoilt(command, firstLineChanged);
    const { code, stdout, stderr } = await run(command, [damaged]);
    const words = `journal.ndjson is damaged at byte 0, where line 1 should begin: `;
    expect([code, `${stdout}${stderr}`]).toEqual([3, expect.stringContaining(words)]);
    expect(`${stdout}${stderr}`).toContain(`clobsim repair ${damaged} says what can be saved`);
  });

  it("is told so of a report of which the very first bytes are others", async () => {
    const report = join(folder, "report.ndjson");
    const bytes = readFileSync(join(whole, "journal.ndjson"));
    bytes.write("XX", 0);
    writeFileSync(report, bytes);
    for (const command of ["replay", "shrink"] as const) {
      const { code, stderr } = await run(command, [report]);
      expect([code, stderr]).toEqual([3, expect.stringContaining(`${report} is damaged at byte 0`)]);
    }
  });
});

describe("clobsim repair", () => {
  it("does nothing without consent, but says what would be lost", async () => {
    const { code, stdout } = await run("repair", [data], { out: repaired });
    expect({ code, isThere: existsSync(repaired) }).toEqual({ code: 2, isThere: false });
    expect(stdout).toMatch(/is undamaged up to line 4 at 2026-01-01T00:00:00\.000Z, [\d,]+ bytes\n/);
    expect(stdout).toMatch(/lost: [\d,]+ bytes from line 5 on, \d+ lines, \d+ of them undamaged/);
  });

  it("copies what is whole into a new directory that can be replayed and served, and touches nothing else", async () => {
    const before = readFileSync(journal);
    expect((await run("repair", [data], { "accept-loss": "true", out: repaired })).code).toBe(0);
    expect(readFileSync(journal).equals(before)).toBe(true);
    const copy = readFileSync(join(repaired, "journal.ndjson"));
    expect(before.subarray(0, copy.length).equals(copy)).toBe(true);
    expect(copy.toString().trimEnd().split("\n")).toHaveLength(4);
    expect((await run("replay", [repaired])).code).toBe(0);
    await (await serve({ data: repaired })).close();
  });

  it("says where a state has more than it can save, and only where one has", async () => {
    const state = join(data, "db.json");
    const { line } = JSON.parse(readFileSync(state, "utf8")).clobsim as { readonly line: number };
    expect(line).toBeGreaterThan(4);
    const told = `${state} has the state after line ${line}: clobsim serve --world ${state} --data NEW`;
    expect((await run("repair", [data])).stdout).toContain(told);
    writeFileSync(state, readFileSync(state, "utf8").replace("sha256", "sha255"));
    expect((await run("repair", [data])).stdout).not.toContain("db.json");
  });

  it("refuses a place where something is", async () => {
    const { code, stderr } = await run("repair", [data], { "accept-loss": "true", out: repaired });
    expect({ code, isTold: stderr.includes("new or empty") }).toEqual({ code: 2, isTold: true });
  });
});
