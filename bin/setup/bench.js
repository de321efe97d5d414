import { existsSync } from "node:fs";
import { bundle } from "./bundle.js";
import { inProject, runNode, say } from "./project.js";

/** Bundles the benchmarks and runs them with plain Node: nothing that compiles on the fly stands in what is measured. */
export async function bench(args) {
  if (!existsSync(inProject("test", "bench", "main.ts"))) {
    say("test/bench/main.ts is not there");
    return 1;
  }
  await bundle({ bench: "test/bench/main.ts" }, { splitting: false, external: ["nodejs-order-book"] });
  await bundle({ "bench-unsettled": "test/bench/settlement/unsettled.ts" }, { plugins: [withoutSettlement] });
  const { code } = await runNode(inProject("dist", "bench.js"), args, { stdio: "inherit" });
  return code;
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
