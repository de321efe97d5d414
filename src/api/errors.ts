import type { Command } from "../core/commands.ts";
import { plainNumber, quoted } from "../core/format.ts";

/** All error codes of the API in the order of the contract, by status, with their meanings. */
const ROWS = {
  400: {
    INVALID_JSON: "the body is not one JSON object in UTF-8, or nests deeper than 32 levels",
    INVALID_ORDER: "a field of the order is missing or has the wrong type",
    INVALID_SIDE: "`side` is neither BUY nor SELL",
    INVALID_ORDER_TYPE: "`orderType` is not GTC, GTD, FOK or FAK",
    PRICE_OUT_OF_RANGE: "the price is not strictly between 0 and 1",
    INVALID_TICK_SIZE: "the price is not a multiple of the market's tick size",
    INVALID_SIZE: "the size is not above 0, above 10,000,000, or not a multiple of 0.01",
    SIZE_TOO_SMALL: "the size is below the market's smallest order",
    EXPIRATION_REQUIRED: "a GTD order has no expiration",
    INVALID_EXPIRATION: "the expiration is not a time",
    EXPIRATION_IN_PAST: "the expiration is not after the server's time",
    EXPIRATION_NOT_ALLOWED: "an order of another type than GTD has an expiration",
    INSUFFICIENT_BALANCE: "the account has too little available USDC, or too few available shares",
    ORDER_ID_REQUIRED: "the id of the order to cancel is missing",
    CONFLICTING_FIELDS: "a field is given twice with different values",
    TOKEN_ID_REQUIRED: "`token_id` is missing from the query",
    TOKEN_NOT_IN_MARKET: "the token does not belong to the given market",
    INVALID_PARAMETER:
      "a parameter of path, query or body is invalid, is given twice, or is unknown where unknown fields are refused",
    QUERY_REQUIRED: "`q` is missing or blank",
    INVALID_AUTH_PAYLOAD: "address, signature, timestamp or nonce of a derivation is malformed",
    INVALID_HTTP: "the received bytes are not a valid HTTP/1.1 request, or its method is not registered",
  },
  401: {
    MISSING_AUTH_HEADER: "one of the five headers of a signed request is missing",
    DUPLICATE_AUTH_HEADER: "one of the five headers was sent twice",
    INVALID_TIMESTAMP: "`poly_timestamp` is not Unix seconds",
    TIMESTAMP_OUT_OF_WINDOW:
      "the timestamp is too far from the server's time: 30 s for a request, 300 s for a derivation",
    UNKNOWN_API_KEY: "the server has not issued this API key",
    ADDRESS_MISMATCH: "the API key belongs to another wallet",
    INVALID_PASSPHRASE: "the passphrase was not issued with this API key",
    INVALID_SIGNATURE: "the signature is not the HMAC of this request; the hint names known mistakes",
    INVALID_WALLET_SIGNATURE: "the given wallet did not sign the message of this service",
    SIM_TOKEN_REQUIRED: "the server was started with `--sim-token`, and the request does not carry it",
  },
  403: {
    HOST_NOT_ALLOWED: "the Host header is not a name of this machine",
    ORIGIN_NOT_ALLOWED: "a web page of another machine calls the control plane or the chain",
  },
  404: {
    TOKEN_NOT_FOUND: "there is no such token",
    MARKET_NOT_FOUND: "there is no such market",
    EVENT_NOT_FOUND: "there is no such event",
    ORDER_NOT_FOUND: "there is no such order, or it belongs to another account",
    SNAPSHOT_NOT_FOUND: "there is no snapshot of this id or name",
    FAULT_NOT_FOUND: "there is no fault of this id",
    ROUTE_NOT_FOUND: "there is no such path; paths are case-sensitive and have no trailing slash",
  },
  405: { METHOD_NOT_ALLOWED: "the path does not take this method; `Allow` names those it takes" },
  408: { REQUEST_TIMEOUT: "the request was not complete in time (`--request-timeout`)" },
  409: {
    MARKET_CLOSED: "the market is closed or resolved",
    CREDENTIALS_ALREADY_DERIVED: "the wallet has derived credentials before, with `--credentials once`",
    LIMIT_REACHED: "the maximum number of faults or snapshots is reached",
    SESSION_TOO_LONG: "the session is too long for a list of its inputs, a scenario or a report",
    SESSION_NOT_RECORDABLE: "the session cannot be written as a scenario",
  },
  413: { PAYLOAD_TOO_LARGE: "the body has more than 64 KiB, or 1 MiB on the control plane and the chain" },
  415: { UNSUPPORTED_MEDIA_TYPE: "the body is compressed, or its content type is not JSON in UTF-8" },
  417: { EXPECTATION_FAILED: "the request expects something other than 100-continue" },
  429: { RATE_LIMITED: "an injected fault" },
  431: { HEADERS_TOO_LARGE: "request line and headers have more than 16 KiB" },
  500: { INTERNAL_ERROR: "an injected fault, or a defect of clobsim, which the server's log explains" },
  503: {
    UNAVAILABLE:
      "an injected fault; a failed write to the disk, after which the exchange is read-only; a report of a damaged journal; or too many readers of the live feed",
  },
};
type Rows = typeof ROWS;

export type ErrorCode = { [Status in keyof Rows]: keyof Rows[Status] }[keyof Rows];

/**
 * Codes that endpoints do not list themselves, by where they occur: before routing ("server"), at every endpoint, at
 * signed endpoints, on the control plane, or at endpoints that take a body or injected faults.
 */
export const ERROR_SCOPES = {
  server: [
    "INVALID_HTTP",
    "ROUTE_NOT_FOUND",
    "METHOD_NOT_ALLOWED",
    "REQUEST_TIMEOUT",
    "EXPECTATION_FAILED",
    "HEADERS_TOO_LARGE",
  ],
  everywhere: [
    "INVALID_PARAMETER",
    "HOST_NOT_ALLOWED",
    "PAYLOAD_TOO_LARGE",
    "UNSUPPORTED_MEDIA_TYPE",
    "INTERNAL_ERROR",
  ],
  signed: [
    "MISSING_AUTH_HEADER",
    "DUPLICATE_AUTH_HEADER",
    "INVALID_TIMESTAMP",
    "TIMESTAMP_OUT_OF_WINDOW",
    "UNKNOWN_API_KEY",
    "ADDRESS_MISMATCH",
    "INVALID_PASSPHRASE",
    "INVALID_SIGNATURE",
  ],
  control: ["SIM_TOKEN_REQUIRED", "ORIGIN_NOT_ALLOWED"],
  body: ["INVALID_JSON"],
  faults: ["RATE_LIMITED", "UNAVAILABLE"],
} as const satisfies Readonly<Record<string, readonly ErrorCode[]>>;
export type ErrorScope = keyof typeof ERROR_SCOPES;

export const ERRORS = Object.fromEntries(
  Object.entries(ROWS).flatMap(([status, codes]) =>
    Object.entries(codes).map(([code, means]) => [code, { status: Number(status), means }]),
  ),
) as Readonly<Record<ErrorCode, { readonly status: number; readonly means: string }>>;
export const isErrorCode = (code: unknown): code is ErrorCode =>
  typeof code === "string" && Object.hasOwn(ERRORS, code);
export const ERROR_CODES = Object.keys(ERRORS) as readonly ErrorCode[];

/** Returns all statuses of a code, the default first; a gateway returns the others for an unavailable service. */
export const statusesOf = (code: ErrorCode): readonly number[] =>
  code === "UNAVAILABLE" ? [503, 502, 504] : [ERRORS[code].status];

export interface ErrorHelp {
  /** What to do, or what the client probably meant. */
  readonly hint?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** Response headers that belong to the error, such as Allow. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Another status of the code than its default. */
  readonly status?: number;
}

/** An error sent to the client as an error body, whose `error` field is the message. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly help: ErrorHelp;
  /** The command that the rules refused; null if the request was refused before it became a command. */
  command: Command | null = null;

  constructor(code: ErrorCode, message: string, help: ErrorHelp = {}) {
    super(message);
    this.name = "ApiError";
    this.code = code;
    this.help = help;
  }

  get status(): number {
    return this.help.status ?? ERRORS[this.code].status;
  }
}

/** Returns an INVALID_PARAMETER error that lists the invalid fields. */
export const invalidFields = (message: string, fields: readonly string[], hint?: string): ApiError =>
  new ApiError("INVALID_PARAMETER", message, { hint, details: { fields } });

/** @throws ApiError `LIMIT_REACHED` if the maximum number of snapshots, or of faults of a kind, exists already */
export function requireBelowLimit(count: number, items: string, hint: string): void {
  const maximum = 1_000;
  if (count < maximum) return;
  const message = `expected at most ${maximum} ${items}, found ${maximum} already`;
  throw new ApiError("LIMIT_REACHED", message, { hint, details: { maximum } });
}

/** Adds the path prefix of an exchange to the endpoints in a hint, such as `GET /sim`; a route in quotes is a value. */
export const withPrefix = (hint: string | undefined, prefix: string): string | undefined =>
  hint?.replace(/(?<=^|\s)(GET|POST|DELETE|mean) (?=\/)/g, `$1 ${prefix}`);

/** `prefix` is the path prefix of the exchange if it is one of a pool: `/3`. */
export function errorBody(error: ApiError, requestId: string, prefix = ""): Record<string, unknown> {
  const { hint, details } = error.help;
  return {
    error: error.message,
    code: error.code,
    status: error.status,
    hint: withPrefix(hint, prefix),
    details,
    requestId,
  };
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Describes a JSON value for a message. Strings are cut after 40 characters. */
export function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  if (typeof value === "string") return `the string ${quoted(value, 40)}`;
  if (typeof value === "boolean") return String(value);
  return Number.isFinite(value)
    ? `the number ${plainNumber(value as number)}`
    : "a number that JSON cannot represent";
}
