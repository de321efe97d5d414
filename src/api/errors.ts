import type { Command } from "../core/commands.ts";

/**
 * Where a code can occur besides the endpoints that list it: before routing ("server"), at every endpoint, at
 * signed endpoints, on the control plane, or at endpoints that take a body or injected faults.
 */
export type ErrorScope = "server" | "everywhere" | "signed" | "control" | "body" | "faults";

interface ErrorRow {
  readonly status: number;
  /** Further statuses of the code, such as those a gateway returns for an unavailable service. */
  readonly others: readonly number[];
  readonly means: string;
  readonly scope: ErrorScope | undefined;
}

/** `scope` is given only for codes that endpoints do not list themselves. */
const row = <const Scope extends ErrorScope | undefined = undefined>(
  status: number,
  means: string,
  scope?: Scope,
  others: readonly number[] = [],
) => ({ status, means, scope: scope as Scope, others });

/** All error codes of the API, in the order of the contract. */
const ROWS = {
  INVALID_JSON: row(400, "the body is not one JSON object in UTF-8, or nests deeper than 32 levels", "body"),
  INVALID_ORDER: row(400, "a field of the order is missing or has the wrong type"),
  INVALID_SIDE: row(400, "`side` is neither BUY nor SELL"),
  INVALID_ORDER_TYPE: row(400, "`orderType` is not GTC, GTD, FOK or FAK"),
  PRICE_OUT_OF_RANGE: row(400, "the price is not strictly between 0 and 1"),
  INVALID_TICK_SIZE: row(400, "the price is not a multiple of the market's tick size"),
  INVALID_SIZE: row(400, "the size is not above 0, above 10,000,000, or not a multiple of 0.01"),
  SIZE_TOO_SMALL: row(400, "the size is below the market's smallest order"),
  EXPIRATION_REQUIRED: row(400, "a GTD order has no expiration"),
  INVALID_EXPIRATION: row(400, "the expiration is not a time"),
  EXPIRATION_IN_PAST: row(400, "the expiration is not after the server's time"),
  EXPIRATION_NOT_ALLOWED: row(400, "an order of another type than GTD has an expiration"),
  INSUFFICIENT_BALANCE: row(400, "the account has too little available USDC, or too few available shares"),
  ORDER_ID_REQUIRED: row(400, "the id of the order to cancel is missing"),
  CONFLICTING_FIELDS: row(400, "a field is given twice with different values"),
  TOKEN_ID_REQUIRED: row(400, "`token_id` is missing from the query"),
  TOKEN_NOT_IN_MARKET: row(400, "the token does not belong to the given market"),
  INVALID_PARAMETER: row(
    400,
    "a parameter of path, query or body is invalid, is given twice, or is unknown where unknown fields are refused",
    "everywhere",
  ),
  QUERY_REQUIRED: row(400, "`q` is missing or blank"),
  INVALID_AUTH_PAYLOAD: row(400, "address, signature, timestamp or nonce of a derivation is malformed"),
  INVALID_HTTP: row(
    400,
    "the received bytes are not a valid HTTP/1.1 request, or its method is not registered",
    "server",
  ),
  MISSING_AUTH_HEADER: row(401, "one of the five headers of a signed request is missing", "signed"),
  DUPLICATE_AUTH_HEADER: row(401, "one of the five headers was sent twice", "signed"),
  INVALID_TIMESTAMP: row(401, "`poly_timestamp` is not Unix seconds", "signed"),
  TIMESTAMP_OUT_OF_WINDOW: row(
    401,
    "the timestamp is too far from the server's time: 30 s for a request, 300 s for a derivation",
    "signed",
  ),
  UNKNOWN_API_KEY: row(401, "the server has not issued this API key", "signed"),
  ADDRESS_MISMATCH: row(401, "the API key belongs to another wallet", "signed"),
  INVALID_PASSPHRASE: row(401, "the passphrase was not issued with this API key", "signed"),
  INVALID_SIGNATURE: row(
    401,
    "the signature is not the HMAC of this request; the hint names known mistakes",
    "signed",
  ),
  INVALID_WALLET_SIGNATURE: row(401, "the given wallet did not sign the message of this service"),
  SIM_TOKEN_REQUIRED: row(
    401,
    "the server was started with `--sim-token`, and the request does not carry it",
    "control",
  ),
  HOST_NOT_ALLOWED: row(403, "the Host header is not a name of this machine", "everywhere"),
  ORIGIN_NOT_ALLOWED: row(
    403,
    "a web page of another machine calls the control plane or the chain",
    "control",
  ),
  TOKEN_NOT_FOUND: row(404, "there is no such token"),
  MARKET_NOT_FOUND: row(404, "there is no such market"),
  EVENT_NOT_FOUND: row(404, "there is no such event"),
  ORDER_NOT_FOUND: row(404, "there is no such order, or it belongs to another account"),
  SNAPSHOT_NOT_FOUND: row(404, "there is no snapshot of this id or name"),
  FAULT_NOT_FOUND: row(404, "there is no fault of this id"),
  ROUTE_NOT_FOUND: row(
    404,
    "there is no such path; paths are case-sensitive and have no trailing slash",
    "server",
  ),
  METHOD_NOT_ALLOWED: row(405, "the path does not take this method; `Allow` names those it takes", "server"),
  REQUEST_TIMEOUT: row(408, "the request was not complete in time (`--request-timeout`)", "server"),
  MARKET_CLOSED: row(409, "the market is closed or resolved"),
  CREDENTIALS_ALREADY_DERIVED: row(
    409,
    "the wallet has derived credentials before, with `--credentials once`",
  ),
  LIMIT_REACHED: row(409, "the maximum number of faults or snapshots is reached"),
  SESSION_TOO_LONG: row(409, "the session is too long for a scenario or a report"),
  SESSION_NOT_RECORDABLE: row(409, "the session cannot be written as a scenario"),
  PAYLOAD_TOO_LARGE: row(
    413,
    "the body has more than 64 KiB, or 1 MiB on the control plane and the chain",
    "everywhere",
  ),
  UNSUPPORTED_MEDIA_TYPE: row(
    415,
    "the body is compressed, or its content type is not JSON in UTF-8",
    "everywhere",
  ),
  EXPECTATION_FAILED: row(417, "the request expects something other than 100-continue", "server"),
  RATE_LIMITED: row(429, "an injected fault", "faults"),
  HEADERS_TOO_LARGE: row(431, "request line and headers have more than 16 KiB", "server"),
  INTERNAL_ERROR: row(
    500,
    "an injected fault, or a defect of clobsim, which the server's log explains",
    "everywhere",
  ),
  UNAVAILABLE: row(
    503,
    "an injected fault; a failed write to the disk, after which the exchange is read-only; a report of a damaged journal; or too many readers of the live feed",
    "faults",
    [502, 504],
  ),
};

export type ErrorCode = keyof typeof ROWS;
export const ERRORS: Readonly<Record<ErrorCode, ErrorRow>> = ROWS;
export const ERROR_CODES = Object.keys(ROWS) as readonly ErrorCode[];

/** Codes whose row has a scope. */
export type CodeInScope<Scope extends ErrorScope> = {
  [Code in ErrorCode]: (typeof ROWS)[Code] extends { readonly scope: Scope } ? Code : never;
}[ErrorCode];

/** Returns all statuses of a code, the default first. */
export const statusesOf = (code: ErrorCode): readonly number[] => [
  ERRORS[code].status,
  ...ERRORS[code].others,
];

export interface ErrorHelp {
  /** What to do, or what the client probably meant. */
  readonly hint?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** Response headers that belong to the error, such as Allow. */
  readonly headers?: Readonly<Record<string, string>>;
  /** One of the code's `others`, in place of its default status. */
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
export const invalidFields = (message: string, ...fields: readonly string[]): ApiError =>
  new ApiError("INVALID_PARAMETER", message, { details: { fields } });

/** @throws ApiError `LIMIT_REACHED` if the maximum number of items exists already */
export function requireBelowLimit(count: number, maximum: number, items: string, hint: string): void {
  if (count < maximum) return;
  const message = `expected at most ${maximum} ${items}, found ${maximum} already`;
  throw new ApiError("LIMIT_REACHED", message, { hint, details: { maximum } });
}

/** Adds the path prefix of an exchange to the endpoints in a hint, such as `GET /sim`; a route in quotes is a value. */
const withPrefix = (hint: string, prefix: string): string =>
  hint.replace(/(?<=^|\s)(GET|POST|DELETE|mean) (?=\/)/g, `$1 ${prefix}`);

/** `prefix` is the path prefix of the exchange if it is one of a pool: `/3`. */
export function errorBody(error: ApiError, requestId: string, prefix = ""): Record<string, unknown> {
  const { hint, details } = error.help;
  return {
    error: error.message,
    code: error.code,
    status: error.status,
    ...(hint === undefined ? {} : { hint: withPrefix(hint, prefix) }),
    ...(details === undefined ? {} : { details }),
    requestId,
  };
}

/** Formats a number for messages, without an exponent. */
export function plainNumber(value: number): string {
  const [, sign = "", digits = "", fraction = "", exponent = ""] =
    /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(String(value)) ?? [];
  if (exponent === "") return String(value);
  const shift = Number(exponent);
  if (shift < 0) return `${sign}0.${"0".repeat(-shift - digits.length)}${digits}${fraction}`;
  return sign + (digits + fraction).padEnd(digits.length + shift, "0");
}

/** Describes a JSON value for a message. Strings are cut after 40 characters. */
export function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  if (typeof value === "string")
    return `the string ${JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value)}`;
  if (typeof value === "boolean") return String(value);
  return Number.isFinite(value)
    ? `the number ${plainNumber(value as number)}`
    : "a number that JSON cannot represent";
}
