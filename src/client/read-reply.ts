import { type ErrorCode, STATUS } from "../api/errors.ts";
import { nameOf } from "../api/json-body.ts";
import type { ExchangeError } from "./exchange-error.ts";
import { failure, type Result } from "./result.ts";
import type { HttpReply } from "./transport.ts";

/** A reply as it came, with its text read as JSON. */
export interface RawReply extends HttpReply {
  /** Undefined when the text is no JSON. */
  readonly body: unknown;
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Reads the text of a reply. */
export function parseReply(reply: HttpReply): RawReply {
  try {
    return { ...reply, body: JSON.parse(reply.text) as unknown };
  } catch {
    return { ...reply, body: undefined };
  }
}

/** The body of a successful reply, which is believed to be what the contract says, or the error that it tells. */
export function readReply<Value>(reply: RawReply): Result<Value> {
  const { body, status } = reply;
  if (!isObject(body)) return failure(unreadable(reply));
  if (status >= 200 && status < 300) return { ok: true, value: body as Value };
  return failure(refusalIn(reply, body));
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isCode = (code: unknown): code is ErrorCode => typeof code === "string" && Object.hasOwn(STATUS, code);

const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);

/**
 * The seconds of Retry-After (RFC 9110, section 10.2.3), never below 0; a moment is counted from the reply's own Date, without
 * which nobody knows the server's clock. Null when there is none, or nothing that can be read.
 */
function secondsIn({ "retry-after": after = "", date = "" }: HttpReply["headers"]): number | null {
  if (/^\d{1,10}$/.test(after)) return Number(after);
  if (!HTTP_DATE.test(after) || !HTTP_DATE.test(date)) return null;
  const wait = Math.ceil((Date.parse(after) - Date.parse(date)) / 1000);
  return Number.isNaN(wait) ? null : Math.max(0, wait);
}

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** An error body (contract, section 1); one with a code that this version does not know is repeated in the details. */
function refusalIn(reply: RawReply, body: JsonObject): ExchangeError {
  const { code, error } = body;
  if (isCode(code) && typeof error === "string") {
    return {
      code,
      message: error,
      status: reply.status,
      hint: textOrNull(body.hint),
      details: isObject(body.details) ? body.details : null,
      requestId: textOrNull(body.requestId),
      retryAfter: secondsIn(reply.headers),
    };
  }
  const found = typeof code === "string" ? `code ${JSON.stringify(code)}` : "no code";
  return invalid(reply, `the reply ${reply.status} is no error that this client knows: ${found}`, body);
}

/** Says what came without repeating it: a reply may hold a secret. */
function unreadable(reply: RawReply): ExchangeError {
  const { status, body, headers } = reply;
  const type = headers["content-type"] ?? "of no type";
  const found = body === undefined ? `no JSON (${type})` : nameOf(body).replace(/^the string .*/, "a string");
  return invalid(reply, `the reply ${status} should be a JSON object, found ${found}`, null);
}

function invalid(reply: RawReply, message: string, details: ExchangeError["details"]): ExchangeError {
  return {
    code: "INVALID_REPLY",
    message,
    status: reply.status,
    hint: "is this the origin of a clobsim server? send() shows the reply as it came",
    details,
    requestId: reply.headers["x-request-id"] ?? null,
    retryAfter: secondsIn(reply.headers),
  };
}
