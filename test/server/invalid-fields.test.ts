import { describe, expect, it } from "vitest";
import { isRaw } from "../../src/api/endpoint.ts";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { ApiError } from "../../src/api/errors.ts";
import { useApi } from "../support/http.ts";

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

const api = useApi();

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

  it.each([
    [{ nonce: null }, "nonce: expected a string or a number, found null"],
    [{ timestamp: 1.5 }, "timestamp: expected a string or an integer, found the number 1.5"],
  ])("lists what a field takes, in the words of JSON: %j", async (fields, message) => {
    const { body } = await api.refused("POST /clob/auth/derive-api-key", "INVALID_AUTH_PAYLOAD", fields);
    expect(body.error).toBe(message);
  });

  it("names an object of any keys so", async () => {
    const sent = { method: "GET", url: "/clob/orders", headers: [] };
    const { body } = await api.refused("POST /sim/explain-auth", "INVALID_PARAMETER", sent);
    expect(body.error).toBe("headers: expected an object, found an array");
  });
});
