import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { bundleInto } from "../support/bundled.ts";
import { temporaryFolder } from "../support/folder.ts";
import { DEFECTS, PLANTED_DEFECTS, plantedBy } from "./planted/defects.ts";
import type { PlantedRun } from "./planted/vitest.config.ts";

const folder = temporaryFolder();

/** Runs Node without the variables of this test run. Returns the lines of its output, whatever its exit code is. */
async function linesOf(...args: readonly string[]): Promise<string[]> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(?:CLOBSIM|GITHUB|VITEST)/.test(name));
  const options = { env: { ...Object.fromEntries(inherited), NO_COLOR: "1" } };
  const { stdout } = await promisify(execFile)(process.execPath, args, options).catch(
    (error: { readonly stdout: string }) => error,
  );
  return stdout.trimEnd().split("\n");
}

/** Runs seeds and scenarios with the sources that have a defect. Returns what each finds. */
async function find(defect: string, ...args: readonly string[]): Promise<string[]> {
  const built = mkdtempSync(join(folder, "built-"));
  await bundleInto(built, { find: "test/system/planted/find-defect.ts" }, plantedBy(defect), "external");
  return linesOf(join(built, "find.js"), ...args);
}

describe("each planted defect", () => {
  it("is in the table, describes itself in the first line, and is one change", () => {
    const patches = readdirSync(DEFECTS).filter((name) => name.endsWith(".patch"));
    expect(PLANTED_DEFECTS.map(({ name }) => `${name}.patch`)).toEqual(patches.sort());
    for (const patch of patches) {
      const text = readFileSync(join(DEFECTS, patch), "utf8");
      expect([patch, text]).toEqual([patch, expect.stringMatching(/^[A-Za-z].{10,100}\.\n\ndiff --git /)]);
      expect(text.match(/^@@ /gm)).toHaveLength(1);
    }
    expect(PLANTED_DEFECTS.filter(({ seed }) => seed !== null).length).toBeGreaterThanOrEqual(16);
  });

  const searched = PLANTED_DEFECTS.filter(({ seed, scenarios }) => seed !== null || scenarios.length > 0);
  it.each(searched)("$name is found by the fuzzer and by a scenario, as the table says", async (defect) => {
    const { name, seed, scenarios } = defect;
    const found = await find(name, ...(seed === null ? [] : [seed]), ...scenarios);
    const expected = scenarios.map(() => "failed");
    if (seed !== null) expected.unshift(expect.stringMatching(/^seed \d+, command \d+: /));
    expect(found).toEqual(expected);
  });

  it("is caught by the tests of the table, of which others pass", async () => {
    const args = ["run", "--config", "test/system/planted/vitest.config.ts", "--root", "."];
    const lines = await linesOf(join("node_modules", "vitest", "vitest.mjs"), ...args);
    const runs = JSON.parse(lines.at(-1) ?? "") as readonly PlantedRun[];
    const tested = PLANTED_DEFECTS.flatMap(({ name, tests }) => tests.map(() => name));
    expect(runs.map(({ defect }) => defect).sort()).toEqual(tested);
    // If all tests of a file fail, the failure has another cause than the defect.
    expect(runs.filter(({ passed, failed }) => passed === 0 || failed === 0)).toEqual([]);
  });
});
