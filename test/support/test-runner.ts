import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** Returns the path of a file of the project. */
export const inProject = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

export const VITEST = inProject("node_modules/vitest/vitest.mjs");
export const JEST = inProject("node_modules/jest/bin/jest.js");

/** Runs a test runner with Node in a folder, without what the runner of this test has set, whether its tests pass or fail. */
export async function runTests(command: readonly string[], cwd: string) {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(?:VITEST|NODE_|JEST|FORCE_COLOR)/.test(name),
  );
  const env = { ...Object.fromEntries(own), NO_COLOR: "1" };
  const ended = promisify(execFile)(process.execPath, command, { cwd, env });
  type Failed = { readonly code: number; readonly stdout: string; readonly stderr: string };
  const { code, stdout, stderr } = await ended.then(
    (printed) => ({ code: 0, ...printed }),
    (error: Failed) => error,
  );
  return { code, output: stdout + stderr };
}
