import { ApiError } from "./errors.ts";

/** The part of JSON Schema that describes a query parameter. */
export interface ParamSchema {
  readonly type: "string" | "integer" | "boolean";
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly default?: number;
}

/** Called with a sentence in ASCII on what is accepted and may not be what the client meant. */
export type Warn = (sentence: string) => void;

/** A query parameter: how it is read and how it is documented, in one place. */
export interface Param<T> {
  readonly description: string;
  readonly schema: ParamSchema;
  readonly required: boolean;
  /**
   * Reads the text as sent, or its absence; calls `warn` with a sentence when another value than the one sent applies.
   * @throws ApiError when it is not what it should be.
   */
  read(text: string | undefined, name: string, warn: Warn): T;
}

export type Params = Readonly<Record<string, Param<unknown>>>;
export type Read<P extends Params> = {
  readonly [Name in keyof P]: P[Name] extends Param<infer T> ? T : never;
};

const wrong = (name: string, expected: string, found: string): ApiError =>
  new ApiError("INVALID_PARAMETER", `${name} must be ${expected}, found ${JSON.stringify(found)}`, {
    details: { parameter: name, found },
  });

const NATURAL = /^(0|[1-9][0-9]{0,14})$/;

function optional<T>(
  description: string,
  schema: ParamSchema,
  read: (text: string, name: string) => T,
): Param<T | undefined> {
  return {
    description,
    schema,
    required: false,
    read: (text, name) => (text === undefined ? undefined : read(text, name)),
  };
}

/** How many items a page has; above the maximum it is clamped with a warning. */
export function limit(byDefault: number, maximum: number): Param<number> {
  return {
    description: `How many items; default ${byDefault}, anything above ${maximum} means ${maximum}.`,
    schema: { type: "integer", minimum: 1, default: byDefault },
    required: false,
    read: (text, name, warn) => {
      if (text === undefined) return byDefault;
      if (!NATURAL.test(text) || text === "0") throw wrong(name, "a positive integer", text);
      const asked = Number(text);
      if (asked <= maximum) return asked;
      warn(`${name} ${text} is above the maximum of ${maximum}, which applies instead`);
      return maximum;
    },
  };
}

/** How many items to skip. */
export const offset: Param<number> = {
  description: "How many items to skip.",
  schema: { type: "integer", minimum: 0, default: 0 },
  required: false,
  read: (text, name) => {
    if (text === undefined) return 0;
    if (!NATURAL.test(text)) throw wrong(name, "an integer, 0 or more", text);
    return Number(text);
  },
};

/** `true` or `false`. */
export const flag = (description: string): Param<boolean | undefined> =>
  optional(description, { type: "boolean" }, (text, name) => {
    if (text !== "true" && text !== "false") throw wrong(name, "true or false", text);
    return text === "true";
  });

/** One of a few words. */
export const oneOf = <const Word extends string>(
  words: readonly Word[],
  description: string,
): Param<Word | undefined> =>
  optional(description, { type: "string", enum: words }, (text, name) => {
    const word = words.find((candidate) => candidate === text);
    if (word === undefined) throw wrong(name, `one of ${words.join(", ")}`, text);
    return word;
  });

/** A moment in Unix seconds. */
export const unixSeconds = (description: string): Param<number | undefined> =>
  optional(description, { type: "integer", minimum: 0 }, (text, name) => {
    if (!NATURAL.test(text)) throw wrong(name, "whole Unix seconds", text);
    return Number(text);
  });

/** An integer within bounds that are enforced, not clamped. */
export const integer = (minimum: number, maximum: number, description: string): Param<number | undefined> =>
  optional(description, { type: "integer", minimum, maximum }, (text, name) => {
    const value = NATURAL.test(text) ? Number(text) : Number.NaN;
    if (!(value >= minimum && value <= maximum)) throw wrong(name, `an integer ${minimum}..${maximum}`, text);
    return value;
  });

/** Any text. */
export const text = (description: string): Param<string | undefined> =>
  optional(description, { type: "string" }, (value) => value);

/** The outcome token that a public book endpoint is about. */
export const tokenId: Param<string> = {
  description: "Id of the outcome token, from a market's `tokens`.",
  schema: { type: "string", minLength: 1 },
  required: true,
  read: (value) => {
    if (value === undefined || value === "") {
      throw new ApiError("TOKEN_ID_REQUIRED", "token_id is required: the id of an outcome token", {
        hint: "a market of GET /api/markets lists its tokens, each with a tokenId",
      });
    }
    return value;
  },
};

const MAX_QUERY = 200;

/** The words of a full-text search. */
export const searchWords: Param<string> = {
  description: `The words to look for; every word must match, a prefix counts. At most ${MAX_QUERY} characters.`,
  schema: { type: "string", minLength: 1, maxLength: MAX_QUERY },
  required: true,
  read: (value, name) => {
    if (value === undefined || value.trim() === "") {
      throw new ApiError("QUERY_REQUIRED", `${name} is required: the words to look for`);
    }
    if (value.length > MAX_QUERY)
      throw wrong(name, `at most ${MAX_QUERY} characters`, `${value.length} characters`);
    return value;
  },
};
