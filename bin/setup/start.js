import { build } from "./build.js";
import { inProject } from "./project.js";

const ORPHAN_CHECK_MS = 250;

/** Builds what is missing, then serves in this same process. */
export async function start(args) {
  stopWhenOrphaned();
  const code = await build([]);
  if (code !== 0) return code;
  process.argv = [process.execPath, inProject("bin", "clobsim.js"), "serve", ...args];
  await import("../clobsim.js");
  return 0;
}

/** A signal for `npm start` ends npm's shell, which does not pass it on: the server follows its shell. */
function stopWhenOrphaned() {
  const shell = process.ppid;
  const check = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(check);
    process.kill(process.pid, "SIGTERM");
  }, ORPHAN_CHECK_MS);
  check.unref();
}
