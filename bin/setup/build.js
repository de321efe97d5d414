import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { APART, bundle, bundleScript, LIBRARY, PROGRAM, writeAtomically } from "./bundle.js";
import { writeEntries } from "./entries.js";
import { bundleInspector } from "./inspector.js";
import { noticeOf } from "./notices.js";
import { envOfBuild, inProject, runNode, say } from "./project.js";
import { rollUpTypes } from "./types.js";

const DIST = inProject("dist");
/** What was built, and from what. */
const STAMP = join(DIST, ".build.json");
/** The world that opens when nothing else is asked for, made here so that no start has to make it. */
const DEFAULT_WORLD = { seed: "1", path: join(DIST, "default-world.json") };
/** The page of the inspector. */
const INSPECTOR = join(DIST, "inspector.html");
const NOTICE = join(DIST, "THIRD-PARTY.txt");

/**
 * Builds dist unless it was built from these very sources: the bundle and the default world. With `--force` everything
 * from nothing, and the types that a published package carries, which are too slow to make for every start.
 */
export async function build(args) {
  if (!args.includes("--force")) return buildProgram();
  rmSync(DIST, { recursive: true, force: true });
  // Side by side: the types take three times as long as all the rest.
  const [code, wrong] = await Promise.all([buildProgram(), rollUpTypes(DIST)]);
  if (wrong !== null) say(`the types could not be built\n${wrong}`);
  return wrong === null ? code : 1;
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
      if (!(await madeWorld())) return 1;
    }
    writeAtomically(STAMP, JSON.stringify({ ...wanted, files: [...files, DEFAULT_WORLD.path] }));
  }
  return 0;
}

/** The loader, and what is apart, is loaded by ES modules, by CommonJS, and by jest's. */
const LOADER = {
  format: "cjs",
  splitting: false,
  outExtension: { ".js": ".cjs" },
  banner: { js: 'const urlOfLoader = require("node:url").pathToFileURL(__filename).href;' },
  define: { "import.meta.url": "urlOfLoader" },
};

/**
 * One script for library and program, which share their modules, what loads it, the thread that draws progress and loads
 * nothing else, the page, and the licences of what is in them.
 */
async function bundleAll() {
  const { "progress-worker": progress, ...program } = PROGRAM;
  try {
    const [inspector, ...bundles] = await Promise.all([
      bundleInspector(),
      bundleScript("clobsim", { ...LIBRARY, ...program }),
      bundle({ load: "src/load.ts", ...APART }, LOADER),
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

async function madeWorld() {
  const args = ["world", "--seed", DEFAULT_WORLD.seed, "--out", DEFAULT_WORLD.path];
  const { code, output } = await runNode(join(DIST, "cli.js"), args, { env: envOfBuild() });
  if (code !== 0) say(`the default world could not be built\n${output}`);
  return code === 0;
}

/** Removes what an older build left. */
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

/** Hashes of contents, not times: a checkout or a copy touches files without changing them. */
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

/** The files below a folder, in an order that every machine shares. */
function filesBelow(folder) {
  const files = [];
  for (const entry of readdirSync(inProject(folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) files.push(...filesBelow(path));
    else files.push(path);
  }
  return files.sort();
}
