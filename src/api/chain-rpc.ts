import * as z from "zod";
import { endpoints } from "./endpoint.ts";
import { type ApiError, type ErrorCode, errorBody } from "./errors.ts";
import { exactly, named } from "./schemas.ts";

const version = z.literal("2.0");
const id = z.union([z.string(), z.int(), z.null()]);

const call = named(
  "RpcCall",
  z.object({
    jsonrpc: version,
    id: id.optional().describe("If left out, the call is a notification and gets no response."),
    method: z.string(),
    params: z.array(z.unknown()).nullish(),
  }),
);

/** Request to /chain (JSON-RPC 2.0). */
const rpcRequest = named("RpcRequest", z.union([call, z.array(call).min(1)]));

const result = exactly("RpcResult", { jsonrpc: version, id, result: z.unknown() });
const failure = exactly("RpcFailure", {
  jsonrpc: version,
  id,
  error: z.strictObject({ code: z.int(), message: z.string(), data: z.unknown().optional() }),
});
const answer = z.union([result, failure]);

/** Response if the whole request fails; for a batch, one error per call with an id. */
const rpcFailures = named("RpcFailures", z.union([failure, z.array(failure)]));

/** Response; for a batch, one per call with an id. */
const rpcReply = named("RpcReply", z.union([answer, z.array(answer)]));

/** Path whose errors are JSON-RPC errors. */
export const CHAIN_PATH = "/chain";

/** /chain: the settlement chain as an Ethereum JSON-RPC node (contract, section 1). */
export const chainRpcEndpoints = endpoints("public", "Settlement chain", {
  callChain: {
    route: `POST ${CHAIN_PATH}`,
    summary:
      "Ethereum JSON-RPC: one call or a batch; errors of calls are in the body of a 200. A WebSocket at the same path accepts the same, one request per message, and eth_subscribe",
    body: { isRaw: true, schema: rpcRequest, fields: [], required: true },
    reply: rpcReply,
    failure: rpcFailures,
    noContent: "The request contains only notifications",
    errors: ["ORIGIN_NOT_ALLOWED"],
  },
});

/** Error codes of /chain, from JSON-RPC 2.0, EIP-1474, EIP-1193 and common nodes (reverted calls). */
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

/** RPC code of each API error; others map to an invalid request. Clients such as viem retry the last three. */
const RPC_CODE_OF_ERROR: Partial<Readonly<Record<ErrorCode, keyof typeof RPC_CODES>>> = {
  HOST_NOT_ALLOWED: "UNAUTHORIZED",
  ORIGIN_NOT_ALLOWED: "UNAUTHORIZED",
  RATE_LIMITED: "LIMIT_EXCEEDED",
  INTERNAL_ERROR: "INTERNAL_ERROR",
  UNAVAILABLE: "INTERNAL_ERROR",
};

/**
 * Builds the response to a request to /chain that fails as a whole: a JSON-RPC error for its call, or for each call of
 * its batch, with the API's code, status and hint as `data`. The id is null if no call could be read.
 */
export function chainErrorBody(error: ApiError, requestId: string, request: Buffer | null, prefix: string) {
  const { error: message, ...data } = errorBody(error, requestId, prefix);
  const code = RPC_CODES[RPC_CODE_OF_ERROR[error.code] ?? "INVALID_REQUEST"];
  const failureOf = (id: unknown): object => ({ jsonrpc: "2.0", id, error: { code, message, data } });
  const calls = request === null ? null : callsIn(request);
  if (!Array.isArray(calls)) return failureOf(idOf(calls) ?? null);
  const ids = calls.map(idOf).filter((id) => id !== undefined);
  return ids.length === 0 ? failureOf(null) : ids.map(failureOf);
}

/** Parses a request; undefined if it is not JSON. */
function callsIn(request: Buffer): unknown {
  try {
    return JSON.parse(request.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Returns the id of a call; undefined for a notification or for a value that is not a call. */
function idOf(call: unknown): string | number | null | undefined {
  if (typeof call !== "object" || call === null || !("id" in call)) return undefined;
  return isRpcId(call.id) ? call.id : null;
}

/** Receives the notifications of one client's subscriptions. */
export interface NotificationSink {
  /** Whether it accepts more. When it does again, its owner calls `sendPending` of the client. */
  readonly hasRoom: boolean;
  /** Takes the JSON of a notification. */
  send(notification: string): void;
  /** Called with the defect that ends the notifications. */
  fail(defect: unknown): void;
}

/** Whether a value is a valid JSON-RPC id. */
export const isRpcId = (value: unknown): value is string | number | null =>
  value === null || typeof value === "string" || Number.isSafeInteger(value);
