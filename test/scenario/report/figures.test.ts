import { describe, expect, it } from "vitest";
import { byFolder, folderOf } from "../../../src/scenario/report/spec.ts";
import { count, durationText, grouped, roundedText } from "../../../src/scenario/report/text.ts";
import { resultOf } from "./suite.ts";

describe("figures", () => {
  it.each([
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
  ])("%f milliseconds are %s", (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });

  it.each([
    [7, "7"],
    [999, "999"],
    [1234, "1,234"],
    [1_234_567, "1,234,567"],
  ])("%i is written %s", (number, text) => {
    expect(grouped(number)).toBe(text);
  });

  it("a noun follows its number", () => {
    expect([count(0, "order"), count(1, "order"), count(1200, "order")]).toEqual([
      "0 orders",
      "1 order",
      "1,200 orders",
    ]);
  });

  it.each([
    [0, 3, "0"],
    [10, 0, "10"],
    [100, 3, "100"],
    [0.0008, 6, "0.0008"],
    [0.0000001, 6, "0"],
    [1.5, 3, "1.5"],
    [1 / 3, 3, "0.333"],
  ])("%f with at most %i decimals is %s", (number, places, text) => {
    expect(roundedText(number, places)).toBe(text);
  });
});

describe("folders", () => {
  it.each([
    ["scenarios/orders/a.yaml", "scenarios/orders/"],
    ["a.yaml", "./"],
    ["/a.yaml", "/"],
    ["scenarios\\a.yaml", "scenarios\\"],
  ])("%s lies in %s", (file, folder) => {
    expect(folderOf(file)).toBe(folder);
  });

  it("keep their order", () => {
    const results = ["b/1", "a/1", "b/2"].map((file) => resultOf({ file }));
    const folders = [...byFolder(results)].map(([folder, own]) => [folder, own.map(({ file }) => file)]);
    expect(folders).toEqual([
      ["b/", ["b/1", "b/2"]],
      ["a/", ["a/1"]],
    ]);
  });
});
