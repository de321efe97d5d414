import fc from "fast-check";

/** Texts with a meaning in XML, TAP, YAML, Markdown, workflow commands, terminals or Unicode. */
const HOSTILE = [
  ...["]]>", "<![CDATA[", "&amp;", "&#10;", "</failure>", '"', "'", "\n", "\r\n", "\t", "\u0000"],
  ...["\u001b[31m", "\u0085", "\u2028", "\u202e", "\ud800", "\udc00", "\uffff", "\ufeff", "😀", "日本語"],
  ...["é\u0301", " # SKIP x", "# TODO", "\\"],
  ...["\\#", "{", " {", "...", "---", "%0A", "%25", "::error::", "title=a,b:c", "```", "|", "$(x)", "  "],
];

/** The cases that a property of three texts starts with: each hostile text by itself. */
export const eachHostile = {
  examples: HOSTILE.map((text): [string, string, string] => [text, text, text]),
  numRuns: 100 + HOSTILE.length,
};

const codeUnit = fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit));

/** Any text, mostly hostile. */
export const hostileText: fc.Arbitrary<string> = fc
  .array(fc.oneof(fc.constantFrom(...HOSTILE), codeUnit, fc.string({ maxLength: 8 })), { maxLength: 12 })
  .map((pieces) => pieces.join(""));
