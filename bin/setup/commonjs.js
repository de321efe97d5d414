import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeWhole } from "./bundle.js";

/**
 * Loads a module of the package from outside the context in which jest runs a test's modules, whose require() takes no ES
 * modules.
 */
const LOAD = `"use strict";
const { getBuiltinModule, versions } = require("node:vm").runInThisContext("process");
if (getBuiltinModule === undefined) throw new Error(\`clobsim: expected Node 20.19 or later, found \${versions.node}\`);
const load = getBuiltinModule("node:module").createRequire(__filename);
`;

/** What CommonJS loads, by entry. The globals of a test file are those of its own context. */
const ENTRIES = {
  index: 'module.exports = load("./index.js");\n',
  jest: 'const { exchange } = load("./jest.js");\nexports.exchange = (options, globals = globalThis) => exchange(options, globals);\n',
};

/** Writes what CommonJS loads, and answers the paths. */
export function writeCommonJs(outdir) {
  return Object.entries(ENTRIES).map(([name, text]) => {
    const path = join(outdir, `${name}.cjs`);
    writeWhole(path, LOAD + text);
    return path;
  });
}

/** Writes the types of the ES modules once more for CommonJS, whose compiler looks for them in files of another name. */
export function writeCommonJsTypes(outdir) {
  const names = new Set();
  const add = (name) => {
    if (names.has(name)) return;
    names.add(name);
    const text = readFileSync(join(outdir, `${name}.d.ts`), "utf8");
    const own = /(from ")\.\/([\w-]+)\.js(")/g;
    writeWhole(join(outdir, `${name}.d.cts`), text.replace(own, "$1./$2.cjs$3"));
    for (const [, , imported] of text.matchAll(own)) add(imported);
  };
  for (const name of Object.keys(ENTRIES)) add(name);
}
