import { Buffer } from "node:buffer";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { saveReport } from "../../src/history/report.ts";
import { temporaryFolder } from "../support/folder.ts";

const folder = temporaryFolder();

it("a report replaces no other, also if another process writes one of its name at the same time", () => {
  const save = (text: string): string => saveReport(folder, "fails", () => Buffer.from(text));
  expect(save("first")).toBe(join(folder, "fails.ndjson"));
  const path = saveReport(folder, "fails", (name) => {
    if (name === "fails-2.ndjson") writeFileSync(join(folder, name), "of another process");
    return Buffer.from(`own ${name}`);
  });
  expect(path).toBe(join(folder, "fails-3.ndjson"));
  expect(readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"))).toEqual([
    "of another process",
    "own fails-3.ndjson",
    "first",
  ]);
});
