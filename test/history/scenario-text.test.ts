import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { CERTAIN } from "../../src/core/chain/chain.ts";
import {
  faultStep,
  itemLines,
  list,
  map,
  mapLines,
  scalar,
  wrapped,
} from "../../src/history/scenario-text.ts";
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
    const levels = map(Object.entries({ bids: wrapped(["0.5 x 10"]), asks: list([]) }));
    const entries = Object.entries({ book: map([["YES", levels]]) });
    expect(mapLines(entries, 2)).toEqual(["  book:", "    YES: { bids: [0.5 x 10], asks: [] }"]);
    expect(mapLines([["alice", map([])]], 0)).toEqual(["alice: {}"]);
  });

  it("has wrapped lists, and lists with a line for each item", () => {
    const lines = mapLines([["bids", wrapped(levels)]], 4);
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(130);
    expect(lines.slice(0, -1).every((line) => line.length > 100)).toBe(true);
    expect(parse(text(lines))).toEqual({ bids: levels });

    const sentences = mapLines([["trades", list(levels)]], 4);
    expect(sentences).toHaveLength(levels.length + 1);
    expect(parse(text(sentences))).toEqual({ trades: levels });
  });

  it("is parsed back unchanged, at any depth", () => {
    const key = fc.stringMatching(/^[a-z]{1,30}$/);
    const scalarText = fc.stringMatching(/^[a-z]{1,20}( [a-z]{1,20}){0,9}$/);
    const { node } = fc.letrec((tie) => ({
      node: fc.oneof({ maxDepth: 3 }, scalarText, tie("list"), tie("map")),
      list: fc.array(scalarText, { maxLength: 12 }),
      map: fc.dictionary(key, tie("node"), { maxKeys: 6, noNullPrototype: true }),
    }));
    const shaped = (value: unknown): Parameters<typeof mapLines>[0][number][1] => {
      if (typeof value === "string") return value;
      if (Array.isArray(value))
        return value.length % 2 === 0 ? list(value as string[]) : wrapped(value as string[]);
      return map(Object.entries(value as object).map(([name, inner]) => [name, shaped(inner)] as const));
    };
    forAll({}, [node], (value) => {
      expect(parse(text(mapLines([["root", shaped(value)]], 2)))).toEqual({ root: value });
      const item = itemLines(Object.entries({ root: shaped(value), next: "word" }), 2);
      expect(parse(text(item))).toEqual([{ root: value, next: "word" }]);
    });
  });
});
