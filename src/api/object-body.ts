import type { z } from "zod";
import type { BodySpec } from "./endpoint.ts";
import { ApiError, type ErrorCode } from "./errors.ts";
import { type JsonObject, nameOf } from "./json-body.ts";

/**
 * A body that its schema alone checks; every wrong field is named, with what was expected and what was found.
 * It can be left out unless it is `required`.
 */
export function objectBody<Shape extends z.core.$ZodShape>(
  schema: z.ZodObject<Shape>,
  { required = true, code = "INVALID_PARAMETER" }: { required?: boolean; code?: ErrorCode } = {},
): BodySpec<z.infer<z.ZodObject<Shape>>> {
  return {
    schema,
    fields: Object.keys(schema.shape),
    required,
    read: (body) => {
      refusePrototypes(body, code);
      const parsed = schema.safeParse(body);
      if (parsed.success) return parsed.data as z.infer<z.ZodObject<Shape>>;
      const problems = parsed.error.issues.map((issue) => {
        const field = issue.path.join(".");
        return {
          field,
          problem: `${field}: expected ${expectedBy(issue)}, found ${nameOf(valueAt(body, issue.path))}`,
        };
      });
      throw new ApiError(code, problems.map(({ problem }) => problem).join("; "), {
        details: { fields: [...new Set(problems.map(({ field }) => field))] },
      });
    },
  };
}

/** What a schema expected where it found something else, in words. */
function expectedBy(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return /^[aeiou]/.test(issue.expected) ? `an ${issue.expected}` : `a ${issue.expected}`;
    case "invalid_value":
      return issue.values.length === 1 ? String(issue.values[0]) : `one of ${issue.values.join(", ")}`;
    case "too_small":
      return `${sizeOf(issue.origin)}${issue.inclusive ? "at least" : "more than"} ${issue.minimum}`;
    case "too_big":
      return `${sizeOf(issue.origin)}${issue.inclusive ? "at most" : "less than"} ${issue.maximum}`;
    default:
      return issue.message.replace(/^expected /, "");
  }
}

/** What is counted of a value that is no number. */
const sizeOf = (origin: string): string =>
  origin === "string" ? "a length of " : origin === "array" ? "a number of items of " : "";

/** A record would lose a key of this name without a word. */
function refusePrototypes(body: JsonObject, code: ErrorCode): void {
  for (const [field, value] of Object.entries(body)) {
    if (typeof value === "object" && value !== null && Object.hasOwn(value, "__proto__")) {
      throw new ApiError(code, `${field} has a key __proto__, which names nothing`, {
        details: { fields: [field] },
      });
    }
  }
}

function valueAt(body: unknown, path: readonly PropertyKey[]): unknown {
  let value = body;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}
