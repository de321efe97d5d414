import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  columnsOf,
  count,
  durationText,
  endOf,
  grouped,
  hung,
  oneLine,
  padded,
  printable,
  roundedText,
  title,
  visible,
  wellFormed,
  wrapped,
} from "../../../src/scenario/report/text.ts";
import { forAll } from "../../support/runs.ts";
import { hostileText } from "./hostile.ts";

/** Requires that a function writes the second of each pair for the first. */
const expectWritten = <Given>(write: (given: Given) => unknown, cases: readonly [Given, unknown][]): void =>
  expect(cases.map(([given]) => [given, write(given)])).toEqual(cases);

describe("characters that a report replaces", () => {
  it("printable keeps lines and replaces characters that XML 1.0 forbids", () =>
    expectWritten(printable, [
      ["a\nb\rc\td", "a\nb\rc\td"],
      ["a\u0000b\u001bc", "a\ufffdb\ufffdc"],
      ["\ud800x\udc00", "\ufffdx\ufffd"],
      ["\ufffe\uffff", "\ufffd\ufffd"],
      ["😀 日本 \u0085\u2028", "😀 日本 \u0085\u2028"],
    ]));

  it("visible makes one line that is safe for a terminal", () =>
    expectWritten(visible, [
      ["a\r\nb\nc\rd\te", "a b c d e"],
      ["a\u0085b\u2028c\u2029d\u000be\u000cf", "a b c d e f"],
      ["\u001b[31m\u009b31m\u007f", "\ufffd[31m\ufffd31m\ufffd"],
      ["a\u202eb\u2066c", "a\ufffdb\ufffdc"],
      ["  two  blanks  ", "  two  blanks  "],
    ]));

  it.each([
    ["oneLine removes spaces at the ends", oneLine("\n a  b \t"), "a  b"],
    ["a name is never empty", title(" \n "), "(without a name)"],
    ["wellFormed replaces lone surrogates only", wellFormed("\ud83d\ude00\ud83d\0"), "😀\ufffd\0"],
    ["a text continues under its first character", hung("4  ", "one two", 7).join("\n"), "4  one\n   two"],
    ["padding counts columns", padded("日", 4), "日  "],
    ["the end of a too long text is kept", endOf("scenarios/orders/", 10), "…s/orders/"],
    ["a text that is not too long is kept", endOf("orders/", 10), "orders/"],
    ["too long is counted in columns", endOf("日本語", 4), "…語"],
  ])("%s", (_rule, text, expected) => {
    expect(text).toBe(expected);
  });

  it("replacing is idempotent", () => {
    forAll({}, [hostileText], (text) => {
      for (const replace of [printable, visible, oneLine, wellFormed])
        expect(replace(replace(text))).toBe(replace(text));
    });
  });
});

describe("columns", () => {
  it("are 2 of a wide character, and none of one that combines or has no width", () =>
    expectWritten(columnsOf, [
      ["", 0],
      ["abc", 3],
      ["✓ ✗ · …", 7],
      ["日本", 4],
      ["😀", 2],
      ["e\u0301", 1],
      ["a\u200bb", 2],
    ]));

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
    forAll({}, [hostileText.map(visible), fc.integer({ min: 2, max: 40 })], (text, width) => {
      const lines = wrapped(text, width);
      for (const line of lines) {
        expect(columnsOf(line)).toBeLessThanOrEqual(width);
        expect(line).toBe(line.trimEnd());
      }
      expect(lines.join("").replace(/\s/g, "")).toBe(text.replace(/\s/g, ""));
    });
  });
});

describe("figures", () => {
  it("durations have a unit that suits them", () =>
    expectWritten(durationText, [
      [0, "0.0 ms"],
      [0.04, "0.0 ms"],
      [0.8, "0.8 ms"],
      [9.94, "9.9 ms"],
      [9.96, "10 ms"],
      [999.4, "999 ms"],
      [999.6, "1.0 s"],
      [1234, "1.2 s"],
      [59_940, "59.9 s"],
      [59_960, "1 min 0 s"],
      [125_000, "2 min 5 s"],
      [6_000_000, "100 min 0 s"],
    ]));

  it("thousands are separated by commas", () =>
    expectWritten(grouped, [
      [7, "7"],
      [999, "999"],
      [1234, "1,234"],
      [1_234_567, "1,234,567"],
    ]));

  it("a noun follows its number", () => {
    expect([0, 1, 1200].map((orders) => count(orders, "order")).join()).toBe("0 orders,1 order,1,200 orders");
  });

  it("numbers are rounded to at most some decimals, without an exponent", () =>
    expectWritten(
      ([number, places]: [number, number]) => roundedText(number, places),
      [
        [[0, 3], "0"],
        [[10, 0], "10"],
        [[100, 3], "100"],
        [[0.0008, 6], "0.0008"],
        [[0.0000001, 6], "0"],
        [[1.5, 3], "1.5"],
        [[1 / 3, 3], "0.333"],
      ],
    ));
});
