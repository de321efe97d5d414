import type { z } from "zod";
import type { ErrorCode } from "./errors.ts";
import type { JsonObject } from "./json-body.ts";
import type { Params } from "./params.ts";

/** Who may call: anybody; a wallet with credentials; or the control plane's caller, who may need a token. */
export type Access = "public" | "signed" | "control";

export type Tag =
  | "Market data"
  | "Order book"
  | "Credentials"
  | "Trading"
  | "Control plane"
  | "Settlement chain"
  | "Service";

/** A JSON body: its schema documents it, its reader answers what the core needs. */
export interface BodySpec<T> {
  readonly schema: z.ZodType;
  /** The names the schema knows; what becomes of others follows from the endpoint's plane and the setting. */
  readonly fields: readonly string[];
  /** Whether the endpoint cannot do without; an absent optional body reads as an empty object. */
  readonly required: boolean;
  /** @throws ApiError when the object is not what it should be. */
  read(body: JsonObject): T;
}

/** A body that its handler reads itself, byte for byte, whatever it holds; its schema only documents it. */
export interface RawBody {
  readonly isRaw: true;
  readonly schema: z.ZodType;
  readonly required: true;
}

/** What an endpoint takes as its body; null for none. */
export type AnyBody = BodySpec<unknown> | RawBody | null;

/** Whether a body is handed on as it came. */
export const isRaw = (body: AnyBody): body is RawBody => body !== null && "isRaw" in body;

/**
 * One endpoint as data: the router, the reader of requests and the OpenAPI document all follow this one description.
 */
export interface Endpoint<Query extends Params = Params, Body extends AnyBody = AnyBody> {
  /** Unique; OpenAPI's operationId. */
  readonly operation: string;
  readonly method: "GET" | "POST" | "DELETE";
  /** As the contract writes it, parameters in braces. */
  readonly path: string;
  readonly access: Access;
  readonly tag: Tag;
  readonly summary: string;
  /** What the summary has no room for, in Markdown. */
  readonly description?: string;
  readonly query: Query;
  readonly body: Body;
  /** Schema of the 200 answer, registered under a name. */
  readonly reply: z.ZodType;
  /** The media type of the 200 answer where it is no JSON document; its schema is then that of a text. */
  readonly media?: string;
  /** Schema of its errors, registered under a name, where they are not those of the API. */
  readonly failure?: z.ZodType;
  /** When it answers 204 and no body instead; left out of those that never do. */
  readonly silence?: string;
  /** Error codes beyond those that its access, query and body imply. */
  readonly errors: readonly ErrorCode[];
}

/** Checks the description's type and keeps its literal names. */
export function endpoint<const Operation extends string, Query extends Params, Body extends AnyBody>(
  description: Endpoint<Query, Body> & { readonly operation: Operation },
): Endpoint<Query, Body> & { readonly operation: Operation } {
  return description;
}

/** No query parameters. */
export const NO_QUERY = {} as const satisfies Params;
