import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import type { Endpoint } from "../src/api/endpoint.ts";
import { codesOf, ENDPOINTS } from "../src/api/endpoints.ts";
import {
  ERROR_CODES,
  ERROR_SCOPES,
  ERRORS,
  type ErrorCode,
  type ErrorScope,
  statusesOf,
} from "../src/api/errors.ts";
import { openApiDocument } from "../src/api/openapi.ts";
import { code, table } from "./support/markdown.ts";

// Generates pages of docs/reference from the tables of the API; update them by `vitest run test/http-reference.test.ts -u`.

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly exclusiveMaximum?: number;
}

interface Operation {
  readonly parameters?: readonly {
    in: string;
    name: string;
    description: string;
    schema: Schema;
    required: boolean;
  }[];
  readonly requestBody?: { required: boolean; content: Record<string, { schema: Schema }> };
  readonly responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

const document = openApiDocument({ version: "", serverUrl: "", numbers: "number", unknownFields: "accept" });
const paths = document.paths as Readonly<Record<string, Readonly<Record<string, Operation>>>>;
const { schemas } = document.components as { readonly schemas: Readonly<Record<string, Schema>> };
const tags = document.tags as readonly { readonly name: string; readonly description: string }[];

const nameIn = (reference: string): string => reference.split("/").at(-1) as string;
/** Components that are objects have their own table; others are described in place. */
const hasTable = (schema: Schema | undefined): boolean => schema?.properties !== undefined;

const isPage = (name: string): boolean => schemas[name]?.properties?.hasMore !== undefined;

function typeText(schema: Schema): string {
  if (schema.$ref !== undefined) {
    const name = nameIn(schema.$ref);
    if (isPage(name)) return `a page of ${typeText(schemas[name]?.properties?.data?.items ?? {})}`;
    return hasTable(schemas[name]) ? `[${name}](#${name.toLowerCase()})` : typeText(schemas[name] ?? {});
  }
  if (schema.const !== undefined) return code(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(code).join(", ");
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeText).join(" or ");
  if (schema.type === "array") return `list of ${typeText(schema.items ?? {})}`;
  if (schema.type === "object" && schema.properties === undefined)
    return schema.additionalProperties?.type === undefined
      ? "object"
      : `object of ${typeText(schema.additionalProperties)}`;
  if (schema.properties !== undefined)
    return `{ ${Object.entries(schema.properties)
      .map(([name, of]) => `${name}: ${typeText(of)}`)
      .join(", ")} }`;
  return schema.type === undefined ? "any value" : [schema.type].flat().join(" or ");
}

const BOUNDS = {
  minimum: "at least",
  exclusiveMinimum: "above",
  maximum: "at most",
  exclusiveMaximum: "below",
  default: "default",
} as const;

function boundsText(schema: Schema): string {
  const parts = Object.entries(BOUNDS).flatMap(([name, words]) => {
    const bound = schema[name as keyof typeof BOUNDS];
    const isSaid = bound !== undefined && Math.abs(Number(bound)) !== Number.MAX_SAFE_INTEGER;
    return isSaid ? [`${words} ${bound}`] : [];
  });
  return parts.length === 0 ? "" : `${parts.join(", ")}. `;
}

const meaning = (schema: Schema): string => {
  const target = schema.$ref === undefined ? schema : (schemas[nameIn(schema.$ref)] ?? schema);
  const text = schema.description ?? (hasTable(target) ? "" : (target.description ?? ""));
  return `${boundsText(target)}${text}`.trim();
};

function fieldsTable(schema: Schema): string {
  const rows = Object.entries(schema.properties ?? {}).map(([name, field]) => [
    code(name),
    typeText(field),
    schema.required?.includes(name) === true ? "yes" : "",
    meaning(field),
  ]);
  return table(["field", "type", "always", "meaning"], rows);
}

/** Joins the paragraphs of a page that there are. */
const paragraphs = (...texts: readonly (string | undefined)[]): string =>
  texts.filter((text) => text !== undefined).join("\n\n");

const ACCESS = {
  public: "Public.",
  signed: "Signed: the five `poly_` headers.",
  control: "Control plane: web pages of localhost only; needs the token if the server has one.",
} as const;

function endpointText(endpoint: Endpoint): string {
  const { method, path, summary, description, access, reply: _, noContent } = endpoint;
  const operation = paths[path]?.[method.toLowerCase()] as Operation;
  const query = (operation.parameters ?? []).filter((parameter) => parameter.in === "query");
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  const [media, answer] = Object.entries(operation.responses["200"]?.content ?? {})[0] ?? ["", undefined];
  const own = codesOf(endpoint, "accept").filter(
    (each) => endpoint.errors.includes(each) || scopeOf(each) === "body",
  );
  const rows = query.map(({ name, schema, description: text, required }) => [
    code(name),
    typeText(schema),
    `${required ? "Required. " : ""}${text}`,
  ]);
  const isOptional = operation.requestBody?.required !== true;
  const type = media.startsWith("application/json") ? "" : ` (${media})`;
  const nothing = noContent === undefined ? "" : `; 204 without a body: ${noContent.toLowerCase()}`;
  return paragraphs(
    `### ${method} ${path}`,
    `${summary}. ${ACCESS[access]}`,
    description,
    rows.length === 0 ? undefined : table(["query", "type", "meaning"], rows),
    body && `Body${isOptional ? ", optional" : ""}: ${typeText(body)}`,
    `Answers ${typeText(answer?.schema ?? {})}${type}${nothing}.`,
    own.length === 0 ? undefined : `Errors: ${own.map(code).join(", ")}.`,
  );
}

const codesText = (scope: ErrorScope): string => ERROR_SCOPES[scope].map(code).join(", ");

it("docs/reference/http-api.md lists every endpoint with its parameters and replies", async () => {
  const sections = tags.map(({ name, description }) =>
    paragraphs(`## ${name}`, description, ...ENDPOINTS.filter(({ tag }) => tag === name).map(endpointText)),
  );
  const objects = Object.entries(schemas)
    .filter(([name, schema]) => hasTable(schema) && !isPage(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => paragraphs(`### ${name}`, schema.description, fieldsTable(schema)));
  const page = [
    "# HTTP API",
    "<!-- Written by test/http-reference.test.ts from the tables in src/api: change those, and run it with -u. -->",
    "Prices are USDC per share, sizes are shares, money is USDC: JSON numbers, or their text with `--numbers string`. The server's own `/openapi.json` says the same for machines.",
    "Times in answers are ISO-8601 in UTC with milliseconds where they are text, and Unix seconds where they are integers: `time` of `GET /clob/time` is an integer, that of `/sim` and `/healthz` a text, beside which the clock has `unixTime`. Only [the live feed](#get-simstream) has Unix milliseconds.",
    "In [a pool](../guide/clients.md#a-pool-for-suites-with-workers) every path follows the number of its exchange: `/3/clob/order`. The pool itself answers `GET /`, `GET /healthz`, and `ROUTE_NOT_FOUND` for all else.",
    `[Errors](errors.md) of an endpoint are listed with it. Every endpoint can also answer ${codesText("everywhere")}; the control plane ${codesText("control")}; signed endpoints ${codesText("signed")}; \`/api\`, \`/clob\` and \`/chain\`, by injected faults, ${codesText("faults")}.`,
    ...sections,
    "## Objects",
    "`always` marks the fields that are in every reply, and those that a request must have. A page of a list is `{ data, limit, offset, total, hasMore }`: `limit` is the one applied, `total` counts the whole list.",
    ...objects,
  ];
  await expect(`${page.join("\n\n")}\n`).toMatchFileSnapshot("../docs/reference/http-api.md");
});

const SCOPES: Readonly<Record<ErrorScope, string>> = {
  server: "the server, before any endpoint",
  everywhere: "every endpoint",
  signed: "every signed endpoint",
  control: "the control plane",
  body: "endpoints with a body",
  faults: "`/api`, `/clob` and `/chain`",
};

const scopeOf = (each: ErrorCode): ErrorScope | undefined =>
  (Object.keys(SCOPES) as ErrorScope[]).find((scope) =>
    (ERROR_SCOPES[scope] as readonly ErrorCode[]).includes(each),
  );

function errorRow(each: ErrorCode): string[] {
  const { means } = ERRORS[each];
  const scope = scopeOf(each);
  const named = ENDPOINTS.filter(({ errors }) => (errors as readonly ErrorCode[]).includes(each));
  const routes = scope === "everywhere" ? [] : named.map(({ method, path }) => code(`${method} ${path}`));
  const others = statusesOf(each).slice(1);
  const says = `${means}${others.length === 0 ? "" : ` (also with ${others.join(" and ")})`}`;
  return [code(each), says, [...(scope === undefined ? [] : [SCOPES[scope]]), ...routes].join(", ")];
}

it("docs/reference/errors.md lists every error code with its status and endpoints", async () => {
  const statuses = [...new Set(ERROR_CODES.map((each) => ERRORS[each].status))].sort((a, b) => a - b);
  const page = [
    "# Errors",
    "<!-- Written by test/http-reference.test.ts from the table in src/api/errors.ts: change that, and run it with -u. -->",
    "An error is answered as `{ error, code, status, hint?, details?, requestId }`; nothing of the state has changed. `error` is a sentence for people, `code` is for programs. `/chain` answers the errors of JSON-RPC instead, with `code`, `status` and `hint` as their `data`.",
    ...statuses.flatMap((status) => [
      `## ${status}`,
      table(
        ["code", "when", "answered by"],
        ERROR_CODES.filter((each) => ERRORS[each].status === status).map(errorRow),
      ),
    ]),
  ];
  await expect(`${page.join("\n\n")}\n`).toMatchFileSnapshot("../docs/reference/errors.md");
});

it("every error code is answered by an endpoint or the server", () => {
  const answered = new Set(ENDPOINTS.flatMap((endpoint) => codesOf(endpoint, "accept")));
  const others = ERROR_CODES.filter((each) => !answered.has(each));
  expect(others.filter((each) => scopeOf(each) !== "server")).toEqual([]);
});

it("every error code is used in the source, not only listed", () => {
  const src = fileURLToPath(new URL("../src/", import.meta.url));
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  const source = files.map((file) => readFileSync(join(src, file), "utf8")).join("\n");
  const table = /const (?:ROWS|ERROR_SCOPES) = \{.*?\n\}(?:;| as const)/gs;
  const answering = source.replace(table, "").replace(/errors: \[[^\]]*\]/g, "");
  const isAnswered = (code: string): boolean => new RegExp(`"${code}"|\\b${code}:`).test(answering);
  expect(ERROR_CODES.filter((code) => !isAnswered(code))).toEqual([]);
});
