import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the checkout. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A path inside the checkout. */
export const inProject = (...parts) => join(ROOT, ...parts);

/** Talks to the person at the terminal; stdout belongs to results. */
export const say = (text) => process.stderr.write(`clobsim: ${text}\n`);

/**
 * Runs a command in the checkout to its end and answers its exit code (1 when a signal ended it, 127 when it
 * cannot be run) and, unless `stdio` says otherwise, what it printed.
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

/** The environment for running what was built: what the user has set for the program must not shape the build, nor the build fill the user's cache. */
export const envOfBuild = () => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("CLOBSIM_"))),
  CLOBSIM_CACHE: "off",
});
