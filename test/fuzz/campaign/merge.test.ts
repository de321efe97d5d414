import { describe, expect, it } from "vitest";
import {
  type FoundFailure,
  mergeResults,
  type RanPart,
  type Results,
  type ResultsFile,
} from "../../../src/fuzz/campaign/results.ts";
import { readRange } from "../../../src/fuzz/seeds.ts";
import { SHARD } from "../../../src/setting.ts";
import { rowsOf } from "../../support/table.ts";

const ran = (seeds: string, shard: string, done: number, engine = "0.1.0"): RanPart => ({
  engine,
  seeds: readRange(seeds) ?? { from: 0, to: 0 },
  shard: SHARD.read(shard) ?? { index: 0, count: 0 },
  done,
});

const failure = (fingerprint: string, seed: number, more: Partial<FoundFailure> = {}): FoundFailure => ({
  fingerprint,
  sentence: `${fingerprint} in ${seed}`,
  count: 1,
  seed,
  command: 3,
  profile: "two accounts",
  version: "0.1.0",
  scenario: `seed-${seed}.yaml`,
  report: null,
  remark: null,
  ...more,
});

const file = (path: string, parts: readonly RanPart[], more: Partial<Results> = {}): ResultsFile => ({
  path,
  results: { settings: { commands: 300, via: "process" }, ran: parts, failures: [], ...more },
});

const merge = (...files: readonly ResultsFile[]): Results =>
  mergeResults(files as [ResultsFile, ...ResultsFile[]], ".");

/** Parses parts that ran: seeds, shard, and the number of seeds that are done. */
const ranIn = (text: string): RanPart[] =>
  text.split(", ").map((part) => {
    const [seeds = "", shard = "", done] = part.split(" ");
    return ran(seeds, shard, Number(done));
  });

/** Case, what ran, and what the merged results say ran. */
const MERGED = rowsOf(`
complete shards as their range | 0..10 3/3 3, 0..10 1/3 4, 0..10 2/3 3 | 0..10 1/1 10
complete shards as their range, with an interrupted empty one | 0..10 2/2 0, 0..10 2/2 5, 0..10 1/2 5 | 0..10 1/1 10
adjacent ranges as one | 10..30 1/1 20, 0..10 2/2 5, 0..10 1/2 5 | 0..30 1/1 30
shards unchanged if one is missing or not done | 0..10 2/3 3, 0..10 1/3 4, 20..30 2/2 4, 20..30 1/2 5 | 0..10 1/3 4, 0..10 2/3 3, 20..30 1/2 5, 20..30 2/2 4
a range that is not done separate from the next | 0..10 1/1 9, 10..20 1/1 10 | 0..10 1/1 9, 10..20 1/1 10
`);

describe("merged results", () => {
  it("have one entry for each fingerprint: the smallest seed and the number of seeds", () => {
    const a = file("a/fuzz.json", [ran("0..10", "1/2", 5)], {
      failures: [failure("x", 4, { count: 2 }), failure("y", 8)],
    });
    const b = file("b/fuzz.json", [ran("0..10", "2/2", 5)], { failures: [failure("x", 3, { count: 3 })] });
    const x = { ...failure("x", 3, { count: 5 }), scenario: "b/seed-3.yaml" };
    const y = { ...failure("y", 8), scenario: "a/seed-8.yaml" };
    expect(merge(a, b).failures).toEqual([x, y]);
    expect(merge(b, a)).toEqual(merge(a, b));
  });

  it("name the oldest version that failed in this way", () => {
    const versions = ["0.10.0", "0.9.1", "0.9.2"];
    const files = versions.map((version) =>
      file(`${version}.json`, [ran("0..10", "1/1", 10, version)], {
        failures: [failure("x", 4, { version })],
      }),
    );
    const { failures, ran: parts } = merge(...files);
    expect(failures).toEqual([failure("x", 4, { count: 3, version: "0.9.1" })]);
    expect(parts.map(({ engine }) => engine)).toEqual(["0.9.1", "0.9.2", "0.10.0"]);
  });

  it.each(MERGED)("list %s: %s", (_case, parts = "", expected = "") => {
    const files = ranIn(parts).map((part, index) => file(`${index}.json`, [part]));
    expect(merge(...files).ran).toEqual(ranIn(expected));
  });

  const TEN = file("a.json", ranIn("0..10 1/1 10"));
  it.each<[string, ResultsFile, ResultsFile, string]>([
    [
      "other settings",
      TEN,
      file("b.json", ranIn("10..20 1/1 10"), { settings: { commands: 500, via: "http" } }),
      "only results with the same settings can be merged, found 300 commands via process in a.json and 500 commands via http in b.json",
    ],
    [
      "the same seeds",
      TEN,
      file("b.json", ranIn("5..25 3/5 1")),
      "a.json and b.json both hold seed 7: the same seeds would be counted twice",
    ],
    [
      "the same seeds within one file",
      file("a.json", ranIn("0..10 1/1 10, 9..12 1/1 3")),
      file("b.json", ranIn("20..30 1/1 10")),
      "a.json holds seed 9: the same seeds would be counted twice",
    ],
  ])("of %s are refused", (_case, a, b, message) => {
    expect(() => merge(a, b)).toThrow(message);
  });

  it("may have the same seeds by two versions, and the rest of an unfinished range", () => {
    const parts = [ran("0..10", "1/1", 3), ran("0..10", "1/1", 10, "0.2.0"), ran("3..10", "1/1", 7)];
    const files = parts.map((part, index) => file(`${index}.json`, [part]));
    expect(merge(...files).ran).toHaveLength(3);
  });
});
