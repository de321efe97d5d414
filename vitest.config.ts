import { availableParallelism } from "node:os";
import { globSync } from "tinyglobby";
import { configDefaults, defineConfig } from "vitest/config";

/** Tests that replace a module, or count the timers of their process; all others share modules, which takes half the time. */
const ISOLATED = [
  "test/cli/reports.test.ts",
  "test/client/errors.test.ts",
  "test/history/report.test.ts",
  "test/history/shrink/shrinking-histories.test.ts",
  "test/regular-file.test.ts",
  "test/scenario/watch/matching-rules.test.ts",
];

/** What `npm run test:fast` runs: the rules, the wire, the language and how files depend on each other. */
const FAST = [
  "test/{architecture,config,http-reference,package-lock}.test.ts",
  "test/core/{book,chain,rules,runtime}/*.test.ts",
  "test/core/*.test.ts",
  "test/cli/reference.test.ts",
  "test/client/requests.test.ts",
  "test/fuzz/generator.test.ts",
  "test/engine/{golden-journals,line-format}.test.ts",
  "test/scenario/{language,coverage}/*.test.ts",
  "test/server/{order-of-checks,routes,unknown-fields}.test.ts",
];
/** What there takes half a second or more. */
const NOT_FAST = [
  "test/core/{book/book,table}.test.ts",
  "test/scenario/coverage/{command,exchange-coverage}.test.ts",
  "test/scenario/language/{hostile-files,line-ends,repeats}.test.ts",
];

/** Kill loops, every byte of a file, planted defects, days of bots, other ways to run Node: run by `npm run test:system` and `.ci/run`. */
const SYSTEM = "test/system/**";

/** Returns a pattern once for each alternative in its braces. */
const alternatives = (pattern: string): string[] => {
  const [braces, names] = /\{(.*?)\}/.exec(pattern) ?? [];
  if (braces === undefined || names === undefined) return [pattern];
  return names.split(",").map((name) => pattern.replace(braces, name));
};
const stale = [...ISOLATED, ...FAST, ...NOT_FAST]
  .flatMap(alternatives)
  .filter((pattern) => globSync(pattern, { cwd: import.meta.dirname }).length === 0);
if (stale.length > 0) throw new Error(`vitest.config.ts names ${stale.join(", ")}, and no such file exists`);

/** How much is run: "fast", "all", or what lies between. */
const level = process.env.TEST_LEVEL;
const include = level === "fast" ? FAST : ["test/**/*.test.ts"];
const exclude = [
  ...configDefaults.exclude,
  ...(level === "fast" ? NOT_FAST : []),
  ...(level === "all" ? [] : [SYSTEM]),
];

export default defineConfig({
  test: {
    // One more than there are processors: tests that start programs wait for them a fifth of the time.
    maxWorkers: availableParallelism() + 1,
    experimental: { fsModuleCache: true },
    // Only what hangs takes as long, also on a slow or busy machine.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    passWithNoTests: level === "fast",
    projects: [
      {
        extends: true,
        test: { name: "shared", isolate: false, include, exclude: [...exclude, ...ISOLATED] },
      },
      ...(level === "fast"
        ? []
        : [{ extends: true as const, test: { name: "isolated", include: ISOLATED, exclude } }]),
    ],
  },
});
