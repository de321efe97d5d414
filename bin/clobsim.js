#!/usr/bin/env node
import { existsSync, readFileSync } from "node:fs";

const [major, minor] = process.versions.node.split(".").map(Number);
const program = new URL("../dist/cli.js", import.meta.url);
const [word, ...more] = process.argv.slice(2);

if (major < 20 || (major === 20 && minor < 19)) {
  const found = process.versions.node;
  process.stderr.write(
    `clobsim: expected Node 20.19 or later, found ${found}: https://nodejs.org has a newer one\n`,
  );
  process.exitCode = 2;
} else if ((word === "--version" || word === "-v") && more.length === 0) {
  // Answered before the program is loaded, which would take longer than all the rest.
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  process.stdout.write(`${version}\n`);
} else if (existsSync(program)) {
  import(program.href);
} else {
  process.stderr.write("clobsim: not built yet: run `npm run build` first\n");
  process.exitCode = 2;
}
