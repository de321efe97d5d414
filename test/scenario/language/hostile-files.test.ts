import { describe, expect, it } from "vitest";
import { MAX_PROBLEMS, problemText } from "../../../src/scenario/language/page.ts";
import { loadScenario } from "../../../src/scenario/language/read-scenario.ts";
import { TestFolder } from "../../support/folder.ts";
import { atLevel } from "../../support/runs.ts";
import { BID, ofSteps, problemsOf, scenarioOf } from "./scenario-texts.ts";

const MEBIBYTE = 1_048_576;
const TOO_DEEP = "nested deeper than 32 levels";

/** Repeats a text until a file has a quarter of the maximum size, or a given size. */
const filled = (start: string, unit: string, size = atLevel(MEBIBYTE / 8)): string =>
  start + unit.repeat(Math.floor((size - start.length) / unit.length));

/** Repeats a text until a line is full, at most 20,000 times. */
const deep = (unit: string): string => unit.repeat(Math.min(20_000, Math.floor(65_536 / unit.length)));

const DEEPER = Array.from({ length: 300 }, (_, by) => `${" ".repeat(by)}a:\n`).join("");
const ORDERS = "scenario: x\naccounts: { alice: {} }\nsteps:\n";

describe("endless nesting", () => {
  it.each([
    ["brackets", deep("["), "1:33"],
    ["brackets that close", `${deep("[")}${deep("]")}`, "1:33"],
    ["braces", deep("{ a: "), "1:161"],
    ["JSON", deep('{"a":'), "1:161"],
    ["dashes", deep("- "), "1:65"],
    ["question marks", deep("? "), "1:65"],
    ["keys on one line", deep("a: "), "1:98"],
    ["brackets on lines of their own", deep("[\n"), "33:1"],
    ["lines each deeper than before", DEEPER, "33:34"],
  ])("is one problem: %s", (_title, text, place) => {
    expect(problemsOf(text)).toEqual([`x.yaml:${place}: ${TOO_DEEP}`]);
  });

  it("is allowed to 32 levels", () => {
    const text = (levels: number): string =>
      ofSteps(`{ request: POST /order, body: ${"[".repeat(levels)}1${"]".repeat(levels)} }`);
    expect(problemsOf(text(29))).toEqual([]);
    expect(problemsOf(text(30))).toEqual([`x.yaml:4:64: ${TOO_DEEP}`]);
  });
});

describe("aliases", () => {
  const bomb = (levels: number, width: number): string => {
    const lines = [`  - &a0 [${"x, ".repeat(width)}]`];
    for (let level = 1; level < levels; level += 1) {
      lines.push(`  - &a${level} [${`*a${level - 1}, `.repeat(width)}]`);
    }
    return `scenario: x\nsteps:\n${lines.join("\n")}\n`;
  };

  it("cannot expand without limit", () => {
    expect(problemsOf(bomb(30, 10))).toEqual(["x.yaml:7:25: aliases refer to more than 50000 nodes"]);
  });

  it("may not be nested deeper than 32 levels", () => {
    expect(problemsOf(bomb(40, 1))).toEqual([`x.yaml:33:11: ${TOO_DEEP}`]);
  });
});

describe("keys that objects have", () => {
  it.each(["__proto__", "constructor", "hasOwnProperty", "toString", "valueOf"])(
    "are unknown like others: %s",
    (key) => {
      const texts = [
        `scenario: x\n${key}: {}\nsteps: [{ advance: 1s }]\n`,
        `scenario: x\nmarket: { ${key}: 1 }\nsteps: [{ advance: 1s }]\n`,
        ofSteps(`{ ${key}: BUY 1 YES @ 0.5 }`),
        ofSteps(`{ ${BID}, ${key}: 1 }`),
        ofSteps(`expect: { ${key}: {} }`),
        ofSteps(`expect: { orders: { ${key}: LIVE 0/1 } }`),
        ofSteps(`fault: { status: 503, ${key}: {} }`),
        ofSteps(`restore: ${key}`),
      ];
      for (const text of texts) expect(problemsOf(text)).toHaveLength(1);
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    },
  );

  it("are data in a body", () => {
    const text = ofSteps('{ request: POST /order, body: { "__proto__": { polluted: true } } }');
    expect(JSON.stringify(scenarioOf(text).steps)).toContain('"body":{"__proto__":{"polluted":true}}');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe("a large file", () => {
  it.each([
    ["brackets that open", filled("scenario: [\n", "[\n")],
    ["brackets that close", filled("scenario: x\n", "]\n")],
    ["commas", filled("scenario: [\n", ",\n")],
    ["dashes", filled("steps:\n", "-\n")],
    ["colons", filled("", ":\n")],
    ["question marks", filled("", "?\n")],
    ["quotes", filled("scenario: x\n", '"\n')],
    ["one quote", filled("scenario: '", "x\n ")],
    ["anchors", filled("steps:\n", "- &a x\n")],
    ["aliases", filled("scenario: &a x\nsteps:\n", "- *a\n")],
    ["tags", filled("steps:\n", "- !!str x\n")],
    ["tabs", filled("steps:\n", "\t\n")],
    ["comments", filled("", "#\n")],
    ["documents", filled("", "---\n")],
    ["directives", filled("", "%YAML 1.2\n")],
    ["block scalars", filled("steps:\n", "- |\n  x\n")],
    ["the same key", filled("", "a: b\n")],
    ["keys of their own", Array.from({ length: atLevel(12_500) }, (_, index) => `k${index}: 1\n`).join("")],
    ["accounts nobody knows", filled("scenario: x\nsteps:\n", "  - alcie: BUY 1 YES @ 0.5\n")],
    ["wrong orders", filled(ORDERS, "  - alice: BYU 1 YES @ 0.5\n")],
    ["escapes", filled('scenario: "', "\\u0041\n ")],
  ])("has at most 20 problems: %s", (_title, text) => {
    const problems = problemsOf(text);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.length).toBeLessThanOrEqual(MAX_PROBLEMS);
    for (const problem of problems) expect(problem.length).toBeLessThan(600);
  });

  it("may have the maximum size", () => {
    const step = `  - alice: BUY 1 YES @ 0.5 # ${"f".repeat(300)}ine\n`;
    const text = filled(ofSteps("advance: 1s"), step, MEBIBYTE);
    expect(scenarioOf(text).steps.length).toBeGreaterThan(3_000);
  });

  it("may not have one byte more", () => {
    expect(problemsOf(`#${"x".repeat(99)}\n`.repeat(10_382))).toEqual([
      "x.yaml:1:1: expected at most 1048576 bytes, found more",
    ]);
  });

  it("has lines of at most 64 KiB", () => {
    const line = (length: number): string =>
      `scenario: x\n#${"x".repeat(length - 1)}\nsteps: [{ advance: 1s }]\n`;
    expect(problemsOf(line(65_536))).toEqual([]);
    expect(problemsOf(line(65_537))).toEqual([
      "x.yaml:2:65537: expected lines of at most 65536 characters, found a longer one",
    ]);
  });
});

describe("a path that a request signs", () => {
  const signing = (path: string): string =>
    `${ORDERS}  - { request: DELETE /order, as: alice, tamper: { sign: "${path}" } }\n`;

  it("may have any number of braces, and one character too many", () => {
    expect(problemsOf(signing(`/${"{}".repeat(20_000)}`))).toEqual([]);
    const [problem, ...others] = problemsOf(signing(`/${"{}".repeat(20_000)} `));
    expect(problem).toContain("expected a path such as /orders?limit=5");
    expect(others).toEqual([]);
  });
});

describe("a path to a scenario", () => {
  const folder = new TestFolder();
  const load = (name: string, bytes: Buffer | string): string[] => {
    const { problems } = loadScenario(folder.write(name, bytes));
    return problems.map((problem) => folder.within(problemText(problem)));
  };

  it("leads to a scenario", () => {
    const file = folder.write("right.yaml", "scenario: x\nsteps: [{ advance: 1s }]\n");
    expect(loadScenario(file)).toMatchObject({ scenario: { name: "x", place: { file } }, problems: [] });
  });

  const INVALID = "expected UTF-8 text, found an invalid byte";
  it.each([
    ["no UTF-8", Buffer.from("scenario: é\nsteps: \xff\n", "latin1"), `1:11: ${INVALID}`],
    ["ended within a character", Buffer.from("scenario: x\n# \xe2\x82", "latin1"), `2:3: ${INVALID}`],
    ["text with a NUL", "scenario: a\0b\n", "1:12: expected text, found the control character U+0000"],
    ["too large", Buffer.alloc(MEBIBYTE + 1, "#\n"), "1:1: expected at most 1048576 bytes, found more"],
  ])("leads to a file that is %s", (_title, bytes, problem) => {
    expect(load("wrong.yaml", bytes)).toEqual([`wrong.yaml:${problem}`]);
  });

  it.each([
    ["none.yaml", "there is no such file"],
    [".", "expected a file, found a directory"],
    ["right.yaml/x", "there is no such file"],
  ])("does not lead to a file: %s", (path, message) => {
    const { scenario, problems } = loadScenario(folder.at(path));
    expect(scenario).toBeNull();
    expect(problems).toMatchObject([{ message, place: { line: 1, column: 1 } }]);
  });

  it("leads to an endless device", () => {
    expect(loadScenario("/dev/zero").scenario).toBeNull();
  });
});
