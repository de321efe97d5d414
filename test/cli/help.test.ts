import { afterEach, describe, expect, it } from "vitest";
import { SUBCOMMANDS } from "../../src/cli/commands.ts";
import { runLine } from "./tools.ts";

const own = Object.getOwnPropertyDescriptor(process.stdout, "columns");
afterEach(() => {
  if (own === undefined) Reflect.deleteProperty(process.stdout, "columns");
  else Object.defineProperty(process.stdout, "columns", own);
});

/** Returns the lines of a help as on a terminal. */
async function helpOf(words: readonly string[], columns: number): Promise<string[]> {
  Object.defineProperty(process.stdout, "columns", { value: columns, configurable: true });
  const { stdout } = await runLine([...words, "--help"], ".");
  return stdout.split("\n");
}

const withoutBlanks = (lines: readonly string[]): string => lines.join("").replace(/\s+/g, "");

describe("the help", () => {
  it.each([[], ...Object.keys(SUBCOMMANDS).map((name) => [name])])(
    "of %s fits narrow terminals, and begins no line in their right half",
    async (...words) => {
      const widest = await helpOf(words, 100);
      for (const columns of [50, 60, 80, 100]) {
        const lines = await helpOf(words, columns);
        expect(withoutBlanks(lines)).toBe(withoutBlanks(widest));
        for (const line of lines) {
          expect(line.length, line).toBeLessThanOrEqual(columns);
          expect(line.search(/\S/), line).toBeLessThanOrEqual(columns / 2 + "    ".length);
        }
      }
      expect(await helpOf(words, 140)).toEqual(widest);
    },
  );

  it("shows the default of an option, and no type", async () => {
    const text = (await helpOf(["run"], 100)).join("\n");
    expect(text).toContain(" [default: spec]\n");
    expect(text).not.toContain("[boolean]");
  });
});
