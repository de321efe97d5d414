import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { linesIn, type TextLine, withChecksums } from "./journal-lines.ts";
import { run, says, tradeIn } from "./tools.ts";

const folder = temporaryFolder();
const data = join(folder, "data");

beforeAll(() => tradeIn(data));

/** Writes the journal with changed data in the first line of a kind, and with valid checksums. Returns its path. */
function changed(name: string, kind: string, changes: object): string {
  const lines = linesIn(readFileSync(join(data, "journal.ndjson"), "utf8"));
  const at = lines.findIndex(({ k }) => k === kind);
  const line = lines[at] as TextLine;
  const path = join(folder, name);
  writeFileSync(path, withChecksums(lines.with(at, { ...line, d: { ...(line.d as object), ...changes } })));
  return path;
}

const ZEROS = `v2:${"0".repeat(64)}`;

describe("clobsim replay", () => {
  it("finds each outcome of a directory as recorded, and the state hash of its last line", async () => {
    const journal = readFileSync(join(data, "journal.ndjson"), "utf8");
    const hash = /"hash":"(v2:[0-9a-f]{64})","wall"/.exec(journal)?.[1];
    const stdout = says(new RegExp(`each has the recorded outcome.*state ${hash}`, "s"));
    expect(await run("replay", [data])).toEqual({ code: 0, stdout, stderr: "" });
  });

  it("warns that the end of a report is missing", async () => {
    const lines = readFileSync(join(data, "journal.ndjson"), "utf8").trimEnd().split("\n");
    const file = join(folder, "cut.ndjson");
    writeFileSync(file, `${lines.slice(0, 4).join("\n")}\n`);
    const cut = "the last line of a report is missing: the file may be cut";
    expect((await run("replay", [file])).stdout).toContain(cut);
    expect((await run("replay", [file], { to: "3" })).stdout).not.toContain(cut);
    expect((await run("replay", [data])).stdout).not.toContain(cut);
  });

  it.each(["replay", "journal", "inspect", "report"] as const)(
    "and clobsim %s exit with 3 if the state has lines that the journal lacks",
    async (command) => {
      const cut = join(folder, "shortened");
      cpSync(data, cut, { recursive: true });
      const journal = readFileSync(join(cut, "journal.ndjson"));
      writeFileSync(join(cut, "journal.ndjson"), journal.subarray(0, journal.lastIndexOf(10, -2) + 1));
      const options = command === "report" ? { out: join(folder, "shortened.ndjson") } : {};
      const { code, stderr } = await run(command, [cut], options);
      expect([code, stderr]).toEqual([3, says(/its line \d+ was durable up to byte \d+: clobsim repair/)]);
    },
  );

  it("stops after a line, or at a time", async () => {
    const upTo = await run("replay", [data], { to: "4" });
    expect(upTo.stdout).toMatch(/up to line 4 at/);
    const until = await run("replay", [data], { until: "2026-01-01T00:00:09Z" });
    expect(until.stdout).toContain("at 2026-01-01T00:00:00.000Z");
  });

  it("stops at the earlier one of a line and a time", async () => {
    const both = async (to: string, until: string) => (await run("replay", [data], { to, until })).stdout;
    expect(await both("4", "2027-01-01T00:00:00Z")).toMatch(/up to line 4 at/);
    const lines = readFileSync(join(data, "journal.ndjson"), "utf8").trimEnd().split("\n").length;
    const earlier = await both(String(lines), "2026-01-01T00:00:00Z");
    expect(earlier).toMatch(/up to line \d+ at 2026-01-01T00:00:00\.000Z/);
  });

  it("refuses a time before the first line, whatever --to is", async () => {
    const until = "2025-12-31T23:59:59Z";
    const stderr = says(
      /^clobsim: --until expects a line of .*, which has \d+, found a time before its first\n$/,
    );
    for (const flags of [{ until }, { until, to: "4" }])
      expect(await run("replay", [data], flags)).toMatchObject({ code: 2, stderr });
  });

  it("refuses a line after the last", async () => {
    const stderr = says(/^clobsim: --to expects a line of .*, which has \d+, found 2000\n$/);
    expect(await run("replay", [data], { to: "2000" })).toMatchObject({ code: 2, stderr });
  });

  it("names the first command with another outcome, with both outcomes side by side, and ends with 7", async () => {
    const file = changed("other.ndjson", "order", { size: 2000 });
    const { code, stderr } = await run("replay", [file]);
    const other = /^clobsim: line \d+ of .*other\.ndjson, order, has another outcome than recorded\n/;
    expect([code, stderr]).toEqual([7, says(other)]);
    expect(stderr).toMatch(/BUY 20 YES @ 0\.99/);
    const table = / +recorded +now\n +outcome +accepted +accepted: .*\n +events +[0-9a-f]{8} +[0-9a-f]{8}\n/;
    expect(stderr).toMatch(table);
  });

  it.each([
    ["a command that is now refused", "order", { price: 9901 }, "refused, INVALID_TICK_SIZE"],
    ["a state that differs from the one in a line", "close", { hash: ZEROS }, "the state differs"],
  ])("finds %s", async (_what, kind, changes, message) => {
    const file = changed(`${kind}.ndjson`, kind, changes);
    expect(await run("replay", [file])).toMatchObject({ code: 7, stderr: says(message) });
  });

  it("exits with 3 if a line is damaged, and with 2 if there is no journal", async () => {
    const text = readFileSync(join(data, "journal.ndjson"), "utf8");
    const file = join(folder, "cut.ndjson");
    writeFileSync(file, text.slice(0, -30));
    expect((await run("replay", [file])).code).toBe(3);
    expect((await run("replay", [join(folder, "nothing")])).code).toBe(2);
    expect((await run("replay", [folder])).code).toBe(2);
  });
});
