/** Runners of tests that a first test can be written for. */
export const RUNNERS = ["vitest", "jest", "node"] as const;
export type RunnerName = (typeof RUNNERS)[number];

/** What is known of the project that files are written for. */
export interface Project {
  readonly runner: RunnerName;
  /** Whether its `.js` files are ES modules. */
  readonly isModule: boolean;
  readonly manager: ManagerName;
}

/** A file to write, and what it is there for. */
export interface ProjectFile {
  readonly path: string;
  readonly purpose: string;
  readonly text: string;
}

interface Runner {
  /** Its package; null for what Node has. */
  readonly package: string | null;
  readonly imports: readonly string[];
  /** Where it takes no ES modules in a package of CommonJS: what such a test loads instead. */
  readonly requires?: readonly string[];
  /** What the test asserts of `story` and `trades`. */
  readonly assertions: readonly string[];
  /** The command that runs one file, with EXEC for what finds programs of packages. */
  readonly command: (file: string, project: Project) => string;
}

const EXPECTATIONS = ["expect(story).toBeLive(40);", 'expect(trades).toHaveTraded(["BUY 40 YES @ 0.54"]);'];

const RUNNER: Readonly<Record<RunnerName, Runner>> = {
  vitest: {
    package: "vitest",
    imports: ['import { exchange } from "clobsim/vitest";', 'import { expect } from "vitest";'],
    assertions: EXPECTATIONS,
    command: (file) => `EXEC vitest run ${file}`,
  },
  jest: {
    package: "jest",
    imports: ['import { exchange } from "clobsim/jest";'],
    requires: ['const { exchange } = require("clobsim/jest");'],
    assertions: EXPECTATIONS,
    // Jest runs ES modules by this flag alone.
    command: (file, { isModule }) =>
      `${isModule ? "NODE_OPTIONS=--experimental-vm-modules " : ""}EXEC jest ${file}`,
  },
  node: {
    package: null,
    imports: ['import { assertLive, assertTraded, exchange } from "clobsim/node-test";'],
    assertions: ["assertLive(story, 40);", 'assertTraded(trades, ["BUY 40 YES @ 0.54"]);'],
    command: (file) => `node --test ${file}`,
  },
};

interface Manager {
  readonly lockFile: string;
  readonly add: string;
  /** Runs a program of a package. */
  readonly exec: string;
  /** What a workflow runs before anything else. */
  readonly install: readonly string[];
}

/** Package managers, by the files that they leave in a project; npm where there is none. */
const MANAGER = {
  pnpm: {
    ...{ lockFile: "pnpm-lock.yaml", add: "pnpm add -D", exec: "pnpm exec" },
    install: ["corepack enable", "pnpm install --frozen-lockfile"],
  },
  yarn: {
    ...{ lockFile: "yarn.lock", add: "yarn add -D", exec: "yarn" },
    install: ["corepack enable", "yarn install"],
  },
  npm: { lockFile: "package-lock.json", add: "npm install -D", exec: "npx", install: ["npm ci"] },
} as const satisfies Record<string, Manager>;
export type ManagerName = keyof typeof MANAGER;

/** The package manager of a project with these files. */
export const managerOf = (hasFile: (name: string) => boolean): ManagerName =>
  (Object.keys(MANAGER) as ManagerName[]).find((name) => hasFile(MANAGER[name].lockFile)) ?? "npm";

const SCENARIO = `# yaml-language-server: $schema=../node_modules/clobsim/fixtures/schemas/scenario.schema.json
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

const SCENARIO_PATH = "scenarios/first.yaml";
const WORKFLOW_PATH = ".github/workflows/clobsim.yml";

function testPath({ runner, isModule }: Project): string {
  const isPlain = isModule || RUNNER[runner].requires !== undefined;
  return `test/exchange.test.${isPlain ? "js" : "mjs"}`;
}

function testText({ runner, isModule }: Project): string {
  const { imports, requires = imports, assertions } = RUNNER[runner];
  return `${(isModule ? imports : requires).join("\n")}

const test = exchange();

// Each test has an exchange of its own, as it opened. A bot of yours reaches it at exchange.url,
// and signs with alice.credentials or alice.privateKey.
test("a bid that is filled in part stays in the book", async ({ exchange, alice, bob }) => {
  const { yes } = exchange.market("reach-340");
  const bid = await alice.place({ tokenId: yes, side: "BUY", price: 0.54, size: 100 });
  await bob.place({ tokenId: yes, side: "SELL", price: 0.54, size: 40 });

  const story = await exchange.order(bid.id);
  const trades = await alice.trades();
${assertions.map((line) => `  ${line}\n`).join("")}});
`;
}

const commandOf = (project: Project): string =>
  RUNNER[project.runner].command(testPath(project), project).replace("EXEC", MANAGER[project.manager].exec);

function workflowText(project: Project): string {
  const { exec, install } = MANAGER[project.manager];
  const step = (command: string): string => `      - run: ${command}\n`;
  return `# Annotates scenarios that fail at their lines, and keeps a report of each for \`clobsim replay\`.
name: clobsim
on: [push, pull_request]
permissions: { contents: read }

jobs:
  clobsim:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: { node-version: 22 }
${install.map(step).join("")}${step(`${exec} clobsim run scenarios --reporter github --report .clobsim/reports`)}      - run: ${commandOf(project)}
        if: \${{ !cancelled() }}
      - uses: actions/upload-artifact@v4
        if: \${{ failure() }}
        with: { name: clobsim-reports, path: .clobsim/reports, include-hidden-files: true }
`;
}

/** The files of a first scenario, a first test, and a workflow that runs both. */
export const filesOf = (project: Project): readonly ProjectFile[] => [
  { path: SCENARIO_PATH, purpose: "a scenario: steps, and what must be true", text: SCENARIO },
  {
    ...{
      path: testPath(project),
      purpose: `a test of ${project.runner === "node" ? "node:test" : project.runner}`,
    },
    text: testText(project),
  },
  { path: WORKFLOW_PATH, purpose: "runs both in GitHub Actions", text: workflowText(project) },
];

/** What to type next in a project that has these packages. */
export function nextCommands(project: Project, has: (name: string) => boolean): readonly string[] {
  const { add, exec } = MANAGER[project.manager];
  const missing = ["clobsim", RUNNER[project.runner].package].filter((name) => name !== null && !has(name));
  return [
    ...(missing.length === 0 ? [] : [`${add} ${missing.join(" ")}`]),
    `${exec} clobsim run scenarios`,
    commandOf(project),
  ];
}
