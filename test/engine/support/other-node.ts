import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const WANTED = fileURLToPath(new URL("../other-node/", import.meta.url));
const CACHE = fileURLToPath(new URL("../../../node_modules/.cache/clobsim-other-node/", import.meta.url));
const NAME = `node-${process.platform}-${process.arch}`;
const PROGRAM = join(CACHE, "node_modules", NAME, "bin", "node");

/** The version of Node that journals are tried in besides this one's. */
export const OTHER_VERSION = versionWanted();

function versionWanted(): string {
  const { optionalDependencies } = JSON.parse(readFileSync(join(WANTED, "package.json"), "utf8"));
  return Object.values<string>(optionalDependencies)[0] as string;
}

/**
 * The program of another Node: fetched once from the package registry, by a lock file of its own that names its bytes,
 * without any script of its own being run. Where it cannot be had, the reason.
 */
export async function otherNode(): Promise<{ readonly program: string } | { readonly reason: string }> {
  if (await isThere()) return { program: PROGRAM };
  mkdirSync(CACHE, { recursive: true });
  cpSync(WANTED, CACHE, { recursive: true });
  try {
    await run("npm", ["ci", "--include=optional", "--ignore-scripts", "--no-audit", "--no-fund"], {
      cwd: CACHE,
      shell: process.platform === "win32",
      timeout: 120_000,
    });
  } catch (error) {
    return { reason: `npm ci has failed: ${(error as Error).message.split("\n")[0]}` };
  }
  return (await isThere()) ? { program: PROGRAM } : { reason: `the registry has no package ${NAME}` };
}

async function isThere(): Promise<boolean> {
  if (!existsSync(PROGRAM)) return false;
  const { stdout } = await run(PROGRAM, ["--version"]).catch(() => ({ stdout: "" }));
  return stdout.trim() === `v${OTHER_VERSION}`;
}
