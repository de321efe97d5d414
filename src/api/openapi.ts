import * as z from "zod";
import { type Endpoint, isRaw, TAGS } from "./endpoint.ts";
import { codesOf, ENDPOINTS } from "./endpoints.ts";
import { type ErrorCode, statusesOf } from "./errors.ts";
import { refusesUnknownFields, type UnknownFields } from "./request-body.ts";
import { DECIMALS, errorSchema as errorReply, registry } from "./schemas.ts";
import { AUTH_HEADERS } from "./signing.ts";

type Json = Record<string, unknown>;

interface OpenApiOptions {
  readonly version: string;
  readonly serverUrl: string;
  /** How the server that serves the document sends decimals. */
  readonly numbers: "number" | "string";
  readonly unknownFields: UnknownFields;
}

const DESCRIPTION = `A local, deterministic mock exchange for prediction markets: market data under /api, a central
limit order book with signed trading under /clob, a settlement chain at /chain, and a control plane under /sim.

Signed requests carry five headers. \`poly_signature\` is the hex HMAC-SHA256, under the text of the secret, of
timestamp + METHOD + path + body, where the path is relative to /clob and has no query.`;

const DECIMAL_TEXT = { type: "string", pattern: "^[0-9]+(\\.[0-9]+)?$" };

/** Generates the OpenAPI 3.1 document of all endpoints from the schemas of their requests and replies. */
export function openApiDocument(options: OpenApiOptions): Json {
  return {
    openapi: "3.1.0",
    info: {
      title: "clobsim",
      version: options.version,
      description: DESCRIPTION,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: options.serverUrl }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: paths(options.unknownFields),
    components: { schemas: schemas(options), securitySchemes: SECURITY_SCHEMES },
  };
}

const schemaPath = (id: string): string => `#/components/schemas/${id}`;

function reference(schema: z.ZodType): Json {
  const id = registry.get(schema)?.id;
  if (id === undefined) throw new Error("a schema of an endpoint has no name");
  return { $ref: schemaPath(id) };
}

function schemas({ numbers, unknownFields }: OpenApiOptions): Json {
  const { schemas: generated } = z.toJSONSchema(registry, {
    uri: schemaPath,
    io: "input",
    unrepresentable: "throw",
  });
  const components: Json = Object.fromEntries(
    Object.entries(generated).map(([id, { $schema: _, $id: __, id: ___, ...schema }]) => [id, schema]),
  );
  for (const endpoint of ENDPOINTS as readonly Endpoint[]) {
    const { body } = endpoint;
    if (body === null || isRaw(body) || !refusesUnknownFields(endpoint, unknownFields)) continue;
    Object.assign(components[registry.get(body.schema)?.id ?? ""] as Json, { additionalProperties: false });
  }
  for (const id of numbers === "string" ? DECIMALS : [])
    components[id] = { ...DECIMAL_TEXT, description: (components[id] as Json).description };
  return components;
}

function paths(unknownFields: UnknownFields): Json {
  const byPath: Record<string, Json> = {};
  for (const endpoint of ENDPOINTS) {
    const item = { [endpoint.method.toLowerCase()]: operation(endpoint, unknownFields) };
    byPath[endpoint.path] = { ...byPath[endpoint.path], ...item };
  }
  return byPath;
}

/** Describes an endpoint; fields that are undefined are not in the JSON. */
function operation(endpoint: Endpoint, unknownFields: UnknownFields): Json {
  const { query, body, noContent } = endpoint;
  const inPath = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
    return { name, in: "path", required: true, schema: { type: "string" } };
  });
  const inQuery = Object.entries(query).map(([name, { description, schema, required }]) => {
    return { name, in: "query", required, description, schema };
  });
  const parameters = [...inPath, ...inQuery];
  const content = body === null ? undefined : contentOf(body.schema);
  const nothing = { description: noContent, headers: RESPONSE_HEADERS };
  return {
    operationId: endpoint.operation,
    summary: endpoint.summary,
    description: endpoint.description,
    tags: [endpoint.tag],
    security: security(endpoint),
    parameters: parameters.length === 0 ? undefined : parameters,
    requestBody: body === null ? undefined : { required: body.required, content },
    responses: {
      200: {
        description: "Success",
        headers: RESPONSE_HEADERS,
        content: contentOf(endpoint.reply, endpoint.media),
      },
      204: noContent === undefined ? undefined : nothing,
      ...errorResponses(codesOf(endpoint, unknownFields), endpoint.failure ?? errorReply),
    },
  };
}

const contentOf = (schema: z.ZodType, media = "application/json"): Json => ({
  [media]: { schema: reference(schema) },
});

const header = (type: "string" | "integer", description: string): Json => ({ description, schema: { type } });

const RESPONSE_HEADERS: Json = {
  "x-request-id": header("string", "Names the request in the server's log."),
  "x-sim-sequence": header("integer", "How many commands have been accepted, after this request."),
  "x-sim-time": header("integer", "Virtual time in Unix milliseconds."),
  "x-sim-warning": header(
    "string",
    "What is accepted and may not be what was meant: unknown fields, which are ignored, or a limit above its maximum.",
  ),
};

/** Statuses with a Retry-After header. */
const RETRY_STATUSES: ReadonlySet<string> = new Set(["429", "503"]);
const RETRY_HEADERS: Json = { "retry-after": header("integer", "Seconds to wait before the next try.") };

function errorResponses(codes: readonly ErrorCode[], reply: z.ZodType): Json {
  const byStatus: Record<string, ErrorCode[]> = {};
  for (const code of codes) {
    for (const status of statusesOf(code)) byStatus[status] = [...(byStatus[status] ?? []), code];
  }
  const responses = Object.entries(byStatus).map(([status, some]) => {
    const headers = RETRY_STATUSES.has(status) ? RETRY_HEADERS : undefined;
    return [status, { description: some.join(", "), headers, content: contentOf(reply) }];
  });
  return Object.fromEntries(responses);
}

function security(endpoint: Endpoint): Json[] {
  if (endpoint.access === "signed") return [Object.fromEntries(AUTH_HEADERS.map((name) => [name, []]))];
  return endpoint.access === "control" ? [{}, { simToken: [] }] : [];
}

const SECURITY_SCHEMES: Json = {
  ...Object.fromEntries(AUTH_HEADERS.map((name) => [name, { type: "apiKey", in: "header", name }])),
  simToken: { type: "http", scheme: "bearer" },
};
