import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { temporaryFolder } from "./support/folder.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const run = promisify(execFile);
const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  readonly exports: Readonly<Record<string, unknown>>;
};

/** A project with the packed package and vitest. */
const project = temporaryFolder();
const installed = join(project, "node_modules", "clobsim");

beforeAll(async () => {
  // Without scripts, so that the build that the tests use is packed.
  const pack = ["pack", "--ignore-scripts", "--json", "--pack-destination", project];
  const { stdout } = await run("npm", pack, { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 });
  const [{ filename }] = JSON.parse(stdout) as [{ readonly filename: string }];
  mkdirSync(installed, { recursive: true });
  await run("tar", ["-xzf", join(project, filename), "-C", installed, "--strip-components=1"]);
  symlinkSync(join(ROOT, "node_modules", "vitest"), join(project, "node_modules", "vitest"));
});

/** Runs a program in the project and returns its output. */
async function printed(program: string, ...flags: string[]): Promise<string> {
  return (await run(process.execPath, [...flags, "-e", program], { cwd: project })).stdout.trim();
}

const NAMES: Readonly<Record<string, readonly string[]>> = {
  clobsim: "CONTRACT_ABIS ConfigError ExchangeClient openExchange orThrow startExchange walletOf".split(" "),
  "clobsim/vitest": ["exchange", "scenarioSuite"],
  "clobsim/node-test": ["assertBalance", "assertBook", "assertLive", "assertTraded", "exchange"],
  "clobsim/jest": ["exchange"],
  "clobsim/package.json": ["version"],
};

describe("the packed package", () => {
  it("contains the program, and no tool of its tests", () => {
    const names = "CHANGELOG.md LICENSE README.md bin dist docs fixtures package.json scenarios";
    expect(readdirSync(installed).sort().join(" ")).toBe(names);
    expect(readdirSync(join(installed, "bin"))).toEqual(["clobsim.js"]);
    expect(readdirSync(join(installed, "dist")).filter((name) => /bench|soak/.test(name))).toEqual([]);
  });

  it("has a program in ASCII, because the program is read as Latin-1 and would have other characters", () => {
    const others = readFileSync(join(installed, "dist", "clobsim.cjs"), "utf8").match(/[^\0-\x7f]+/g);
    expect(others).toBeNull();
  });

  it("exports the names tested here", () => {
    expect(Object.keys(exports).map((path) => path.replace(".", "clobsim"))).toEqual(Object.keys(NAMES));
  });

  it.each([
    ["require", "require(path)", Object.keys(NAMES)],
    ["import", "await import(path)", Object.keys(NAMES).slice(0, -1)],
  ])("can be loaded by %s", async (_how, loaded, paths) => {
    const program = `(async () => {
      for (const path of ${JSON.stringify(paths)}) {
        const all = ${loaded};
        console.log(JSON.stringify(Object.keys(all).filter((name) => all[name] !== undefined)));
      }
    })()`;
    const found = (await printed(program)).split("\n").map((line) => JSON.parse(line) as string[]);
    expect(found).toEqual(paths.map((path) => expect.arrayContaining([...(NAMES[path] ?? [])])));
  });

  it.each([
    ["that is not closed lets the process end", ""],
    ["is closed by await using", "await server[Symbol.asyncDispose]();"],
    ["keeps the process alive after ref()", "server.ref(); setTimeout(() => server.close(), 50);"],
  ])("an exchange %s", async (_, then) => {
    const program = `import { startExchange } from "clobsim"; const server = await startExchange({ world: "tiny" });
      await fetch(server.url + "/clob/time"); process.on("exit", () => console.log("ended")); ${then}`;
    expect(await printed(program, "--input-type=module")).toBe("ended");
  });

  it("contains the licence of every bundled package", () => {
    const notice = readFileSync(join(installed, "dist", "THIRD-PARTY.txt"), "utf8");
    const layers = JSON.parse(readFileSync(join(ROOT, "src", "layers.json"), "utf8")) as {
      readonly packages?: readonly string[];
    }[];
    // Only the router of express is bundled, and no test runner.
    const used = new Set(
      layers.flatMap(({ packages = [] }) => packages.map((name) => (name === "express" ? "router" : name))),
    );
    expect([...used].filter((name) => name !== "vitest" && !notice.includes(`\n\n${name} `))).toEqual([]);
    expect(notice).toContain("Permission is hereby granted, free of charge");
  });

  it("has source maps of its own code, without the text of the sources", () => {
    const dist = join(installed, "dist");
    const read = (name: string): string => readFileSync(join(dist, name), "utf8");
    const maps = readdirSync(dist).filter((name) => name.endsWith(".map"));
    const named = readdirSync(dist).flatMap((name) =>
      /\.c?js$/.test(name)
        ? [...read(name).matchAll(/^\/\/# sourceMappingURL=(.*)$/gm)].map(([, map]) => map)
        : [],
    );
    expect(maps.sort()).toEqual(named.sort());
    expect(maps.filter((name) => "sourcesContent" in JSON.parse(read(name)))).toEqual([]);
    expect(maps.filter((name) => !read(name).includes("../src/"))).toEqual([]);
  });
});

describe("a release", () => {
  const workflow = parse(readFileSync(join(ROOT, ".github", "workflows", "release.yml"), "utf8")) as {
    readonly jobs: {
      readonly publish: { readonly steps: readonly { readonly name?: string; readonly run?: string }[] };
    };
  };
  const commandOf = (step: string): string =>
    workflow.jobs.publish.steps.find(({ name }) => name === step)?.run ?? "";
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    readonly version: string;
  };

  it.each([
    [`v${version}`, true],
    [version, false],
    ["v99.0.0", false],
  ])("of the tag %s is published: %s", async (tag, isPublished) => {
    const env = { ...process.env, GITHUB_REF_NAME: tag };
    const tried = run("bash", ["-c", commandOf("The tag is the version of the package")], { cwd: ROOT, env });
    expect(
      await tried.then(
        () => true,
        () => false,
      ),
    ).toBe(isPublished);
  });

  it("is tested before it is packed, and published unchanged", () => {
    const commands = workflow.jobs.publish.steps.flatMap((step) => step.run ?? []).join("\n");
    const order = [".ci/run", "npm pack", "npm publish ./clobsim-*.tgz --provenance"].map((part) =>
      commands.indexOf(part),
    );
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(order[0]).toBeGreaterThan(0);
  });
});
