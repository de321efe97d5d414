import { existsSync, rmSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { shellWord } from "../core/format.ts";
import { readJson } from "../core/json.ts";
import { makeFolder } from "../make-folder.ts";
import { createComplete, FILE_LIMITS, readText, replaceFile, withSlashes } from "../regular-file.ts";
import { RUNNERS, type Run } from "./commands.ts";
import { print, table, unwritable } from "./output.ts";
import { EXIT, UsageError } from "./process.ts";

/** `clobsim init`: writes a first scenario, a test and a workflow into a project. @throws UsageError if it cannot. */
export const init: Run<"init"> = async ({ runner, dryRun }, [folder = "."]) => {
  const project = projectIn(folder, runner);
  const fileAt = (path: string, note: string, text: string): Change =>
    existsSync(join(folder, path))
      ? { path, done: "kept", note: "exists already", text: null }
      : { path, done: "wrote", note, text };
  const changes: readonly Change[] = [
    fileAt("scenarios/first.yaml", "a scenario: steps, and what must be true", scenarioText(project)),
    fileAt(testPath(project), `a test of ${project.runner.package ?? "node:test"}`, testText(project)),
    fileAt(workflowPath(project), "runs both in GitHub Actions", workflowText(project)),
    ignoreChange(folder),
  ];
  for (const { path, text } of changes) if (text !== null) requireFolder(join(folder, dirname(path)));
  if (!dryRun) writeAll(folder, changes);
  const verbs = dryRun ? { wrote: "would write", added: "would add", kept: "kept" } : null;
  const { manager, missing } = project;
  const next = [
    ...(folder === "." ? [] : [`cd ${shellWord(folder)}`]),
    ...(missing.length === 0 ? [] : [`${manager.add} ${missing.join(" ")}`]),
    ...[`${manager.exec} clobsim run scenarios`, testCommand(project)],
  ];
  const isPython = PYTHON_FILES.some((name) => existsSync(join(folder, name)));
  print([
    ...table(changes.map(({ path, done, note }) => [verbs?.[done] ?? done, path, note])),
    "",
    ...table(next.map((command, index) => [index === 0 ? "next" : "", command])),
    ...(isPython ? ["", `for pytest, see ${PACKAGE}/fixtures/clients/python/README.md`] : []),
  ]);
  return EXIT.ok;
};

/** Change of a file. `text` is its new content; null leaves it unchanged. */
interface Change {
  readonly path: string;
  readonly done: "wrote" | "added" | "kept";
  readonly note: string;
  readonly text: string | null;
}

type Project = ReturnType<typeof projectIn>;

/** Describes the project into which files are written. */
function projectIn(folder: string, named: (typeof RUNNERS)[number] | null) {
  const { type, scripts, dependencies, devDependencies } = manifestIn(folder);
  const packages = { ...dependencies, ...devDependencies };
  const has = (name: string): boolean => Object.hasOwn(packages, name);
  const inScript = RUNNERS.find((name) => RUNNER[name].inScript.test(String(scripts?.test)));
  const written = writtenFor(folder);
  if (named !== null && written !== undefined && written !== named)
    throw new UsageError(
      `--runner ${named} contradicts the test that exists, which is of ${written}: remove ${TEST}.* and the workflow, or leave out --runner`,
    );
  const folders = foldersOf(folder);
  const [manager = NPM] = folders.flatMap((each) =>
    MANAGERS.filter(({ lockFile }) => existsSync(join(each, lockFile))),
  );
  const installed = folders.findIndex((each) => existsSync(join(each, PACKAGE)));
  const runner = RUNNER[named ?? written ?? inScript ?? RUNNERS.find(has) ?? "vitest"];
  return {
    runner,
    manager,
    /** Whether its `.js` files are ES modules. */
    isModule: type === "module",
    /** Path from the root of its git repository; empty at the root, and without a repository. */
    pathInRepository: withSlashes(relative(folders.at(-1) ?? folder, resolve(folder))),
    /** Path of the folder with the package from a folder of the project. */
    installedIn: "../".repeat(Math.max(0, installed) + 1),
    /** Packages to install. */
    missing: ["clobsim", runner.package].flatMap((name) => {
      if (name === null || has(name)) return [];
      // Yarn does not install vite, a peer dependency of vitest.
      return name === "vitest" && manager.exec === "yarn" ? [name, "vite"] : name;
    }),
  };
}

const PACKAGE = "node_modules/clobsim";
const PYTHON_FILES = ["pyproject.toml", "requirements.txt", "setup.py"];

/** Path of the test without its ending. */
const TEST = "test/exchange.test";

/** Returns the runner of a test that was written before; undefined if there is none. */
function writtenFor(folder: string): (typeof RUNNERS)[number] | undefined {
  const texts = ["js", "mjs"].map((ending) => textOf(join(folder, `${TEST}.${ending}`)) ?? "");
  return RUNNERS.find((name) => texts.some((text) => text.includes(`clobsim/${name}`)));
}

/** Returns the text of a file; null if it does not exist. @throws UsageError if it cannot be read */
function textOf(path: string): string | null {
  if (!existsSync(path)) return null;
  try {
    return readText(path, FILE_LIMITS.world);
  } catch (error) {
    throw unwritable("init expects a file that can be read", path, error);
  }
}

/** The fields of a package.json that are read. */
interface Manifest {
  readonly type?: unknown;
  readonly scripts?: Readonly<Record<string, unknown>>;
  readonly dependencies?: object;
  readonly devDependencies?: object;
}

/** Reads the package.json of a project; empty if it does not exist. @throws UsageError if it cannot be read */
function manifestIn(folder: string): Manifest {
  const path = join(folder, "package.json");
  const text = textOf(path) ?? "{}";
  let manifest: unknown;
  try {
    manifest = readJson(text);
  } catch (error) {
    throw new UsageError(`${path}: ${(error as Error).message}`);
  }
  if (typeof manifest === "object" && manifest !== null) return manifest;
  throw new UsageError(`${path}: expected an object, found ${JSON.stringify(manifest)}`);
}

/** Returns a folder and those above it up to the root of its git repository; without a repository the folder alone. */
function foldersOf(folder: string): readonly string[] {
  const folders = [resolve(folder)];
  for (const path of folders) {
    if (existsSync(join(path, ".git"))) return folders;
    if (dirname(path) !== path) folders.push(dirname(path));
  }
  return folders.slice(0, 1);
}

/** @throws UsageError if a folder cannot be created because it, or a part of its path, is a file */
function requireFolder(path: string): void {
  if (!existsSync(path)) {
    if (dirname(path) !== path) requireFolder(dirname(path));
  } else if (!statSync(path).isDirectory())
    throw new UsageError(`init expects a folder, found the file ${path}`);
}

const IGNORED = ".clobsim/";

/** Adds the default data directory to .gitignore. */
function ignoreChange(folder: string): Change {
  const path = ".gitignore";
  const text = textOf(join(folder, path));
  if (text === null) return { path, done: "wrote", note: `with ${IGNORED}`, text: `${IGNORED}\n` };
  if (/^\/?\.clobsim\/?\s*$/m.test(text)) return { path, done: "kept", note: `has ${IGNORED}`, text: null };
  const end = text === "" || text.endsWith("\n") ? "" : "\n";
  return { path, done: "added", note: IGNORED, text: `${text}${end}${IGNORED}\n` };
}

/** Writes all files, or none if one fails. @throws UsageError that names the file */
function writeAll(folder: string, changes: readonly Change[]): void {
  const undo: (() => void)[] = [];
  for (const { path, done, text } of changes) {
    if (text === null) continue;
    const file = join(folder, path);
    try {
      const first = makeFolder(dirname(file));
      if (first !== undefined) undo.push(() => rmSync(first, { recursive: true }));
      // Only the last file may have existed before, so it needs no undo.
      if (done === "added") replaceFile(file, text);
      else createComplete(file, text);
      undo.push(() => rmSync(file));
    } catch (error) {
      for (const step of undo.reverse()) step();
      throw unwritable("init expects a folder that can be written to", file, error);
    }
  }
}

interface Runner {
  /** Its package; null if it is built into Node. */
  readonly package: string | null;
  /** Recognizes it in the test script of a package. */
  readonly inScript: RegExp;
  readonly imports: readonly string[];
  /** What a test in a CommonJS package has instead of the imports, if the runner needs it. */
  readonly requires?: readonly string[];
  /** Assertions about `story` and `trades`. */
  readonly assertions: readonly string[];
  /** Returns the command that runs the file behind it; `exec` is the package manager's command, such as npx. */
  readonly command: (exec: string, isModule: boolean) => string;
}

const EXPECTATIONS = ["expect(story).toBeLive(40);", 'expect(trades).toHaveTraded(["BUY 40 YES @ 0.54"]);'];

const RUNNER: Readonly<Record<(typeof RUNNERS)[number], Runner>> = {
  vitest: {
    package: "vitest",
    inScript: /\bvitest\b/,
    imports: ['import { exchange } from "clobsim/vitest";', 'import { expect } from "vitest";'],
    assertions: EXPECTATIONS,
    command: (exec) => `${exec} vitest run`,
  },
  jest: {
    package: "jest",
    inScript: /\bjest\b/,
    imports: ['import { exchange } from "clobsim/jest";'],
    requires: ['const { exchange } = require("clobsim/jest");'],
    assertions: EXPECTATIONS,
    // Jest runs ES modules only with this flag.
    command: (exec, isModule) => `${isModule ? "NODE_OPTIONS=--experimental-vm-modules " : ""}${exec} jest`,
  },
  node: {
    package: null,
    inScript: /\bnode\b.* --test\b/,
    imports: ['import { assertLive, assertTraded, exchange } from "clobsim/node-test";'],
    assertions: ["assertLive(story, 40);", 'assertTraded(trades, ["BUY 40 YES @ 0.54"]);'],
    command: () => "node --test",
  },
};

/**
 * Describes a package manager: its lock file, the command that adds packages, the one that runs a program of a package,
 * and the commands that a workflow runs first.
 */
const managerOf = (lockFile: string, add: string, exec: string, ...install: readonly string[]) => {
  return { lockFile, add, exec, install };
};

/** Node 25 and later do not contain corepack. */
const COREPACK = "npm install -g corepack && corepack enable";

const NPM = managerOf("package-lock.json", "npm install -D", "npx", "npm ci");

/** Package managers, each recognized by its lock file; npm is the default. */
const MANAGERS = [
  managerOf("pnpm-lock.yaml", "pnpm add -D", "pnpm exec", COREPACK, "pnpm install --frozen-lockfile"),
  managerOf("yarn.lock", "yarn add -D", "yarn", COREPACK, "yarn install"),
  managerOf("bun.lock", "bun add -d", "bunx", "npm install -g bun", "bun install --frozen-lockfile"),
  NPM,
];

const scenarioText = ({ installedIn }: Project): string =>
  `# yaml-language-server: $schema=${installedIn}${PACKAGE}/fixtures/schemas/scenario.schema.json
scenario: a bid that is filled in part stays in the book
accounts:
  alice: { USDC: 1000 }
  bob:   { YES: 500 }
steps:
  - alice: BUY 100 YES @ 0.55 as bid
  - bob: SELL 40 YES @ 0.50
    fills: [SELL 40 YES @ 0.55 from alice]
  - expect:
      book:     { YES: { bids: [0.55 x 60], asks: [] } }
      orders:   { bid: LIVE 40/100 }
      balances: { bob: { USDC: 22, YES: 460 } }
`;

/** Returns the path of the workflow from the project. GitHub reads workflows only at the root of a repository. */
function workflowPath({ pathInRepository }: Project): string {
  const names = pathInRepository === "" ? [] : pathInRepository.split("/");
  return `${"../".repeat(names.length)}.github/workflows/${["clobsim", ...names].join(".")}.yml`;
}

const testPath = ({ runner, isModule }: Project): string =>
  `${TEST}.${isModule || runner.requires !== undefined ? "js" : "mjs"}`;

function testText({ runner: { imports, requires = imports, assertions }, isModule }: Project): string {
  return `${(isModule ? imports : requires).join("\n")}

const test = exchange();

// Each test has a new exchange of its own. Your bot connects to exchange.url and signs with
// alice.credentials or alice.privateKey.
test("a bid that is filled in part stays in the book", async ({ exchange, alice, bob }) => {
  const { yes } = exchange.market("reach-340");
  const bid = await alice.place({ tokenId: yes, side: "BUY", price: 0.54, size: 100 });
  await bob.place({ tokenId: yes, side: "SELL", price: 0.54, size: 40 });

  const story = await exchange.order(bid.id);
  const trades = await alice.trades();
${assertions.map((line) => `  ${line}\n`).join("")}});
`;
}

/** Returns the command that runs the test. */
const testCommand = (project: Project): string =>
  `${project.runner.command(project.manager.exec, project.isModule)} ${testPath(project)}`;

const REPORTS = ".clobsim/reports";

function workflowText(project: Project): string {
  const { exec, install } = project.manager;
  const within = project.pathInRepository;
  const title = within === "" ? "clobsim" : JSON.stringify(`clobsim in ${within}`);
  const reports = within === "" ? REPORTS : JSON.stringify(`${within}/${REPORTS}`);
  const defaults =
    within === "" ? "" : `    defaults:\n      run: { working-directory: ${JSON.stringify(within)} }\n`;
  const steps = [
    ...install,
    `${exec} clobsim run scenarios --reporter github --report ${REPORTS}`,
    testCommand(project),
  ];
  return `# Annotates scenarios that fail at their lines, and keeps a report of each for \`clobsim replay\`.
name: ${title}
on: [push, pull_request]
permissions: { contents: read }

jobs:
  clobsim:
    runs-on: ubuntu-latest
${defaults}    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: { node-version: lts/* }
${steps.map((command) => `      - run: ${command}\n`).join("")}        if: \${{ !cancelled() }}
      - uses: actions/upload-artifact@v4
        if: \${{ failure() }}
        with: { name: clobsim-reports, path: ${reports}, include-hidden-files: true }
`;
}
