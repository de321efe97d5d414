import { endpoint, NO_QUERY } from "../endpoint.ts";
import { rpcFailures, rpcReply, rpcRequest } from "../schemas/chain-rpc.ts";

/** Where errors are those of JSON-RPC. */
export const CHAIN_PATH = "/chain";

/** /chain: the settlement chain as a node of Ethereum shows it (contract, section 1). */
export const chainRpc = [
  endpoint({
    operation: "callChain",
    method: "POST",
    path: CHAIN_PATH,
    access: "public",
    tag: "Settlement chain",
    summary: "Ethereum JSON-RPC: one call or a batch; what a call fails with is in the body of a 200",
    query: NO_QUERY,
    body: { isRaw: true, schema: rpcRequest, required: true },
    reply: rpcReply,
    failure: rpcFailures,
    silence: "Nothing but notifications came",
    errors: ["ORIGIN_NOT_ALLOWED"],
  }),
] as const;
