import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { expect, it } from "vitest";

const PATCHES = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".patch"));

it.each(PATCHES)("%s plants its defect in the current sources", (name) => {
  const check = ["apply", "--check", `test/fuzz/defects/${name}`];
  expect(execFileSync("git", check, { encoding: "utf8", stdio: "pipe" })).toBe("");
});
