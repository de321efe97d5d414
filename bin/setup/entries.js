import { readFileSync } from "node:fs";
import { join } from "node:path";
import { HOSTS, LIBRARY, writeAtomically } from "./bundle.js";
import { envOfBuild, run } from "./project.js";

/**
 * Loads an entry of the bundle from outside the context in which jest runs a test's modules: what it keeps, and its classes,
 * are those of the process.
 */
const LOAD_FROM_OUTSIDE = `"use strict";
const { getBuiltinModule, versions } = require("node:vm").runInThisContext("process");
if (getBuiltinModule === undefined) throw new Error(\`clobsim: expected Node 20.19 or later, found \${versions.node}\`);
const { load } = getBuiltinModule("node:module").createRequire(__filename)("./load.cjs");
`;

/** What CommonJS loads, by entry. The globals of a test file are those of its own context. */
const COMMONJS = {
  index: 'module.exports = load("index");\n',
  jest: 'const { exchange } = load("jest");\nexports.exchange = (options, globals = globalThis) => exchange(options, globals);\n',
};

const LOAD = 'import { load } from "./load.cjs";\n';

/** What is no library: the program, and a thread of it. */
const SCRIPTS = {
  cli: 'import { loadProgram } from "./load.cjs";\nloadProgram();\n',
  "fuzz-worker": `${LOAD}load("fuzz-worker");\n`,
};

/** Writes what loads the entries of the bundle, as ES modules and for CommonJS, and answers the paths. */
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

/** What each entry of the library exports, found by loading it in a process of its own. */
async function exportedNames(outdir) {
  const program = `const { hosts, load } = require(${JSON.stringify(join(outdir, "load.cjs"))});
    for (const name of ${JSON.stringify(HOSTS)}) hosts[name] = {};
    const names = ${JSON.stringify(Object.keys(LIBRARY))}.map((name) => [name, Object.keys(load(name)).sort()]);
    console.log(JSON.stringify(Object.fromEntries(names)));`;
  const { code, output } = await run(process.execPath, ["-e", program], { env: envOfBuild() });
  if (code !== 0) throw new Error(`the bundle cannot be loaded\n${output}`);
  return JSON.parse(output);
}

/** An ES module that exports what an entry of the bundle has; a test runner's own hands the bundle the runner. */
function libraryEntry(name, exported) {
  const names = exported.join(", ");
  // The same modules, and the same globals of a test file, as CommonJS has.
  if (COMMONJS[name] !== undefined)
    return `import entry from "./${name}.cjs";\nexport const { ${names} } = entry;\n`;
  const exports = `export const { ${names} } = load("${name}");\n`;
  if (!HOSTS.includes(name)) return LOAD + exports;
  return `import * as host from "${name}";\nimport { hosts, load } from "./load.cjs";\nhosts["${name}"] = host;\n${exports}`;
}

/** Writes the types of the ES modules once more for CommonJS, whose compiler looks for them in files of another name. */
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
