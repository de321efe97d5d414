import { expect, it } from "vitest";
import { ENDPOINTS } from "../../../src/api/endpoints.ts";
import { openApiDocument } from "../../../src/api/openapi.ts";
import { TICK_SIZES } from "../../../src/core/terms.ts";
import { universe } from "../../../src/scenario/coverage/items.ts";

type Names = Readonly<Record<string, readonly string[]>>;

const namesIn = (via: "auto" | "process" | "http"): Names =>
  Object.fromEntries(
    universe(via).map(({ name, items }) => [name, [...items.values()].map((words) => words.join(" "))]),
  );

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

/** Returns operation and code of every error in the OpenAPI document under some paths. */
function describedErrors(paths: RegExp): string[] {
  const options = { version: "1", serverUrl: "/", numbers: "number", unknownFields: "accept" } as const;
  // As clients receive it: without undefined values.
  const document = JSON.parse(JSON.stringify(openApiDocument(options)));
  const errors = new Set<string>();
  for (const [path, methods] of Object.entries<Record<string, Operation>>(document.paths)) {
    if (!paths.test(path)) continue;
    for (const { operationId, responses } of Object.values(methods)) {
      for (const [status, { description }] of Object.entries(responses)) {
        if (status === "200") continue;
        for (const code of description.split(", ")) errors.add(`${operationId} ${code}`);
      }
    }
  }
  return [...errors].sort();
}

it("counts endpoints and their errors only if all scenarios run over HTTP", () => {
  const [local, auto, http] = [namesIn("process"), namesIn("auto"), namesIn("http")].map(Object.keys);
  expect(auto).toEqual(local);
  expect(http).toEqual([...(local ?? []), "endpoints", "errors by endpoint"]);
});

it("names every endpoint with its method and path", () => {
  const described = ENDPOINTS.map(({ operation, method, path }) => `${operation} ${method} ${path}`);
  expect(namesIn("http").endpoints).toEqual(described);
});

/** Errors of every request of the imitated service. */
const EVERYWHERE = [
  "INVALID_PARAMETER",
  "HOST_NOT_ALLOWED",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "INTERNAL_ERROR",
  "RATE_LIMITED",
  "UNAVAILABLE",
];

it("names every error of its own that the OpenAPI document describes for /clob and /api, and no other", () => {
  const own = describedErrors(/^\/(?:clob|api)\//).filter((error) => {
    const code = error.split(" ")[1] ?? "";
    return code !== "CREDENTIALS_ALREADY_DERIVED" && !EVERYWHERE.includes(code);
  });
  expect([...(namesIn("http")["errors by endpoint"] ?? [])].sort()).toEqual(own);
});

it("names once each code that the five signed endpoints and the derivation of keys answer", () => {
  const described = describedErrors(/^\/clob\/(?:orders?|orders\/all|trades|auth\/derive-api-key)$/);
  const codes = new Set(described.map((error) => error.split(" ")[1]));
  codes.delete("CREDENTIALS_ALREADY_DERIVED"); // no scenario's exchange refuses a second derivation
  expect([...(namesIn("auto")["error codes of trading"] ?? [])].sort()).toEqual([...codes].sort());
});

it("names every tick size that a market may have", () => {
  expect(namesIn("auto")["tick sizes"]).toEqual(TICK_SIZES.map(String));
});
