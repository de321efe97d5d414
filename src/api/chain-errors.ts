import { type ApiError, type ErrorCode, errorBody } from "./errors.ts";

/** The error codes of /chain, after JSON-RPC 2.0, EIP-1474, EIP-1193 and what nodes say of reverted calls. */
export const RPC_CODES = {
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  INTERNAL_ERROR: -32603,
  SERVER_ERROR: -32000,
  RESOURCE_NOT_FOUND: -32001,
  TRANSACTION_REJECTED: -32003,
  LIMIT_EXCEEDED: -32005,
  UNAUTHORIZED: 4100,
  EXECUTION_REVERTED: 3,
} as const;

/** What the API's errors are at /chain; all others mean an invalid request. Clients such as viem retry the last three. */
const MEANT: Partial<Readonly<Record<ErrorCode, keyof typeof RPC_CODES>>> = {
  HOST_NOT_ALLOWED: "UNAUTHORIZED",
  ORIGIN_NOT_ALLOWED: "UNAUTHORIZED",
  RATE_LIMITED: "LIMIT_EXCEEDED",
  INTERNAL_ERROR: "INTERNAL_ERROR",
  UNAVAILABLE: "INTERNAL_ERROR",
};

/**
 * The body of an error that concerns a whole request to /chain: a JSON-RPC error for its call, or for each call of its
 * batch, with the API's own code, status and hint as `data`. Where no call is known, its id is null.
 */
export function chainErrorBody(error: ApiError, requestId: string, request: Buffer | null): object {
  const { error: message, ...data } = errorBody(error, requestId);
  const code = RPC_CODES[MEANT[error.code] ?? "INVALID_REQUEST"];
  const failureOf = (id: unknown): object => ({ jsonrpc: "2.0", id, error: { code, message, data } });
  const calls = request === null ? null : callsIn(request);
  if (!Array.isArray(calls)) return failureOf(idOf(calls) ?? null);
  const ids = calls.map(idOf).filter((id) => id !== undefined);
  return ids.length === 0 ? failureOf(null) : ids.map(failureOf);
}

/** What a request holds, undefined where that is no JSON. */
function callsIn(request: Buffer): unknown {
  try {
    return JSON.parse(request.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** The id of a call; undefined for a notification, and for what is no call. */
function idOf(call: unknown): string | number | null | undefined {
  if (typeof call !== "object" || call === null || !("id" in call)) return undefined;
  return isRpcId(call.id) ? call.id : null;
}

/** Whether a value is an id that an answer can repeat. */
export const isRpcId = (value: unknown): value is string | number | null =>
  value === null || typeof value === "string" || Number.isSafeInteger(value);
