import { execFile } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const run = promisify(execFile);
const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  readonly exports: Readonly<Record<string, unknown>>;
};

/** A project of its own with the package as npm packs it, and vitest, which runs scenarios as its tests. */
const project = mkdtempSync(join(tmpdir(), "clobsim-package-"));
const installed = join(project, "node_modules", "clobsim");

beforeAll(async () => {
  // Without its scripts: the build that the tests run on is what is packed.
  const pack = ["pack", "--ignore-scripts", "--json", "--pack-destination", project];
  const { stdout } = await run("npm", pack, { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 });
  const [{ filename }] = JSON.parse(stdout) as [{ readonly filename: string }];
  mkdirSync(installed, { recursive: true });
  await run("tar", ["-xzf", join(project, filename), "-C", installed, "--strip-components=1"]);
  symlinkSync(join(ROOT, "node_modules", "vitest"), join(project, "node_modules", "vitest"));
}, 120_000);
afterAll(() => rmSync(project, { recursive: true }));

/** What a program in the project prints. */
async function printed(program: string, ...flags: string[]): Promise<string> {
  return (await run(process.execPath, [...flags, "-e", program], { cwd: project })).stdout.trim();
}

const NAMES: Readonly<Record<string, readonly string[]>> = {
  clobsim: ["CONTRACT_ABIS", "ConfigError", "ExchangeClient", "orThrow", "startExchange", "walletOf"],
  "clobsim/vitest": ["scenarioSuite"],
  "clobsim/package.json": ["version"],
};

describe("the packed package", () => {
  it("holds the program, and no tool of its tests", () => {
    const names = ["LICENSE", "README.md", "bin", "dist", "docs", "fixtures", "package.json", "scenarios"];
    expect(readdirSync(installed).sort()).toEqual(names);
    expect(readdirSync(join(installed, "bin"))).toEqual(["clobsim.js"]);
    expect(readdirSync(join(installed, "dist")).filter((name) => /bench|soak/.test(name))).toEqual([]);
  });

  it("exports what is tested here", () => {
    expect(Object.keys(exports).map((path) => path.replace(".", "clobsim"))).toEqual(Object.keys(NAMES));
  });

  it.each(Object.entries(NAMES))("answers require(%j)", async (path, names) => {
    const there = `Object.keys(require(${JSON.stringify(path)})).filter((name) => ${JSON.stringify(names)}.includes(name))`;
    expect(JSON.parse(await printed(`console.log(JSON.stringify(${there}.sort()))`))).toEqual(
      [...names].sort(),
    );
  });

  it.each(Object.entries(NAMES).slice(0, 2))("answers import of %j", async (path, names) => {
    const program = `import { ${names.join(", ")} } from ${JSON.stringify(path)}; console.log(${names.map((name) => `typeof ${name}`).join(", ")})`;
    const kinds = names.map((name) => (name === "CONTRACT_ABIS" ? "object" : "function"));
    expect(await printed(program, "--input-type=module")).toBe(kinds.join(" "));
  });

  it("opens an exchange from CommonJS, and a wallet trades there", async () => {
    writeFileSync(
      join(project, "trade.cjs"),
      `const { ExchangeClient, orThrow, startExchange, walletOf } = require("clobsim");
      (async () => {
        const exchange = await startExchange({ seed: 7, clock: "frozen" });
        const [{ privateKey }] = exchange.devAccounts;
        const client = new ExchangeClient(exchange.url, { account: await walletOf(privateKey), time: "server" });
        orThrow(await client.derive());
        const tokenId = exchange.sampleTokenId;
        console.log(orThrow(await client.place({ tokenId, side: "BUY", price: 0.01, size: 10 })).status);
        client.close();
        await exchange.close();
      })();`,
    );
    const { stdout } = await run(process.execPath, ["trade.cjs"], { cwd: project });
    expect(stdout).toBe("LIVE\n");
  });
});
