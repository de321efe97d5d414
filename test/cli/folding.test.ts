import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { folded } from "../../src/cli/output.ts";

const LINE =
  "     3  2026-01-01T00:00:00.000Z  0x19e7e376  BUY 100 YES @ 0.41 in will-it-rain  → order 178, rests";

describe("a line on a narrow terminal", () => {
  it.each([
    [80, "     3  2026-01-01T00:00:00.000Z  0x19e7e376  BUY 100 YES @ 0.41 in will-it-rain"],
    [60, "     3  2026-01-01T00:00:00.000Z  0x19e7e376\n         BUY 100 YES @ 0.41 in will-it-rain"],
  ])("of %i columns has whole cells, and the last below the others", (columns, first) => {
    expect(folded(LINE, columns)).toBe(`${first}\n         → order 178, rests`);
  });

  it.each([
    [
      "wraps a last cell in its column if there is room",
      "next  a sentence that is longer than the\n      line",
    ],
    ["is folded at blanks if it is a sentence", "  a sentence that is longer than the\n      line"],
  ])("%s", (_rule, lines) => expect(folded(lines.replace(/\n +/, " "), 40)).toBe(lines));

  it("begins at the left if it is a heading that does not fit", () => {
    const heading = `\u001b[2m${" ".repeat(44)}scenarios  times  first\u001b[22m`;
    expect(folded(heading, 62)).toBe(`\u001b[2m${" ".repeat(44)}scenarios  times\n    first\u001b[22m`);
    expect(folded(heading, 50)).toBe("\u001b[2mscenarios  times  first\u001b[22m");
  });

  it.each([40, 60, 80, 97])("has at most %i columns, and loses no word", (columns) => {
    const lines = folded(LINE, columns).split("\n");
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
    expect(lines.join(" ").replace(/ +/g, " ")).toBe(LINE.replace(/ +/g, " "));
  });

  it("keeps its colours", () => {
    const painted = `\u001b[2m     3\u001b[22m  \u001b[32m${"word ".repeat(20)}end\u001b[39m`;
    const lines = folded(painted, 50).split("\n");
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) expect(stripVTControlCharacters(line).length).toBeLessThanOrEqual(50);
    for (const line of lines.slice(1)) expect(line).toContain("\u001b[32m");
  });

  it("is not folded if the terminal is wide enough or too narrow", () => {
    expect(folded(LINE, 200)).toBe(LINE);
    expect(folded(LINE, 20)).toBe(LINE);
  });

  it("is split within a word that is longer than the terminal", () => {
    for (const line of folded(`  ${"x".repeat(100)}`, 50).split("\n"))
      expect(line.length).toBeLessThanOrEqual(50);
  });
});
