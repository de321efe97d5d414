import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";

/** Tests that replace a module, or count the timers of their process; all others share modules, which takes half the time. */
const ISOLATED = [
  "test/cli/reporting.test.ts",
  "test/cli/shrink/wrong-refusals.test.ts",
  "test/client/errors.test.ts",
  "test/history/shrink/shrinking-histories.test.ts",
  "test/scenario/watch/matching-rules.test.ts",
];

/** What takes minutes is run by `npm run test:system` and `.ci/run`. */
const exclude = [...configDefaults.exclude, ...(process.env.SYSTEM_TESTS === "1" ? [] : ["test/system/**"])];

export default defineConfig({
  test: {
    // Vitest leaves one processor to itself: on a machine with two, half the time is lost.
    maxWorkers: availableParallelism(),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          isolate: false,
          include: ["test/**/*.test.ts"],
          exclude: [...exclude, ...ISOLATED],
        },
      },
      { extends: true, test: { name: "isolated", include: ISOLATED, exclude } },
    ],
  },
});
