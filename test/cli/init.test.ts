import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { TestFolder } from "../support/folder.ts";
import { inProject, JEST, runTests, VITEST } from "../support/test-runner.ts";
import { Shell } from "./shell.ts";
import { run, says } from "./tools.ts";

const ROOT = inProject("");
const folder = new TestFolder();

/** Returns the text of a word that has escapes as in JSON, but no quotes around it. */
const unescaped = (text: string): string => JSON.parse(`"${text.replaceAll('"', '\\"')}"`) as string;

const shell = new Shell(folder, {
  cat: (name = "") => folder.read(name),
  write: (name = "", text = "") => void folder.write(name, unescaped(text)),
  /** Prints the names in a folder, on a line. */
  ls: (name = "") => readdirSync(folder.at(name), { recursive: true }).sort().join(" "),
  link: (name = "", target = "") => {
    mkdirSync(folder.at(join(name, "..")), { recursive: true });
    symlinkSync(target, folder.at(name));
    return undefined;
  },
});

it("clobsim init prints and writes what its page shows", async () => {
  await shell.expectPage(join(import.meta.dirname, "init.txt"));
});

describe("the files of clobsim init", () => {
  it("have a scenario that passes", async () => {
    const project = folder.at("passes");
    await run("init", [project]);
    const ended = await run("run", [join(project, "scenarios")]);
    expect(ended).toMatchObject({ code: 0, stdout: says("1 passed") });
    // Its first line has the path of the schema in the package.
    const text = folder.read("passes/scenarios/first.yaml");
    const [, schema = ""] = /\$schema=\.\.\/node_modules\/clobsim\/(\S+)/.exec(text) ?? [];
    expect(() => JSON.parse(readFileSync(join(ROOT, schema), "utf8"))).not.toThrow();
  });

  it.each<[string, string, readonly string[]]>([
    ["vitest", '{ "type": "module" }', [VITEST, "run"]],
    ["node", '{ "type": "module" }', ["--test"]],
    ["node", "{}", ["--test"]],
    ["jest", '{ "type": "module" }', ["--experimental-vm-modules", JEST, "--ci"]],
    ["jest", "{}", [JEST, "--ci"]],
  ])("have a test that passes in %s, in a package %s", async (runner, manifest, command) => {
    const name = `${runner} ${manifest}`;
    folder.write(join(name, "package.json"), manifest);
    const project = folder.at(name);
    await run("init", [project], { runner });
    mkdirSync(join(project, "node_modules"));
    symlinkSync(join(ROOT, "node_modules", "vitest"), join(project, "node_modules", "vitest"));
    symlinkSync(ROOT, join(project, "node_modules", "clobsim"));
    const { code, output } = await runTests(command, project);
    expect(code).toBe(0);
    expect(output).toMatch(/1 passed|\bpass 1\b/);
  });
});
