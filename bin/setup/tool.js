import { bundle } from "./bundle.js";
import { inProject, runNode } from "./project.js";

/** Where tools of the tests are bundled to: beside `dist`, which is what a package carries. */
export const TOOLS = "dist-tools";

/**
 * Bundles a tool of the tests, `test/NAME/main.ts`, and runs it with plain Node, so that nothing that compiles on the fly
 * stands in what it measures. Answers its exit code.
 */
export async function runTool(name, args, options = {}) {
  await bundle({ [name]: `test/${name}/main.ts` }, { outdir: TOOLS, splitting: false, ...options });
  const { code } = await runNode(inProject(TOOLS, `${name}.js`), args, { stdio: "inherit" });
  return code;
}
