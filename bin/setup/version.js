import { readFileSync } from "node:fs";
import { writeAtomically } from "./bundle.js";
import { inProject, run, say } from "./project.js";

/** Run by `npm version` before its commit: writes the new version into all files that name it and dates it in the changelog. */
export async function version() {
  const { version: number } = JSON.parse(readFileSync(inProject("package.json"), "utf8"));
  const today = new Date().toISOString().slice(0, 10);
  const changes = [
    [
      inProject("src", "version.ts"),
      /^export const VERSION = ".*";$/m,
      `export const VERSION = "${number}";`,
    ],
    [inProject("fixtures/clients/python/pyproject.toml"), /^version = ".*"$/m, `version = "${number}"`],
    [inProject("fixtures/examples/fuzz/kubernetes-job.yaml"), /clobsim:\d+\.\d+\.\d+ /, `clobsim:${number} `],
    [inProject("docs/guide/other-languages.md"), /@v\d+\.\d+\.\d+ /, `@v${number} `],
    [inProject("CHANGELOG.md"), /^## Unreleased$/m, `## Unreleased\n\n## ${number} - ${today}`],
  ];
  for (const [path, line, replacement] of changes) {
    const text = readFileSync(path, "utf8");
    if (!line.test(text)) {
      say(`${path} has no line like ${line.source}`);
      return 1;
    }
    writeAtomically(path, text.replace(line, replacement));
  }
  const { code, output } = await run("git", ["add", ...changes.map(([path]) => path)]);
  if (code !== 0) say(output);
  return code;
}
