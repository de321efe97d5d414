import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { leanOptions } from "./lean.js";
import { ROOT } from "./project.js";

/** CommonJS packages in the bundle call `require` for Node's own modules; an ES module has none. */
const BANNER = [
  'import { createRequire as createRequireOfBundle } from "node:module";',
  "const require = createRequireOfBundle(import.meta.url);",
].join("\n");

/**
 * What the program runs in threads of its own, then the program: bundled apart from one another, so that what the program
 * loads at its start is not cut into more files.
 */
export const PROGRAM = [{ "fuzz-worker": "src/fuzz/campaign/worker.ts" }, { cli: "src/cli/main.ts" }];

/**
 * Bundles entry points into dist and answers the files written. Each file appears whole or not at all, an entry point
 * after the chunks that it loads, so that somebody else's start or build at the same time does no harm.
 * @throws when the sources cannot be bundled; esbuild has then said why.
 */
export async function bundle(entryPoints, options = {}) {
  const esbuild = await import("esbuild");
  const { outputFiles, metafile } = await esbuild.build({
    absWorkingDir: ROOT,
    entryPoints,
    outdir: "dist",
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    splitting: true,
    sourcemap: "linked",
    banner: { js: BANNER },
    metafile: true,
    // Of the host that runs scenarios as its tests.
    external: ["vitest"],
    write: false,
    logLevel: "warning",
    ...leanOptions,
    ...options,
  });
  const entries = Object.entries(metafile.outputs)
    .filter(([, { entryPoint }]) => Object.values(entryPoints).includes(entryPoint))
    .map(([path]) => path);
  const isEntry = ({ path }) => entries.some((entry) => path.replaceAll("\\", "/").endsWith(`/${entry}`));
  for (const file of [...outputFiles.filter((file) => !isEntry(file)), ...outputFiles.filter(isEntry)]) {
    writeWhole(file.path, file.contents);
  }
  return outputFiles.map(({ path }) => path);
}

/** Writes a file so that nobody ever reads half of it. */
export function writeWhole(path, contents) {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, contents);
  renameSync(draft, path);
}
