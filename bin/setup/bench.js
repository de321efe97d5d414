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
  const { code } = await runNode(inProject("dist", "bench.js"), args, { stdio: "inherit" });
  return code;
}
