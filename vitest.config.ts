import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // What takes minutes on its own is run by `npm run test:system`, and where changes land.
    exclude: [...configDefaults.exclude, ...(process.env.SYSTEM_TESTS === "1" ? [] : ["test/system/**"])],
    // Vitest leaves one processor to itself: on a machine with two, half the time is lost.
    maxWorkers: availableParallelism(),
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
