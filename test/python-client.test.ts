import { execFile, execSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import type { RunningServer } from "../src/compose.ts";
import { serve } from "./cli/tools.ts";
import { temporaryFolder } from "./support/folder.ts";
import { rowsOf } from "./support/table.ts";

const CLIENT = fileURLToPath(new URL("../fixtures/clients/python/", import.meta.url));
const PACKAGE = join(CLIENT, "clobsim");

/** Result of a run of Python. */
interface PythonRun {
  readonly code: number;
  /** Output of both streams. */
  readonly text: string;
}

/** Runs Python in a folder with the client on its import path. */
function run(
  python: string,
  args: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<PythonRun> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(?:CLOBSIM|PYTEST)_/.test(name));
  const own = { PYTHONPATH: CLIENT, PYTHONDONTWRITEBYTECODE: "1", ...environment };
  const env = { ...Object.fromEntries(inherited), ...own };
  return new Promise((resolve) => {
    execFile(python, args, { cwd, env }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      resolve({ code, text: stdout + stderr });
    });
  });
}

/** Returns the path of the first Python with the given modules; null if there is none. */
async function pythonWith(...modules: readonly string[]): Promise<string | null> {
  const finds = modules.map((name) => `find_spec("${name}")`).join(" and ");
  const program = `import sys; from importlib.util import find_spec; print(sys.executable if ${finds} else "")`;
  for (const python of ["python3", "/usr/bin/python3"]) {
    const { code, text } = await run(python, ["-c", program], CLIENT);
    if (code === 0 && text.trim() !== "") return text.trim();
  }
  console.warn(`no python3 with ${modules.join(" and ")} is found: the Python client was not tried with it`);
  return null;
}

const plain = await pythonWith("pytest");
const parallel = await pythonWith("pytest", "xdist");

const folder = temporaryFolder();

/** Loading the plugins of this machine takes longer than everything else. */
const NO_PLUGINS = { PYTEST_DISABLE_PLUGIN_AUTOLOAD: "1" };

/** Runs pytest on a test file in a new folder. */
async function pytest(
  python: string,
  name: string,
  tests: string,
  {
    args = [],
    ...environment
  }: { readonly args?: readonly string[] } & Readonly<Record<string, unknown>> = {},
): Promise<PythonRun & { readonly folder: string }> {
  const own = join(folder, name);
  mkdirSync(own);
  // Processes started there share this folder.
  const temporary = join(folder, `${name}-temporary`);
  mkdirSync(temporary);
  writeFileSync(join(own, "test_it.py"), tests);
  const words = ["-m", "pytest", "-p", "clobsim.plugin", "-p", "no:cacheprovider", "--color=no", ...args];
  const ran = await run(python, words, own, {
    TMPDIR: temporary,
    ...NO_PLUGINS,
    ...(environment as Record<string, string>),
  });
  expect(readdirSync(temporary).filter((left) => left.startsWith("clobsim-"))).toEqual([]);
  return { ...ran, folder: own };
}

describe("the Python client", () => {
  it("imports only the standard library, and pytest only in its plugin", () => {
    const found = readdirSync(PACKAGE).flatMap((name) => {
      const text = name.endsWith(".py") ? readFileSync(join(PACKAGE, name), "utf8") : "";
      const imports = [...text.matchAll(/^(?:from|import) (\w+)/gm)].map(([, module]) => `${module}`);
      return imports.map((module) => `${name} ${module}`);
    });
    const stdlib = new Set(
      `__future__ contextlib dataclasses hashlib hmac http itertools json os pathlib re shlex shutil signal
       socket subprocess tempfile time typing urllib`.split(/\s+/),
    );
    expect(found.filter((line) => !stdlib.has(line.split(" ")[1] ?? ""))).toEqual(["plugin.py pytest"]);
  });
});

/** Returns a test or a program of the folder `python-client`. */
const source = (name: string): string =>
  readFileSync(new URL(`python-client/${name}.py`, import.meta.url), "utf8");
const FAILING = source("trading");

/** Runs the program like npx: as the child of a process that ends without its child. */
const AS_A_CHILD = `sh -c 'node "$0" "$@"; exit' '${fileURLToPath(new URL("../bin/clobsim.js", import.meta.url))}'`;

/** Creates the metadata folder of an installed plugin on the import path of Python. */
function installed(): string {
  const project = readFileSync(join(CLIENT, "pyproject.toml"), "utf8");
  const [, entry = ""] = /\[project\.entry-points\.pytest11\]\n(.*)/.exec(project) ?? [];
  const site = join(folder, "site");
  const info = join(site, "clobsim-0.1.0.dist-info");
  mkdirSync(info, { recursive: true });
  writeFileSync(join(info, "METADATA"), "Metadata-Version: 2.1\nName: clobsim\nVersion: 0.1.0\n");
  writeFileSync(join(info, "entry_points.txt"), `[pytest11]\n${entry.replaceAll('"', "")}\n`);
  return site;
}

/** Returns URL and final state hash of the exchange of each test of a run. */
const usedIn = ({ text }: PythonRun) =>
  [...text.matchAll(/^used (\S+) (\S+)$/gm)].map(([, url = "", hash = ""]) => ({ url, hash }));

describe.runIf(plain !== null)("the plugin of pytest", () => {
  const python = plain as string;

  it("is written in the grammar of Python 3.9", async () => {
    const check =
      "import ast, sys; [ast.parse(open(path).read(), feature_version=(3, 9)) for path in sys.argv[1:]]";
    const files = readdirSync(PACKAGE).filter((name) => name.endsWith(".py"));
    expect(await run(python, ["-c", check, ...files], PACKAGE)).toEqual({ code: 0, text: "" });
  });

  it("is optional: the code of its page starts a pool too", async () => {
    const [, page = ""] = readFileSync(join(CLIENT, "README.md"), "utf8").split("## Without pytest");
    const [, code = ""] = /```python\n(.*?)```/s.exec(page) ?? [];
    expect(await run(python, ["-c", code], folder)).toMatchObject({
      ...{ code: 0, text: expect.stringContaining("'available': 10000") },
    });
  });

  it("has a client whose methods all succeed", async () => {
    const ran = await run(python, ["-c", source("every_method")], folder);
    expect(ran).toEqual({ code: 0, text: "every method was called\n" });
  });

  it.each([
    ["without flags, and passes the example", [], / 5 passed in /],
    ["with -p too", ["-p", "clobsim.plugin", "--collect-only"], / 5 tests collected in /],
  ])("is found when it is installed, %s", async (_, words, expected) => {
    const file = join(CLIENT, "example", "test_market_maker.py");
    const args = ["-m", "pytest", "-p", "no:cacheprovider", "--color=no", ...words, file];
    const ran = await run(python, args, CLIENT, { PYTHONPATH: `${CLIENT}:${installed()}` });
    expect(ran.text).toMatch(expected);
  });

  it("ends a server that is a child of the process started by CLOBSIM_COMMAND, and writes a report of a test outside the root folder under a name that is no option", async () => {
    const outside = ["--rootdir", join(folder, "child-temporary"), "test_it.py"];
    const args = ["-rA", "--clobsim-reports", "reports", ...outside];
    const ran = await pytest(python, "child", FAILING, { CLOBSIM_COMMAND: AS_A_CHILD, args });
    const [{ url } = { url: "none" }] = usedIn(ran);
    expect(url).toMatch(/^http:/);
    await expect(fetch(url)).rejects.toThrow("fetch failed");
    expect(readdirSync(join(ran.folder, "reports"))).toEqual(["test_trades-5-.ndjson"]);
  });

  describe("with a request that is refused, and a restored snapshot", () => {
    let text = "";
    let restored = "";
    beforeAll(async () => {
      const ran = await pytest(python, "refused", source("refused") + source("restored"));
      [text = "", restored = ""] = ran.text.split(/^_+ test_restores _+$/m);
    });

    it("shows the line of the test, and no line of the plugin", () => {
      expect(text).toMatch(/^> +carol\.buy\(token, 0\.555, 4\)$/m);
      expect(text).toContain("INVALID_TICK_SIZE: price 0.555");
      expect(text).not.toMatch(/client\.py/);
    });

    it("maps accounts to names of the scenario, without what rested before or was not accepted", () => {
      const begin =
        "as a scenario -------------------\ncarol is dev-2\n  # The session.\n  - dev-2: BUY 4 YES";
      expect(text).toContain(begin);
      expect(text).not.toContain("the orders of this test");
    });

    it("names the flag that writes a report", () => {
      expect(text).toContain("\n--clobsim-reports DIR writes a report of each failing test");
    });

    it("shows the latest 20 orders, and 60 lines of steps", () => {
      expect(restored).toMatch(/^the latest 20 of 31 orders\nalice: BUY 1 YES/m);
      expect(restored.match(/, order /g)?.length).toBe(20);
      expect(restored).toMatch(/^alice is dev-0\nthe latest 60 of \d+ lines: .*\n {2}- dev-0: BUY 1 YES/m);
      expect(restored).toMatch(/^ {2}- dev-0: SELL 10 YES @ 0\.5 as order-31\n {4}status: LIVE 0\/10\n-/m);
    });

    it("names the accounts of orders after the snapshot, and if one was opened by its address", () => {
      expect(restored).toMatch(/^alice: SELL 10 YES @ 0\.5 GTC, order /m);
    });
  });

  it("leaves no part of a report that does not fit on the disk", async () => {
    const full = `from resource import RLIMIT_FSIZE, getrlimit, setrlimit
def test_full(clobsim):
    setrlimit(RLIMIT_FSIZE, (1_000, getrlimit(RLIMIT_FSIZE)[1]))
    assert False
`;
    const ran = await pytest(python, "full", full, { args: ["-s", "--clobsim-reports", "reports"] });
    expect(ran.text).toContain("no report was written: [Errno 27] File too large");
    expect(readdirSync(join(ran.folder, "reports"))).toEqual([]);
  });

  it("ends its server when it is killed", async () => {
    const own = join(folder, "killed");
    mkdirSync(own);
    writeFileSync(join(own, "test_it.py"), source("killed"));
    const args = ["-m", "pytest", "-p", "clobsim.plugin", "-p", "no:cacheprovider", "-s", "test_it.py"];
    const { text } = await run(python, args, own);
    const [, url = ""] = /used (\S+)$/m.exec(text) ?? [];
    expect(url).toMatch(/^http:/);
    await expect.poll(() => fetch(url).catch(String)).toContain("fetch failed");
  });

  describe("with tests that fail", () => {
    let ran: Awaited<ReturnType<typeof pytest>>;
    beforeAll(async () => {
      ran = await pytest(python, "failing", FAILING + source("alike"), {
        args: ["-rA", "--clobsim-reports", "the reports"],
      });
    });

    it("shows the story of its orders, and the session, whatever faults are injected", () => {
      expect(ran.text).toMatch(/ 5 failed, 5 passed in /);
      const [, story = ""] = ran.text.split("clobsim: the orders of this test");
      expect(story).toMatch(/^alice: SELL 10 YES @ 0\.5 GTC, order \S+\n {2}rests with 6 of 10 still open/m);
      expect(story).toMatch(/^bob: BUY 4 YES @ 0\.5 GTC, order \S+\n {2}matched completely$/m);
      expect(story).toContain("\nalice is dev-0, bob is dev-1\n");
      expect(story).toContain("  - dev-1: BUY 4 YES @ 0.5\n");
    });

    it("writes a report, and the line that replays it", () => {
      const [, line = "false"] = /clobsim: report -+\n(.*)\n/.exec(ran.text) ?? [];
      const stdout = execSync(line, { cwd: ran.folder, encoding: "utf8" });
      expect(stdout).toContain(usedIn(ran)[0]?.hash ?? "?");
    });

    it("writes a report for each, however long or alike the names are", () => {
      const commands = [...ran.text.matchAll(/clobsim: report -+\n(.*)\n/g)].map(([, line]) => line);
      expect(new Set(commands).size).toBe(5);
      expect(readdirSync(join(ran.folder, "the reports")).length).toBe(5);
    });

    it("resets the exchange before each test, and ends its server after the last", async () => {
      const used = usedIn(ran);
      expect(used.length).toBe(6);
      expect(new Set(used.map(({ url, hash }) => `${url} ${hash}`)).size).toBe(1);
      expect(used[0]?.url).toMatch(/\/1$/);
      await expect(fetch(used[0]?.url ?? "")).rejects.toThrow();
    });
  });

  it("uses the server of CLOBSIM_URL, a pool or a single exchange", async () => {
    const servers: RunningServer[] = [];
    for (const pool of [2, null]) {
      const server = await serve({ simToken: "s3cret", pool });
      servers.push(server);
      const environment = { CLOBSIM_URL: `${server.url}/`, CLOBSIM_SIM_TOKEN: "s3cret" };
      const ran = await pytest(python, `named-${pool}`, FAILING, { ...environment, args: ["-rA"] });
      expect(new Set(usedIn(ran).map(({ url }) => url))).toEqual(
        new Set([pool === null ? server.url : `${server.url}/1`]),
      );
    }
    const locked = await pytest(python, "locked", source("refused"), { CLOBSIM_URL: servers[0]?.url });
    expect(locked.text).toContain("/1 requires its --sim-token: set CLOBSIM_SIM_TOKEN");
    await Promise.all(servers.map((server) => server.close()));
  });

  describe("in the environment", () => {
    const cases = rowsOf(`
    no server answers        | CLOBSIM_URL     | http://127.0.0.1:1                  | no clobsim answers at http://127.0.0.1:1:
    the program ends         | CLOBSIM_COMMAND | echo no such thing as               | ended: no such thing as serve --port 0
    the program is missing   | CLOBSIM_COMMAND | nosuch clobsim                      | clobsim does not start, nosuch is not found: CLOBSIM_COMMAND is how it is run
    Node is missing          | PATH            | /nonexistent                        | clobsim does not start, node is not found: install Node 20.19 or newer
    the command is invalid   | CLOBSIM_COMMAND | npx 'clobsim                        | CLOBSIM_COMMAND is no command: No closing quotation in npx 'clobsim
    a flag is wrong          | PYTEST_ADDOPTS  | -o "clobsim_args=--clock stopped"   | --clock expects real, frozen or a rate
    `);
    let texts: string[] = [];
    beforeAll(async () => {
      const settings = JSON.stringify(cases.map(([, variable, value]) => [variable, value]));
      const own = join(folder, "settings");
      mkdirSync(own);
      writeFileSync(join(own, "test_it.py"), "def test_uses_it(clobsim):\n    pass\n");
      const { text } = await run(python, ["-c", source("in_each"), settings], own, NO_PLUGINS);
      texts = text.split(/^next case$/m).slice(1);
    });

    it.each(cases)("an error is reported if %s: %s=%s", (what, _variable, _value, sentence = "") => {
      const text = texts[cases.findIndex(([other]) => other === what)] ?? "";
      expect(text).toContain(sentence);
      expect(text).toMatch(/^code [^0]/m);
      expect(text).not.toContain("Traceback");
    });
  });
});

describe.runIf(parallel !== null)("the workers of pytest-xdist", () => {
  const python = parallel as string;

  it("have one exchange each, of one server that ends with the run", async () => {
    const args = ["-p", "xdist", "-rA", "-n", "2", "--dist", "each"];
    const ran = await pytest(python, "workers", FAILING, { CLOBSIM_COMMAND: AS_A_CHILD, args });
    const used = usedIn(ran);
    const [server = ""] = used.map(({ url }) => url.replace(/\d$/, ""));
    expect([...new Set(used.map(({ url }) => url))].sort()).toEqual([`${server}1`, `${server}2`]);
    expect(new Set(used.map(({ hash }) => hash)).size).toBe(1);
    await expect(fetch(server)).rejects.toThrow();
  });

  it("report an error if the given server has too few exchanges", async () => {
    const server = await serve({ pool: 1 });
    const args = ["-p", "xdist", "-n", "2"];
    const ran = await pytest(python, "few", FAILING, { CLOBSIM_URL: server.url, args });
    expect(ran.text).toContain(`2 workers need as many exchanges, ${server.url} has 1: --pool 2`);
    await server.close();
  });
});
