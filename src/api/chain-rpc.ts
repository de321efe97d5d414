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
    id: id.optional().meta({ description: "Without one it is a notification, which nothing answers." }),
    method: z.string(),
    params: z.array(z.unknown()).nullish(),
  }),
);

/** What is sent to /chain (JSON-RPC 2.0). */
const rpcRequest = named("RpcRequest", z.union([call, z.array(call).min(1)]));

const result = exactly("RpcResult", { jsonrpc: version, id, result: z.unknown() });
const failure = exactly("RpcFailure", {
  jsonrpc: version,
  id,
  error: z.strictObject({ code: z.int(), message: z.string(), data: z.unknown().optional() }),
});
const answer = z.union([result, failure]);

/** What it answers when the whole request fails; of a batch, an error for each call that has an id. */
const rpcFailures = named("RpcFailures", z.union([failure, z.array(failure)]));

/** What it answers; of a batch, an answer for each call that has an id. */
const rpcReply = named("RpcReply", z.union([answer, z.array(answer)]));

/** Where errors are those of JSON-RPC. */
export const CHAIN_PATH = "/chain";

/** /chain: the settlement chain as a node of Ethereum shows it (contract, section 1). */
export const chainRpcEndpoints = endpoints("public", "Settlement chain", {
  callChain: {
    route: `POST ${CHAIN_PATH}`,
    summary:
      "Ethereum JSON-RPC: one call or a batch; what a call fails with is in the body of a 200. A WebSocket at the same path takes the same, one message a request, and eth_subscribe besides",
    body: { isRaw: true, schema: rpcRequest, required: true },
    reply: rpcReply,
    failure: rpcFailures,
    silence: "Nothing but notifications came",
    errors: ["ORIGIN_NOT_ALLOWED"],
  },
});

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
