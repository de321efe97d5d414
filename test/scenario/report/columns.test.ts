import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { columnsOf, endOf, hung, padded, visible, wrapped } from "../../../src/scenario/report/text.ts";
import { hostileText } from "./hostile.ts";

describe("columns", () => {
  it.each([
    ["", 0],
    ["abc", 3],
    ["✓ ✗ · …", 7],
    ["日本", 4],
    ["😀", 2],
    ["e\u0301", 1],
    ["a\u200bb", 2],
  ])("%j has %i columns", (text, columns) => {
    expect(columnsOf(text)).toBe(columns);
  });

  it.each([
    ["one two three", 7, ["one two", "three"]],
    ["one two three", 13, ["one two three"]],
    ["one  two", 5, ["one", "two"]],
    ["   one two", 7, ["   one", "two"]],
    ["abcdefgh", 3, ["abc", "def", "gh"]],
    ["a bcdefgh", 3, ["a", "bcd", "efg", "h"]],
    ["日本語", 4, ["日本", "語"]],
    ["", 5, [""]],
    ["      ", 3, []],
  ])("%j in %i columns breaks at spaces, else within a word", (text, width, lines) => {
    expect(wrapped(text, width)).toEqual(lines);
  });

  it("a wrapped text fits, has no trailing spaces, and loses nothing else", () => {
    fc.assert(
      fc.property(hostileText.map(visible), fc.integer({ min: 2, max: 40 }), (text, width) => {
        const lines = wrapped(text, width);
        for (const line of lines) {
          expect(columnsOf(line)).toBeLessThanOrEqual(width);
          expect(line).toBe(line.trimEnd());
        }
        expect(lines.join("").replace(/\s/g, "")).toBe(text.replace(/\s/g, ""));
      }),
    );
  });

  it("a text after a label continues under its first character", () => {
    expect(hung("step 4  ", "one two three", 15)).toEqual(["step 4  one two", "        three"]);
  });

  it("padding counts columns", () => {
    expect(padded("日", 4)).toBe("日  ");
  });

  it("the end of a too long text is kept", () => {
    expect(endOf("scenarios/orders/", 10)).toBe("…s/orders/");
    expect(endOf("orders/", 10)).toBe("orders/");
    expect(endOf("日本語", 4)).toBe("…語");
  });
});
