import type { Command } from "../core/commands.ts";

/** Every error code of the API with its HTTP status, in the order of the contract. */
export const STATUS = {
  INVALID_JSON: 400,
  INVALID_ORDER: 400,
  INVALID_SIDE: 400,
  INVALID_ORDER_TYPE: 400,
  PRICE_OUT_OF_RANGE: 400,
  INVALID_TICK_SIZE: 400,
  INVALID_SIZE: 400,
  SIZE_TOO_SMALL: 400,
  EXPIRATION_REQUIRED: 400,
  INVALID_EXPIRATION: 400,
  EXPIRATION_IN_PAST: 400,
  EXPIRATION_NOT_ALLOWED: 400,
  INSUFFICIENT_BALANCE: 400,
  ORDER_ID_REQUIRED: 400,
  CONFLICTING_FIELDS: 400,
  TOKEN_ID_REQUIRED: 400,
  TOKEN_NOT_IN_MARKET: 400,
  INVALID_PARAMETER: 400,
  QUERY_REQUIRED: 400,
  INVALID_AUTH_PAYLOAD: 400,
  INVALID_HTTP: 400,
  MISSING_AUTH_HEADER: 401,
  DUPLICATE_AUTH_HEADER: 401,
  INVALID_TIMESTAMP: 401,
  TIMESTAMP_OUT_OF_WINDOW: 401,
  UNKNOWN_API_KEY: 401,
  ADDRESS_MISMATCH: 401,
  INVALID_PASSPHRASE: 401,
  INVALID_SIGNATURE: 401,
  INVALID_WALLET_SIGNATURE: 401,
  SIM_TOKEN_REQUIRED: 401,
  HOST_NOT_ALLOWED: 403,
  ORIGIN_NOT_ALLOWED: 403,
  TOKEN_NOT_FOUND: 404,
  MARKET_NOT_FOUND: 404,
  EVENT_NOT_FOUND: 404,
  ORDER_NOT_FOUND: 404,
  SNAPSHOT_NOT_FOUND: 404,
  FAULT_NOT_FOUND: 404,
  ROUTE_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  MARKET_CLOSED: 409,
  CREDENTIALS_ALREADY_DERIVED: 409,
  LIMIT_REACHED: 409,
  SESSION_TOO_LONG: 409,
  SESSION_NOT_RECORDABLE: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  EXPECTATION_FAILED: 417,
  RATE_LIMITED: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL_ERROR: 500,
  UNAVAILABLE: 503,
} as const satisfies Record<string, number>;

export type ErrorCode = keyof typeof STATUS;

/** Codes that may be answered with other statuses too: what a gateway says of a service that is not there. */
const OTHER_STATUSES: Partial<Readonly<Record<ErrorCode, readonly number[]>>> = { UNAVAILABLE: [502, 504] };

/** Every status that a code may be answered with, its usual one first. */
export const statusesOf = (code: ErrorCode): readonly number[] => [
  STATUS[code],
  ...(OTHER_STATUSES[code] ?? []),
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
    return this.help.status ?? STATUS[this.code];
  }
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
