import { Buffer } from "node:buffer";
import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { refused, run, says, serve, tradeIn } from "./tools.ts";

const folder = temporaryFolder();
const data = join(folder, "data");
const journal = join(data, "journal.ndjson");
const repaired = join(folder, "repaired");
/** Copy of the directory before it was damaged. */
const original = join(folder, "whole");

beforeAll(async () => {
  await tradeIn(data);
  cpSync(data, original, { recursive: true });
  const bytes = readFileSync(journal);
  const at = bytes.indexOf('{"n":5,') + 30;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(journal, bytes);
});

/** Copies the undamaged directory, and damages the journal of the copy. Returns its path. */
function damagedCopy(
  name: string,
  damage: (journal: Buffer) => Buffer,
  removed: readonly string[] = [],
): string {
  const copy = join(folder, name);
  cpSync(original, copy, { recursive: true });
  writeFileSync(join(copy, "journal.ndjson"), damage(readFileSync(join(copy, "journal.ndjson"))));
  for (const each of removed) rmSync(join(copy, each), { force: true });
  return copy;
}

const STATES = ["db.json", "db.previous.json"];
const firstLineChanged = (journal: Buffer): Buffer => {
  journal[20] = (journal[20] ?? 0) ^ 1;
  return journal;
};

describe("a data directory that has lost its journal", () => {
  it("is named with how to open its state file, by each command", async () => {
    const lost = damagedCopy("lost", (journal) => journal);
    rmSync(join(lost, "journal.ndjson"));
    const opens = `to start from that state, clobsim serve --world ${join(lost, "db.json")} --data NEW\n`;
    for (const command of ["repair", "journal", "replay", "inspect", "record", "report"] as const)
      expect(await run(command, [lost])).toMatchObject({ code: 3, stderr: expect.stringContaining(opens) });
  });
});

describe("a journal whose first line is damaged", () => {
  it.each<[what: string, damage: (journal: Buffer) => Buffer, why: string]>([
    ["changed", firstLineChanged, "it was written completely, and has been changed since"],
    ["cut", (journal) => journal.subarray(0, 900), "900 bytes without a complete line"],
  ])("and %s: repair prints where, and how to open the state file", async (what, damage, why) => {
    const damaged = damagedCopy(what, damage);
    const flags = { "accept-loss": "true", out: `${damaged}-new` };
    const { code, stdout } = await run("repair", [damaged], flags);
    const file = join(damaged, "journal.ndjson");
    const place = `${file} is damaged at byte 0, where line 1 should begin: ${why} (sed -n 1p ${file} prints it)\n`;
    expect([code, stdout]).toEqual([3, says(place)]);
    const state = join(damaged, "db.json");
    expect(stdout).toContain(`: clobsim serve --world ${state} --data NEW opens it\n`);
    expect(existsSync(`${damaged}-new`)).toBe(false);
    await (await serve({ world: state })).close();
  });

  it("cannot be saved without a valid state file", async () => {
    const damaged = damagedCopy("alone", firstLineChanged, STATES);
    const stdout = says(/neither db\.json nor db\.previous\.json: nothing can be saved\n$/);
    expect(await run("repair", [damaged])).toMatchObject({ code: 3, stdout });
  });

  it("is saved from the previous state file if the latest is damaged too", async () => {
    const damaged = damagedCopy("before", firstLineChanged);
    renameSync(join(damaged, "db.json"), join(damaged, "db.previous.json"));
    writeFileSync(join(damaged, "db.json"), "null");
    const advice = `clobsim serve --world ${join(damaged, "db.previous.json")} --data NEW opens it`;
    expect((await run("repair", [damaged])).stdout).toContain(advice);
  });

  it.each(["replay", "doctor"] as const)("is reported by %s with file and byte", async (command) => {
    const damaged = damagedCopy(command, firstLineChanged);
    const { code, stdout, stderr } = await run(command, [damaged]);
    const words = `journal.ndjson is damaged at byte 0, where line 1 should begin: `;
    expect([code, `${stdout}${stderr}`]).toEqual([3, says(words)]);
    expect(`${stdout}${stderr}`).toContain(`clobsim repair ${damaged} says what can be saved`);
  });

  it("is reported for a report whose first bytes are changed", async () => {
    const report = join(folder, "report.ndjson");
    const bytes = readFileSync(join(original, "journal.ndjson"));
    bytes.write("XX", 0);
    writeFileSync(report, bytes);
    for (const command of ["replay", "shrink"] as const) {
      expect(await run(command, [report])).toEqual(refused(says(`${report} is damaged at byte 0`), 3));
    }
  });
});

describe("clobsim repair", () => {
  it("writes nothing without --accept-loss, but prints what would be lost", async () => {
    const { code, stdout } = await run("repair", [data], { out: repaired });
    expect([code, existsSync(repaired)]).toEqual([2, false]);
    expect(stdout).toMatch(/is undamaged up to line 4 at 2026-01-01T00:00:00\.000Z, [\d,]+ bytes\n/);
    expect(stdout).toMatch(
      /lost: [\d,]+ bytes from line 5 on, \d+ lines, \d+ of them undamaged but after the damage, up to 2/,
    );
  });

  it("copies the undamaged part into a new directory that can be replayed and served, and changes nothing else", async () => {
    const before = readFileSync(journal);
    expect((await run("repair", [data], { "accept-loss": "true", out: repaired })).code).toBe(0);
    expect(readFileSync(journal).equals(before)).toBe(true);
    const copy = readFileSync(join(repaired, "journal.ndjson"));
    expect(before.subarray(0, copy.length).equals(copy)).toBe(true);
    expect(copy.toString().trimEnd().split("\n")).toHaveLength(4);
    expect((await run("replay", [repaired])).code).toBe(0);
    await (await serve({ data: repaired })).close();
  });

  it("names a state file that is later than the undamaged part", async () => {
    const state = join(data, "db.json");
    const { line } = JSON.parse(readFileSync(state, "utf8")).clobsim as { readonly line: number };
    expect(line).toBeGreaterThan(4);
    const expected = `${state} has the state after line ${line}: clobsim serve --world ${state} --data NEW`;
    expect((await run("repair", [data])).stdout).toContain(expected);
    writeFileSync(state, readFileSync(state, "utf8").replace("sha256", "sha255"));
    expect((await run("repair", [data])).stdout).not.toContain("db.json");
  });

  it("counts the lines that a journal without its end has lost, and names the state that includes them", async () => {
    const cut = damagedCopy("end-cut", (bytes) => bytes.subarray(0, bytes.indexOf('{"n":7,')));
    const state = join(cut, "db.json");
    const { line } = JSON.parse(readFileSync(state, "utf8")).clobsim as { readonly line: number };
    const { stdout } = await run("repair", [cut]);
    expect(stdout).toContain("is undamaged up to line 6 ");
    expect(stdout).toContain(`  lost: ${line - 6} lines after that, `);
    expect(stdout).toContain(`${state} has the state after line ${line}: clobsim serve --world ${state} `);
    expect(stdout).not.toContain("nothing is lost");
  });

  it.each<[what: string, kept: (line: Uint8Array) => number, lost: string]>([
    ["without its line feed", (line) => line.length - 1, "bytes, line 7\n"],
    ["of one byte", () => 1, "1 byte, line 7\n"],
  ])("counts a last line %s as lost, and not as undamaged", async (_what, kept, lost) => {
    const torn = damagedCopy(`last-${kept(Buffer.alloc(9))}`, (bytes) => {
      const [start, end] = ['{"n":7,', '{"n":8,'].map((text) => bytes.indexOf(text)) as [number, number];
      return bytes.subarray(0, start + kept(bytes.subarray(start, end)));
    });
    const { stdout } = await run("repair", [torn]);
    expect(stdout).toMatch(new RegExp(`  lost: (\\d+ )?${lost}`));
    expect(stdout).not.toContain("1 bytes");
  });

  it("says that an undamaged directory has lost nothing", async () => {
    const { stdout } = await run("repair", [original]);
    expect(stdout).toContain("nothing is lost: no line is damaged\n");
    expect(stdout).not.toContain("db.json");
  });

  it("refuses a directory that is not empty", async () => {
    const ended = await run("repair", [data], { "accept-loss": "true", out: repaired });
    expect(ended).toMatchObject({ code: 2, stderr: says("new or empty") });
  });

  it("refuses a directory inside the damaged one", async () => {
    const out = join(data, "sub");
    const ended = await run("repair", [data], { "accept-loss": "true", out });
    expect(ended).toMatchObject({ code: 2, stderr: says(`outside ${data}, found ${out}`) });
    expect(existsSync(out)).toBe(false);
  });

  it("takes a report, too", async () => {
    const report = join(folder, "damaged.ndjson");
    cpSync(journal, report);
    const out = join(folder, "of-report");
    expect((await run("repair", [report], { "accept-loss": "true", out })).code).toBe(0);
    expect((await run("replay", [out])).code).toBe(0);
  });
});
