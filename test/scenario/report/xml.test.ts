import { describe, expect, it } from "vitest";
import { xmlAttribute, xmlAttributes, xmlText } from "../../../src/scenario/report/junit.ts";

describe("XML", () => {
  it.each([
    ["a & b < c > d", "a &amp; b &lt; c &gt; d"],
    ["]]>", "]]&gt;"],
    ["a\r\nb\tc\"'", "a&#13;\nb\tc\"'"],
    ["a\u0000b\ud800", "a\ufffdb\ufffd"],
  ])("text %j is written %j", (text, expected) => {
    expect(xmlText(text)).toBe(expected);
  });

  it.each([
    ["a & \"b\" < 'c' > d", ` name="a &amp; &quot;b&quot; &lt; 'c' &gt; d"`],
    ["a\r\nb\tc", ' name="a&#13;&#10;b&#9;c"'],
    ["a\u0000b\ud800", ' name="a\ufffdb\ufffd"'],
    [7, ' name="7"'],
  ])("an attribute %j is written%s", (value, expected) => {
    expect(xmlAttribute("name", value)).toBe(expected);
  });

  it("attributes keep their order", () => {
    expect(xmlAttributes({ b: 1, a: "x" })).toBe(' b="1" a="x"');
  });
});
