import { bundle } from "./bundle.js";
import { inProject } from "./project.js";
import { runTool, TOOLS } from "./tool.js";

/** Measures the speed of the program and of its parts. */
export async function bench(args) {
  const unsettled = { "bench-unsettled": "test/bench/settlement/unsettled.ts" };
  await bundle(unsettled, { outdir: TOOLS, plugins: [withoutSettlement] });
  return runTool("bench", args, { external: ["nodejs-order-book"] });
}

/** Leaves out of a bundle what settles trades, so that its cost can be told. */
const withoutSettlement = {
  name: "without-settlement",
  setup(build) {
    build.onResolve({ filter: /\/chain\/(apply-transactions|pending)\.ts$/ }, ({ importer }) =>
      importer.endsWith("apply-trade.ts")
        ? { path: inProject("test", "bench", "settlement", "no-settlement.ts") }
        : undefined,
    );
  },
};
