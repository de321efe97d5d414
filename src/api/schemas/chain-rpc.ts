import * as z from "zod";
import { exactly, named } from "./registry.ts";

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
export const rpcRequest = named("RpcRequest", z.union([call, z.array(call).min(1)]));

const result = exactly("RpcResult", { jsonrpc: version, id, result: z.unknown() });
const failure = exactly("RpcFailure", {
  jsonrpc: version,
  id,
  error: z.strictObject({ code: z.int(), message: z.string(), data: z.unknown().optional() }),
});
const answer = z.union([result, failure]);

/** What it answers when the whole request fails; of a batch, an error for each call that has an id. */
export const rpcFailures = named("RpcFailures", z.union([failure, z.array(failure)]));

/** What it answers; of a batch, an answer for each call that has an id. */
export const rpcReply = named("RpcReply", z.union([answer, z.array(answer)]));
