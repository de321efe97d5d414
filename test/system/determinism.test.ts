import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { OTHER_VERSIONS, otherNode } from "../engine/support/other-node.ts";
import { bundleInto } from "../support/bundled.ts";
import { temporaryFolder } from "../support/folder.ts";

const JOURNALS = "fixtures/journals";
const FLAGS = ["--hash-seed=1", "--random-seed=1", "--jitless"] as const;

/** Time zone, locale, flags of Node. */
type Environment = readonly [zone: string, locale: string, ...flags: string[]];

const DEFAULT: Environment = ["UTC", "C"];
const ENVIRONMENTS: readonly Environment[] = [
  ...FLAGS.map((flag) => [...DEFAULT, flag] as const),
  ["America/St_Johns", "tr_TR.UTF-8"],
  ["Pacific/Kiritimati", "sv_SE.UTF-8"],
  ["Asia/Kathmandu", "ar_EG.UTF-8"],
  ["Pacific/Apia", "ja_JP.UTF-8"],
  ["Europe/Berlin", "tr_TR.UTF-8", "--random-seed=2", "--hash-seed=77"],
];

const folder = temporaryFolder();
beforeAll(() =>
  bundleInto(folder, {
    cli: "src/cli/main.ts",
    history: "test/core/determinism/history.ts",
    replayed: "test/engine/support/replayed-state.ts",
  }),
);

const REPLAY = [
  "replayed",
  ...readdirSync(JOURNALS)
    .sort()
    .map((name) => join(JOURNALS, name)),
] as const;

/** Runs Node with a bundled program and its arguments. Returns its output. */
function outputIn(
  [zone, locale, ...flags]: Environment,
  [program, ...args]: readonly [string, ...string[]],
  node = process.execPath,
): Promise<string> {
  return outputOf(node, [...flags, join(folder, `${program}.js`), ...args], [zone, locale]);
}

async function outputOf(node: string, args: readonly string[], [zone, locale]: Environment): Promise<string> {
  const env = { PATH: process.env.PATH, TZ: zone, LANG: locale, LC_ALL: locale };
  return (await promisify(execFile)(node, args, { env, maxBuffer: 1 << 28 })).stdout;
}

/** Returns the first line in which two outputs differ; null if they are equal. */
function difference(found: string, expected: string): string | null {
  if (found === expected) return null;
  const [lines, others] = [found.split("\n"), expected.split("\n")];
  const at = lines.findIndex((line, index) => line !== others[index]);
  return `line ${at + 1}: ${lines[at]}, expected ${others[at]}`;
}

describe("the same seed and the same commands give the same bytes", () => {
  it.each<[string, readonly [string, ...string[]]]>([
    ["the world, the events, the state and its hash", ["history"]],
    ["clobsim world --seed 7", ["cli", "world", "--seed", "7"]],
    ["replays of journals", REPLAY],
  ])("in every time zone and locale, with any flags of V8: %s", async (_case, program) => {
    const expected = await outputIn(DEFAULT, program);
    expect(expected.length).toBeGreaterThan(100_000);
    const waiting = [...ENVIRONMENTS];
    const differences: string[] = [];
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const found = difference(await outputIn(next, program), expected);
        if (found !== null) differences.push(`${next.join(" ")}: ${found}`);
      }
    };
    await Promise.all([worker(), worker()]);
    expect(differences).toEqual([]);
  });

  it.each(OTHER_VERSIONS)("in Node %s, if the package registry has it", async (version) => {
    const other = await otherNode(version);
    if ("reason" in other) return console.warn(`skipped: Node ${version}: ${other.reason}`);
    const expected = await outputIn(DEFAULT, REPLAY);
    expect(await outputIn(DEFAULT, REPLAY, other.program)).toBe(expected);
    const elsewhere = ["America/St_Johns", "tr_TR.UTF-8", "--hash-seed=3"] as const;
    expect(await outputIn(elsewhere, REPLAY, other.program)).toBe(expected);
  });
});

it("the environments differ in time zone, locale and random numbers", async () => {
  const probe =
    "[new Date(0).getHours(), Intl.NumberFormat().resolvedOptions().locale, Math.random()].join()";
  const outputs = await Promise.all(
    ENVIRONMENTS.map(([zone, locale, ...flags]) =>
      outputOf(process.execPath, [...flags, "-p", probe], [zone, locale]),
    ),
  );
  const parts = outputs.map((output) => output.trim().split(","));
  const distinct = (part: number): number => new Set(parts.map((output) => output[part])).size;
  expect([distinct(0), distinct(1), distinct(2)]).toEqual([5, 5, ENVIRONMENTS.length]);
});
