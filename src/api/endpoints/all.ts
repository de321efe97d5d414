import { chainRpc } from "../chain-rpc.ts";
import { endpoint, NO_QUERY } from "../endpoint.ts";
import { health, openApiReply } from "../schemas/control.ts";
import { chain } from "./chain.ts";
import { control } from "./control.ts";
import { faults } from "./faults.ts";
import { marketData } from "./market-data.ts";
import { orderBook } from "./order-book.ts";
import { recording } from "./recording.ts";
import { snapshots } from "./snapshots.ts";
import { trading } from "./trading.ts";

const service = [
  endpoint({
    operation: "getHealth",
    method: "GET",
    path: "/healthz",
    access: "public",
    tag: "Service",
    summary: "Whether the server answers",
    query: NO_QUERY,
    body: null,
    reply: health,
    errors: [],
  }),
  endpoint({
    operation: "getOpenApi",
    method: "GET",
    path: "/openapi.json",
    access: "public",
    tag: "Service",
    summary: "This document",
    query: NO_QUERY,
    body: null,
    reply: openApiReply,
    errors: [],
  }),
] as const;

const [getBook, ...otherReads] = orderBook;
const [placeOrder, ...otherTrading] = trading;

/** Every endpoint, the busiest first: the router tries them in this order. */
export const ENDPOINTS = [
  placeOrder,
  getBook,
  ...otherTrading,
  ...otherReads,
  ...marketData,
  ...control,
  ...snapshots,
  ...faults,
  ...chain,
  ...chainRpc,
  ...recording,
  ...service,
] as const;

export type AnyEndpoint = (typeof ENDPOINTS)[number];
export type Operation = AnyEndpoint["operation"];
export type EndpointOf<O extends Operation> = Extract<AnyEndpoint, { readonly operation: O }>;
