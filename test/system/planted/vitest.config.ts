import { relative } from "node:path";
import { defineConfig } from "vitest/config";
import type { Reporter } from "vitest/node";
import { PLANTED_DEFECTS, plantedBy } from "./defects.ts";

/** Numbers of passed and failed tests of a file with a defect. */
export interface PlantedRun {
  readonly defect: string;
  readonly passed: number;
  readonly failed: number;
}

/** Prints the results of all files as one line of JSON. */
const reporter: Reporter = {
  onTestRunEnd(files) {
    const runs = files.map((file): PlantedRun => {
      const states = [...file.children.allTests()].map((test) => test.result().state);
      const count = (state: string): number => states.filter((of) => of === state).length;
      return { defect: file.project.name, passed: count("passed"), failed: count("failed") };
    });
    process.stdout.write(`${JSON.stringify(runs)}\n`);
  },
};

/** Runs the tests of each defect with the source that has it. */
export default defineConfig({
  test: {
    reporters: [reporter],
    projects: PLANTED_DEFECTS.filter(({ tests }) => tests.length > 0).map(({ name, tests }) => {
      const sources = plantedBy(name);
      return {
        plugins: [{ name: "planted", load: (id: string) => sources.get(relative(process.cwd(), id)) }],
        test: { name, include: [...tests], isolate: false },
      };
    }),
  },
});
