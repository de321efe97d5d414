import { describe, expect, it } from "vitest";
import { alignedTable, readable, sectionText } from "./table.ts";

describe("the benchmark's table", () => {
  it("aligns words to the left and figures to the right", () => {
    const rows = [
      ["workload", "subject", "speed"],
      ["a", "clobsim", "21"],
    ];
    expect(alignedTable(rows)).toBe("workload  subject  speed\na         clobsim     21");
  });

  it.each([
    { figure: 0.071234, text: "0.0712" },
    { figure: 21, text: "21" },
    { figure: 24.56, text: "24.6" },
    { figure: 45_678, text: "45,700" },
  ])("writes $figure as $text", ({ figure, text }) => {
    expect(readable(figure)).toBe(text);
  });

  it("leaves the ratio open when there is nothing to compare with", () => {
    const measure = () => ({
      unit: "ops/s",
      baseline: "nothing",
      rounds: 5,
      measurements: [{ workload: "w", subject: "s", median: 2, lowest: 1, highest: 3, ratio: null }],
      notes: ["a note"],
    });
    expect(sectionText({ name: "x", about: "y", measure }, measure())).toBe(
      [
        "x: y",
        "workload  subject  ops/s  lowest  highest  ratio",
        "w         s            2       1        3",
        "Medians of 5 rounds; ratio: to nothing.",
        "a note",
      ].join("\n"),
    );
  });

  it("says nothing of ratios where no row has one", () => {
    const measure = () => ({ unit: "MiB", baseline: null, rounds: 1, measurements: [], notes: [] });
    const text = sectionText({ name: "x", about: "y", measure }, measure());
    expect(text.split("\n").at(-1)).toBe("One round.");
  });
});
