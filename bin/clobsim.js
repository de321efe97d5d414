#!/usr/bin/env node
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const [major, minor] = process.versions.node.split(".").map(Number);
const [word, ...more] = process.argv.slice(2);

if (major < 20 || (major === 20 && minor < 19)) {
  const found = process.versions.node;
  process.stderr.write(
    `clobsim: expected Node 20.19 or later, found ${found}: https://nodejs.org has a newer one\n`,
  );
  process.exitCode = 2;
} else if ((word === "--version" || word === "-v") && more.length === 0) {
  // Answered without loading the program, which is slow.
  process.stdout.on("error", ({ code, message }) => {
    if (code === "EPIPE") return;
    process.stderr.write(`clobsim: the output cannot be written: ${message}\n`);
    process.exitCode = 4;
  });
  process.stdout.write(`${require("../package.json").version}\n`);
} else if (isBuilt()) {
  require("../dist/load.cjs").loadProgram();
} else {
  process.stderr.write("clobsim: not built yet: run `npm run build` first\n");
  process.exitCode = 2;
}

function isBuilt() {
  try {
    return require.resolve("../dist/load.cjs") !== "";
  } catch {
    return false;
  }
}
