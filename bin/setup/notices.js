import { readdirSync, readFileSync } from "node:fs";
import { inProject } from "./project.js";

const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;
const LICENCE = /^(?:licen[cs]e|copying)/i;

/**
 * Returns the third-party notice: each package with a bundled source, with the licence from the package.
 * @throws Error for a package without a licence
 */
export function noticeOf(sources) {
  const folders = [...new Set(sources.flatMap((path) => PACKAGE.exec(path)?.[0] ?? []))];
  const entries = folders.map(entryOf).sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    "The files in this folder contain code of these packages.",
    ...entries.map(([, text]) => text),
  ].join(`\n\n${"-".repeat(80)}\n\n`);
}

function entryOf(folder) {
  const read = (name) => readFileSync(inProject(folder, name), "utf8").trim();
  const { name, version, license, author } = JSON.parse(read("package.json"));
  if (typeof license !== "string") throw new Error(`${folder} has no licence`);
  const title = `${name} ${version} (${license})`;
  const files = readdirSync(inProject(folder)).filter((file) => LICENCE.test(file));
  const texts = files.length > 0 ? files.map(read) : [`Author: ${author?.name ?? author ?? "not named"}`];
  return [title, [title, ...texts].join("\n\n")];
}
