import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { bundle, bundleScript, LIBRARY, PROGRAM, SEPARATE, writeAtomically } from "./bundle.js";
import { writeEntries } from "./entries.js";
import { bundleInspector } from "./inspector.js";
import { noticeOf } from "./notices.js";
import { envOfBuild, inProject, ROOT, runNode, say } from "./project.js";
import { rollUpTypes } from "./types.js";

const DIST = inProject("dist");
/** The built files, and fingerprints of their sources. */
const STAMP = join(DIST, ".build.json");
/** The default world, built here so that a start need not generate it. */
const DEFAULT_WORLD = { seed: "1", path: join(DIST, "default-world.json") };
const INSPECTOR = join(DIST, "inspector.html");
const NOTICE = join(DIST, "THIRD-PARTY.txt");

/**
 * Builds dist, the bundle and the default world, unless it was built from the same sources. With `--force` it is built from
 * scratch, with the types of the published package, which are too slow to build at every start.
 */
export async function build(args) {
  if (!args.includes("--force")) return buildProgram();
  rmSync(DIST, { recursive: true, force: true });
  // In parallel, because the types take three times as long as the rest.
  const [code, failure] = await Promise.all([buildProgram(), rollUpTypes(DIST)]);
  if (failure !== null) say(`the types could not be built\n${failure}`);
  return failure === null ? code : 1;
}

async function buildProgram() {
  const wanted = fingerprints();
  const built = readStamp();
  if (built.bundle !== wanted.bundle || !built.files.every(existsSync)) {
    say("building");
    const files = await bundleAll();
    if (files === null) return 1;
    removeStale(files);
    if (built.world !== wanted.world || !existsSync(DEFAULT_WORLD.path)) {
      if (!(await buildWorld())) return 1;
    }
    writeAtomically(STAMP, JSON.stringify({ ...wanted, files: [...files, DEFAULT_WORLD.path] }));
  }
  return 0;
}

/** Options of the loader and the separate modules, which are loaded by ES modules, by CommonJS and by jest. */
const LOADER = {
  format: "cjs",
  splitting: false,
  outExtension: { ".js": ".cjs" },
  banner: { js: 'const urlOfLoader = require("node:url").pathToFileURL(__filename).href;' },
  define: { "import.meta.url": "urlOfLoader" },
};

/**
 * Builds one script for library and program, which share modules; its loader; the thread that draws progress, which loads
 * nothing else; the page of the inspector; and the notice of licences.
 */
async function bundleAll() {
  const { "progress-worker": progress, ...program } = PROGRAM;
  try {
    const [inspector, ...bundles] = await Promise.all([
      bundleInspector(),
      bundleScript("clobsim", { ...LIBRARY, ...program }),
      bundle({ load: "src/load.ts", ...SEPARATE }, LOADER),
      bundle({ "progress-worker": progress }),
    ]);
    writeAtomically(INSPECTOR, inspector.html);
    writeAtomically(NOTICE, noticeOf([...inspector.sources, ...bundles.flatMap(({ sources }) => sources)]));
    return [...bundles.flatMap(({ files }) => files), ...(await writeEntries(DIST)), INSPECTOR, NOTICE];
  } catch (error) {
    if (error.errors === undefined) throw error;
    say("the bundle could not be built");
    return null;
  }
}

/** Returns whether it succeeded. */
async function buildWorld() {
  const args = ["world", "--seed", DEFAULT_WORLD.seed, "--out", DEFAULT_WORLD.path];
  const { code, output } = await runNode(join(DIST, "cli.js"), args, { env: envOfBuild() });
  if (code !== 0) say(`the default world could not be built\n${output}`);
  return code === 0;
}

/** Removes files of older builds. */
function removeStale(files) {
  for (const name of readdirSync(DIST)) {
    const path = join(DIST, name);
    if (/\.c?js(\.map)?$/.test(name) && !files.includes(path)) rmSync(path);
  }
}

function readStamp() {
  try {
    return JSON.parse(readFileSync(STAMP, "utf8"));
  } catch {
    return { bundle: null, world: null, files: [] };
  }
}

/** Hashes contents rather than times, because a checkout or a copy changes times. */
function fingerprints() {
  const setup = ["package-lock.json", ...filesBelow("bin")];
  return {
    bundle: fingerprint([...setup, ...filesBelow("src")]),
    world: fingerprint([...setup, ...filesBelow("src/simulation"), ...filesBelow("src/core")]),
  };
}

function fingerprint(paths) {
  const hash = createHash("sha256");
  for (const path of paths) {
    const contents = readFileSync(inProject(path));
    hash.update(`${path}\0${contents.length}\0`).update(contents);
  }
  return hash.digest("hex");
}

/** Returns the files below a folder, sorted. */
const filesBelow = (folder) =>
  readdirSync(inProject(folder), { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => relative(ROOT, join(parentPath, name)))
    .sort();
