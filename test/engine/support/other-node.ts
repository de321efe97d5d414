import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
/** Has a folder for each major version, with a lock file. */
const WANTED = fileURLToPath(new URL("../other-node/", import.meta.url));
const CACHE = fileURLToPath(new URL("../../../node_modules/.cache/clobsim-other-node/", import.meta.url));
const NAME = `node-${process.platform}-${process.arch}`;

/** Versions of Node that are tested besides this one. */
export const OTHER_VERSIONS: readonly string[] = readdirSync(WANTED).map(versionIn);

function versionIn(major: string): string {
  const { optionalDependencies } = JSON.parse(readFileSync(join(WANTED, major, "package.json"), "utf8"));
  return Object.values<string>(optionalDependencies)[0] as string;
}

/**
 * Returns the program of another version of Node, fetched once from the package registry without running scripts, or
 * the reason why it is not available.
 */
export async function otherNode(
  version: string,
): Promise<{ readonly program: string } | { readonly reason: string }> {
  const major = version.split(".", 1)[0] as string;
  const folder = join(CACHE, major);
  const program = join(folder, "node_modules", NAME, "bin", "node");
  if (await isThere(program, version)) return { program };
  mkdirSync(folder, { recursive: true });
  cpSync(join(WANTED, major), folder, { recursive: true });
  try {
    await run("npm", ["ci", "--include=optional", "--ignore-scripts", "--no-audit", "--no-fund"], {
      cwd: folder,
      shell: process.platform === "win32",
      timeout: 120_000,
    });
  } catch (error) {
    return { reason: `npm ci failed: ${(error as Error).message.split("\n")[0]}` };
  }
  if (await isThere(program, version)) return { program };
  return { reason: `the registry has no package ${NAME} ${version}` };
}

async function isThere(program: string, version: string): Promise<boolean> {
  if (!existsSync(program)) return false;
  const { stdout } = await run(program, ["--version"]).catch(() => ({ stdout: "" }));
  return stdout.trim() === `v${version}`;
}
