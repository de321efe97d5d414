#!/usr/bin/env node
// Builds and runs the program from a fresh clone. It needs only Node and installs everything else.
import { bench } from "./setup/bench.js";
import { build } from "./setup/build.js";
import { installMissing } from "./setup/install.js";
import { say } from "./setup/project.js";
import { start } from "./setup/start.js";
import { test } from "./setup/test.js";
import { runTool } from "./setup/tool.js";
import { version } from "./setup/version.js";

/** Runs the built program under mixed traffic for a while and checks the result. */
const soak = (args) => runTool("soak", args);
const TASKS = { start, build, test, bench, soak, version };
const [name = "", ...args] = process.argv.slice(2);

if (Object.hasOwn(TASKS, name)) {
  process.exitCode = (await installMissing()) ? await TASKS[name](args) : 1;
} else {
  say(`expected node bin/setup.js ${Object.keys(TASKS).join(", ")}, found ${JSON.stringify(name)}`);
  process.exitCode = 2;
}
