import { isUtf8 } from "node:buffer";
import * as z from "zod";
import { printableAscii, quoted, shortened } from "../core/format.ts";
import { type JsonProblem, jsonProblem } from "../core/json.ts";
import { didYouMean, nearest } from "../nearest.ts";
import type { BodySpec, Endpoint, JsonObject } from "./endpoint.ts";
import { ApiError, describeValue, type ErrorCode, invalidFields, isObject } from "./errors.ts";
import { named } from "./schemas.ts";

const MAX_NESTING = 32;

const invalid = (message: string, hint?: string): ApiError => new ApiError("INVALID_JSON", message, { hint });

/**
 * Parses a body that must be one JSON object.
 * @throws ApiError `INVALID_JSON` for anything else, with what was expected and found.
 */
export function readJsonObject(body: Buffer): JsonObject {
  if (body.length === 0) throw invalid("the body is empty, expected a JSON object");
  if (!isUtf8(body)) throw invalid("the body is not valid UTF-8");
  const text = body.toString("utf8");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const hint = text.startsWith("\ufeff") ? "send the text alone, without a byte order mark" : undefined;
    const { before, problem } = jsonProblem(text) as JsonProblem;
    throw invalid(`the body is not JSON: ${problem} at position ${[...before].length}`, hint);
  }
  // A flat object, such as an order, needs no check of its depth.
  const mayNest = text.indexOf("{", 1) >= 0 || text.includes("[");
  if (mayNest && nestsDeeper(value, MAX_NESTING))
    throw invalid(`the body nests deeper than ${MAX_NESTING} levels`);
  if (!isObject(value)) throw invalid(`expected a JSON object, found ${describeValue(value)}`);
  return value;
}

/** Whether arrays and objects in a JSON value nest deeper than `max` levels. */
export function nestsDeeper(value: unknown, max: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return max === 0 || Object.values(value).some((item) => nestsDeeper(item, max - 1));
}

/**
 * Describes a body checked by its schema only; every invalid field is reported with what was expected and found.
 * The body is optional unless `required`.
 */
export function objectBody<Shape extends z.core.$ZodShape>(
  id: string,
  shape: Shape,
  {
    description,
    required = true,
    code = "INVALID_PARAMETER",
    hints = {},
  }: {
    readonly description?: string;
    readonly required?: boolean;
    readonly code?: ErrorCode;
    /** Hints by invalid field. */
    readonly hints?: Readonly<Record<string, string>>;
  } = {},
): BodySpec<z.infer<z.ZodObject<Shape>>, z.ZodObject<Shape>> {
  const schema = named(id, z.object(shape), description);
  return {
    schema,
    fields: Object.keys(shape),
    required,
    read: (body) => {
      refusePrototypes(body, code);
      const parsed = schema.safeParse(body);
      if (parsed.success) return parsed.data as z.infer<z.ZodObject<Shape>>;
      const { issues } = parsed.error;
      const fields = [...new Set(issues.map(({ path }) => path.join(".")))];
      throw new ApiError(code, issues.map((issue) => issueText(body, issue)).join("; "), {
        hint: fields.map((field) => hints[field]).find((hint) => hint !== undefined),
        details: { fields },
      });
    },
  };
}

function issueText(body: JsonObject, issue: z.core.$ZodIssue): string {
  const value = valueAt(body, issue.path);
  const isWord = issue.code === "invalid_value" && typeof value === "string";
  const likely = isWord ? didYouMean(value, issue.values.map(String)) : "";
  const isLong = issue.code === "too_big" && (typeof value === "string" || Array.isArray(value));
  const found = isLong ? value.length : describeValue(value);
  return `${issue.path.join(".")}: expected ${expectedBy(issue)}, found ${found}${likely}`;
}

/** Types of JSON by zod's words for them, where these differ. */
const JSON_TYPES: Readonly<Record<string, string>> = { int: "integer", record: "object" };

/** How the texts of schemas begin; those of zod do not. */
const EXPECTED = "expected ";

/** Describes what a schema expected at an issue. */
function expectedBy(issue: z.core.$ZodIssue): string {
  if (issue.message.startsWith(EXPECTED)) return issue.message.slice(EXPECTED.length);
  switch (issue.code) {
    case "invalid_type": {
      const type = JSON_TYPES[issue.expected] ?? issue.expected;
      return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
    }
    case "invalid_value":
      return issue.values.length === 1 ? String(issue.values[0]) : `one of ${issue.values.join(", ")}`;
    case "too_small":
      return `${sizeOf(issue.origin)}${issue.inclusive ? "at least" : "more than"} ${issue.minimum}`;
    case "too_big":
      return `${sizeOf(issue.origin)}${issue.inclusive ? "at most" : "less than"} ${issue.maximum}`;
    case "invalid_union":
      return issue.errors.flatMap(([first]) => (first === undefined ? [] : [expectedBy(first)])).join(" or ");
    default:
      return issue.message;
  }
}

/** Returns the unit in which the size of a non-numeric value is given. */
const sizeOf = (origin: string): string =>
  origin === "string" ? "a length of " : origin === "array" ? "a number of items of " : "";

/** Refuses a key named `__proto__`, which a record would silently drop. */
function refusePrototypes(body: JsonObject, code: ErrorCode): void {
  for (const [field, value] of Object.entries(body)) {
    if (typeof value === "object" && value !== null && Object.hasOwn(value, "__proto__")) {
      throw new ApiError(code, `${field} has a key __proto__, which names nothing`, {
        details: { fields: [field] },
      });
    }
  }
}

/** Returns the value to which a path of an issue leads; undefined if it is missing. */
const valueAt = (body: JsonObject, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown>)[key], body);

/** How unknown fields of a request are treated: `accept` ignores them with a warning. */
export type UnknownFields = "accept" | "refuse";

/** Whether an endpoint refuses unknown fields: on the control plane always, on `/api` and `/clob` as the setting says. */
export const refusesUnknownFields = (
  { access, path }: Pick<Endpoint, "access" | "path">,
  setting: UnknownFields,
): boolean => access === "control" || (setting === "refuse" && /^\/(?:api|clob)\//.test(path));

const SHOWN = 5;
const MAX_NAME = 60;

/** Error for unknown fields; the hint lists the fields that the endpoint takes. */
export const unknownFieldsError = (
  unknown: readonly string[],
  known: readonly string[],
  endpoint: Pick<Endpoint, "query" | "body">,
): ApiError => {
  const fields = unknown.slice(0, SHOWN).map((name) => shortened(name, MAX_NAME));
  return invalidFields(unknownFieldsText(unknown, known), fields, fieldsTaken(endpoint));
};

function fieldsTaken({ query, body }: Pick<Endpoint, "query" | "body">): string {
  const parts = [
    ["query", Object.keys(query)],
    ["body", body?.fields ?? []],
  ] as const;
  const taken = parts.filter(([, names]) => names.length > 0);
  if (taken.length === 0) return "it takes no fields";
  return taken.map(([part, names]) => `the ${part} takes ${names.join(", ")}`).join("; ");
}

/** Lists unknown fields, each with the known field probably meant; safe in a header for any names. */
export function unknownFieldsText(unknown: readonly string[], known: readonly string[]): string {
  const sentences = unknown.slice(0, SHOWN).map((name) => {
    const like = name.length > MAX_NAME ? undefined : meant(name, known);
    const field = `unknown field ${quotedName(name)}`;
    return like === undefined ? field : `${field}, did you mean ${quotedName(like)}?`;
  });
  if (unknown.length > SHOWN) sentences.push(`and ${unknown.length - SHOWN} more`);
  return sentences.join("; ");
}

const lettersIn = (name: string): string => name.toLowerCase().replace(/[_-]/g, "");

/** Returns the known field with the same letters or meaning, else the nearest one. */
function meant(name: string, known: readonly string[]): string | undefined {
  const letters = lettersIn(name);
  const wanted = /^(?:timeinforce|tif)$/.test(letters) ? "ordertype" : letters;
  return known.find((field) => lettersIn(field) === wanted) ?? nearest(name, known);
}

const quotedName = (name: string): string => printableAscii(quoted(name, MAX_NAME));
