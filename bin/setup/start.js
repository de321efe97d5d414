import { build } from "./build.js";
import { inProject } from "./project.js";

const ORPHAN_CHECK_MS = 250;

/** Builds if necessary, then serves in this process. */
export async function start(args) {
  stopWhenOrphaned();
  const code = await build([]);
  if (code !== 0) return code;
  process.argv = [process.execPath, inProject("bin", "clobsim.js"), "serve", ...args];
  await import("../clobsim.js");
  return 0;
}

/** Ends the server when its shell ends, because npm's shell does not forward signals. */
function stopWhenOrphaned() {
  const shell = process.ppid;
  const check = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(check);
    process.kill(process.pid, "SIGTERM");
  }, ORPHAN_CHECK_MS);
  check.unref();
}
