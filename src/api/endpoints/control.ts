import { endpoint, NO_QUERY } from "../endpoint.ts";
import { objectBody } from "../object-body.ts";
import { limit, offset } from "../params.ts";
import * as schema from "../schemas/control.ts";
import { event as eventSchema, market as marketSchema } from "../schemas/market-data.ts";

const read = {
  method: "GET",
  access: "control",
  tag: "Control plane",
  query: NO_QUERY,
  body: null,
  errors: [],
} as const;
const write = { ...read, method: "POST" } as const;

/** The control plane /sim (contract, section 7), not part of the imitated service. */
export const control = [
  endpoint({
    ...read,
    operation: "getInfo",
    path: "/sim",
    summary: "Version, seed, clock, sequence, state hash, config and dev accounts",
    reply: schema.info,
  }),
  endpoint({
    ...read,
    operation: "getClock",
    path: "/sim/clock",
    summary: "The virtual clock",
    reply: schema.clock,
  }),
  endpoint({
    ...write,
    operation: "setClock",
    path: "/sim/clock",
    summary: "Freeze, scale, set or advance the clock; answers what fired",
    body: objectBody(schema.newClock),
    reply: schema.clockChange,
    errors: ["INVALID_PARAMETER"],
  }),
  endpoint({
    ...write,
    operation: "reset",
    path: "/sim/reset",
    summary: "Start anew from the opened world: state, clock, timers and ids together",
    reply: schema.info,
  }),
  endpoint({
    ...read,
    operation: "getState",
    path: "/sim/state",
    summary: "The whole state as canonical JSON",
    reply: schema.state,
  }),
  endpoint({
    ...read,
    operation: "getStateHash",
    path: "/sim/state/hash",
    summary: "SHA-256 of the canonical state",
    reply: schema.stateHash,
  }),
  endpoint({
    ...read,
    operation: "getInvariants",
    path: "/sim/invariants",
    summary: "Each invariant with its figures",
    reply: schema.invariants,
  }),
  endpoint({
    ...read,
    operation: "listAccounts",
    path: "/sim/accounts",
    summary: "All accounts, oldest first",
    query: { limit: limit(50, 500), offset },
    reply: schema.accountPage,
  }),
  endpoint({
    ...read,
    operation: "getAccount",
    path: "/sim/accounts/{address}",
    summary: "Balances of one address",
    reply: schema.account,
    errors: ["INVALID_PARAMETER"],
  }),
  endpoint({
    ...write,
    operation: "fundAccount",
    path: "/sim/accounts/{address}/fund",
    summary: "Add USDC and shares; shares are minted as full sets",
    body: objectBody(schema.funding),
    reply: schema.account,
    errors: ["INVALID_PARAMETER", "TOKEN_NOT_FOUND"],
  }),
  endpoint({
    ...write,
    operation: "createEvent",
    path: "/sim/events",
    summary: "Create an event",
    body: objectBody(schema.newEvent),
    reply: eventSchema,
    errors: ["INVALID_PARAMETER"],
  }),
  endpoint({
    ...write,
    operation: "createMarket",
    path: "/sim/markets",
    summary: "Create a market, open at once",
    body: objectBody(schema.newMarket),
    reply: marketSchema,
    errors: ["INVALID_PARAMETER", "EVENT_NOT_FOUND"],
  }),
  endpoint({
    ...write,
    operation: "closeMarket",
    path: "/sim/markets/{idOrSlug}/close",
    summary: "End trading; what rests is canceled",
    reply: marketSchema,
    errors: ["MARKET_NOT_FOUND", "MARKET_CLOSED"],
  }),
  endpoint({
    ...write,
    operation: "resolveMarket",
    path: "/sim/markets/{idOrSlug}/resolve",
    summary: "Name the winner; what rests is canceled",
    body: objectBody(schema.resolution),
    reply: marketSchema,
    errors: ["INVALID_PARAMETER", "MARKET_NOT_FOUND", "MARKET_CLOSED"],
  }),
  endpoint({
    ...read,
    operation: "explainOrder",
    path: "/sim/orders/{id}",
    summary: "Why an order is where it is: queue joined, every fill, what ended it",
    reply: schema.orderStory,
    errors: ["ORDER_NOT_FOUND"],
  }),
  endpoint({
    ...write,
    operation: "explainAuth",
    path: "/sim/explain-auth",
    summary: "Why a signed request pasted in would be a 401",
    body: objectBody(schema.pastedRequest),
    reply: schema.authExplanation,
    errors: ["INVALID_PARAMETER"],
  }),
] as const;
