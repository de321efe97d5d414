import fc from "fast-check";
import { expect, it } from "vitest";
import { readJsonObject } from "../src/api/request-body.ts";
import { jsonProblem, readJson } from "../src/core/json.ts";
import { forAll, runs } from "./support/runs.ts";

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

it.each([
  ["{", 'expected a key in double quotes or "}", found its end at position 1'],
  ['{"price": 0.5 "size": 5}', String.raw`expected "," or "}", found "\"" at position 14`],
  ['{"price": 0.5,}', 'expected a key in double quotes, found "}" at position 14'],
  ['{"price" 0.5}', 'expected ":", found "0" at position 9'],
  ["{'price': 0.5}", `expected a key in double quotes or "}", found "'" at position 1`],
  ['{"price": None}', 'expected a value, found "N" at position 10'],
  ['{"price": .5}', 'expected a value, found "." at position 10'],
  ['{"price": 0.5}}', 'expected its end, found "}" at position 14'],
  ["[1,]", 'expected a value, found "]" at position 3'],
  ["[1 2]", 'expected "," or "]", found "2" at position 3'],
  ['{"side": "BUY', "expected the rest of a string in double quotes, found its end at position 13"],
  ['{"a": "\\x"}', String.raw`expected the rest of a string in double quotes, found "\\" at position 7`],
  ['{"a": "\n"}', "expected the rest of a string in double quotes, found U+000A at position 7"],
  ['{"😀": “x”}', "expected a value, found U+201C at position 6"],
  ["\ufeff{}", "expected a value, found the byte order mark U+FEFF at position 0"],
])("says what is wrong with %j", (text, problem) => {
  expect(() => readJsonObject(Buffer.from(text))).toThrow(`the body is not JSON: ${problem}`);
});

it("says how to send a body that begins with a byte order mark", () => {
  expect(() => readJsonObject(Buffer.from("\ufeff{}"))).toThrow(
    expect.objectContaining({ help: { hint: "send the text alone, without a byte order mark" } }),
  );
});

it("names the line and the column of a file's mistake", () => {
  expect(() => readJson('{\r\n  "😀": 1\r\n  "b": 2\r\n}')).toThrow(
    String.raw`line 3, column 3: expected "," or "}", found "\""`,
  );
  expect(() => readJson("\ufeff{}")).toThrow(/found the byte order mark U\+FEFF$/);
});

/** JSON with some of its characters replaced, removed or repeated. */
const damaged = fc
  .tuple(
    fc.json(),
    fc.array(
      fc.tuple(fc.nat(60), fc.nat(2), fc.constantFrom(...'{}[]:,"\\ 0-1.eEu/tn\n', "null", "\ufeff")),
      {
        maxLength: 3,
      },
    ),
  )
  .map(([json, edits]) =>
    edits.reduce((text, [at, removed, added]) => text.slice(0, at) + added + text.slice(at + removed), json),
  );

it("finds a problem in exactly the texts that JSON.parse refuses", () => {
  forAll(runs(10_000), [damaged], (text) => {
    expect(jsonProblem(text) === null, text).toBe(isJson(text));
  });
});

it("reads deep and long texts", () => {
  expect(jsonProblem("[".repeat(1_000_000))?.before).toHaveLength(1_000_000);
  expect(jsonProblem(`{"a": "${"\\n".repeat(500_000)}${"x".repeat(500_000)}`)?.problem).toContain(
    "found its end",
  );
});
