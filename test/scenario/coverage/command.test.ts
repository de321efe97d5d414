import { describe, expect, it } from "vitest";
import { run } from "../../cli/tools.ts";
import { ScenarioFolder } from "../run/scenario-folder.ts";
import { ENDING, FAILING, PARTS, UNSIGNED } from "./files.ts";

const folder = new ScenarioFolder();
const parts = folder.write("parts.yaml", PARTS);
const ending = folder.write("ending.yaml", ENDING);
const failing = folder.write("failing.yaml", FAILING);
const unsigned = folder.write("unsigned.yaml", UNSIGNED);
const wrong = folder.write("wrong.yaml", "scenario: nothing happens\n");

type Flags = Readonly<Record<string, string>>;

/** Runs the command as `clobsim coverage` does. */
async function coverage(paths: readonly string[], flags: Flags = {}) {
  const { code, stdout, stderr } = await run("coverage", paths, flags);
  return { code, stdout: folder.within(stdout), stderr: folder.within(stderr) };
}

describe("clobsim coverage", () => {
  it("prints the table and exits with 0 without --min", async () => {
    const { code, stdout, stderr } = await coverage([parts, ending]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/\n {2}✓ GTC {44}2 {6}3 {2}ending\.yaml\n/);
    expect(stdout).toMatch(/\n\n35 of \d+ items, \d+(?:\.\d)? %\n$/);
  });

  it("exits with 0 if --min is reached, else reports the difference", async () => {
    const { stdout } = await coverage([parts, ending]);
    const percent = Number(/, (\S+) %\n$/.exec(stdout)?.[1]);
    const enough = await coverage([parts, ending], { min: `${Math.floor(percent)}` });
    expect(enough).toMatchObject({ code: 0, stderr: "" });
    const more = Math.floor(percent) + 1;
    const missed = await coverage([parts, ending], { min: `${more}` });
    const stderr = `clobsim: --min expects ${more} %, found ${percent} %\n`;
    expect(missed).toMatchObject({ code: 1, stderr });
  });

  it("fails if a scenario fails, and names it", async () => {
    const { code, stdout, stderr } = await coverage([parts, failing]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "clobsim: 1 scenario failed\n" });
    expect(stdout).toContain("failed\n  ✗ a book is never what it is not\n    failing.yaml:5:23\n");
  });

  it("fails as clobsim run does if every scenario is skipped", async () => {
    const { code, stdout, stderr } = await coverage([unsigned], { via: "process" });
    const message = "clobsim: nothing was run, every scenario was skipped\n";
    expect({ code, stderr }).toEqual({ code: 1, stderr: message });
    expect(stdout).toContain("1 scenario skipped: needs HTTP: run it with --via http\n");
    expect(await run("run", [unsigned], { via: "process" })).toMatchObject({ code, stderr });
  });

  it("runs nothing if a file is invalid", async () => {
    const { code, stdout, stderr } = await coverage([parts, wrong]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("wrong.yaml:1:1: ");
  });

  it.each<[paths: string[], Flags, sentence: string]>([
    [[], {}, "coverage expects files, folders or globs, found none (see clobsim coverage --help)"],
    [[parts], { via: "target" }, '--via expects process or http, found "target"'],
    [[parts], { min: "101" }, '--min expects a whole number from 0 to 100, found "101"'],
  ])("refuses %j with %j", async (paths, flags, sentence) => {
    expect(await coverage(paths, flags)).toEqual({ code: 2, stdout: "", stderr: `clobsim: ${sentence}\n` });
  });
});

describe("clobsim coverage --json", () => {
  it("prints the same figures as one document", async () => {
    const { code, stdout } = await coverage([parts, failing, unsigned], { json: "true", via: "process" });
    const { groups, ...document } = JSON.parse(stdout);
    const total = groups.reduce((sum: number, group: { total: number }) => sum + group.total, 0);
    expect(code).toBe(1);
    expect(document).toEqual({
      version: 1,
      exercised: 18,
      total,
      percent: Math.floor((18 * 1000) / total) / 10,
      scenarios: { passed: 1, failed: 1, skipped: 1 },
      failed: [
        {
          file: "failing.yaml",
          name: "a book is never what it is not",
          message: "the bids of YES are not as expected",
          repeat: expect.stringMatching(/^clobsim run failing\.yaml /),
        },
      ],
      skipped: [
        {
          file: "unsigned.yaml",
          name: "an order without a signature is refused",
          reason: "needs HTTP: run it with --via http",
        },
      ],
    });
    expect(groups[0]).toEqual({
      name: "order types",
      exercised: 2,
      total: 4,
      percent: 50,
      items: [
        { name: "GTC", scenarios: 1, times: 2, first: "parts.yaml" },
        { name: "GTD", scenarios: 0, times: 0, first: null },
        { name: "FOK", scenarios: 0, times: 0, first: null },
        { name: "FAK", scenarios: 1, times: 1, first: "parts.yaml" },
      ],
    });
  });

  it("calls an endpoint by its operation, method and path", async () => {
    const { stdout } = await coverage([unsigned], { json: "true", via: "http" });
    const { groups } = JSON.parse(stdout);
    const { items } = groups.find(({ name }: { name: string }) => name === "endpoints");
    expect(items).toContainEqual({
      name: "getTime GET /clob/time",
      scenarios: 1,
      times: 1,
      first: "unsigned.yaml",
    });
  });
});
