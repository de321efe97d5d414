import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OTHER_VERSIONS, otherNode } from "../engine/support/other-node.ts";
import { bundleInto } from "../support/bundled.ts";

const JOURNALS = fileURLToPath(new URL("../../fixtures/journals/", import.meta.url));
const run = promisify(execFile);

/** Time zone, language, flags of Node. */
const ENVIRONMENTS: readonly (readonly [zone: string, language: string, ...flags: string[]])[] = [
  ["America/St_Johns", "C"],
  ["Pacific/Kiritimati", "C"],
  ["Asia/Kathmandu", "sv_SE.UTF-8"],
  ["Europe/Berlin", "de_DE.UTF-8"],
  ["UTC", "tr_TR.UTF-8"],
  ["Pacific/Apia", "ar_EG.UTF-8"],
  ["UTC", "ja_JP.UTF-8"],
  ["UTC", "C", "--hash-seed=1"],
  ["UTC", "C", "--hash-seed=77"],
  ["UTC", "C", "--random-seed=1"],
  ["America/St_Johns", "tr_TR.UTF-8", "--random-seed=2", "--hash-seed=3"],
  ["UTC", "C", "--jitless"],
];

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "clobsim-environments-"));
  await bundleInto(folder, { replayed: "test/engine/support/replayed-state.ts" });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const printed = (...of: (typeof ENVIRONMENTS)[number]): Promise<string> => printedBy(process.execPath, ...of);

async function printedBy(
  node: string,
  zone: string,
  language: string,
  ...flags: readonly string[]
): Promise<string> {
  const env = { PATH: process.env.PATH, TZ: zone, LANG: language, LC_ALL: language };
  const journals = readdirSync(JOURNALS)
    .sort()
    .map((name) => join(JOURNALS, name));
  const args = [...flags, join(folder, "replayed.js"), ...journals];
  const { stdout } = await run(node, args, { env, maxBuffer: 1 << 28 });
  return stdout;
}

describe("the same journals", () => {
  it("give the same bytes in every time zone and language, and whatever V8 does", async () => {
    const expected = await printed("UTC", "C");
    expect(expected).toContain('"clobsim":{"format"');
    expect(expected.length).toBeGreaterThan(100_000);
    const waiting = [...ENVIRONMENTS];
    const differing: unknown[] = [];
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        if ((await printed(...next)) !== expected) differing.push(next);
      }
    };
    await Promise.all([worker(), worker()]);
    expect(differing).toEqual([]);
  });

  it.each(OTHER_VERSIONS)(
    "give the same bytes in Node %s, where the package registry has it",
    async (version) => {
      const other = await otherNode(version);
      if ("reason" in other) console.warn(`nothing was tried in Node ${version}: ${other.reason}`);
      const nodes = "program" in other ? [other.program] : [];
      const expected = await printed("UTC", "C");
      for (const node of nodes) {
        expect(await printedBy(node, "UTC", "C")).toBe(expected);
        expect(await printedBy(node, "America/St_Johns", "tr_TR.UTF-8", "--hash-seed=3")).toBe(expected);
      }
      expect(expected).toContain('"clobsim":{"format"');
    },
    180_000,
  );
});
