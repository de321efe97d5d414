import { isUtf8 } from "node:buffer";
import { plain } from "./decimals.ts";
import { ApiError } from "./errors.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** How deep arrays and objects of a body may nest. */
export const MAX_NESTING = 32;

const invalid = (message: string, hint?: string): ApiError => new ApiError("INVALID_JSON", message, { hint });

/**
 * Reads a body that must be one JSON object.
 * @throws ApiError `INVALID_JSON` for anything else, with what was expected and what was found.
 */
export function readJsonObject(body: Buffer): JsonObject {
  if (body.length === 0) throw invalid("the body is empty, expected a JSON object");
  if (!isUtf8(body)) throw invalid("the body is not valid UTF-8");
  const text = body.toString("utf8");
  if (nestsTooDeep(text)) throw invalid(`the body nests deeper than ${MAX_NESTING} levels`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid(
      `the body is not JSON: ${error instanceof Error ? firstLine(error.message) : "unreadable"}`,
    );
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid(`expected a JSON object, found ${nameOf(value)}`);
  }
  return value as JsonObject;
}

/** What a JSON value is, in a word or two. */
export function nameOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  if (typeof value === "string")
    return `the string ${JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value)}`;
  if (typeof value === "boolean") return String(value);
  return Number.isFinite(value)
    ? `the number ${plain(value as number)}`
    : "a number beyond what JSON can carry";
}

/** V8 quotes the source over several lines; the first says what is wrong. */
const firstLine = (message: string): string => (message.split("\n", 1)[0] as string).slice(0, 160);

/** Whether the text nests too deep, however malformed it is; one with few brackets need not be read for that. */
function nestsTooDeep(text: string): boolean {
  let openers = 0;
  for (const bracket of ["{", "["]) {
    for (
      let at = text.indexOf(bracket);
      at >= 0 && openers <= MAX_NESTING;
      at = text.indexOf(bracket, at + 1)
    ) {
      openers += 1;
    }
  }
  return openers > MAX_NESTING && nestingOf(text) > MAX_NESTING;
}

/** How deep the brackets outside strings nest, however malformed the text. */
function nestingOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (character === 0x22) index = endOfString(text, index);
    else if (character === 0x7b || character === 0x5b) deepest = Math.max(deepest, ++depth);
    else if (character === 0x7d || character === 0x5d) depth -= 1;
  }
  return deepest;
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes += 1;
  return backslashes % 2 === 1;
}
