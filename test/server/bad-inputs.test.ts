import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { BAD_INPUTS, IN_SCENARIOS } from "./bad-inputs.ts";

/** Areas tested elsewhere or not yet; `rules` by those of the core. */
const ELSEWHERE = new Set(["rate", "files", "scenario", "storage", "chain-rpc", "rules"]);

const tests = [".", "../", "../system/"]
  .map((path) => new URL(path, import.meta.url))
  .flatMap((folder) => readdirSync(folder).map((name) => new URL(name, folder)))
  .filter(({ pathname }) => pathname.endsWith(".test.ts"))
  .map((file) => readFileSync(file, "utf8"))
  .join("\n");

const pages = new URL("pages/", import.meta.url);
const headings = readdirSync(pages)
  .map((name) => readFileSync(new URL(name, pages), "utf8"))
  .join("");

it("every bad input of the HTTP areas has a test here with its id, a page, or a scenario", () => {
  const ids = BAD_INPUTS.filter(({ area }) => !ELSEWHERE.has(area)).map(({ id }) => id);
  expect(ids.length).toBe(55);
  const untested = ids.filter((id) => !tests.includes(`"${id}"`) && !headings.includes(`\n## ${id}: `));
  expect(untested).toEqual(Object.values(IN_SCENARIOS).flat().sort());
  for (const path of Object.keys(IN_SCENARIOS)) expect(existsSync(`scenarios/${path}.yaml`), path).toBe(true);
});
