import { readFileSync } from "node:fs";
import { join } from "node:path";
import { HOSTS, LIBRARY, writeAtomically } from "./bundle.js";
import { envOfBuild, run } from "./project.js";

/**
 * Loads an entry of the bundle outside the context in which jest runs the modules of a test, so that its state and classes
 * are those of the process.
 */
const LOAD_FROM_OUTSIDE = `"use strict";
const { getBuiltinModule, versions } = require("node:vm").runInThisContext("process");
if (getBuiltinModule === undefined) throw new Error(\`clobsim: expected Node 20.19 or later, found \${versions.node}\`);
const { load } = getBuiltinModule("node:module").createRequire(__filename)("./load.cjs");
`;

/** CommonJS modules by entry. The globals of a test file are those of its own context. */
const COMMONJS = {
  index: 'module.exports = load("index");\n',
  "node-test": 'module.exports = load("node-test");\n',
  jest: 'const { exchange } = load("jest");\nexports.exchange = (options, globals = globalThis) => exchange(options, globals);\n',
};

const LOAD = 'import { load } from "./load.cjs";\n';

/** Modules of the program and its thread. */
const SCRIPTS = {
  cli: 'import { loadProgram } from "./load.cjs";\nloadProgram();\n',
  "fuzz-worker": `${LOAD}load("fuzz-worker");\n`,
};

/** Writes the modules that load the entries of the bundle, for ES modules and CommonJS. Returns their paths. */
export async function writeEntries(outdir) {
  const names = await exportedNames(outdir);
  const files = [
    ...Object.entries(COMMONJS).map(([name, text]) => [`${name}.cjs`, LOAD_FROM_OUTSIDE + text]),
    ...Object.entries(SCRIPTS).map(([name, text]) => [`${name}.js`, text]),
    ...Object.keys(LIBRARY).map((name) => [`${name}.js`, libraryEntry(name, names[name])]),
  ];
  return files.map(([name, text]) => {
    const path = join(outdir, name);
    writeAtomically(path, text);
    return path;
  });
}

/** Returns the exported names of each entry of the library, by loading it in another process. */
async function exportedNames(outdir) {
  const program = `const { hosts, load } = require(${JSON.stringify(join(outdir, "load.cjs"))});
    for (const name of ${JSON.stringify(HOSTS)}) hosts[name] = {};
    const names = ${JSON.stringify(Object.keys(LIBRARY))}.map((name) => [name, Object.keys(load(name)).sort()]);
    console.log(JSON.stringify(Object.fromEntries(names)));`;
  const { code, output } = await run(process.execPath, ["-e", program], { env: envOfBuild() });
  if (code !== 0) throw new Error(`the bundle cannot be loaded\n${output}`);
  return JSON.parse(output);
}

/** Returns an ES module with the exports of an entry. The module of a test runner passes the runner to the bundle. */
function libraryEntry(name, exported) {
  const names = exported.join(", ");
  // Loads the CommonJS module, so that both have the same modules and globals.
  if (COMMONJS[name] !== undefined)
    return `import entry from "./${name}.cjs";\nexport const { ${names} } = entry;\n`;
  const exports = `export const { ${names} } = load("${name}");\n`;
  if (!HOSTS.includes(name)) return LOAD + exports;
  return `import * as host from "${name}";\nimport { hosts, load } from "./load.cjs";\nhosts["${name}"] = host;\n${exports}`;
}

/** Copies the types of the ES modules for CommonJS, whose types must be in files with another extension. */
export function writeCommonJsTypes(outdir) {
  const names = new Set();
  const add = (name) => {
    if (names.has(name)) return;
    names.add(name);
    const text = readFileSync(join(outdir, `${name}.d.ts`), "utf8");
    const own = /(from ")\.\/([\w-]+)\.js(")/g;
    writeAtomically(join(outdir, `${name}.d.cts`), text.replace(own, "$1./$2.cjs$3"));
    for (const [, , imported] of text.matchAll(own)) add(imported);
  };
  for (const name of Object.keys(COMMONJS)) add(name);
}
