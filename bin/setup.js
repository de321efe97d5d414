#!/usr/bin/env node
// From a fresh clone to a running program. Needs nothing but Node: it installs what it needs itself.
import { bench } from "./setup/bench.js";
import { build } from "./setup/build.js";
import { installMissing } from "./setup/install.js";
import { say } from "./setup/project.js";
import { soak } from "./setup/soak.js";
import { start } from "./setup/start.js";
import { test } from "./setup/test.js";
import { version } from "./setup/version.js";

const TASKS = { start, build, test, bench, soak, version };
const [name = "", ...args] = process.argv.slice(2);

if (Object.hasOwn(TASKS, name)) {
  process.exitCode = (await installMissing()) ? await TASKS[name](args) : 1;
} else {
  say(`expected node bin/setup.js ${Object.keys(TASKS).join(", ")}, found ${JSON.stringify(name)}`);
  process.exitCode = 2;
}
