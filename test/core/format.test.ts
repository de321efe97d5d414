import { expect, it } from "vitest";
import { printableAscii, quoted, shortened } from "../../src/core/format.ts";

it.each([
  ["abcdef", 6, "abcdef"],
  ["abcdefg", 6, "abcdef..."],
  ["abcde\u{1f600}", 6, "abcde..."],
  ["abcd\u{1f600}f", 6, "abcd\u{1f600}..."],
])("%j in at most %i units is %j", (text, maxLength, short) => {
  expect(shortened(text, maxLength)).toBe(short);
  expect(quoted(text, maxLength)).toBe(JSON.stringify(short));
});

it("printable ASCII with escapes reads as the same text in JSON", () => {
  const text = "\u0000\u0007 ~\u007f\u00e9\u2028\u{1f600}";
  expect(printableAscii(text)).toMatch(/^[ -~]*$/);
  expect(JSON.parse(`"${printableAscii(text)}"`)).toBe(text);
});
