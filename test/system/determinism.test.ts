import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** CommonJS packages in the bundle call `require`, which an ES module lacks. */
const BANNER = `import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);`;

const ZONES = ["UTC", "America/St_Johns", "Pacific/Kiritimati"] as const;
const LOCALES = ["C", "tr_TR.UTF-8", "sv_SE.UTF-8", "ar_EG.UTF-8"] as const;
const FLAGS = ["--hash-seed=1", "--random-seed=1", "--jitless"] as const;

/** One way of running Node. */
interface Environment {
  readonly zone: string;
  readonly locale: string;
  readonly flag?: string;
}

const ENVIRONMENTS: readonly Environment[] = [
  ...ZONES.flatMap((zone) => LOCALES.map((locale) => ({ zone, locale }))),
  ...FLAGS.map((flag) => ({ zone: "UTC", locale: "C", flag })),
];

const run = promisify(execFile);

/** What Node prints. */
async function printed({ zone, locale, flag }: Environment, args: readonly string[]): Promise<string> {
  const env = { PATH: process.env.PATH, TZ: zone, LANG: locale, LC_ALL: locale };
  const options = { env, maxBuffer: 1 << 28, cwd: ROOT };
  const { stdout } = await run(process.execPath, [...(flag === undefined ? [] : [flag]), ...args], options);
  return stdout;
}

/** The first line in which two outputs differ, or null. */
function difference(found: string, expected: string): string | null {
  if (found === expected) return null;
  const [lines, others] = [found.split("\n"), expected.split("\n")];
  const at = lines.findIndex((line, index) => line !== others[index]);
  return `line ${at + 1}: ${lines[at]}, expected ${others[at]}`;
}

let folder = "";
const program = (name: string): string => join(folder, `${name}.mjs`);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "clobsim-determinism-"));
  await build({
    absWorkingDir: ROOT,
    entryPoints: { cli: "src/cli/main.ts", history: "test/core/determinism/history.ts" },
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    banner: { js: BANNER },
    logLevel: "error",
  });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("the same seed and the same commands give the same bytes", () => {
  const patience = { timeout: 120_000 };
  it.each([
    ["the world, the events, the state and its hash", "history", [] as string[]],
    ["clobsim world --seed 7", "cli", ["world", "--seed", "7"]],
  ])("in every time zone and locale, and whatever V8 does: %s", patience, async (_what, name, args) => {
    const expected = await printed({ zone: "UTC", locale: "C" }, [program(name), ...args]);
    expect(expected.length).toBeGreaterThan(100_000);
    const waiting = [...ENVIRONMENTS];
    const differences: string[] = [];
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const found = difference(await printed(next, [program(name), ...args]), expected);
        if (found !== null) differences.push(`${JSON.stringify(next)}: ${found}`);
      }
    };
    await Promise.all([worker(), worker()]);
    expect(differences).toEqual([]);
  });

  it("in environments that do differ: zone, locale and the order of chance are not the same", async () => {
    const probe =
      "[new Date(0).getHours(), Intl.NumberFormat().resolvedOptions().locale, Math.random()].join()";
    const answers = await Promise.all(ENVIRONMENTS.map((environment) => printed(environment, ["-p", probe])));
    const parts = answers.map((answer) => answer.trim().split(","));
    const distinct = (part: number): number => new Set(parts.map((answer) => answer[part])).size;
    expect([distinct(0), distinct(1), distinct(2)]).toEqual([
      ZONES.length,
      LOCALES.length,
      ENVIRONMENTS.length,
    ]);
  });
});
