import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { globSync } from "tinyglobby";
import { expect, it } from "vitest";
import { apiOfTest } from "../support/http.ts";

/** Runs an example against a server, and returns the lines of its output. */
async function linesOf(example: string, url: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [`fixtures/examples/${example}`, url]);
  return stdout.trimEnd().split("\n");
}

it("the example of the typed client runs with the name of the package", async () => {
  const { server } = await apiOfTest();
  expect(await linesOf("typed-client.js", server.url)).toEqual([
    expect.stringMatching(/^.+\? {2}[\d.]+ \| [\d.]+, mid [\d.]+$/),
    expect.stringMatching(/^resting {2}LIVE 100 @ [\d.]+$/),
    expect.stringMatching(
      /^refused {2}INSUFFICIENT_BALANCE - the order needs [\d.]+ USDC, available: [\d.]+$/,
    ),
    "canceled 1",
  ]);
});

it.each([
  ["scaled", 20],
  ["frozen", 1],
] as const)("the example of settlement runs unchanged with a %s clock", async (mode, rate) => {
  const { server } = await apiOfTest({ clock: { mode, rate } });
  expect(await linesOf("settlement.js", server.url)).toEqual([
    "settled   success",
    "OrderFilled   alice gives 22000000n and gets 40000000n",
    "OrderFilled   bob gives 40000000n and gets 22000000n",
    "OrdersMatched bob gives 40000000n and gets 22000000n",
    "final     CONFIRMED",
    "too early result for condition not received yet",
    "redeemed  success 10040 USDC",
    "alice has 20018 USDC",
  ]);
});

it("each example is run by a test and linked from a page", () => {
  const texts = (...paths: readonly string[]) => paths.map((path) => readFileSync(path, "utf8")).join("\n");
  const tests = texts("test/client/examples.test.ts", "test/cli/fuzz/campaign.test.ts");
  const pages = texts("README.md", ...globSync("docs/**/*.md"));
  const examples = readdirSync("fixtures/examples", { recursive: true, encoding: "utf8" });
  for (const example of examples.filter((name) => name.includes("."))) {
    expect(tests, example).toMatch(new RegExp(`["/]${example}"`));
    expect(pages).toContain(`fixtures/examples/${example}`);
  }
});
