import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { inProject, ROOT } from "./project.js";
import { ownSourceMap } from "./source-map.js";

/** Defines `require` in ES modules, because bundled CommonJS packages call it for Node's modules. */
const BANNER = [
  'import { createRequire as createRequireOfBundle } from "node:module";',
  "const require = createRequireOfBundle(import.meta.url);",
].join("\n");

/** Entry points of the package: the name in dist, which is also that in package.json's `exports`, and the source. */
export const LIBRARY = {
  index: "src/index.ts",
  vitest: "src/vitest.ts",
  "node-test": "src/node-test.ts",
  jest: "src/jest.ts",
};

/** Entry points of the program and its threads. */
export const PROGRAM = {
  cli: "src/cli/main.ts",
  "fuzz-worker": "src/fuzz/campaign/worker.ts",
  "progress-worker": "src/cli/progress-worker.ts",
};

/** Modules bundled separately. faker is a sixth of the program and is needed only to generate a world. */
export const SEPARATE = { faker: "@faker-js/faker/locale/en" };

const separateModules = {
  name: "separate-modules",
  setup(build) {
    for (const [name, path] of Object.entries(SEPARATE)) {
      const filter = new RegExp(`^${path}$`);
      build.onResolve({ filter }, () => ({ path: `./${name}.cjs`, external: true }));
    }
  },
};

/** Test runners, which are not bundled because they load the package themselves. */
export const HOSTS = ["vitest"];

/** Packages that are replaced in the bundle, with the replacing module. */
const STUBS = [
  // Only the router of express is used.
  [/^express$/, "module.exports = { Router: require('router') };"],
  // yargs uses it for its help, which is ASCII here; the package prepares for all scripts and emoji when it is loaded.
  [/^string-width$/, "export default (text) => text.replace(/\\u001b\\[[0-9;]*m/g, '').length;"],
  // Word lists of mnemonics in ten languages, which viem exports next to accounts.
  [/^@scure\/bip39\/wordlists\//, "export const wordlist = [];"],
];

const stubs = {
  name: "stubs",
  setup(build) {
    const resolveDir = inProject("node_modules", "express");
    for (const [filter, contents] of STUBS) {
      build.onResolve({ filter }, ({ path }) => ({ path, namespace: "stub" }));
      build.onLoad({ filter, namespace: "stub" }, () => ({ contents, resolveDir }));
    }
  },
};

const COMMON = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: "node",
  target: "node20",
  // Without minifying and the stubs the first answer after a start takes a third longer. Names are not minified and lines are
  // short, because Node prints the line of an error.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 160,
  // The ES modules of yaml, from which unused parts can be removed; its build for Node is CommonJS.
  alias: { yaml: inProject("node_modules", "yaml", "browser", "dist", "index.js") },
  // Positions without the text of the sources, which is in the repository.
  sourcemap: "linked",
  sourcesContent: false,
  // The third-party notice has the full licences.
  legalComments: "none",
  metafile: true,
  external: HOSTS,
  write: false,
  logLevel: "warning",
};

/**
 * Bundles with options of esbuild. Returns the paths of the written files and of their sources. Each file is written
 * atomically, so that concurrent starts and builds work.
 * @throws if the sources cannot be bundled; esbuild has printed the reason
 */
async function buildWith({ plugins = [], ...options }) {
  const esbuild = await import("esbuild");
  const { outputFiles, metafile } = await esbuild.build({
    ...COMMON,
    ...options,
    plugins: [...plugins, stubs],
  });
  const files = await ownMapsOnly(outputFiles);
  for (const { path, text } of files) writeAtomically(path, inAscii(text));
  return { files: files.map(({ path }) => path), sources: sourcesOf(metafile) };
}

/** Bundles entry points as ES modules with common chunks, as `buildWith`. */
export const bundle = (entryPoints, options = {}) =>
  buildWith({
    entryPoints,
    outdir: "dist",
    format: "esm",
    splitting: true,
    banner: { js: BANNER },
    ...options,
  });

/** Returns the paths of the sources in a bundle. */
export const sourcesOf = ({ outputs }) =>
  Object.values(outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).filter((path) => inputs[path].bytesInOutput > 0),
  );

/**
 * Bundles entry points into one script `NAME.cjs` for `src/load.ts`, as `buildWith`: a function of `module`, `require` and the
 * URL of the file that exports a function for each entry.
 */
export function bundleScript(name, entryPoints) {
  const entries = Object.entries(entryPoints).map(
    ([name, path]) => `${JSON.stringify(name)}: () => require("./${path}")`,
  );
  return buildWith({
    stdin: { contents: `module.exports = { ${entries.join(", ")} };`, resolveDir: ROOT },
    outfile: `dist/${name}.cjs`,
    format: "cjs",
    banner: { js: '(function (module, require, urlOfBundle) { "use strict";' },
    footer: { js: "})" },
    define: { "import.meta.url": "urlOfBundle" },
    plugins: [separateModules],
    supported: { "dynamic-import": false },
  });
}

/** Escapes what esbuild leaves of other characters, in regular expressions: `src/load.ts` reads the script as ASCII. */
const inAscii = (script) =>
  script.replace(/[^\0-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Removes vendored code from source maps, and maps of vendored code only, with the references to them. */
async function ownMapsOnly(outputFiles) {
  const maps = new Map();
  for (const { path, text } of outputFiles)
    if (path.endsWith(".map")) maps.set(path, await ownSourceMap(text));
  return outputFiles.flatMap(({ path, text }) => {
    if (maps.has(path)) return maps.get(path) === null ? [] : { path, text: maps.get(path) };
    const isVendored = maps.get(`${path}.map`) === null;
    return { path, text: isVendored ? text.replace(/\/\/# sourceMappingURL=.*\n$/, "") : text };
  });
}

/** Writes a file atomically. */
export function writeAtomically(path, contents) {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, contents);
  renameSync(draft, path);
}
