import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { oneLine, printable, title, visible, wellFormed } from "../../../src/scenario/report/text.ts";
import { hostileText } from "./hostile.ts";

describe("characters that a report replaces", () => {
  it.each([
    ["a\nb\rc\td", "a\nb\rc\td"],
    ["a\u0000b\u001bc", "a\ufffdb\ufffdc"],
    ["\ud800x\udc00", "\ufffdx\ufffd"],
    ["\ufffe\uffff", "\ufffd\ufffd"],
    ["😀 日本 \u0085\u2028", "😀 日本 \u0085\u2028"],
  ])("printable keeps lines and replaces characters that XML 1.0 forbids: %j", (text, expected) => {
    expect(printable(text)).toBe(expected);
  });

  it.each([
    ["a\r\nb\nc\rd\te", "a b c d e"],
    ["a\u0085b\u2028c\u2029d\u000be\u000cf", "a b c d e f"],
    ["\u001b[31m\u009b31m\u007f", "\ufffd[31m\ufffd31m\ufffd"],
    ["a\u202eb\u2066c", "a\ufffdb\ufffdc"],
    ["  two  blanks  ", "  two  blanks  "],
  ])("visible makes one line that is safe for a terminal: %j", (text, expected) => {
    expect(visible(text)).toBe(expected);
  });

  it("oneLine removes spaces at the ends", () => {
    expect(oneLine("\n a  b \t")).toBe("a  b");
  });

  it("a name is never empty", () => {
    expect(title(" \n ")).toBe("(without a name)");
  });

  it("wellFormed replaces lone surrogates only", () => {
    expect(wellFormed("\ud83d\ude00\ud83d\u0000")).toBe("😀\ufffd\u0000");
  });

  it("replacing is idempotent", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        for (const replace of [printable, visible, oneLine, wellFormed])
          expect(replace(replace(text))).toBe(replace(text));
      }),
    );
  });
});
