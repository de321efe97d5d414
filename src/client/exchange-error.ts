import type { ErrorCode } from "../api/errors.ts";

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

/** An error of a request that got no reply. */
function unanswered(
  code: ClientCode,
  message: string,
  hint: string | null,
  details: ExchangeError["details"] = null,
): ExchangeError {
  return { code, message, status: null, hint, details, requestId: null, retryAfter: null };
}

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
  return unanswered("CONNECTION_LOST", `no reply from ${origin}: ${reason}`, hintFor(name), details);
}

export const notDerived = (): ExchangeError =>
  unanswered(
    "NOT_DERIVED",
    "this client has no credentials to sign with",
    "call derive() first, or give the client credentials",
  );

export const noWallet = (): ExchangeError =>
  unanswered(
    "NO_WALLET",
    "this client has no wallet to derive credentials with",
    "give the client an account: walletOf(privateKey) makes one",
  );

/** The wallet was asked and did not sign. */
export function unsigned(cause: unknown): ExchangeError {
  const reason = cause instanceof Error ? cause.message.split("\n", 1)[0] : String(cause);
  return unanswered("NO_WALLET", `the wallet did not sign: ${reason}`, null);
}
