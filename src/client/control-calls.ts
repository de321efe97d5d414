import type { AnyEndpoint, BodyAt, OperationAt, QueryAt, Route } from "../api/endpoints.ts";
import type { ReplyTo } from "./api-messages.ts";
import type { Result } from "./result.ts";

// Calls of the control plane and their routes. `bin/setup/published-types.ts` writes them out for the package, each with
// the summary of its endpoint.

type Table = Readonly<Record<string, Route<Exclude<AnyEndpoint, { readonly access: "signed" }>>>>;

/** `/sim/chain` */
export const CHAIN_CALLS = {
  info: "GET /sim/chain",
  blocks: "GET /sim/chain/blocks",
  pending: "GET /sim/chain/pending",
  supply: "GET /sim/chain/supply/{idOrSlug}",
  bump: "POST /sim/chain/bump",
  faults: "GET /sim/chain/faults",
  addFault: "POST /sim/chain/faults",
  deleteFault: "DELETE /sim/chain/faults/{id}",
  clearFaults: "DELETE /sim/chain/faults",
} as const satisfies Table;

/** `/sim` */
export const CONTROL_CALLS = {
  info: "GET /sim",
  clock: "GET /sim/clock",
  setClock: "POST /sim/clock",
  reset: "POST /sim/reset",
  account: "GET /sim/accounts/{address}",
  accounts: "GET /sim/accounts",
  fund: "POST /sim/accounts/{address}/fund",
  credentials: "POST /sim/accounts/{address}/credentials",
  createEvent: "POST /sim/events",
  createMarket: "POST /sim/markets",
  close: "POST /sim/markets/{idOrSlug}/close",
  order: "GET /sim/orders/{id}",
  invariants: "GET /sim/invariants",
  state: "GET /sim/state",
  stateHash: "GET /sim/state/hash",
  explainAuth: "POST /sim/explain-auth",
  journal: "GET /sim/journal",
  snapshots: "GET /sim/snapshots",
  restore: "POST /sim/snapshots/{idOrName}/restore",
  deleteSnapshot: "DELETE /sim/snapshots/{idOrName}",
  addFault: "POST /sim/faults",
  faults: "GET /sim/faults",
  deleteFault: "DELETE /sim/faults/{id}",
  clearFaults: "DELETE /sim/faults",
  bots: "GET /sim/bots",
  startBots: "POST /sim/bots",
  endBots: "DELETE /sim/bots",
} as const satisfies Table;

type PathParameters<Path extends string> = Path extends `${string}{${string}}${infer Rest}`
  ? [parameter: string, ...PathParameters<Rest>]
  : [];

/** Takes the path parameters, then the body or the optional query. */
type Call<R extends Route> = (
  ...args: [
    ...PathParameters<R>,
    ...([BodyAt<R>] extends [never]
      ? [keyof QueryAt<R>] extends [never]
        ? []
        : [query?: QueryAt<R>]
      : [body: BodyAt<R>]),
  ]
) => Promise<Result<ReplyTo<OperationAt<R>>>>;

/** One call for each row of a table. */
type CallsOf<T extends Table> = { readonly [Name in keyof T]: Call<T[Name]> };

export type ChainCalls = CallsOf<typeof CHAIN_CALLS>;
export type ControlCalls = CallsOf<typeof CONTROL_CALLS>;
