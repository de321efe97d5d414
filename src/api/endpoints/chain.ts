import { endpoint, limit, NO_QUERY, offset } from "../endpoint.ts";
import { objectBody } from "../request-body.ts";
import * as schema from "../schemas/chain.ts";

const read = {
  method: "GET",
  access: "control",
  tag: "Settlement chain",
  query: NO_QUERY,
  body: null,
  errors: [],
} as const;
const write = { ...read, method: "POST" } as const;

/** /sim/chain: what the settlement chain does, and what goes wrong with it (contract, section 7). */
export const chain = [
  endpoint({
    ...read,
    operation: "getChain",
    path: "/sim/chain",
    summary: "Head, what is pending, when the next block is due, and the contracts",
    reply: schema.chain,
  }),
  endpoint({
    ...read,
    operation: "listBlocks",
    path: "/sim/chain/blocks",
    summary: "Blocks with their transactions, latest first",
    query: { limit: limit(20, 500), offset },
    reply: schema.blockPage,
  }),
  endpoint({
    ...read,
    operation: "listPendingTransactions",
    path: "/sim/chain/pending",
    summary: "What waits for a block or will never be mined, oldest first, and why",
    query: { limit: limit(50, 500), offset },
    reply: schema.transactionPage,
  }),
  endpoint({
    ...read,
    operation: "getSupply",
    path: "/sim/chain/supply/{idOrSlug}",
    summary: "Shares and locked USDC of a market, in the ledger and on the chain",
    reply: schema.supply,
    errors: ["MARKET_NOT_FOUND"],
  }),
  endpoint({
    ...write,
    operation: "mineBlocks",
    path: "/sim/chain/mine",
    summary: "Mine blocks at once, whatever the mode; answers the chain",
    body: objectBody(schema.mining, { required: false }),
    reply: schema.chain,
    errors: ["INVALID_PARAMETER"],
  }),
  endpoint({
    ...write,
    operation: "bumpFees",
    path: "/sim/chain/bump",
    summary: "Let the exchange raise its fees, so that a gas spike keeps nothing of its own out of a block",
    reply: schema.bumped,
  }),
  endpoint({
    ...read,
    operation: "listSettlementFaults",
    path: "/sim/chain/faults",
    summary: "Settlement faults in force, oldest first, and how often each has struck",
    query: { limit: limit(50, 500), offset },
    reply: schema.settlementFaultPage,
  }),
  endpoint({
    ...write,
    operation: "addSettlementFault",
    path: "/sim/chain/faults",
    summary: "Let settlements fail, be retried, delayed or lost; let gas spike; reorganize the chain",
    body: objectBody(schema.newSettlementFault),
    reply: schema.settlementFault,
    errors: ["INVALID_PARAMETER", "LIMIT_REACHED"],
  }),
  endpoint({
    ...read,
    operation: "removeSettlementFaults",
    method: "DELETE",
    path: "/sim/chain/faults",
    summary: "End all settlement faults",
    reply: schema.endedSettlementFaults,
  }),
  endpoint({
    ...read,
    operation: "removeSettlementFault",
    method: "DELETE",
    path: "/sim/chain/faults/{id}",
    summary: "End one settlement fault; answers it as it stood",
    reply: schema.settlementFault,
    errors: ["FAULT_NOT_FOUND"],
  }),
] as const;
