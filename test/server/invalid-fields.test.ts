import { describe, expect, it } from "vitest";
import { isRaw } from "../../src/api/endpoint.ts";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { ApiError } from "../../src/api/errors.ts";

const LONG = "x".repeat(5_000);
const ODD_VALUES = [
  ...[null, true, "", "a", "Ab c", LONG, "\u0000", "snapshot-1", 0, -1, 1.5, 1e300, 2 ** 53],
  ...[[], [1], [null], [LONG], Array(200).fill("a"), {}, { a: 1 }, { a: null }, { "": "x" }],
];

/** Returns the message with which an endpoint refuses a body; null if it accepts it. */
function refusalBy(read: (body: Record<string, unknown>) => unknown, body: Record<string, unknown>) {
  try {
    read(body);
    return null;
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
}

describe("the error of an invalid field", () => {
  const bodies = ENDPOINTS.flatMap(({ method, path, body }) =>
    body === null || isRaw(body) ? [] : [{ route: `${method} ${path}`, body }],
  );
  it.each(bodies)("says what $route expects, not that the input is invalid", ({ body }) => {
    for (const field of body.fields) {
      const messages = ODD_VALUES.flatMap((value) => refusalBy(body.read, { [field]: value }) ?? []);
      expect(messages).not.toEqual([]);
      for (const message of messages) expect(message).not.toMatch(/invalid/i);
    }
  });
});
