import { readdirSync, readFileSync } from "node:fs";
import { inProject } from "./project.js";

const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;
const LICENCE = /^(?:licen[cs]e|copying)/i;

/**
 * The notice of third parties: each package of which a source is bundled, with its licence as the package carries it.
 * @throws Error for a package that names no licence.
 */
export function noticeOf(sources) {
  const folders = [...new Set(sources.flatMap((path) => PACKAGE.exec(path)?.[0] ?? []))];
  const entries = folders.map(entryOf).sort(([a], [b]) => (a < b ? -1 : 1));
  return ["The files beside this one hold code of these packages.", ...entries.map(([, text]) => text)].join(
    `\n\n${"-".repeat(80)}\n\n`,
  );
}

function entryOf(folder) {
  const read = (name) => readFileSync(inProject(folder, name), "utf8").trim();
  const { name, version, license, author } = JSON.parse(read("package.json"));
  if (typeof license !== "string") throw new Error(`${folder} names no licence`);
  const title = `${name} ${version} (${license})`;
  const files = readdirSync(inProject(folder)).filter((file) => LICENCE.test(file));
  const texts = files.length > 0 ? files.map(read) : [`Author: ${author?.name ?? author ?? "not named"}`];
  return [title, [title, ...texts].join("\n\n")];
}
