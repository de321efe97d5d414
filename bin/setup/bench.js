import { bundle } from "./bundle.js";
import { inProject } from "./project.js";
import { runTool, TOOLS } from "./tool.js";

/** Measures the speed of the program and of its parts. */
export async function bench(args) {
  const unsettled = { "bench-unsettled": "test/bench/funded-exchange.ts" };
  await bundle(unsettled, { outdir: TOOLS, plugins: [withoutSettlement] });
  return runTool("bench", args, { external: ["nodejs-order-book", "playwright-core"] });
}

/** Removes the settlement of trades from a bundle, to measure its cost. Fails if there is nothing to remove. */
const withoutSettlement = {
  name: "without-settlement",
  setup(build) {
    const replaced = new Set();
    build.onResolve({ filter: /^\.\/(?:ledger|transactions)\.ts$/ }, ({ importer, path }) => {
      if (!importer.endsWith("rules/trading.ts")) return undefined;
      replaced.add(path);
      return { path: inProject("test", "bench", "no-settlement.ts") };
    });
    build.onEnd(() =>
      replaced.size === 2 ? undefined : { errors: [{ text: "the modules of settlement were not found" }] },
    );
  },
};
