import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { startServer } from "../../src/compose.ts";
import { DEFAULT_CONFIG } from "../../src/config.ts";
import { temporaryFolder } from "../support/folder.ts";

const run = promisify(execFile);
const page = readFileSync(new URL("../../docs/guide/other-languages.md", import.meta.url), "utf8");

const project = temporaryFolder();

it("the recipe for Go passes on a pool, if go is installed", async () => {
  const [, recipe = ""] = /```go\n(.*?)```/s.exec(page) ?? [];
  const version = await run("go", ["version"]).catch(() => null);
  if (version === null) return console.warn("skipped: go is not installed");
  writeFileSync(join(project, "clobsim_test.go"), recipe);
  writeFileSync(join(project, "go.mod"), "module bot\n\ngo 1.18\n");
  const pool = await startServer({
    ...DEFAULT_CONFIG,
    ...{ port: 0, logLevel: "silent", pool: 8, clock: { mode: "frozen" } },
  });
  const env = { ...process.env, CLOBSIM_URL: pool.url, GOFLAGS: "-mod=mod" };
  const { stdout } = await run("go", ["test", "-count=1", "./..."], { cwd: project, env });
  await pool.close();
  expect(stdout).toMatch(/^ok\s+bot\s/);
});
