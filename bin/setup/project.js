import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Root folder of the checkout. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Returns a path in the checkout. */
export const inProject = (...parts) => join(ROOT, ...parts);

/** Prints to stderr, because stdout is for results. */
export const say = (text) => process.stderr.write(`clobsim: ${text}\n`);

/**
 * Runs a command in the checkout. Returns its exit code (1 if a signal ended it, 127 if it cannot be run) and its output,
 * unless `stdio` is given.
 */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"], ...options });
    const printed = [];
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (bytes) => printed.push(bytes));
    child.on("error", ({ message }) => resolve({ code: 127, output: message }));
    child.on("close", (code) => resolve({ code: code ?? 1, output: Buffer.concat(printed).toString() }));
  });
}

/** Runs a JavaScript file with this Node. */
export const runNode = (file, args, options) => run(process.execPath, [file, ...args], options);

/** Without garbage collection the compiler, which is written in Go, takes two thirds of the time and a tenth more memory. */
const NO_COLLECTION = { GOGC: "off", GOMEMLIMIT: "3GiB" };

/** Runs the TypeScript compiler. */
export const runCompiler = (args) =>
  runNode(inProject("node_modules", "typescript", "bin", "tsc"), args, {
    env: { ...process.env, ...NO_COLLECTION },
  });

/** Returns an environment without the user's settings and cache, in which the built program is run during the build. */
export const envOfBuild = () => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("CLOBSIM_"))),
  CLOBSIM_CACHE: "off",
});
