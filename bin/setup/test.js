import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { build } from "./build.js";
import { writeAtomically } from "./bundle.js";
import { inProject, runCompiler, runNode } from "./project.js";

const REPORTS = inProject("node_modules", ".cache", "clobsim");
const VITEST_REPORT = `${REPORTS}/vitest.json`;
/** Numbers of passed and failed tests; types and lint count as one test each. */
const TOTALS = `${REPORTS}/totals.json`;

const tool = (...path) => inProject("node_modules", ...path);

/** Test levels by argument: `--fast` runs only tests that take seconds, `--system` also those that take minutes. */
const LEVELS = { "--fast": "fast", "--system": "all" };

/** Checks types, lint and tests, even if one of them fails, and prints a summary. */
export async function test(args) {
  rmSync(REPORTS, { recursive: true, force: true });
  mkdirSync(REPORTS, { recursive: true });
  const level = args.map((arg) => LEVELS[arg]).find(Boolean) ?? "usual";
  const checks = level === "fast" ? await fastChecks(args) : await allChecks(args, level);
  const sum = (key) => checks.reduce((total, check) => total + check[key], 0);
  const totals = { passed: sum("passed"), failed: sum("failed") };
  writeAtomically(TOTALS, JSON.stringify(totals));
  process.stdout.write(`\n${checks.map(summaryOf).join("\n")}\n\n`);
  return totals.failed === 0 ? 0 : 1;
}

/** Runs the compiler incrementally, with the file of its earlier results. */
const compile = (name, ...args) => {
  const known = inProject("node_modules", ".cache", "clobsim-types-checked", `${name}.tsbuildinfo`);
  return runCompiler(["--noEmit", "--incremental", "--tsBuildInfoFile", known, "-p", ...args]);
};
/** Everything, and the core without Node's types. A test checks the declarations of the package, without browser types. */
const types = () => printed(compile("all", "."), compile("core", "src/core"));
const lint = () => printed(runNode(tool("@biomejs", "biome", "bin", "biome"), ["check"]));

/** Builds first, because many tests run the built program. */
const allChecks = async (args, level) => [
  await timed("build", async () => ((await build([])) === 0 ? passed(0) : failed(1))),
  ...(await Promise.all([
    timed("types", () => types()),
    timed("lint", lint),
    timed("tests", () => vitest(args, level)),
  ])),
];

/** Does not build, because no fast test runs the built program. */
const fastChecks = (args) =>
  Promise.all([
    timed("types", () => types()),
    timed("lint", lint),
    timed("tests", () => vitest(args, "fast")),
  ]);

const passed = (count) => ({ passed: count, failed: 0, note: "" });
const failed = (count) => ({ passed: 0, failed: count, note: "" });

async function timed(name, check) {
  const start = performance.now();
  const result = await check();
  return { name, seconds: (performance.now() - start) / 1000, ...result };
}

/** Waits for tools that run in parallel as one check. Their output is shown only if they fail. */
async function printed(...running) {
  const results = await Promise.all(running);
  const found = results.filter(({ code }) => code !== 0);
  for (const { output } of found) process.stdout.write(output);
  return found.length === 0 ? passed(1) : failed(1);
}

async function vitest(args, level) {
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${VITEST_REPORT}`];
  const others = args.filter((arg) => LEVELS[arg] === undefined);
  const { code } = await runNode(tool("vitest", "vitest.mjs"), ["run", ...reporters, ...others], {
    stdio: "inherit",
    env: { ...process.env, TEST_LEVEL: level },
  });
  const report = readReport();
  // A file that cannot be loaded, or an error outside tests, fails the run without a failed test.
  const uncounted = report.numFailedTests === 0 && code !== 0 ? Math.max(1, report.numFailedTestSuites) : 0;
  const [good, bad] = [report.numPassedTests, report.numFailedTests + uncounted];
  return { passed: good, failed: bad, note: `${good} passed, ${bad} failed` };
}

function readReport() {
  try {
    return JSON.parse(readFileSync(VITEST_REPORT, "utf8"));
  } catch {
    return { numPassedTests: 0, numFailedTests: 0, numFailedTestSuites: 0 };
  }
}

function summaryOf({ name, seconds, failed, note }) {
  const verdict = failed === 0 ? "ok" : "FAILED";
  return `  ${name.padEnd(6)} ${verdict.padEnd(6)} ${seconds.toFixed(1).padStart(6)} s  ${note}`.trimEnd();
}
