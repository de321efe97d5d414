import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { describe, expect, expectTypeOf, it } from "vitest";
import { parseDocument } from "yaml";
import { endpointAt } from "../src/api/endpoints.ts";
import { startServer } from "../src/compose.ts";
import { DEFAULT_CONFIG } from "../src/config.ts";
import type { Account, Chain, Info, Market, SigningCredentials, Trade, walletOf } from "../src/index.ts";
import { compileProject } from "./support/bundled.ts";
import { temporaryFolder } from "./support/folder.ts";
import { useApi } from "./support/http.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const run = promisify(execFile);

/** Text of every page, by path from the root. */
const PAGES: ReadonlyMap<string, string> = new Map(
  [
    ...["", "docs/guide", "docs/reference", "docs/internals", "fixtures/clients/python", "scenarios", "src"],
    "test/fuzz/defects",
  ].flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => {
        const path = join(folder, name);
        return [path, readFileSync(join(ROOT, path), "utf8")] as const;
      }),
  ),
);

/** The code blocks that import only from packages, without duplicates. */
const SNIPPETS = [...new Set([...PAGES.values()].flatMap((page) => codeIn(page)))];

function codeIn(page: string): string[] {
  return [...page.matchAll(/```(?:js|ts)\n(.*?)```/gs)]
    .map(([, code = ""]) => code)
    .filter((code) => /^import .* from "(?:clobsim|viem)/m.test(code) && !code.includes('from "./'));
}

const CLIENT = `import type { ExchangeClient as AnyClient } from "clobsim";\ndeclare const client: AnyClient;\n`;

/** Declarations that a snippet needs, by a word in it. */
const GIVEN: readonly (readonly [string, string])[] = [
  ["walletOf(privateKey)", "declare const privateKey: string;\ndeclare const tokenId: string;\n"],
  ["client.trades(", CLIENT],
];

const project = temporaryFolder();

describe("the code of the pages", () => {
  it("is found", () => {
    expect(SNIPPETS.length).toBe(11);
  });

  it("is valid as YAML", () => {
    for (const [path, text] of PAGES)
      for (const [, code = ""] of text.matchAll(/```yaml\n(.*?)```/gs)) {
        expect({ path, errors: parseDocument(code).errors }).toEqual({ path, errors: [] });
      }
  });

  it("passes tsc --strict as TypeScript, against the types of the package", async () => {
    mkdirSync(join(project, "node_modules"));
    for (const name of ["viem", "vitest", "@types"]) {
      symlinkSync(join(ROOT, "node_modules", name), join(project, "node_modules", name));
    }
    for (const [index, code] of SNIPPETS.entries()) {
      const given = GIVEN.filter(([word]) => code.includes(word)).map(([, text]) => text);
      writeFileSync(join(project, `snippet-${index}.ts`), given.join("") + code);
    }
    const compilerOptions = {
      // Only changed sources are checked again.
      ...{
        incremental: true,
        tsBuildInfoFile: join(ROOT, "node_modules/.cache/clobsim-types/docs.tsbuildinfo"),
      },
      ...{ strict: true, noEmit: true, skipLibCheck: true, checkers: 1, allowImportingTsExtensions: true },
      ...{ target: "es2023", lib: ["es2023", "esnext.disposable"], module: "nodenext", types: ["node"] },
      paths: {
        clobsim: [join(ROOT, "src/index.ts")],
        "clobsim/vitest": [join(ROOT, "src/vitest.ts")],
        "clobsim/node-test": [join(ROOT, "src/node-test.ts")],
      },
    };
    writeFileSync(join(project, "package.json"), '{ "type": "module" }');
    const include = ["*.ts", join(ROOT, "src/core/seedrandom.d.ts")];
    writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, include }));
    expect(await compileProject(project)).toBe("");
  });
});

/** Returns the anchors of a page, as GitHub derives them from headings. */
const anchorsOf = (page: string): string[] =>
  [...page.replace(/```.*?```/gs, "").matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );

it.each([...PAGES.keys()])("every link of %s leads to a file, and to a heading of it", (path) => {
  const links = [...(PAGES.get(path) ?? "").matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)];
  const broken = links.filter(([, file = "", anchor]) => {
    const target = file === "" ? path : join(dirname(path), file);
    if (!existsSync(join(ROOT, target))) return true;
    return anchor !== undefined && !anchorsOf(PAGES.get(target) ?? "").includes(anchor);
  });
  expect(broken.map(([link]) => link)).toEqual([]);
});

it("every request that a page names is one of the API", () => {
  const isUnknown = (text: string): boolean => {
    const [method = "", path = ""] = text.split(" ");
    const plain = path.replace(/^\/\d+(?=\/)/, "").replace(/\?.*/, "");
    return endpointAt(method, plain) === undefined;
  };
  const requests = [...PAGES].flatMap(([path, page]) =>
    [...page.matchAll(/`((?:GET|POST|DELETE) \/\w[^\s`]*)/g)].map(
      ([, request = ""]) => [path, request] as const,
    ),
  );
  expect(requests.length).toBeGreaterThan(100);
  expect(
    requests.filter(([path, request]) => !path.startsWith("docs/internals") && isUnknown(request)),
  ).toEqual([]);
});

it("the README has at most 150 lines", () => {
  expect(PAGES.get("README.md")?.split("\n").length).toBeLessThanOrEqual(151);
});

describe("requests that are signed by hand", () => {
  const api = useApi();

  it("are accepted, with types removed", async () => {
    const code = SNIPPETS.find((snippet) => snippet.includes("createHmac"))?.replace(
      "http://127.0.0.1:7070",
      api.server.url,
    );
    const { code: program } = await transform(code ?? "", { loader: "ts", format: "esm" });
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program], { cwd: ROOT });
    expect(stdout).toContain("hasMore: false");
  });
});

it.each(["sh", "zsh"])(
  "the recipe for curl trades in %s, if it, curl and openssl are installed",
  async (shell) => {
    const page = PAGES.get("docs/guide/other-languages.md") ?? "";
    const [, recipe = ""] = /\n## curl\n\n```sh\n(.*?)```/s.exec(page) ?? [];
    const hasTools = await run(shell, ["-c", "command -v curl && command -v openssl"]).catch(() => null);
    if (hasTools === null)
      return console.warn(`${shell}, curl or openssl is not found: no recipe for curl was run`);
    const pool = await startServer({ ...DEFAULT_CONFIG, port: 0, logLevel: "silent", pool: 3 });
    const env = { ...process.env, CLOBSIM_URL: `${pool.url}/3` };
    const { stdout } = await run(shell, ["-euc", recipe], { env });
    await pool.close();
    const [placed, open, clock] = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(placed).toMatchObject({ status: "LIVE", size: 100 });
    expect(open).toMatchObject({ total: 1, data: [{ price: 0.01 }] });
    expect(clock).toMatchObject({ mode: "real", fired: [] });
  },
);

it("the page of formats has the version of every written file", () => {
  const sources = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" });
  const texts = sources
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join(ROOT, "src", name), "utf8"));
  const formats = new Set(texts.flatMap((text) => text.match(/(?<=")clobsim-[a-z]+\/\d+(?=")/g) ?? []));
  expect(formats.size).toBeGreaterThan(3);
  const page = PAGES.get(join("docs", "reference", "file-formats.md")) ?? "";
  expect([...formats].filter((format) => !page.includes(`\`${format}\``))).toEqual([]);
});

it("hashes, addresses and private keys have the type of hexadecimal strings, as in viem", () => {
  type Hex = `0x${string}`;
  expectTypeOf<Account["address"]>().toEqualTypeOf<Hex>();
  expectTypeOf<Info["devAccounts"][number]>().toEqualTypeOf<{
    readonly address: Hex;
    readonly privateKey: Hex;
    readonly curl: string;
  }>();
  expectTypeOf<Market["conditionId"]>().toEqualTypeOf<Hex>();
  expectTypeOf<Trade["transactionHash"]>().toEqualTypeOf<Hex | null>();
  expectTypeOf<Chain["contracts"]["exchange"]>().toEqualTypeOf<Hex>();
  expectTypeOf<Chain["head"]["hash"]>().toEqualTypeOf<Hex>();
  expectTypeOf<SigningCredentials["address"]>().toEqualTypeOf<Hex>();
  expectTypeOf<Awaited<ReturnType<typeof walletOf>>["address"]>().toEqualTypeOf<Hex>();
});
