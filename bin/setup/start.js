import { build } from "./build.js";
import { inProject } from "./project.js";

/**
 * Builds what is missing and serves, in this one process: a signal for `npm start` then reaches the server, which a
 * shell between the two would keep to itself.
 */
export async function start(args) {
  const code = await build([]);
  if (code !== 0) return code;
  process.argv = [process.execPath, inProject("bin", "clobsim.js"), "serve", ...args];
  await import("../clobsim.js");
  return 0;
}
