import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { OTHER_VERSIONS, otherNode } from "../engine/support/other-node.ts";
import { temporaryFolder } from "../support/folder.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TYPES = new URL("../../bin/setup/types.js", import.meta.url).href;
const tool = (...path: readonly string[]): string => join(ROOT, "node_modules", ...path);

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

const folder = temporaryFolder();
/** A project with only the package. */
const project = join(folder, "project");
let packed: Packed;
let tarball: string;

const run = promisify(execFile);
// Without the variables that npm and vitest set for their children.
const env = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:npm_|VITEST|NODE_ENV|CLOBSIM_)/.test(name)),
  ),
  NO_COLOR: "1",
};

async function pack(from: string): Promise<Packed> {
  // Without scripts, so that the build that the tests use is packed.
  const args = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
  const { stdout } = await run("npm", args, { cwd: from, env, maxBuffer: 1 << 26 });
  return (JSON.parse(stdout) as [Packed])[0];
}

const inProject = (name: string, text: string): void => writeFileSync(join(project, name), text);
/** Runs a program in the project. */
const runThere = (program: string, ...args: readonly string[]) => run(program, args, { cwd: project, env });
const fileThere = (...path: readonly string[]): string => join(project, "node_modules", "clobsim", ...path);
const textOf = (...path: readonly string[]): string => readFileSync(join(ROOT, ...path), "utf8");
/** The output of a program that fails. */
const outputOf = (ended: { readonly stdout: string; readonly stderr: string }) => ended;

/** Returns the versions of Node to test: this one, those of the registry, and those of CLOBSIM_TEST_NODES. */
async function nodes(): Promise<readonly (readonly [version: string, program: string])[]> {
  const programs = [process.execPath];
  for (const other of await Promise.all(OTHER_VERSIONS.map(otherNode))) {
    if ("program" in other) programs.push(other.program);
    else console.warn(`skipped: ${other.reason}`);
  }
  programs.push(...(process.env.CLOBSIM_TEST_NODES ?? "").split(delimiter).filter((path) => path !== ""));
  const versions = await Promise.all(programs.map((program) => run(program, ["--version"])));
  return programs.map((program, index) => [versions[index]?.stdout.trim() ?? "", program]);
}

const NODES = await nodes();

beforeAll(async () => {
  const { filename } = await pack(ROOT);
  // The build for tests has no types, so they are added as in a release.
  await run("tar", ["-xzf", join(folder, filename), "-C", folder]);
  const { rollUpTypes } = (await import(TYPES)) as { rollUpTypes: (to: string) => Promise<string | null> };
  expect(await rollUpTypes(join(folder, "package", "dist"))).toBe(null);
  packed = await pack(join(folder, "package"));
  tarball = join(folder, packed.filename);
  mkdirSync(project);
  inProject("package.json", '{ "private": true, "type": "module" }');
  const offline = ["--offline", "--no-audit", "--no-fund", "--cache", join(folder, "cache")];
  await runThere("npm", "install", ...offline, tarball);
  for (const runner of ["vitest", "jest"]) symlinkSync(tool(runner), join(project, "node_modules", runner));
});

describe("the packed package", () => {
  it("is small, has no dependencies and runs nothing on installation", () => {
    expect(packed.size).toBeLessThan(2_000_000);
    expect(packed.unpackedSize).toBeLessThan(8_000_000);
    const { packages } = JSON.parse(readFileSync(join(project, "package-lock.json"), "utf8")) as {
      readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>;
    };
    expect(Object.keys(packages)).toEqual(["", "node_modules/clobsim"]);
    expect(packages["node_modules/clobsim"]?.hasInstallScript).toBeUndefined();
  });

  it("has one type file per entry, and no internal ones", () => {
    const types = packed.files.map(({ path }) => path).filter((path) => /\.d\.c?ts$/.test(path));
    const { exports } = JSON.parse(textOf("package.json")) as {
      readonly exports: Readonly<Record<string, { readonly types?: string }>>;
    };
    const named = Object.values(exports).flatMap((entry) => entry.types?.slice(2) ?? []);
    expect(types).toEqual(expect.arrayContaining(named));
    expect(types.filter((path) => !/^dist\/[^/]+\.d\.c?ts$/.test(path))).toEqual([]);
    const texts = types.map((path) => readFileSync(fileThere(path), "utf8"));
    // Conflicting names would have a number.
    expect(texts.flatMap((text) => text.match(/\w+\$\d+/g) ?? [])).toEqual([]);
    const imported = texts.flatMap((text) => [...text.matchAll(/ from "([^"]+)"/g)].map(([, path]) => path));
    const runners = ["vitest", "node:test"];
    expect(imported.filter((path = "") => !path.startsWith("./") && !runners.includes(path))).toEqual([]);
  });

  it.each([
    ["publint", [tool("publint", "src", "cli.js"), "--strict"]],
    ["attw", [tool("@arethetypeswrong", "cli", "dist", "index.js"), "--profile", "esm-only"]],
  ])("passes %s", async (_name, args) => {
    await run(process.execPath, [...args, tarball], { env });
  });
});

const CLIENT = `import { collect, ConfigError, CONTRACT_ABIS, ExchangeClient, orThrow, startExchange, walletOf } from "clobsim";
import type { ExchangeError, Market, NewOrder, PlacedOrder, ReplyTo, Result, RunningServer, StartOptions } from "clobsim";

const options: StartOptions = { seed: 7, clock: "60x", settlement: "manual", allowHost: ["exchange.test"] };
export const server: RunningServer = await startExchange(options);
const [account] = server.devAccounts;
const client = new ExchangeClient(server.url, { account: await walletOf(account?.privateKey ?? ""), time: "server" });
const order: NewOrder = { tokenId: server.sampleTokenId ?? "", side: "BUY", price: 0.01, size: 10, expiration: new Date() };
export const placed: Result<PlacedOrder> = await client.place(order);
export const error: ExchangeError | null = placed.ok ? null : placed.error;
export const markets: Market[] = orThrow(await collect((window) => client.markets({ active: true, ...window })));
export const clock: ReplyTo<"getClock"> = orThrow(await client.control.setClock({ advance: "1h" }));
export const abi: readonly string[] = CONTRACT_ABIS.exchange;
export const isConfigError = (thrown: unknown): boolean => thrown instanceof ConfigError;
`;

const TEST = `import { exchange, type ExchangeTest, type Trader } from "clobsim/jest";
import { ExchangeClient, openExchange } from "clobsim";
const test: ExchangeTest = exchange({ world: "tiny" });
test("quotes", async ({ exchange, alice }) => {
  const { id } = await alice.place({ tokenId: exchange.market().yes, side: "BUY", price: 0.1, size: 10 });
  const trader: Trader = alice;
  const { order }: { order: { status: string } } = await exchange.order(id);
  await using other = await openExchange({ seed: order.status + trader.name });
  new ExchangeClient("http://localhost", { transport: other.transport });
});
`;

const WRONG = `import { ExchangeClient, startExchange } from "clobsim";
await new ExchangeClient("").place({ tokenId: "1", side: "HOLD", price: 0.5, size: 1 });
await startExchange({ sed: 7 });
`;

describe("client code", () => {
  /** Compiles files strictly without `@types/node` and other packages. Returns the errors. */
  async function compile(files: Readonly<Record<string, string>>, flags: readonly string[]): Promise<string> {
    for (const [name, text] of Object.entries(files)) inProject(name, text);
    const strict = "--ignoreConfig --noEmit --strict --exactOptionalPropertyTypes --skipLibCheck false";
    const plain = ["--target", "es2022", "--lib", "es2022", "--types", "", "--pretty", "false"];
    const tsc = tool("typescript", "bin", "tsc");
    const names = Object.keys(files);
    const ended = runThere(process.execPath, tsc, ...strict.split(" "), ...plain, ...flags, ...names);
    return (await ended.catch(outputOf)).stdout;
  }

  it("compiles under nodenext with only the types of the package, also of fixtures, and gets clear errors", async () => {
    const files = { "client.ts": CLIENT, "test.ts": TEST, "test.cts": TEST, "wrong.ts": WRONG };
    const errors = await compile(files, ["--module", "nodenext"]);
    expect(errors.split("\n").slice(0, -1)).toEqual([
      `wrong.ts(2,52): error TS2322: Type '"HOLD"' is not assignable to type '"BUY" | "SELL"'.`,
      "wrong.ts(3,23): error TS2561: Object literal may only specify known properties, but 'sed' does not exist in type 'StartOptions'. Did you mean to write 'seed'?",
    ]);
  });

  it("compiles under bundler with only the types of the package", async () => {
    const flags = ["--module", "esnext", "--moduleResolution", "bundler"];
    expect(await compile({ "client.ts": CLIENT }, flags)).toBe("");
  });

  it("has types for CommonJS, except of vitest, which is an ES module", async () => {
    const imports = ["clobsim", "clobsim/jest", "clobsim/node-test"].map(
      (path, index) => `import * as entry${index} from "${path}"; void entry${index};\n`,
    );
    const node = ["--typeRoots", tool("@types"), "--types", "node", "--skipLibCheck"];
    expect(await compile({ "all.cts": imports.join("") }, ["--module", "node16", ...node])).toBe("");
  });
});

/** Resolves to the address that a program prints. */
const addressOf = (child: ChildProcessWithoutNullStreams): Promise<string> =>
  new Promise((resolve, reject) => {
    let printed = "";
    child.on("close", (code) => reject(new Error(`it ended with ${code}: ${printed}`)));
    child.stdout.on("data", (bytes: Buffer) => {
      printed += bytes.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(printed);
      if (found !== null) resolve(found[0]);
    });
  });

const TRADE = `
  const exchange = await startExchange({ seed: 7, clock: "frozen" });
  const client = new ExchangeClient(exchange.url, { account: await walletOf(exchange.devAccounts[0].privateKey), time: "server" });
  orThrow(await client.derive());
  const order = { tokenId: exchange.sampleTokenId, side: "BUY", price: 0.01, size: 10 };
  console.log(orThrow(await client.place(order)).status);
  client.close();
  await exchange.close();
`;
/** The exchange is not closed, and must not keep the process alive. */
const FIXTURE = `
  const test = exchange();
  const order = (exchange, price) => ({ tokenId: exchange.market("320").yes, side: "BUY", price, size: 10 });
  const rests = async ({ exchange, alice }) => {
    await alice.place(order(exchange, 0.1));
    const { total } = await alice.openOrders();
    if (total !== 1) throw new Error(total + " open orders");
  };
  test("rests", rests);
  test("rests again", rests);
  test("is refused", async ({ exchange, alice }) => void (await alice.place(order(exchange, 0.555))));
`;
const NAMES = "{ ExchangeClient, orThrow, startExchange, walletOf }";

describe.each(NODES)("in Node %s", (_version, node) => {
  const clobsim = fileThere("bin", "clobsim.js");

  it("the library trades when imported and when required", async () => {
    inProject("trade.mjs", `import ${NAMES} from "clobsim";${TRADE}`);
    inProject("trade.cjs", `const ${NAMES} = require("clobsim");(async () => {${TRADE}})();`);
    for (const name of ["trade.mjs", "trade.cjs"])
      expect((await runThere(node, name)).stdout, name).toBe("LIVE\n");
  });

  it("the program serves its default world, and writes no files", async () => {
    const { version } = JSON.parse(textOf("package.json")) as { version: string };
    expect((await runThere(node, clobsim, "--version")).stdout).toBe(`${version}\n`);
    const flags = ["--port", "0", "--ephemeral", "--log-level", "silent"];
    const child = spawn(node, [clobsim, "serve", ...flags], { cwd: project, env });
    const url = await addressOf(child);
    const { total } = (await (await fetch(`${url}/api/events`)).json()) as { readonly total: number };
    expect(total).toBe(12);
    const ended = new Promise((resolve) => child.on("exit", resolve));
    child.kill("SIGINT");
    expect(await ended).toBe(0);
    expect(existsSync(join(project, ".clobsim"))).toBe(false);
  });

  it.each([
    ["vitest", ["vitest", "vitest.mjs"], ["run", "--root", ".", "fixture"], "fixture.test.mjs", "import"],
    ["jest", ["jest", "bin", "jest.js"], ["--testMatch=**/fixture.jest.cjs"], "fixture.jest.cjs", "require"],
    ["node-test", null, ["--test", "fixture.node.mjs"], "fixture.node.mjs", "import"],
  ] as const)(
    "tests of %s have an exchange each, and explain failures",
    async (runner, program, args, file, how) => {
      const loaded =
        how === "import"
          ? `import { exchange } from "clobsim/${runner}";`
          : `const { exchange } = require("clobsim/jest");`;
      inProject(file, `${loaded}${FIXTURE}`);
      const command = program === null ? args : [tool(...program), ...args];
      const { stdout, stderr } = await runThere(node, ...command).then(
        () => expect.fail("a test of them fails"),
        outputOf,
      );
      const output = stdout + stderr;
      expect(output).toMatch(/2 passed|pass 2/);
      expect(output).toMatch(/1 failed|fail 1/);
      expect(output).toMatch(
        /alice: BUY 10 YES @ 0\.555 in will-casether-reach-320, refused: INVALID_TICK_SIZE \(price\)/,
      );
      const report = /clobsim replay (\S+)/.exec(output)?.[1] ?? "";
      const { stdout: replayed } = await runThere(node, clobsim, "replay", report);
      expect(replayed).toContain("1 refused request: 1 refused again in the same way");
      rmSync(join(project, ".clobsim"), { recursive: true });
    },
  );

  it("the tests of the guide pass", async () => {
    const examples = textOf("docs", "guide", "test-your-bot.md").matchAll(/```js\n(.*?)```/gs);
    for (const name of ["bot.js", "bot.test.js", "rests.node.js", "rests.jest.cjs"])
      inProject(name, examples.next().value?.[1] ?? "");
    await runThere(node, tool("vitest", "vitest.mjs"), "run", "--root", ".", "bot.test.js");
    await runThere(node, "--test", "rests.node.js");
    await runThere(node, tool("jest", "bin", "jest.js"), "--testMatch=**/rests.jest.cjs");
  });

  it("vitest runs scenarios as tests", async () => {
    const suite = JSON.stringify(fileThere("scenarios", "matching"));
    inProject(
      "rules.test.mjs",
      `import { scenarioSuite } from "clobsim/vitest";\nscenarioSuite(${suite});\n`,
    );
    inProject("vitest.config.mjs", 'export default { test: { include: ["*.test.mjs", "*.test.js"] } };');
    const { stdout } = await runThere(node, tool("vitest", "vitest.mjs"), "run", "rules");
    expect(stdout).toMatch(/Tests.* 28 passed/);
  });
});

it("the steps of the guide lead from a wrong answer to a scenario", async () => {
  const guide = textOf("docs", "guide", "bug-reports.md");
  const [, walk = ""] = /```sh\n(npx clobsim serve .*?)```/s.exec(guide) ?? [];
  const [serve = "", ...rest] = walk.trim().replaceAll(/ +#.*/g, "").split("\n");
  const clobsim = `${process.execPath} ${fileThere("bin", "clobsim.js")}`;
  const shell = (line: string) => line.replace("npx clobsim", clobsim);
  const [file = "", ...args] = shell(`${serve} --port 0`).split(" ");
  const server = spawn(file, args, { cwd: project, env });
  const url = await addressOf(server);
  let output = "";
  for (const line of rest) {
    const own = line.replace("http://127.0.0.1:7070", url).replace(/client\.js$/, `client.js ${url}`);
    output += (await runThere("sh", "-c", shell(own)).catch(outputOf)).stdout;
  }
  server.kill("SIGINT");
  for (const line of guide.match(/^ {5}\d.*renewed .*$/gm) ?? []) expect(output).toContain(line);
  const [, small = ""] = /```yaml\n(accounts:.*?)```/s.exec(guide) ?? [];
  expect(readFileSync(join(project, "small.yaml"), "utf8")).toContain(small);
  expect(output).toContain("1 scenario in 1 file: 1 failed");
});

it("npx finds the program", async () => {
  const { stdout } = await runThere("npx", "--offline", "clobsim", "serve", "--help");
  expect(stdout).toContain("clobsim serve");
});

it("an older Node prints the required version in one line", async () => {
  const older =
    'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "18.20.8" } })';
  const before = `data:text/javascript,${encodeURIComponent(older)}`;
  const ended = runThere(process.execPath, "--import", before, "node_modules/clobsim/bin/clobsim.js");
  await expect(ended).rejects.toMatchObject({
    code: 2,
    stdout: "",
    stderr: "clobsim: expected Node 20.19 or later, found 18.20.8: https://nodejs.org has a newer one\n",
  });
});
