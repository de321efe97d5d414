import { build } from "./build.js";
import { bundle } from "./bundle.js";
import { inProject, runNode } from "./project.js";

/** Output folder of tools of the tests. It is not `dist`, which is the content of the package. */
export const TOOLS = "dist-tools";

/**
 * Bundles a tool of the tests, `test/NAME/main.ts`, and runs it with plain Node, so that compilation does not distort
 * measurements. It uses the built program. Returns its exit code.
 */
export async function runTool(name, args, options = {}) {
  if ((await build([])) !== 0) return 1;
  await bundle({ [name]: `test/${name}/main.ts` }, { outdir: TOOLS, splitting: false, ...options });
  const { code } = await runNode(inProject(TOOLS, `${name}.js`), args, { stdio: "inherit" });
  return code;
}
