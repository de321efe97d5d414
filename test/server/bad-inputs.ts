import { readFileSync } from "node:fs";
import { ERRORS, type ErrorCode } from "../../src/api/errors.ts";

/** A hostile or mistaken request with its expected answer. */
export interface BadInput {
  readonly id: string;
  readonly area: string;
  readonly request: string;
  readonly expected: {
    /** A string if the case has several requests with different answers. */
    readonly status: number | string;
    readonly code?: ErrorCode;
    readonly also?: string;
  };
}

export const BAD_INPUTS = (
  JSON.parse(readFileSync(new URL("../../fixtures/vectors/bad-inputs.json", import.meta.url), "utf8")) as {
    readonly cases: readonly BadInput[];
  }
).cases;

/** Cases that scenarios assert over HTTP, by the scenario's path. */
export const IN_SCENARIOS: Readonly<Record<string, readonly string[]>> = {
  "cancel/canceled-once": ["O22"],
  "errors/api-key-serves-its-wallet": ["A12"],
  "errors/header-names-have-any-letters": ["A08"],
  "errors/signed-request-has-five-headers": ["A06"],
  "errors/timestamp-is-whole-seconds": ["A05"],
  "errors/timestamp-is-within-30-seconds": ["A01", "A02"],
};

function badInput(id: string): BadInput {
  const found = BAD_INPUTS.find((input) => input.id === id);
  if (found === undefined) throw new Error(`expected the id of a case, found ${id}`);
  return found;
}

/** Name of the test of a case. */
export const titleOf = (id: string): string => `${id}: ${badInput(id).request}`;

/** The expected code of a case. @throws Error if it has several. */
export function codeOf(id: string): ErrorCode {
  const { status, code } = badInput(id).expected;
  if (code === undefined || ERRORS[code].status !== status) throw new Error(`${id} has several answers`);
  return code;
}
