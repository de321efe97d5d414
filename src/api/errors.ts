import type { Command } from "../core/commands.ts";

/**
 * Who answers a code beside the endpoints that name it: the server before it has found an endpoint, every endpoint, those that
 * are signed, the control plane, those that take parameters or a body, those that faults can be injected into.
 */
export type AnsweredBy = "server" | "everywhere" | "signed" | "control" | "parameters" | "body" | "faults";

interface ErrorRow {
  readonly status: number;
  /** Other statuses that it is answered with: what a gateway says of a service that is not there. */
  readonly others?: readonly number[];
  readonly means: string;
  readonly by?: AnsweredBy;
}

/** Every error code of the API, in the order of the contract. */
const ROWS = {
  INVALID_JSON: {
    status: 400,
    means: "the body is not one JSON object in UTF-8, or nests deeper than 32 levels",
    by: "body",
  },
  INVALID_ORDER: { status: 400, means: "a field of the order is missing or has the wrong type" },
  INVALID_SIDE: { status: 400, means: "`side` is a text other than BUY and SELL" },
  INVALID_ORDER_TYPE: { status: 400, means: "`orderType` is a text other than GTC, GTD, FOK and FAK" },
  PRICE_OUT_OF_RANGE: { status: 400, means: "the price is not strictly between 0 and 1" },
  INVALID_TICK_SIZE: { status: 400, means: "the price is not a multiple of the market's tick size" },
  INVALID_SIZE: {
    status: 400,
    means: "the size is not above 0, above 10,000,000, or not a multiple of 0.01",
  },
  SIZE_TOO_SMALL: { status: 400, means: "the size is below the market's smallest order" },
  EXPIRATION_REQUIRED: { status: 400, means: "a GTD order has no expiration" },
  INVALID_EXPIRATION: { status: 400, means: "the expiration is not a moment" },
  EXPIRATION_IN_PAST: { status: 400, means: "the expiration is not after the server's time" },
  EXPIRATION_NOT_ALLOWED: { status: 400, means: "an order of another type than GTD has an expiration" },
  INSUFFICIENT_BALANCE: {
    status: 400,
    means: "the account has too little USDC, or too few shares, that is not reserved",
  },
  ORDER_ID_REQUIRED: { status: 400, means: "the order to cancel is not named" },
  CONFLICTING_FIELDS: { status: 400, means: "one thing is given twice with different values" },
  TOKEN_ID_REQUIRED: { status: 400, means: "`token_id` is missing from the query" },
  TOKEN_NOT_IN_MARKET: {
    status: 400,
    means: "the token belongs to another market than the one that is named",
  },
  INVALID_PARAMETER: {
    status: 400,
    means:
      "a parameter of path, query or body is not what it should be, is given twice, or is unknown where that is refused",
    by: "parameters",
  },
  QUERY_REQUIRED: { status: 400, means: "the search has no words" },
  INVALID_AUTH_PAYLOAD: {
    status: 400,
    means: "address, signature, timestamp or nonce of a derivation is malformed",
  },
  INVALID_HTTP: { status: 400, means: "what was sent is no valid HTTP/1.1 request", by: "server" },
  MISSING_AUTH_HEADER: {
    status: 401,
    means: "one of the five headers of a signed request is missing",
    by: "signed",
  },
  DUPLICATE_AUTH_HEADER: { status: 401, means: "one of the five headers was sent twice", by: "signed" },
  INVALID_TIMESTAMP: { status: 401, means: "`poly_timestamp` is not Unix seconds", by: "signed" },
  TIMESTAMP_OUT_OF_WINDOW: {
    status: 401,
    means: "the timestamp is too far from the server's time: 30 s for a request, 300 s for a derivation",
    by: "signed",
  },
  UNKNOWN_API_KEY: { status: 401, means: "the server has not issued this API key", by: "signed" },
  ADDRESS_MISMATCH: { status: 401, means: "the API key belongs to another wallet", by: "signed" },
  INVALID_PASSPHRASE: { status: 401, means: "the passphrase was not issued with this API key", by: "signed" },
  INVALID_SIGNATURE: {
    status: 401,
    means:
      "the signature is not the HMAC of this request; the hint names the mistake where it is a known one",
    by: "signed",
  },
  INVALID_WALLET_SIGNATURE: {
    status: 401,
    means: "the wallet that is named did not sign the message of this service",
  },
  SIM_TOKEN_REQUIRED: {
    status: 401,
    means: "the server was started with `--sim-token`, and the request does not carry it",
    by: "control",
  },
  HOST_NOT_ALLOWED: { status: 403, means: "the Host header does not name this machine", by: "everywhere" },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    means: "a web page of another machine calls the control plane or the chain",
    by: "control",
  },
  TOKEN_NOT_FOUND: { status: 404, means: "there is no such token" },
  MARKET_NOT_FOUND: { status: 404, means: "there is no such market" },
  EVENT_NOT_FOUND: { status: 404, means: "there is no such event" },
  ORDER_NOT_FOUND: { status: 404, means: "there is no such order, or it belongs to somebody else" },
  SNAPSHOT_NOT_FOUND: { status: 404, means: "there is no snapshot of this id or name" },
  FAULT_NOT_FOUND: { status: 404, means: "there is no fault of this id in force" },
  ROUTE_NOT_FOUND: {
    status: 404,
    means: "there is no such path; paths are case-sensitive and have no trailing slash",
    by: "server",
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    means: "the path does not take this method; `Allow` names those it takes",
    by: "server",
  },
  REQUEST_TIMEOUT: {
    status: 408,
    means: "the request was not complete in time (`--request-timeout`)",
    by: "server",
  },
  MARKET_CLOSED: { status: 409, means: "the market is closed or resolved" },
  CREDENTIALS_ALREADY_DERIVED: {
    status: 409,
    means: "the wallet has derived credentials before, with `--credentials once`",
  },
  LIMIT_REACHED: { status: 409, means: "there are as many faults or snapshots as a server keeps" },
  SESSION_TOO_LONG: { status: 409, means: "the session is too long for a scenario or a report" },
  SESSION_NOT_RECORDABLE: { status: 409, means: "no scenario can do what the session did" },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    means: "the body has more than 64 KiB, or 1 MiB on the control plane and the chain",
    by: "everywhere",
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    means: "the body is compressed, or its content type is not JSON in UTF-8",
    by: "everywhere",
  },
  EXPECTATION_FAILED: {
    status: 417,
    means: "the request expects something other than 100-continue",
    by: "server",
  },
  RATE_LIMITED: { status: 429, means: "an injected fault", by: "faults" },
  HEADERS_TOO_LARGE: { status: 431, means: "request line and headers have more than 16 KiB", by: "server" },
  INTERNAL_ERROR: {
    status: 500,
    means: "an injected fault, or a defect of clobsim, which the server's log explains",
    by: "everywhere",
  },
  UNAVAILABLE: {
    status: 503,
    others: [502, 504],
    means: "an injected fault; or the disk took nothing more, and the exchange is read-only",
    by: "faults",
  },
} as const satisfies Readonly<Record<string, ErrorRow>>;

export type ErrorCode = keyof typeof ROWS;
export const ERRORS: Readonly<Record<ErrorCode, ErrorRow>> = ROWS;
export const ERROR_CODES = Object.keys(ROWS) as readonly ErrorCode[];

/** The codes of which the table says that they are answered by some. */
export type CodeBy<By extends AnsweredBy> = {
  [Code in ErrorCode]: (typeof ROWS)[Code] extends { readonly by: By } ? Code : never;
}[ErrorCode];

/** Every status that a code may be answered with, its usual one first. */
export const statusesOf = (code: ErrorCode): readonly number[] => [
  ERRORS[code].status,
  ...(ERRORS[code].others ?? []),
];

/** What helps the reader of an error beyond its sentence. */
export interface ErrorHelp {
  /** What to do, or what was probably meant. */
  readonly hint?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** Response headers that belong to the error, such as Allow. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Another of the code's statuses than its usual one. */
  readonly status?: number;
}

/** A request that is answered with an error body; its message is the body's `error`. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly help: ErrorHelp;
  /** The command that the rules refused; null where the request was refused before. */
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

/** A parameter that is not what it should be, and the fields that are to blame. */
export const invalidFields = (message: string, ...fields: readonly string[]): ApiError =>
  new ApiError("INVALID_PARAMETER", message, { details: { fields } });

/** Refuses one more of what a server keeps so many of. @throws ApiError `LIMIT_REACHED` */
export function requireRoom(kept: number, maximum: number, what: string, hint: string): void {
  if (kept < maximum) return;
  const message = `there are ${maximum} ${what}, and no more are kept`;
  throw new ApiError("LIMIT_REACHED", message, { hint, details: { maximum } });
}

/** The JSON body of an error (contract, section 1). */
export function errorBody(error: ApiError, requestId: string): Record<string, unknown> {
  const { hint, details } = error.help;
  return {
    error: error.message,
    code: error.code,
    status: error.status,
    ...(hint === undefined ? {} : { hint }),
    ...(details === undefined ? {} : { details }),
    requestId,
  };
}

/** A number in plain digits, never with an exponent, for messages. */
export function plain(value: number): string {
  const [, sign = "", digits = "", fraction = "", exponent = ""] =
    /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(String(value)) ?? [];
  if (exponent === "") return String(value);
  const shift = Number(exponent);
  if (shift < 0) return `${sign}0.${"0".repeat(-shift - digits.length)}${digits}${fraction}`;
  return sign + (digits + fraction).padEnd(digits.length + shift, "0");
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
