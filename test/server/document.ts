import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";

type Json = Readonly<Record<string, unknown>>;

interface Response {
  readonly description: string;
  /** One schema by media type; absent for responses without a body. */
  readonly content?: Readonly<Record<string, { readonly schema: { readonly $ref: string } }>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
}

export interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Json;
  readonly responses: Readonly<Record<string, Response>>;
}

export interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>> };
}

/** The parts of a response that the document describes. */
export interface CheckedReply {
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  readonly status: number;
  readonly body: unknown;
}

/** Codes of responses to requests that reach no operation, by status. */
const UNROUTED_CODES: Readonly<Record<number, readonly string[]>> = {
  403: ["HOST_NOT_ALLOWED"],
  404: ["ROUTE_NOT_FOUND"],
  405: ["METHOD_NOT_ALLOWED"],
};
const ERROR = "#/components/schemas/Error";
const RPC_ERROR = "#/components/schemas/RpcFailures";

/** Documents by text without the server's address: compiling their schemas takes longer than most tests. */
const known = new Map<string, ApiDocument>();

/** Checks responses against the OpenAPI document of the server. */
export class ApiDocument {
  readonly json: OpenApi;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #validators = new Map<string, ValidateFunction>();
  readonly #paths: readonly { readonly pattern: RegExp; readonly template: string }[];

  private constructor(json: OpenApi) {
    this.json = json;
    formats.default(this.#ajv);
    this.#ajv.addSchema({ $id: "api", components: { schemas: closedObjects(json.components.schemas) } });
    this.#paths = Object.keys(json.paths).map((template) => ({
      template,
      pattern: new RegExp(`^${template.replace(/[.]/g, "\\.").replace(/\{\w+\}/g, "[^/]+")}$`),
    }));
  }

  static of(text: string): ApiDocument {
    const key = text.replace(/"servers":\[.*?\]/, "");
    const document = known.get(key) ?? new ApiDocument(JSON.parse(text) as OpenApi);
    known.set(key, document);
    return document;
  }

  /** @throws Error if status, error code or body differ from the document. */
  check({ method, path, status, body }: CheckedReply): void {
    const what = `${method} ${path} answered ${status}`;
    const operation = this.operationOf(method, path);
    if (operation === undefined || (UNROUTED_CODES[status] ?? []).includes(codeIn(body))) {
      this.#checkUnrouted(what, status, body, path);
      return;
    }
    const response = operation.responses[status];
    if (response === undefined) {
      const documented = Object.keys(operation.responses).join(", ");
      throw new Error(`${what} ${shown(body)}, documented are ${documented}`);
    }
    if (status >= 400 && !response.description.split(", ").includes(codeIn(body))) {
      throw new Error(`${what} with code ${codeIn(body)}, documented are ${response.description}`);
    }
    const schema = Object.values(response.content ?? {})[0]?.schema;
    if (schema !== undefined && method !== "HEAD") this.#checkBody(what, schema.$ref, body);
    if (schema === undefined && body !== "")
      throw new Error(`${what} ${shown(body)}, documented without a body`);
  }

  mediaTypeOf(method: string, path: string, status: number): string {
    const { content = {} } = this.operationOf(method, path)?.responses[status] ?? {};
    return Object.keys(content)[0] ?? "application/json";
  }

  operationOf(method: string, path: string): Operation | undefined {
    const [route = ""] = path.split("?");
    const template = this.#paths.find(({ pattern }) => pattern.test(route))?.template ?? "";
    const key = method === "HEAD" ? "get" : method.toLowerCase();
    return this.json.paths[template]?.[key];
  }

  #checkUnrouted(what: string, status: number, body: unknown, path: string): void {
    if (status === 204 && body === "") return;
    if (!(UNROUTED_CODES[status] ?? []).includes(codeIn(body))) {
      throw new Error(`${what} ${shown(body)}, and the document has no such operation`);
    }
    this.#checkBody(what, path === "/chain" ? RPC_ERROR : ERROR, body);
  }

  #checkBody(what: string, reference: string, body: unknown): void {
    const validate = this.#validatorOf(reference);
    if (validate(body)) return;
    const problems = (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
    throw new Error(`${what}, and the body does not match ${reference}:\n${problems.join("\n")}`);
  }

  #validatorOf(reference: string): ValidateFunction {
    const known = this.#validators.get(reference);
    if (known !== undefined) return known;
    const compiled = this.#ajv.compile({ $ref: `api${reference}` });
    this.#validators.set(reference, compiled);
    return compiled;
  }
}

const shown = (body: unknown): string => JSON.stringify(body).slice(0, 300);

/** The code of an API error, or of the API error in a JSON-RPC error. */
function codeIn(body: unknown): string {
  const [first] = Array.isArray(body) ? body : [body];
  const { code, error } = (first ?? {}) as {
    readonly code?: unknown;
    readonly error?: { readonly data?: unknown };
  };
  if (code !== undefined) return String(code);
  return error?.data === undefined ? "" : codeIn(error.data);
}

/** A copy of a schema whose objects allow no additional properties by default, so that an undocumented property fails. */
function closedObjects(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closedObjects);
  if (typeof schema !== "object" || schema === null) return schema;
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) copy[key] = closedObjects(value);
  if (copy.type === "object" && "properties" in copy) copy.additionalProperties ??= false;
  return copy;
}
