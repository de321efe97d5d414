import { describe, expect, it } from "vitest";
import type { Expectation } from "../../../src/scenario/language/expectations.ts";
import { lastStep, ofSteps } from "./scenario-texts.ts";

function expectationsOf(text: string): readonly Expectation[] {
  const step = lastStep(text);
  return step.kind === "expect" ? step.expectations : [];
}

describe("the state hash", () => {
  const HASH = "0123456789abcdef".repeat(4);

  /** Replaces the hash of a file as `--update` does. */
  function updated(text: string): string {
    const [hash] = expectationsOf(text);
    if (hash?.kind !== "stateHash") throw new Error("no hash");
    const [start, end] = hash.range;
    return text.slice(0, start) + hash.around.join("f".repeat(64)) + text.slice(end);
  }

  it.each([HASH, `"${HASH}"`, `'${HASH}'`])("is kept: %s", (value) => {
    expect(expectationsOf(ofSteps(`expect: { stateHash: ${value} }`))).toMatchObject([
      { kind: "stateHash", hash: HASH },
    ]);
  });

  it.each(["", "~", "null", '""', "''"])("is to be written if it is empty: %s", (value) => {
    expect(expectationsOf(ofSteps(`expect: { stateHash: ${value} }`))).toMatchObject([
      { kind: "stateHash", hash: "" },
    ]);
  });

  it.each(["", "~", "null", '""', "''", HASH, `"${HASH}"`])("replaces %s", (value) => {
    const text = ofSteps(`expect: { stateHash: ${value} }`);
    expect(expectationsOf(updated(text))).toMatchObject([{ hash: "f".repeat(64) }]);
  });

  it("is written after a colon at the end of the file", () => {
    const text = "scenario: x\nsteps:\n  - expect:\n      stateHash:\n";
    expect(updated(text)).toBe(text.replace("stateHash:", `stateHash: "${"f".repeat(64)}"`));
  });

  it("is written into JSON so that it stays JSON", () => {
    const text = '{ "scenario": "x", "steps": [{ "expect": { "stateHash": null } }] }';
    expect(JSON.parse(updated(text))).toMatchObject({ steps: [{ expect: { stateHash: "f".repeat(64) } }] });
  });

  it("is written in its place after carriage returns and a byte order mark", () => {
    const text = `\ufeff${ofSteps(`expect: { stateHash: "${HASH}" }`).replaceAll("\n", "\r\n")}`;
    expect(updated(text)).toBe(text.replace(HASH, "f".repeat(64)));
  });
});
