import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { bundleInto } from "../support/bundled.ts";
import { temporaryFolder } from "../support/folder.ts";

const DEFECTS = "test/fuzz/defects";
/** What a copy of the sources needs to run these tests. */
const SOURCES = ["src", "test", "fixtures", "package.json", "tsconfig.json", "vitest.config.ts"];

const folder = temporaryFolder();

const patchOf = (defect: string): string => join(process.cwd(), DEFECTS, `${defect}.patch`);

/** The table of the README: each defect, a seed of the fuzzer that finds it, and the scenario and test that do. */
const DEFECT_ROWS = [
  ...readFileSync(join(DEFECTS, "README.md"), "utf8").matchAll(/^\| `([^`]+)` +\| (\d+|-) +\| (.*) \|$/gm),
].map(([, defect = "", seed = "", cells = ""]) => ({
  defect,
  seed,
  by: [...cells.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path),
}));
const fuzzed = DEFECT_ROWS.filter(({ seed }) => seed !== "-");
const pairs = DEFECT_ROWS.flatMap(({ defect, by }) => by.map((path) => [defect, path] as const));

/** Returns the patched sources, by path. */
function patchedBy(defect: string): ReadonlyMap<string, string> {
  const patched = mkdtempSync(join(folder, "patched-"));
  const paths = [...readFileSync(patchOf(defect), "utf8").matchAll(/^\+\+\+ b\/(.*)$/gm)].map(
    ([, path = ""]) => path,
  );
  for (const path of paths) {
    mkdirSync(join(patched, dirname(path)), { recursive: true });
    cpSync(path, join(patched, path));
  }
  execFileSync("git", ["apply", patchOf(defect)], { cwd: patched });
  return new Map(paths.map((path) => [path, readFileSync(join(patched, path), "utf8")]));
}

interface ProcessResult {
  readonly code: unknown;
  readonly text: string;
}

const node = (args: readonly string[], cwd: string): Promise<ProcessResult> =>
  new Promise((ended) => {
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(?:CLOBSIM|GITHUB|VITEST)/.test(name),
    );
    const env = { ...Object.fromEntries(inherited), NO_COLOR: "1" };
    execFile(process.execPath, args, { cwd, env }, (error, stdout, stderr) =>
      ended({ code: error === null ? 0 : error.code, text: stdout + stderr }),
    );
  });

/** Folders with the bundled program and fuzzer, by defect. */
const bundled = new Map<string, Promise<string>>();
function bundledWith(defect: string): Promise<string> {
  const known = bundled.get(defect);
  if (known !== undefined) return known;
  const outdir = mkdtempSync(join(folder, "bundled-"));
  const entries = { cli: "src/cli/main.ts", fuzz: "test/system/first-failure.ts" };
  const pending = bundleInto(outdir, entries, patchedBy(defect)).then(() => outdir);
  bundled.set(defect, pending);
  return pending;
}

/** Runs a scenario with the program that has a defect. */
const runScenario = async (path: string, defect: string): Promise<ProcessResult> =>
  node([join(await bundledWith(defect), "cli.js"), "run", path], process.cwd());

/** Runs the fuzzer's histories with an engine that has a defect, until one fails. */
const runFuzzer = async (defect: string, seed: string): Promise<ProcessResult> =>
  node([join(await bundledWith(defect), "fuzz.js"), seed], process.cwd());

/** A copy of the sources in which defects are planted, one at a time. One copy shares the cache of the compiler. */
const copy = join(folder, "sources");
beforeAll(() => {
  for (const source of SOURCES) cpSync(source, join(copy, source), { recursive: true });
  symlinkSync(join(process.cwd(), "node_modules"), join(copy, "node_modules"));
});

/** Runs a test in the copy of the sources with a defect. */
async function runTest(path: string, defect: string): Promise<ProcessResult> {
  execFileSync("git", ["apply", patchOf(defect)], { cwd: copy });
  try {
    return await node([join("node_modules", "vitest", "vitest.mjs"), "run", path], copy);
  } finally {
    execFileSync("git", ["apply", "-R", patchOf(defect)], { cwd: copy });
  }
}

describe("each planted defect", () => {
  it("is in the table, describes itself in the first line, and is one change", () => {
    expect(fuzzed.length).toBeGreaterThanOrEqual(16);
    const patches = readdirSync(DEFECTS).filter((name) => name.endsWith(".patch"));
    expect(DEFECT_ROWS.map(({ defect }) => `${defect}.patch`)).toEqual(patches.sort());
    for (const patch of patches) {
      const text = readFileSync(join(DEFECTS, patch), "utf8");
      expect([basename(patch), text]).toEqual([
        basename(patch),
        expect.stringMatching(/^[A-Za-z].{10,100}\.\n\ndiff --git /),
      ]);
      expect(text.match(/^@@ /gm)).toHaveLength(1);
    }
  });

  it.each(fuzzed)("$defect is found by the fuzzer within a thousand seeds", async ({ defect, seed }) => {
    const { code, text } = await runFuzzer(defect, seed);
    expect(text).toMatch(/^seed \d+, command \d+: /);
    expect(code).toBe(0);
  });

  it.each(pairs)("%s is caught by %s", async (defect, path) => {
    const isScenario = path.endsWith(".yaml");
    const { code, text } = await (isScenario ? runScenario(path, defect) : runTest(path, defect));
    // At least one test must pass, or else the failure has another cause than the defect.
    expect(text).toMatch(
      isScenario ? /^1 scenario in 1 file: 1 failed$/m : /^ *Tests +\d+ failed \| \d+ passed/m,
    );
    expect(code).toBe(1);
  });
});
