import { describeValue, isErrorCode, isObject } from "../api/errors.ts";
import { NONCE_RULE } from "../api/wallet-signature.ts";
import type { ErrorCode, Page, PageWindow } from "./api-messages.ts";
import type { HttpReply } from "./transport.ts";

/** Error codes of the client, for calls without a reply of the contract. */
export type ClientCode =
  /** No complete reply was received. Whether the request was executed is unknown, unless the server was unreachable. */
  | "CONNECTION_LOST"
  /** The reply does not belong to this API. */
  | "INVALID_REPLY"
  /** A signed request needs credentials, and the client has none. */
  | "NOT_DERIVED"
  /** The client has no wallet to derive credentials with, or the wallet did not sign. */
  | "NO_WALLET";

/** A failed call, as a value. */
export interface ExchangeError {
  /** The server's code, or the client's own. */
  readonly code: ErrorCode | ClientCode;
  readonly message: string;
  /** HTTP status; null if no reply was received. */
  readonly status: number | null;
  /** Suggested action, or what was probably meant. */
  readonly hint: string | null;
  readonly details: Readonly<Record<string, unknown>> | null;
  /** Id of the request in the server's log. */
  readonly requestId: string | null;
  /** Seconds after which to retry (Retry-After); null if the server sent none. */
  readonly retryAfter: number | null;
}

/** Fields of an error without a reply. */
const UNANSWERED = { status: null, hint: null, details: null, requestId: null, retryAfter: null } as const;

/** System errors after which the request was certainly not executed: no listener, or the host was not found. */
const UNREACHED = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

function hintFor(code: string | null): string | null {
  if (code !== null && UNREACHED.has(code)) return "is a server running there? clobsim serve starts one";
  // Node's own codes: it refused the request or the server's certificate before sending.
  if (code?.startsWith("ERR_")) return null;
  return "the request may have been executed: check before sending it again";
}

/** Returns the error of a request whose transport rejected with `cause`; `details.cause` is its error code. */
export function connectionLost(origin: string, cause: unknown): ExchangeError {
  const { code, message } = (cause ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  const name = typeof code === "string" ? code : null;
  // A host name with several addresses fails with an AggregateError, which has a code and an empty message.
  const reason = typeof message === "string" && message !== "" ? message : (name ?? String(cause));
  const details = name === null ? null : { cause: name };
  const text = `no reply from ${origin}: ${reason}`;
  return { ...UNANSWERED, code: "CONNECTION_LOST", message: text, hint: hintFor(name), details };
}

export const NOT_DERIVED: ExchangeError = {
  ...{ ...UNANSWERED, code: "NOT_DERIVED", message: "this client has no credentials to sign with" },
  hint: "call derive() first, or give the client credentials",
};

export const NO_WALLET: ExchangeError = {
  ...{ ...UNANSWERED, code: "NO_WALLET", message: "this client has no wallet to derive credentials with" },
  hint: "give the client an account: walletOf(privateKey) makes one",
};

/** The error of the server for the same nonce, which no wallet can sign. */
export function invalidNonce(nonce: unknown): ExchangeError {
  const message = `nonce ${NONCE_RULE}, found ${nonce}`;
  return { ...UNANSWERED, code: "INVALID_AUTH_PAYLOAD", message, details: { field: "nonce" } };
}

export function unsigned(cause: unknown): ExchangeError {
  const reason = cause instanceof Error ? cause.message.split("\n", 1)[0] : String(cause);
  return { ...UNANSWERED, code: "NO_WALLET", message: `the wallet did not sign: ${reason}` };
}

/** Result of a call: a value or an error. */
export type Result<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: ExchangeError };

export const success = <Value>(value: Value): Result<Value> => ({ ok: true, value });

export const failure = (error: ExchangeError): Result<never> => ({ ok: false, error });

/** A failed call as an exception. Its message is `CODE: message. hint`, or `CODE: message? hint` after a question. */
export class ExchangeFailure extends Error {
  override readonly name = "ExchangeFailure";
  readonly error: ExchangeError;

  constructor(error: ExchangeError) {
    const { code, message, hint } = error;
    super(`${code}: ${message}${hint === null ? "" : `${/[.?!]$/.test(message) ? "" : "."} ${hint}`}`);
    this.error = error;
  }
}

/** Returns the value of a result, for scripts that end at the first error. @throws ExchangeFailure if there is none. */
export function orThrow<Value>(result: Result<Value>): Value {
  if (result.ok) return result.value;
  throw new ExchangeFailure(result.error);
}

/** An unchecked reply, with its text parsed as JSON. */
export interface RawReply extends HttpReply {
  /** undefined if the text is not JSON. */
  readonly body: unknown;
}

export function parseReply(reply: HttpReply): RawReply {
  try {
    return { ...reply, body: JSON.parse(reply.text) as unknown };
  } catch {
    return { ...reply, body: undefined };
  }
}

/** Returns the body of a successful reply, not checked against the contract, or the error in the reply. */
export function readReply<Value>(reply: RawReply): Result<Value> {
  const { body, status } = reply;
  if (!isObject(body)) return failure(unreadable(reply));
  if (status >= 200 && status < 300) return success(body as Value);
  return failure(refusalIn(reply, body));
}

const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);

/**
 * Returns the seconds of Retry-After (RFC 9110, section 10.2.3), never below 0. A date is relative to the reply's Date,
 * because the local clock may differ from the server's. null if the header, or the Date it needs, is missing or invalid.
 */
function secondsIn({ "retry-after": after = "", date = "" }: HttpReply["headers"]): number | null {
  if (/^\d{1,10}$/.test(after)) return Number(after);
  if (!HTTP_DATE.test(after) || !HTTP_DATE.test(date)) return null;
  const wait = Math.ceil((Date.parse(after) - Date.parse(date)) / 1000);
  return Number.isNaN(wait) ? null : Math.max(0, wait);
}

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Reads an error body (contract, section 1). A body with an unknown code goes into the details of `INVALID_REPLY`. */
function refusalIn(reply: RawReply, body: NonNullable<ExchangeError["details"]>): ExchangeError {
  const { code, error } = body;
  if (isErrorCode(code) && typeof error === "string") {
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
  return invalid(reply, `the reply ${reply.status} is not a known error: ${found}`, body);
}

/** Returns the error of a reply that is not a JSON object, without its content, which may hold a secret. */
function unreadable(reply: RawReply): ExchangeError {
  const { status, body, headers } = reply;
  const type = headers["content-type"] ?? "of no type";
  const found =
    body === undefined ? `invalid JSON (${type})` : describeValue(body).replace(/^the string .*/, "a string");
  return invalid(reply, `the reply ${status} should be a JSON object, found ${found}`, null);
}

function invalid(
  reply: Omit<HttpReply, "text">,
  message: string,
  details: ExchangeError["details"],
): ExchangeError {
  return {
    code: "INVALID_REPLY",
    message,
    status: reply.status,
    hint: "is this the origin of a clobsim server? send() returns the raw reply",
    details,
    requestId: reply.headers["x-request-id"] ?? null,
    retryAfter: secondsIn(reply.headers),
  };
}

type AskPage<Item> = (window: PageWindow) => Promise<Result<Page<Item>>>;

/**
 * Requests the pages of a list in order, up to the last page or the first error:
 * `pages((window) => client.trades({ market: "rain", ...window }))`. Offsets count from the front, so that an item may
 * come twice if newer items are added meanwhile.
 */
export async function* pages<Item>(
  ask: AskPage<Item>,
  first: PageWindow = {},
): AsyncGenerator<Result<Page<Item>>, void, undefined> {
  let offset = first?.offset ?? 0;
  for (;;) {
    const page = withData(await ask({ ...first, offset }));
    yield page;
    if (!page.ok || !page.value.hasMore || page.value.data.length === 0) return;
    offset += page.value.data.length;
  }
}

/** Returns a page, or an error if its list is missing, as in the reply of another service. */
function withData<Item>(page: Result<Page<Item>>): Result<Page<Item>> {
  if (!page.ok || Array.isArray(page.value.data)) return page;
  const message = `the reply 200 should be a page with a list data, found ${describeValue(page.value.data)}`;
  return failure(invalid({ status: 200, headers: {} }, message, null));
}

/** Returns all items of a list, requested page by page, or the first error. */
export async function collect<Item>(ask: AskPage<Item>, first: PageWindow = {}): Promise<Result<Item[]>> {
  const items: Item[] = [];
  for await (const page of pages(ask, first)) {
    if (!page.ok) return page;
    for (const item of page.value.data) items.push(item);
  }
  return success(items);
}
