import type { z } from "zod";
import { quoted, shortened } from "../core/format.ts";
import { isUnixMillis } from "../core/time.ts";
import { didYouMean } from "../nearest.ts";
import { ApiError, type ErrorCode } from "./errors.ts";
import type { Numbers } from "./view.ts";

/** The subset of JSON Schema used for query parameters. */
interface ParamSchema {
  readonly type: "string" | "integer" | "boolean";
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly default?: number;
}

/** Called with an ASCII sentence about a value that is accepted but may not be what the client meant. */
type Warn = (sentence: string) => void;

/** A query parameter, with its reader and its documentation. */
export interface Param<T> {
  readonly description: string;
  readonly schema: ParamSchema;
  readonly required: boolean;
  /**
   * Parses the text as sent, undefined if absent; calls `warn` if another value applies, or probably was meant.
   * @throws ApiError if the value is invalid.
   */
  read(text: string | undefined, name: string, warn: Warn): T;
}

export type Params = Readonly<Record<string, Param<unknown>>>;
export type Read<P extends Params> = {
  readonly [Name in keyof P]: P[Name] extends Param<infer T> ? T : never;
};

const MAX_SHOWN = 200;

function wrong(name: string, expected: string, sent: string, words: readonly string[] = []): ApiError {
  const found = shortened(sent, MAX_SHOWN);
  const message = `${name} must be ${expected}, found ${JSON.stringify(found)}${didYouMean(sent, words)}`;
  return new ApiError("INVALID_PARAMETER", message, { details: { parameter: name, found } });
}

const wordsOf = (schema: ParamSchema): readonly string[] =>
  schema.type === "boolean" ? ["true", "false"] : (schema.enum ?? []);

/** Describes an optional parameter; `read` returns undefined for invalid text. */
export const optional = <T>(
  description: string,
  schema: ParamSchema,
  expected: string,
  read: (text: string) => T | undefined,
): Param<T | undefined> => ({
  description,
  schema,
  required: false,
  read: (text, name) => {
    const value = text === undefined ? undefined : read(text);
    if (text !== undefined && value === undefined) throw wrong(name, expected, text, wordsOf(schema));
    return value;
  },
});

const MAX_NATURAL = 999_999_999_999_999;

/** Parses an integer from 0 to `MAX_NATURAL`. */
const natural = (text: string): number | undefined =>
  /^(0|[1-9][0-9]{0,14})$/.test(text) ? Number(text) : undefined;

/** Describes the page size; a value above the maximum is clamped with a warning. */
const limit = (byDefault: number, maximum: number): Param<number> => ({
  description: `Number of items; default ${byDefault}, values above ${maximum} mean ${maximum}.`,
  schema: { type: "integer", minimum: 1, default: byDefault },
  required: false,
  read: (text, name, warn) => {
    if (text === undefined) return byDefault;
    if (!/^[1-9][0-9]*$/.test(text)) throw wrong(name, "a positive integer", text);
    const asked = Number(text);
    if (asked <= maximum) return asked;
    warn(`${name} ${shortened(text, MAX_SHOWN)} is above the maximum: ${maximum} is used`);
    return maximum;
  },
});

export const flag = (description: string): Param<boolean | undefined> =>
  optional(description, { type: "boolean" }, "true or false", (text) =>
    text === "true" || text === "false" ? text === "true" : undefined,
  );

export const oneOf = <const Word extends string>(
  words: readonly Word[],
  description: string,
): Param<Word | undefined> =>
  optional(description, { type: "string", enum: words }, `one of ${words.join(", ")}`, (text) =>
    words.find((word) => word === text),
  );

/** Describes a time. Milliseconds would be a second of the far future, so they are accepted with a warning. */
export const unixSeconds = (description: string): Param<number | undefined> => {
  const seconds = optional(description, { type: "integer", minimum: 0 }, "whole Unix seconds", natural);
  return {
    ...seconds,
    read: (text, name, warn) => {
      if (text !== undefined && isUnixMillis(text))
        warn(`${name} ${text} is read as seconds, not milliseconds`);
      return seconds.read(text, name, warn);
    },
  };
};

/** Describes an integer parameter; a value out of bounds is refused, not clamped. */
export const integer = (minimum: number, maximum: number, description: string): Param<number | undefined> =>
  optional(
    description,
    { type: "integer", minimum, maximum },
    `an integer ${minimum}..${maximum}`,
    (text) => {
      const value = natural(text) ?? Number.NaN;
      return value >= minimum && value <= maximum ? value : undefined;
    },
  );

const skipped = integer(0, MAX_NATURAL, "Number of items to skip.");
const offset: Param<number> = {
  ...skipped,
  schema: { ...skipped.schema, default: 0 },
  read: (...sent) => skipped.read(...sent) ?? 0,
};

/** Describes the parameters of a page of a list. */
export const paged = (byDefault: number, maximum: number) => ({ limit: limit(byDefault, maximum), offset });

export const text = (description: string): Param<string | undefined> =>
  optional(description, { type: "string" }, "a text", (text) => text);

export const tokenId: Param<string> = {
  description: "Id of the outcome token, from a market's `tokens`.",
  schema: { type: "string", minLength: 1 },
  required: true,
  read: (value) => {
    if (value) return value;
    throw new ApiError("TOKEN_ID_REQUIRED", "token_id is required: the id of an outcome token", {
      hint: "a market of GET /api/markets lists its tokens, each with a tokenId",
    });
  },
};

const MAX_QUERY = 200;

export const searchWords: Param<string> = {
  description: `Search words; every word must match, prefixes included; a text without letters and digits finds nothing. At most ${MAX_QUERY} characters.`,
  schema: { type: "string", minLength: 1, maxLength: MAX_QUERY },
  required: true,
  read: (value, name) => {
    if (value === undefined || value.trim() === "") {
      throw new ApiError("QUERY_REQUIRED", `${name} is required: the words to look for`);
    }
    const { length } = [...value];
    if (length > MAX_QUERY) {
      const message = `${name} must have at most ${MAX_QUERY} characters, found ${length}`;
      const details = { parameter: name, found: `${length} characters` };
      throw new ApiError("INVALID_PARAMETER", message, { details });
    }
    return value;
  },
};

/** Permitted callers: everyone, wallets with credentials, or control-plane clients, which may need a token. */
type Access = "public" | "signed" | "control";

/** Groups of endpoints in the documentation. */
export const TAGS = {
  "Market data": "Events, markets, prices and trades; public.",
  "Order book": "One token's book and quotes; public.",
  Trading: "Orders and fills of the caller; every request is signed.",
  Credentials: "API credentials from wallet signatures.",
  "Control plane": "Clock, funds, markets, state and explanations; not part of the imitated service.",
  "Settlement chain":
    "Blocks, pending transactions and settlement faults; and the chain itself as an Ethereum node.",
  Service: "The server itself.",
} as const;
type Tag = keyof typeof TAGS;

export type JsonObject = Readonly<Record<string, unknown>>;

/** A JSON body: the schema documents it, `read` converts it to what the handler needs. */
export interface BodySpec<T, Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  /** The known field names; `refusesUnknownFields` decides how others are treated. */
  readonly fields: readonly string[];
  /** An absent optional body is read as an empty object. */
  readonly required: boolean;
  /** @throws ApiError if the object is invalid; decimals in its details are as in `numbers`. */
  read(body: JsonObject, numbers?: Numbers): T;
}

/** A body passed to the handler as raw bytes; the schema only documents it. */
export interface RawBody extends Pick<BodySpec<unknown>, "schema" | "fields" | "required"> {
  readonly isRaw: true;
}

/** Body specification of an endpoint; null if it takes no body. */
export type AnyBody = BodySpec<unknown> | RawBody | null;

export const isRaw = (body: AnyBody): body is RawBody => body !== null && "isRaw" in body;

type Method = "GET" | "POST" | "DELETE";

/** One endpoint as data, used by the router, the request reader and the OpenAPI document. */
export interface Endpoint<Query extends Params = Params, Body extends AnyBody = AnyBody> {
  /** Unique; OpenAPI's operationId. */
  readonly operation: string;
  /** Method and path as in the contract, with parameters in braces: `GET /api/markets/{idOrSlug}`. */
  readonly route: `${Method} /${string}`;
  readonly method: Method;
  readonly path: string;
  readonly access: Access;
  readonly tag: Tag;
  readonly summary: string;
  /** Further documentation in Markdown. */
  readonly description?: string;
  readonly query: Query;
  readonly body: Body;
  /** Schema of the 200 response, registered under a name. */
  readonly reply: z.ZodType;
  /** Media type of the 200 response if it is not JSON; the schema is then a string. */
  readonly media?: string;
  /** Schema of its error responses, registered under a name, if it differs from the API's. */
  readonly failure?: z.ZodType;
  /** When it returns 204 without a body; absent if it never does. */
  readonly noContent?: string;
  /** Error codes in addition to those implied by its access, query and body. */
  readonly errors: readonly ErrorCode[];
}

/** An endpoint as declared by its resource; query, body and errors default to none. */
type Description = Pick<Endpoint, "route" | "summary" | "reply"> &
  Partial<Pick<Endpoint, "description" | "query" | "body" | "media" | "failure" | "noContent" | "errors">>;

type In<D, Key extends PropertyKey, Default> = D extends { readonly [K in Key]: infer Value }
  ? Value
  : Default;

type Described<Operation, A extends Access, D extends Description> = Endpoint<
  In<D, "query", Record<never, never>>,
  In<D, "body", null>
> & {
  readonly operation: Operation;
  readonly access: A;
  readonly route: D["route"];
  readonly reply: D["reply"];
};

/** Builds the endpoints of one resource, keyed by operation. */
export function endpoints<
  const A extends Access,
  const Descriptions extends Readonly<Record<string, Description>>,
>(
  access: A,
  tag: Tag,
  descriptions: Descriptions,
): { readonly [Operation in keyof Descriptions]: Described<Operation, A, Descriptions[Operation]> } {
  const entries = Object.entries(descriptions).map(([operation, description]) => {
    const [method, path] = description.route.split(" ");
    const defaults = { query: {}, body: null, errors: [] };
    return [operation, { operation, method, path, access, tag, ...defaults, ...description }];
  });
  return Object.fromEntries(entries);
}

/**
 * Parses the query string of a request target; `check` is called with all given and all known names before any value is
 * parsed.
 * @throws ApiError `INVALID_PARAMETER` if a parameter is given twice, and as each parameter's `read` does.
 */
export function readQuery<P extends Params>(
  params: P,
  target: string,
  check: (names: readonly string[], known: readonly string[]) => void,
  warn: Warn,
): Read<P> {
  const start = target.indexOf("?");
  const given = new Map<string, string>();
  let twice: string | undefined;
  if (start >= 0) {
    for (const [name, value] of new URLSearchParams(target.slice(start + 1))) {
      if (given.has(name)) twice ??= name;
      else given.set(name, value);
    }
  }
  const known = Object.keys(params);
  check([...given.keys()], known);
  if (twice !== undefined) {
    throw new ApiError("INVALID_PARAMETER", `duplicate parameter ${quoted(twice)} in the query`, {
      details: { parameter: shortened(twice, MAX_SHOWN) },
    });
  }
  const values: Record<string, unknown> = {};
  for (const name of known) values[name] = params[name]?.read(given.get(name), name, warn);
  return values as Read<P>;
}
