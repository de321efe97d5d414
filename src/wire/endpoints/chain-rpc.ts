import { endpoint, NO_QUERY } from "../endpoint.ts";
import { rpcReply, rpcRequest } from "../schemas/chain-rpc.ts";

/** /chain: the settlement chain as a node of Ethereum shows it (contract, section 1). */
export const chainRpc = [
  endpoint({
    operation: "callChain",
    method: "POST",
    path: "/chain",
    access: "public",
    tag: "Settlement chain",
    summary: "Ethereum JSON-RPC: one call or a batch; what a call fails with is in the body of a 200",
    query: NO_QUERY,
    body: { isRaw: true, schema: rpcRequest, required: true },
    reply: rpcReply,
    silence: "Nothing but notifications came",
    errors: ["ORIGIN_NOT_ALLOWED"],
  }),
] as const;
