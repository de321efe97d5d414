import type { AnyEndpoint, BodyAt, QueryAt, Route } from "../api/endpoints.ts";
import type { StreamEntry } from "../api/event-stream.ts";
import type { Connection, ReplyAt } from "./connection.ts";
import type * as control from "./control-messages.ts";
import type { Result } from "./result.ts";
import type * as service from "./service-messages.ts";
import { follow, type StreamOptions } from "./stream.ts";

/** What a call answers, later. */
type Reply<Value> = Promise<Result<Value>>;

/** `/sim/chain`: when blocks are mined, and what goes wrong with settlements. */
export interface ChainControl {
  /** Head, what is pending, when the next block is due, and the contracts. */
  info(): Reply<control.Chain>;
  /** Latest first, with their transactions. */
  blocks(window?: service.PageWindow): Reply<service.Page<control.ChainBlock>>;
  /** What waits for a block or was lost, oldest first, and why. */
  pending(window?: service.PageWindow): Reply<service.Page<control.ChainTransaction>>;
  /** Shares and locked USDC of a market, in the ledger and on the chain. */
  supply(idOrSlug: string): Reply<control.MarketSupply>;
  /** Mines blocks at once, one unless told otherwise; all that is pending is in the first. */
  mine(blocks?: number): Reply<control.Chain>;
  /** Lets the exchange raise its fees: a gas spike keeps nothing of its own out of a block any more. */
  bump(): Reply<control.BumpedFees>;
  /** Oldest first, with how often each has struck. */
  faults(window?: service.PageWindow): Reply<service.Page<control.SettlementFault>>;
  /** Lets settlements fail, be retried, delayed or lost; lets gas spike; reorganizes the chain. */
  addFault(fault: control.NewSettlementFault): Reply<control.SettlementFault>;
  /** Ends a fault, and answers it as it stood. */
  deleteFault(id: string): Reply<control.SettlementFault>;
  clearFaults(): Reply<control.EndedSettlementFaults>;
}

/** The control plane `/sim`, which is no part of the imitated service. Values are the bodies of its replies. */
export interface ControlPlane {
  /** `/sim/chain`: blocks, what is pending, settlement faults. */
  readonly chain: ChainControl;
  /** Version, seed, clock, sequence, state hash, config, dev accounts. */
  info(): Reply<control.Info>;
  clock(): Reply<control.Clock>;
  /** Freezes, scales, sets or advances the clock; answers what fired on the way. */
  setClock(clock: control.NewClock): Reply<control.ClockChange>;
  /** Starts anew from the opened world; credentials are forgotten with all else. */
  reset(): Reply<control.Info>;
  account(address: string): Reply<control.Account>;
  /** Oldest first. */
  accounts(window?: service.PageWindow): Reply<service.Page<control.Account>>;
  /** Adds USDC, and shares by token id. */
  fund(address: string, funding: control.Funding): Reply<control.Account>;
  /** API credentials of any address without its wallet's signature: a new set each time, with funds the first time. */
  credentials(address: string): Reply<service.Credentials>;
  createEvent(event: control.NewEvent): Reply<service.MarketEvent>;
  createMarket(market: control.NewMarket): Reply<service.Market>;
  /** Ends a market's trading; what rests is canceled. */
  close(idOrSlug: string): Reply<service.Market>;
  resolve(idOrSlug: string, winningOutcome: service.WinningOutcome): Reply<service.Market>;
  /** Why an order is where it is: the queue it joined, every fill, what ended it. */
  order(id: string): Reply<control.OrderStory>;
  /** What an order would do now, without doing it: its refusal, or its fills, cost, rest and reservation. */
  preview(order: control.OrderToPreview): Reply<control.OrderPreview>;
  /** Each invariant with its figures. */
  invariants(): Reply<control.Invariants>;
  /** The whole state, canonical. */
  state(): Reply<control.State>;
  stateHash(): Reply<control.StateHash>;
  /** Why a signed request would be a 401. */
  explainAuth(request: control.PastedRequest): Reply<control.AuthExplanation>;
  /** Keeps books, accounts, clock, timers and id counters as they stand. */
  snapshot(name?: string): Reply<control.Snapshot>;
  /** Oldest first. */
  snapshots(window?: service.PageWindow): Reply<service.Page<control.Snapshot>>;
  /** Goes back to a snapshot, by its id or name; of several with one name to the latest. */
  restore(idOrName: string): Reply<control.Info>;
  /** Forgets a snapshot, and answers it. */
  deleteSnapshot(idOrName: string): Reply<control.Snapshot>;
  /** Injects a fault into `/api` and `/clob`. */
  addFault(fault: control.NewFault): Reply<control.Fault>;
  /** Oldest first, with how often each has fired. */
  faults(window?: service.PageWindow): Reply<service.Page<control.Fault>>;
  /** Removes a fault, and answers it as it stood. */
  deleteFault(id: string): Reply<control.Fault>;
  clearFaults(): Reply<control.RemovedFaults>;
  /** The bots that act, with what each has done. */
  bots(): Reply<control.Bots>;
  /** Lets the bots of a profile act from now on, in place of those that did. */
  startBots(bots: control.NewBots): Reply<control.Bots>;
  /** Ends them, and cancels the orders of all that ever acted. */
  endBots(): Reply<control.EndedBots>;
  /** All that was done since the exchange was opened, as a scenario that passes. */
  scenario(name?: string): Reply<control.RecordedScenario>;
  /** All that another machine needs to replay what was done, a JSON object a line: the content of a report's file. */
  report(reason?: string): Reply<string>;
  /**
   * What the exchange does, as it happens. Goes on behind the last entry when the connection is lost, until `signal` ends it
   * or nobody reads on. @throws ExchangeFailure when the server refuses it, or is not there at first.
   */
  stream(options?: StreamOptions): AsyncIterable<StreamEntry>;
}

const CHAIN_CALLS = {
  info: "GET /sim/chain",
  blocks: "GET /sim/chain/blocks",
  pending: "GET /sim/chain/pending",
  supply: "GET /sim/chain/supply/{idOrSlug}",
  bump: "POST /sim/chain/bump",
  faults: "GET /sim/chain/faults",
  addFault: "POST /sim/chain/faults",
  deleteFault: "DELETE /sim/chain/faults/{id}",
  clearFaults: "DELETE /sim/chain/faults",
} as const;

const CALLS = {
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
  preview: "POST /sim/orders/preview",
  explainAuth: "POST /sim/explain-auth",
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
} as const;

/** The control plane that a connection leads to. */
export const controlOf = (connection: Connection): ControlPlane => ({
  ...callsOf(connection, CALLS),
  chain: {
    ...callsOf(connection, CHAIN_CALLS),
    mine: (blocks = 1) => connection.ask("POST /sim/chain/mine", { body: { blocks } }),
  },
  resolve: (idOrSlug, winningOutcome) =>
    connection.ask("POST /sim/markets/{idOrSlug}/resolve", { path: [idOrSlug], body: { winningOutcome } }),
  snapshot: (name) => connection.ask("POST /sim/snapshots", name === undefined ? {} : { body: { name } }),
  scenario: (name) => connection.ask("GET /sim/scenario", { query: { name } }),
  report: (reason) => connection.askText("GET /sim/report", { query: { reason } }),
  stream: (options) => follow(connection, options),
});

type Table = Readonly<Record<string, Route<Exclude<AnyEndpoint, { readonly access: "signed" }>>>>;

type PathParameters<Path extends string> = Path extends `${string}{${string}}${infer Rest}`
  ? [parameter: string, ...PathParameters<Rest>]
  : [];

/** Takes the parameters of the path, then the body or the query, which may be left out where the endpoint can do without. */
type Call<R extends Route> = (
  ...args: [
    ...PathParameters<R>,
    ...([BodyAt<R>] extends [never]
      ? [keyof QueryAt<R>] extends [never]
        ? []
        : [query?: QueryAt<R>]
      : [body: BodyAt<R>]),
  ]
) => Promise<Result<ReplyAt<R>>>;

/** A call for each row of a table. */
function callsOf<T extends Table>(
  connection: Connection,
  table: T,
): { readonly [Name in keyof T]: Call<T[Name]> } {
  const calls = Object.entries(table).map(([name, route]) => {
    const [method, path = ""] = route.split(" ");
    const count = path.split("{").length - 1;
    const call = (...args: unknown[]) => {
      const sent = { [method === "GET" ? "query" : "body"]: args[count] };
      return connection.ask(route, { path: args.slice(0, count) as string[], ...sent });
    };
    return [name, call];
  });
  return Object.fromEntries(calls);
}
