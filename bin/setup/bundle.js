import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { leanOptions } from "./lean.js";
import { ROOT } from "./project.js";
import { ownSourceMap } from "./source-map.js";

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

/** Names of people and places, a sixth of all: only who generates a world loads them. */
export const APART = { faker: "@faker-js/faker/locale/en" };

const apart = {
  name: "apart",
  setup(build) {
    for (const [name, path] of Object.entries(APART)) {
      const filter = new RegExp(`^${path}$`);
      build.onResolve({ filter }, () => ({ path: `./${name}.cjs`, external: true }));
    }
  },
};

/** Test runners, which load the package and not the other way round. */
export const HOSTS = ["vitest"];

const COMMON = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: "node",
  target: "node20",
  // Places in the source, which the repository has, and not its text.
  sourcemap: "linked",
  sourcesContent: false,
  // The notice of third parties holds the licences whole.
  legalComments: "none",
  metafile: true,
  external: HOSTS,
  write: false,
  logLevel: "warning",
  ...leanOptions,
};

/**
 * Bundles entry points as ES modules, which share what they have in common. Answers the paths of the files written and of the
 * sources in them. Each file appears whole or not at all, an entry point after the chunks that it loads, so that somebody
 * else's start or build at the same time does no harm.
 * @throws when the sources cannot be bundled; esbuild has then said why.
 */
export async function bundle(entryPoints, options = {}) {
  const esbuild = await import("esbuild");
  const { outputFiles, metafile } = await esbuild.build({
    ...COMMON,
    entryPoints,
    outdir: "dist",
    format: "esm",
    splitting: true,
    banner: { js: BANNER },
    ...options,
  });
  const outputs = Object.entries(metafile.outputs);
  const files = ownMapsOnly(outputFiles);
  const entries = outputs
    .filter(([, { entryPoint }]) => Object.values(entryPoints).includes(entryPoint))
    .map(([path]) => path);
  const isEntry = ({ path }) => entries.some((entry) => path.replaceAll("\\", "/").endsWith(`/${entry}`));
  for (const file of [...files.filter((file) => !isEntry(file)), ...files.filter(isEntry)]) {
    writeAtomically(file.path, file.contents);
  }
  return { files: files.map(({ path }) => path), sources: sourcesOf(metafile) };
}

/** The paths of the sources that are in a bundle. */
const sourcesOf = ({ outputs }) =>
  Object.values(outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).filter((path) => inputs[path].bytesInOutput > 0),
  );

/**
 * Bundles entry points into one script, `NAME.cjs`, which `src/load.ts` runs: a function of `module`, `require` and the URL of
 * the file, that exports a function for each entry. Answers as `bundle`.
 */
export async function bundleScript(name, entryPoints) {
  const esbuild = await import("esbuild");
  const entries = Object.entries(entryPoints).map(
    ([name, path]) => `${JSON.stringify(name)}: () => require("./${path}")`,
  );
  const { outputFiles, metafile } = await esbuild.build({
    ...COMMON,
    stdin: { contents: `module.exports = { ${entries.join(", ")} };`, resolveDir: ROOT },
    outfile: `dist/${name}.cjs`,
    format: "cjs",
    banner: { js: '(function (module, require, urlOfBundle) { "use strict";' },
    footer: { js: "})" },
    define: { "import.meta.url": "urlOfBundle" },
    plugins: [...leanOptions.plugins, apart],
    supported: { "dynamic-import": false },
  });
  const files = ownMapsOnly(outputFiles);
  for (const { path, contents } of files) writeAtomically(path, contents);
  return { files: files.map(({ path }) => path), sources: sourcesOf(metafile) };
}

/** Leaves out of source maps what is no code of ours, and those without any, with the last line of the files that name them. */
function ownMapsOnly(outputFiles) {
  const maps = new Map(
    outputFiles
      .filter(({ path }) => path.endsWith(".map"))
      .map(({ path, text }) => [path, ownSourceMap(text)]),
  );
  return outputFiles.flatMap((file) => {
    const { path } = file;
    if (maps.has(path)) return maps.get(path) === null ? [] : [{ path, contents: maps.get(path) }];
    return maps.get(`${path}.map`) === null
      ? [{ path, contents: file.text.replace(/\/\/# sourceMappingURL=.*\n$/, "") }]
      : [file];
  });
}

/** Writes a file atomically. */
export function writeAtomically(path, contents) {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, contents);
  renameSync(draft, path);
}
