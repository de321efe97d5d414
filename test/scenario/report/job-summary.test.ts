import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { WrongFile } from "../../../src/scenario/language/page.ts";
import { appendSummary, jobSummary, wrongFilesSummary } from "../../../src/scenario/report/github.ts";
import { grouped } from "../../../src/scenario/report/text.ts";
import { run } from "../../cli/tools.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { failedOf, resultOf, skippedOf, suiteOf, WRONG_FILES } from "./suite.ts";

const [PASSES, WRONG] = ["passes.yaml", "wrong.yaml"];

describe("the job summary", () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, PASSES), "scenario: x\nsteps: [{ advance: 1s }]\n");
  writeFileSync(join(folder, WRONG), "scenario: x\n");

  it("lists the problems of files, up to GitHub's limit", async () => {
    await expect(wrongFilesSummary(WRONG_FILES)).toMatchFileSnapshot("examples/job-summary-of-problems.txt");
    const many = Array.from({ length: 20_000 }, () => WRONG_FILES[0] as WrongFile);
    const long = wrongFilesSummary(many);
    expect(Buffer.byteLength(long)).toBeLessThan(800 * 1024);
    expect(long).toMatch(/\n```\n\nand \d+,\d+ more problems: see the log\n$/);
  });

  it("matches the example", async () => {
    const failure = { message: "the bids of `YES` are <wrong>", text: "a ```` b" };
    const text = jobSummary(suiteOf([resultOf(), failedOf({}, failure), skippedOf()]));
    await expect(text).toMatchFileSnapshot("examples/job-summary.txt");
  });

  it("shows only counts if nothing failed", () => {
    expect(jobSummary(suiteOf([resultOf(), skippedOf()]))).toBe(
      "## clobsim: 1 passed, 0 failed, 1 skipped in 0.8 ms\n\n",
    );
  });

  it("stays below GitHub's limit, and counts what it leaves out", () => {
    const failures = Array.from({ length: 20_000 }, () => failedOf({}, { message: "日本語".repeat(20) }));
    const text = jobSummary(suiteOf(failures));
    expect(Buffer.byteLength(text)).toBeLessThan(1024 * 1024);
    const shown = text.match(/^### /gm)?.length ?? 0;
    expect(shown).toBeGreaterThan(1000);
    expect(text).toContain(`and ${grouped(20_000 - shown)} more failures: see the log\n`);
  });

  it("is appended to the given file, if there is room", () => {
    const path = join(folder, "summary.md");
    writeFileSync(path, "before\n");
    expect(appendSummary(path, (bytes) => `room for ${bytes}\n`)).toBe(null);
    expect(readFileSync(path, "utf8")).toBe("before\nroom for 786432\n");
    writeFileSync(path, "x".repeat(1_000_000));
    expect(appendSummary(path, (bytes) => "y".repeat(bytes))).toBe(null);
    expect(statSync(path).size).toBeLessThan(1024 * 1024);
    writeFileSync(path, "x".repeat(1_048_000));
    expect(appendSummary(path, () => "y")).toBe(`the job summary is not written: ${path} is full`);
    expect(statSync(path).size).toBe(1_048_000);
  });

  it("that cannot be written is reported", () => {
    expect(appendSummary(folder, () => "y")).toMatch(/^the job summary is not written: EISDIR/);
  });

  it.each([
    ["run", [PASSES], {}, "## clobsim: 1 passed, 0 failed, 0 skipped in "],
    ["run", [PASSES], { reporter: "tap" }, "## clobsim: 1 passed, 0 failed, 0 skipped in "],
    ["run", [WRONG], {}, "## clobsim: 1 problem in 1 file, nothing was run"],
  ] as const)("is written by clobsim %s %j with %j", async (command, words, flags, begins) => {
    const path = join(mkdtempSync(join(folder, "job-")), "summary.md");
    const named = words.map((name) => join(folder, name));
    await run(command, named, flags, { GITHUB_STEP_SUMMARY: path });
    expect(readFileSync(path, "utf8").startsWith(begins)).toBe(true);
    const { stderr } = await run(command, named, flags, { GITHUB_STEP_SUMMARY: folder });
    expect(stderr).toContain("clobsim: the job summary is not written: EISDIR");
  });
});
