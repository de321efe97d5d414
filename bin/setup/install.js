import { readFileSync } from "node:fs";
import { inProject, run, runNode, say } from "./project.js";

// Includes development tools, which the build needs, regardless of NODE_ENV and the user's npm configuration. Package scripts
// do not run, so nothing is fetched that is not in package-lock.json.
const CLEAN_INSTALL = [
  "ci",
  "--include=dev",
  "--no-audit",
  "--no-fund",
  "--ignore-scripts",
  "--loglevel=error",
];

/** Installs the packages unless node_modules matches package-lock.json. Returns whether they are installed. */
export async function installMissing() {
  if (isInstalled()) return true;
  say("installing packages (npm ci)");
  const { code, output } = await runNpm(CLEAN_INSTALL);
  if (code !== 0) say(`npm ci failed with exit code ${code}\n${output}`);
  return code === 0;
}

/** Compares npm's record of the installed packages with the lock file; optional packages may be absent. */
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

/** Runs the npm that started this process, else that of the PATH, which on Windows is a batch file. */
function runNpm(args) {
  const npm = process.env.npm_execpath;
  if (npm?.endsWith("npm-cli.js")) return runNode(npm, args);
  return process.platform === "win32" ? run("npm", args, { shell: true }) : run("npm", args);
}
