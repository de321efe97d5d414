import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { leanOptions } from "./lean.js";
import { ROOT } from "./project.js";

/** CommonJS packages in the bundle call `require` for Node's own modules; an ES module has none. */
const BANNER = [
  'import { createRequire as createRequireOfBundle } from "node:module";',
  "const require = createRequireOfBundle(import.meta.url);",
].join("\n");

/** What the package exports: the name in dist, and behind it in package.json's `exports`; and its source. */
export const LIBRARY = {
  index: "src/index.ts",
  vitest: "src/vitest.ts",
  "node-test": "src/node-test.ts",
  jest: "src/jest.ts",
};

/** The program, and what it runs in threads of its own. */
export const PROGRAM = {
  cli: "src/cli/main.ts",
  "fuzz-worker": "src/fuzz/campaign/worker.ts",
  "progress-worker": "src/cli/progress-worker.ts",
};

/** Test runners, which load the package and not the other way round. */
const HOSTS = ["vitest"];

/**
 * Bundles entry points into dist. Answers the paths of the files written and of the sources in them. Each file appears whole
 * or not at all, an entry point after the chunks that it loads, so that somebody else's start or build at the same time does
 * no harm.
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
    // Places in the source, which the repository has, and not its text.
    sourcemap: "linked",
    sourcesContent: false,
    // The notice of third parties holds the licences whole.
    legalComments: "none",
    banner: { js: BANNER },
    metafile: true,
    external: HOSTS,
    write: false,
    logLevel: "warning",
    ...leanOptions,
    ...options,
  });
  const outputs = Object.entries(metafile.outputs);
  const files = withoutVendoredMaps(outputFiles);
  const entries = outputs
    .filter(([, { entryPoint }]) => Object.values(entryPoints).includes(entryPoint))
    .map(([path]) => path);
  const isEntry = ({ path }) => entries.some((entry) => path.replaceAll("\\", "/").endsWith(`/${entry}`));
  for (const file of [...files.filter((file) => !isEntry(file)), ...files.filter(isEntry)]) {
    writeWhole(file.path, file.contents);
  }
  return {
    files: files.map(({ path }) => path),
    sources: outputs.flatMap(([, { inputs }]) =>
      Object.keys(inputs).filter((path) => inputs[path].bytesInOutput > 0),
    ),
  };
}

/** Leaves out the source maps of files that hold no code of ours, and the last line of such files, which names them. */
function withoutVendoredMaps(files) {
  const isVendored = ({ path, text }) =>
    path.endsWith(".map") &&
    JSON.parse(text).sources.every((source) => /node_modules\/|stand-in:/.test(source));
  const vendored = new Set(files.filter(isVendored).map(({ path }) => path));
  return files
    .filter(({ path }) => !vendored.has(path))
    .map((file) =>
      vendored.has(`${file.path}.map`)
        ? { path: file.path, contents: file.text.replace(/\/\/# sourceMappingURL=.*\n$/, "") }
        : file,
    );
}

/** Writes a file so that nobody ever reads half of it. */
export function writeWhole(path, contents) {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, contents);
  renameSync(draft, path);
}
