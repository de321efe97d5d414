import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { CERTAIN } from "../../src/core/chain/chain.ts";
import { faultStep, itemLines, type NodeMap, scalar } from "../../src/history/scenario-text.ts";
import { forAll } from "../support/runs.ts";

const text = (lines: readonly string[]): string => lines.join("\n");

describe("a scalar", () => {
  it.each([
    ["recorded session of 3 orders", "recorded session of 3 orders"],
    ["1", '"1"'],
    ["a: b", '"a: b"'],
    ["# no comment", '"# no comment"'],
    ["true", '"true"'],
    ["[x]", '"[x]"'],
    ["", '""'],
    ["\u00a0", "\u00a0"],
    ["two\nlines", '"two\\nlines"'],
    ["\u{1f469}\u200d\u{1f680} to the moon", "\u{1f469}\u200d\u{1f680} to the moon"],
  ])("is quoted only if YAML requires it: %s", (given, written) => {
    expect(scalar(given)).toBe(written);
  });

  it("is parsed back unchanged, whatever the text", () => {
    const anything = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }), fc.string());
    forAll({}, [anything], (given) => {
      expect(parse(`name: ${scalar(given)}\n`)).toEqual({ name: given });
    });
  });
});

describe("a step that sets a fault", () => {
  it("says of a spike of the base fee only the fee, because a spike takes no other field", () => {
    const spike = { fault: "gasSpike", probability: 1, times: 3, blocks: 0, reason: "x" } as const;
    expect(itemLines(faultStep({ ...spike, baseFee: 2e11 }), 0)).toEqual([
      "- chain fault: { kind: gas-spike, baseFeeGwei: 200 }",
    ]);
    const failure = { ...spike, fault: "fail", probability: CERTAIN, baseFee: 0 } as const;
    expect(itemLines(faultStep(failure), 0)).toEqual(["- chain fault: { kind: fail, reason: x, times: 3 }"]);
  });
});

describe("a map", () => {
  const levels = Array.from({ length: 40 }, (_, index) => `0.${index + 10} x ${index * 100} (1)`);

  it("is on one line if it fits and is not nested too deep", () => {
    const map = { book: { YES: { bids: ["0.5 x 10"], asks: [] } } };
    expect(itemLines(map, 0)).toEqual(["- book:", "    YES: { bids: [0.5 x 10], asks: [] }"]);
    expect(itemLines({ alice: {} }, 2)).toEqual(["  - alice: {}"]);
  });

  it("has wrapped lists of short items, and a line for each longer item", () => {
    const lines = itemLines({ bids: levels }, 2);
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(130);
    expect(lines.slice(0, -1).every((line) => line.length > 100)).toBe(true);
    expect(parse(text(lines))).toEqual([{ bids: levels }]);

    const trades = levels.map((level) => `dev-0 BUY ${level} from dev-1`);
    const sentences = itemLines({ trades }, 2);
    expect(sentences).toHaveLength(trades.length + 1);
    expect(parse(text(sentences))).toEqual([{ trades }]);
  });

  it("is parsed back unchanged, at any depth", () => {
    const key = fc.stringMatching(/^[a-z]{1,30}$/);
    const word = fc.stringMatching(/^[a-z]{1,20}$/);
    const scalarText = fc.stringMatching(/^[a-z]{1,20}( [a-z]{1,20}){0,9}$/);
    const { node } = fc.letrec((tie) => ({
      node: fc.oneof({ maxDepth: 3 }, scalarText, tie("list"), tie("map")),
      list: fc.oneof(fc.array(scalarText, { maxLength: 12 }), fc.array(word, { maxLength: 30 })),
      map: fc.dictionary(key, tie("node"), { maxKeys: 6, noNullPrototype: true }),
    }));
    forAll({}, [node as fc.Arbitrary<NodeMap>], (root) => {
      expect(parse(text(itemLines({ root, next: "word" }, 2)))).toEqual([{ root, next: "word" }]);
    });
  });
});
