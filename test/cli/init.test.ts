import { execFile } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { temporaryFolder } from "../support/folder.ts";
import { rowsOf } from "../support/table.ts";
import { refused, run, says } from "./tools.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const folder = temporaryFolder();

/** Makes a project with files. */
function makeProject(files: Files): string {
  const project = mkdtempSync(join(folder, "project-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, name)), { recursive: true });
    writeFileSync(join(project, name), text);
  }
  return project;
}

/** Returns the files of a folder with their texts, without packages. */
function filesIn(project: string): Files {
  const names = readdirSync(project, { recursive: true, encoding: "utf8" })
    .filter((name) => !name.startsWith("node_modules"))
    .sort();
  const files = names.filter((name) => statSync(join(project, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(project, name), "utf8")]));
}

const nextIn = (stdout: string): string => (stdout.split("\n\n")[1] ?? "").replace(/^(?:next)? +/gm, "");

const VITEST = '{ "type": "module", "devDependencies": { "vitest": "4.1.11", "clobsim": "1" } }';
const JEST = '{ "devDependencies": { "jest": "29.7.0" } }';
const NODE = '{ "scripts": { "test": "node --test" }, "dependencies": { "clobsim": "1" } }';
const MODULE = '{ "type": "module" }';

type Files = Readonly<Record<string, string>>;
const WORKFLOW = ".github/workflows/clobsim.yml";

describe("clobsim init", () => {
  const PROJECTS: Readonly<Record<string, Files>> = {
    "an empty folder": {},
    "a project with vitest": { "package.json": VITEST },
    "a project with jest": { "package.json": JEST, "package-lock.json": "{}" },
    "a project that runs node --test": { "package.json": NODE },
    "a project of pnpm": { "package.json": MODULE, "pnpm-lock.yaml": "" },
    "a project of yarn": { "package.json": MODULE, "yarn.lock": "" },
    "a project of bun": { "package.json": MODULE, "bun.lock": "" },
  };
  it.each(
    rowsOf(`
    an empty folder       | . | npm install -D clobsim vitest; npx clobsim run scenarios; npx vitest run test/exchange.test.mjs
    a project with vitest | . | npx clobsim run scenarios; npx vitest run test/exchange.test.js
    a project with jest   | . | npm install -D clobsim; npx clobsim run scenarios; npx jest test/exchange.test.js
    a project that runs node --test | . | npx clobsim run scenarios; node --test test/exchange.test.mjs
    a project of pnpm     | . | pnpm add -D clobsim vitest; pnpm exec clobsim run scenarios; pnpm exec vitest run test/exchange.test.js
    a project of yarn     | jest | yarn add -D clobsim jest; yarn clobsim run scenarios; NODE_OPTIONS=--experimental-vm-modules yarn jest test/exchange.test.js
    a project of bun      | . | bun add -d clobsim vitest; bunx clobsim run scenarios; bunx vitest run test/exchange.test.js
    `),
  )(
    "writes the listed files into %s, and the workflow runs the next commands",
    async (name = "", runner = "", next = "") => {
      const files = PROJECTS[name] as Files;
      const flags = runner === "" ? {} : { runner };
      const project = makeProject(files);
      const { code, stdout, stderr } = await run("init", [project], flags);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const commands = next.split("; ");
      expect(nextIn(stdout)).toBe(`${[`cd ${project}`, ...commands].join("\n")}\n`);
      const written = filesIn(project);
      expect(written).toMatchObject(files);
      const names = [WORKFLOW, ".gitignore", "scenarios/first.yaml", /test\/\S+/.exec(next)?.[0] ?? ""];
      expect(Object.keys(written).filter((name) => !(name in files))).toEqual(names);
      for (const name of names) expect(stdout).toMatch(new RegExp(`^wrote  ${name} `, "m"));
      const { jobs } = parse(written[WORKFLOW] ?? "") as {
        readonly jobs: { readonly clobsim: { readonly steps: readonly { readonly run?: string }[] } };
      };
      const steps = jobs.clobsim.steps.flatMap((step) => step.run ?? []).join("\n");
      for (const command of commands.slice(-2)) expect(steps).toContain(command);
    },
  );

  it("in a package of a repository writes a workflow at the root, for the package manager of the root", async () => {
    const foreign = WORKFLOW;
    const repository = makeProject({ ".git/HEAD": "", "pnpm-lock.yaml": "", [foreign]: "foreign" });
    const workflows = [];
    for (const name of ["bot", "web"]) {
      const { code, stdout } = await run("init", [join(repository, "packages", name)]);
      const path = `.github/workflows/clobsim.packages.${name}.yml`;
      expect({ code, stdout }).toEqual({ code: 0, stdout: says(`wrote  ../../${path} `) });
      expect(nextIn(stdout)).toContain("pnpm exec clobsim run scenarios");
      workflows.push(path);
    }
    const files = filesIn(repository);
    expect(Object.keys(files).filter((name) => name.includes(".github"))).toEqual([...workflows, foreign]);
    expect(files[foreign]).toBe("foreign");
    const { name, jobs } = parse(files[workflows[1] ?? ""] ?? "");
    expect([name, jobs.clobsim.defaults.run]).toEqual([
      "clobsim in packages/web",
      { "working-directory": "packages/web" },
    ]);
    expect(jobs.clobsim.steps).toContainEqual({ run: "pnpm install --frozen-lockfile" });
    const paths = jobs.clobsim.steps.map((step: { with?: { path?: string } }) => step.with?.path);
    expect(paths).toContain("packages/web/.clobsim/reports");
  });

  it.each([
    ["the lock file of the package before that of the root", "yarn.lock", "yarn clobsim"],
    ["no lock file outside the repository", ".git", "npx clobsim"],
  ])("uses %s", async (_, file, command) => {
    const files = { ".git/HEAD": "", "pnpm-lock.yaml": "", [`packages/bot/${file}`]: "" };
    const { stdout } = await run("init", [join(makeProject(files), "packages", "bot")]);
    expect(nextIn(stdout)).toContain(`${command} run scenarios`);
  });

  it("without a repository uses no lock file of another folder", async () => {
    const project = makeProject({ "pnpm-lock.yaml": "" });
    const { stdout } = await run("init", [join(project, "bot")]);
    expect(nextIn(stdout)).toContain("npx clobsim run scenarios");
    expect(filesIn(project)).toHaveProperty(["bot/.github/workflows/clobsim.yml"]);
  });

  it.each([
    ["jest --coverage", {}, "jest"],
    ["vitest run", {}, "vitest"],
    ["node --test", { vitest: "4" }, "node:test"],
    ["mocha", { jest: "29" }, "jest"],
    ["mocha", {}, "vitest"],
  ])(
    "with the test script %j and dependencies %j writes a test of %s",
    async (test, dependencies, runner) => {
      const manifest = JSON.stringify({ scripts: { test }, dependencies });
      // Editors on Windows begin a file with a byte order mark.
      const project = makeProject({ "package.json": `\ufeff${manifest}` });
      const { stdout } = await run("init", [project], { "dry-run": "true" });
      expect(stdout).toContain(`a test of ${runner}\n`);
    },
  );

  it("a second time is for the runner of the test that exists, and refuses another", async () => {
    const project = makeProject({});
    await run("init", [project], { runner: "node" });
    const written = filesIn(project);
    writeFileSync(join(project, "package.json"), JEST);
    expect(nextIn((await run("init", [project])).stdout)).toContain("node --test test/exchange.test.mjs");
    expect(await run("init", [project], { runner: "vitest" })).toEqual(
      refused(
        "--runner vitest contradicts the test that exists, which is of node: remove test/exchange.test.* and the workflow, or leave out --runner",
      ),
    );
    expect(filesIn(project)).toEqual({ ...written, "package.json": JEST });
  });

  it("keeps existing files, and says so", async () => {
    const own = { "scenarios/first.yaml": "mine", ".gitignore": "node_modules/\n/.clobsim\n" };
    const project = makeProject(own);
    await run("init", [project]);
    const files = filesIn(project);
    expect(files).toMatchObject(own);
    const { code, stdout } = await run("init", [project]);
    expect(code).toBe(0);
    expect(stdout.match(/^kept .*(?:exists already|has \.clobsim\/)$/gm)).toHaveLength(4);
    expect(stdout).not.toContain("wrote");
    expect(filesIn(project)).toEqual(files);
  });

  it.each([
    ["node_modules", "node_modules\n.clobsim/\n"],
    ["node_modules\n", "node_modules\n.clobsim/\n"],
    ["", ".clobsim/\n"],
  ])("adds a line to a .gitignore of %j", async (before, after) => {
    const project = makeProject({ ".gitignore": before });
    const { stdout } = await run("init", [project]);
    expect(stdout).toMatch(/^added {2}\.gitignore +\.clobsim\/$/m);
    expect(filesIn(project)[".gitignore"]).toBe(after);
  });

  it("creates its folder", async () => {
    const project = join(folder, "new", "bot");
    expect(await run("init", [project])).toMatchObject({ code: 0, stderr: "" });
    expect(Object.keys(filesIn(project))).toHaveLength(4);
  });

  it("writes nothing with --dry-run", async () => {
    const project = makeProject({ ".gitignore": "" });
    const { stdout } = await run("init", [project], { "dry-run": "true" });
    expect(stdout.match(/^would (?:write|add) /gm)).toHaveLength(4);
    expect(filesIn(project)).toEqual({ ".gitignore": "" });
  });

  it.each<[string, Files, string]>([
    [".", { ".github": "a file" }, "init expects a folder, found the file HERE/.github"],
    [".", { scenarios: "a file" }, "init expects a folder, found the file HERE/scenarios"],
    ["package.json", { "package.json": "{}" }, "init expects a folder, found the file HERE/package.json"],
    [".", { "package.json": "[" }, "HERE/package.json: Unexpected end of JSON input"],
    [".", { "package.json": "1" }, "HERE/package.json: expected an object, found 1"],
    [".", { ".gitignore/x": "" }, "init expects a file that can be read, found HERE/.gitignore (EISDIR)"],
    ["package.json/x", { "package.json": "{}" }, "init expects a folder, found the file HERE/package.json"],
  ])("refuses %s of %j with one sentence, and leaves nothing behind", async (into, files, sentence) => {
    const project = makeProject(files);
    const ended = await run("init", [join(project, into)]);
    expect(ended).toEqual(refused(sentence.replace("HERE", project)));
    expect(filesIn(project)).toEqual(files);
    expect(readdirSync(project)).toEqual(Object.keys(files).map((name) => name.split("/")[0]));
  });
});

describe("clobsim init that cannot write its third file", () => {
  it("removes the first two, and names the file", async () => {
    const project = makeProject({});
    symlinkSync(".github", join(project, ".github"));
    const found = `${join(project, WORKFLOW)} (ELOOP)`;
    const sentence = `init expects a folder that can be written to, found ${found}`;
    expect(await run("init", [project])).toEqual(refused(sentence));
    expect(readdirSync(project)).toEqual([".github"]);
  });
});

/** Path of a program of an installed package. */
const program = (...path: readonly string[]): readonly string[] => [join(ROOT, "node_modules", ...path)];

describe("the files of clobsim init", () => {
  it("have a scenario that passes", async () => {
    const project = makeProject({});
    await run("init", [project]);
    const ended = await run("run", [join(project, "scenarios")]);
    expect(ended).toMatchObject({ code: 0, stdout: says("1 passed") });
    // Its first line has the path of the schema in the package.
    const text = filesIn(project)["scenarios/first.yaml"] ?? "";
    const [, schema = ""] = /\$schema=\.\.\/node_modules\/clobsim\/(\S+)/.exec(text) ?? [];
    expect(() => JSON.parse(readFileSync(join(ROOT, schema), "utf8"))).not.toThrow();
  });

  it.each<[string, string, readonly string[]]>([
    ["vitest", MODULE, [...program("vitest", "vitest.mjs"), "run"]],
    ["node", MODULE, ["--test"]],
    ["node", "{}", ["--test"]],
    ["jest", MODULE, ["--experimental-vm-modules", ...program("jest", "bin", "jest.js"), "--ci"]],
    ["jest", "{}", [...program("jest", "bin", "jest.js"), "--ci"]],
  ])("have a test that passes in %s, in a package %s", async (runner, manifest, command) => {
    const project = makeProject({ "package.json": manifest });
    await run("init", [project], { runner });
    mkdirSync(join(project, "node_modules"));
    symlinkSync(join(ROOT, "node_modules", "vitest"), join(project, "node_modules", "vitest"));
    symlinkSync(ROOT, join(project, "node_modules", "clobsim"));
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(?:VITEST|NODE_|JEST|FORCE_COLOR)/.test(name)),
    );
    const { stdout, stderr } = await promisify(execFile)(process.execPath, command, { cwd: project, env });
    expect(stdout + stderr).toMatch(/1 passed|# pass 1/);
  });
});
