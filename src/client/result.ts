import { ERRORS, nameOf } from "../api/errors.ts";
import type { ErrorCode } from "./api-messages.ts";
import type { HttpReply } from "./transport.ts";

/** Why a call failed before, or instead of, an answer that the contract knows. */
export type ClientCode =
  /** No whole reply came; whether the request was carried out is unknown, unless nobody listened. */
  | "CONNECTION_LOST"
  /** A reply came that is none of this API. */
  | "INVALID_REPLY"
  /** A signed request without credentials to sign with. */
  | "NOT_DERIVED"
  /** Credentials are to be derived without a wallet, or the wallet did not sign. */
  | "NO_WALLET";

/** A failed call, as a value. */
export interface ExchangeError {
  /** The server's code, or the client's own. */
  readonly code: ErrorCode | ClientCode;
  readonly message: string;
  /** The HTTP status; null when no reply came. */
  readonly status: number | null;
  /** What to do, or what was probably meant. */
  readonly hint: string | null;
  readonly details: Readonly<Record<string, unknown>> | null;
  /** The server's name for the request, as its log has it. */
  readonly requestId: string | null;
  /** Seconds after which the server asks to be tried again (Retry-After); null when it does not say. */
  readonly retryAfter: number | null;
}

/** What is not known of a request that got no reply. */
const UNANSWERED = { status: null, hint: null, details: null, requestId: null, retryAfter: null } as const;

/** Nobody listens there, or the name leads nowhere: the request was certainly not carried out. */
const UNREACHED = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

function hintFor(code: string | null): string | null {
  if (code !== null && UNREACHED.has(code)) return "is a server running there? clobsim serve starts one";
  // Node's own codes: it refused to send the request, or the other side's certificate.
  if (code?.startsWith("ERR_")) return null;
  return "the request may have been carried out: look before sending it again";
}

/** What became of a request whose transport rejected with `cause`; `details.cause` is the system's code for it. */
export function connectionLost(origin: string, cause: unknown): ExchangeError {
  const { code, message } = (cause ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  const name = typeof code === "string" ? code : null;
  // A host name with several addresses fails with an AggregateError, which has a code and no words.
  const reason = typeof message === "string" && message !== "" ? message : (name ?? String(cause));
  const details = name === null ? null : { cause: name };
  const said = `no reply from ${origin}: ${reason}`;
  return { ...UNANSWERED, code: "CONNECTION_LOST", message: said, hint: hintFor(name), details };
}

export const NOT_DERIVED: ExchangeError = {
  ...{ ...UNANSWERED, code: "NOT_DERIVED", message: "this client has no credentials to sign with" },
  hint: "call derive() first, or give the client credentials",
};

export const NO_WALLET: ExchangeError = {
  ...{ ...UNANSWERED, code: "NO_WALLET", message: "this client has no wallet to derive credentials with" },
  hint: "give the client an account: walletOf(privateKey) makes one",
};

export function unsigned(cause: unknown): ExchangeError {
  const reason = cause instanceof Error ? cause.message.split("\n", 1)[0] : String(cause);
  return { ...UNANSWERED, code: "NO_WALLET", message: `the wallet did not sign: ${reason}` };
}

/** What a call came to: a value, or why there is none. */
export type Result<Value> = Success<Value> | Failure;

interface Success<Value> {
  readonly ok: true;
  readonly value: Value;
}

interface Failure {
  readonly ok: false;
  readonly error: ExchangeError;
}

export const success = <Value>(value: Value): Success<Value> => ({ ok: true, value });

export const failure = (error: ExchangeError): Failure => ({ ok: false, error });

/** A failed call as something to throw; its message reads `CODE: message. hint`, after a question `CODE: message? hint`. */
export class ExchangeFailure extends Error {
  override readonly name = "ExchangeFailure";
  readonly error: ExchangeError;

  constructor(error: ExchangeError) {
    const { code, message, hint } = error;
    super(`${code}: ${message}${hint === null ? "" : `${/[.?!]$/.test(message) ? "" : "."} ${hint}`}`);
    this.error = error;
  }
}

/** The value of a result, for scripts that end at the first error. @throws ExchangeFailure when there is none. */
export function orThrow<Value>(result: Result<Value>): Value {
  if (result.ok) return result.value;
  throw new ExchangeFailure(result.error);
}

/** A reply as it came, with its text read as JSON. */
export interface RawReply extends HttpReply {
  /** Undefined when the text is no JSON. */
  readonly body: unknown;
}

type JsonObject = Readonly<Record<string, unknown>>;

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

const isCode = (code: unknown): code is ErrorCode => typeof code === "string" && Object.hasOwn(ERRORS, code);

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
