import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { publishedTypes } from "../../bin/setup/published-types.ts";
import { compileProject } from "../support/bundled.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** Kept for the next run, which then compiles only what has changed. */
const folder = join(ROOT, "node_modules", ".cache", "published-types");

it("the types of the sources can be declared, and the published ones equal those inferred from schemas and settings", async () => {
  // As source files, so that the compiler checks them too.
  mkdirSync(join(folder, "client"), { recursive: true });
  for (const [path, text] of Object.entries(publishedTypes()))
    writeFileSync(join(folder, path.replace(".d.ts", ".ts")), text);
  writeFileSync(
    join(folder, "client", "result.ts"),
    "export type Result<Value> = { readonly value: Value };",
  );
  copyFileSync(new URL("published-types.txt", import.meta.url), join(folder, "check.ts"));
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: "../../../tsconfig.json",
      // Without the types of a browser, which only the inspector may use.
      compilerOptions: {
        declaration: true,
        lib: ["es2023"],
        incremental: true,
        tsBuildInfoFile: "known.tsbuildinfo",
      },
      include: ["check.ts", "../../../src/**/*.ts"],
      exclude: ["../../../src/inspector"],
    }),
  );
  expect(await compileProject(folder)).toBe("");
});
