import { readFileSync } from "node:fs";
import { inProject, run, runNode, say } from "./project.js";

// Development tools too, whatever NODE_ENV or the user's own npm configuration says: the build needs them. No package runs a
// script of its own, so nothing is fetched that package-lock.json does not name.
const CLEAN_INSTALL = [
  "ci",
  "--include=dev",
  "--no-audit",
  "--no-fund",
  "--ignore-scripts",
  "--loglevel=error",
];

/** Installs the packages unless node_modules holds what package-lock.json asks for. Answers whether they are there. */
export async function installMissing() {
  if (isInstalled()) return true;
  say("installing packages (npm ci)");
  const { code, output } = await runNpm(CLEAN_INSTALL);
  if (code !== 0) say(`npm ci failed with exit code ${code}\n${output}`);
  return code === 0;
}

/** Compares what npm noted when it installed with what is asked for; optional packages may be absent. */
function isInstalled() {
  const installed = packagesOf(inProject("node_modules", ".package-lock.json"));
  const wanted = packagesOf(inProject("package-lock.json"));
  return Object.entries(wanted).every(([path, { version, integrity, optional }]) => {
    const found = installed[path];
    if (path === "") return true;
    return found === undefined
      ? optional === true
      : found.version === version && found.integrity === integrity;
  });
}

function packagesOf(lockFile) {
  try {
    return JSON.parse(readFileSync(lockFile, "utf8")).packages;
  } catch {
    return {};
  }
}

/** Runs npm: the one that runs us when there is one, else the one of the PATH, which on Windows is a batch file. */
function runNpm(args) {
  const npm = process.env.npm_execpath;
  if (npm?.endsWith("npm-cli.js")) return runNode(npm, args);
  return process.platform === "win32" ? run("npm", args, { shell: true }) : run("npm", args);
}
