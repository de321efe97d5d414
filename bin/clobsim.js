#!/usr/bin/env node
import { existsSync } from "node:fs";

const [major, minor] = process.versions.node.split(".").map(Number);
const bundle = new URL("../dist/cli.js", import.meta.url);

if (major < 20 || (major === 20 && minor < 19)) {
  const found = process.versions.node;
  process.stderr.write(
    `clobsim: expected Node 20.19 or later, found ${found}: https://nodejs.org has a newer one\n`,
  );
  process.exitCode = 2;
} else if (existsSync(bundle)) {
  import(bundle.href);
} else {
  process.stderr.write("clobsim: not built yet: run `npm run build` first\n");
  process.exitCode = 2;
}
