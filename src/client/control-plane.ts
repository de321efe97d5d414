import { ChainControl } from "./chain-control.ts";
import type { Connection } from "./connection.ts";
import type { PageWindow } from "./pages.ts";
import type * as reply from "./replies.ts";
import type * as request from "./requests.ts";
import type { Result } from "./result.ts";
import { route } from "./target.ts";

/** The control plane `/sim`, which is no part of the imitated service. Values are the bodies of its replies. */
export class ControlPlane {
  /** `/sim/chain`: blocks, what is pending, settlement faults. */
  readonly chain: ChainControl;
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.chain = new ChainControl(connection);
    this.#connection = connection;
  }

  /** Version, seed, clock, sequence, state hash, config, dev accounts. */
  info(): Promise<Result<reply.Info>> {
    return this.#get("/sim");
  }

  clock(): Promise<Result<reply.Clock>> {
    return this.#get("/sim/clock");
  }

  /** Freezes, scales, sets or advances the clock; answers what fired on the way. */
  setClock(change: request.NewClock): Promise<Result<reply.ClockChange>> {
    return this.#post("/sim/clock", change);
  }

  /** Starts anew from the opened world; credentials are forgotten with all else. */
  reset(): Promise<Result<reply.Info>> {
    return this.#post("/sim/reset");
  }

  account(address: string): Promise<Result<reply.Account>> {
    return this.#get(route`/sim/accounts/${address}`);
  }

  /** Oldest first. */
  accounts(window: PageWindow = {}): Promise<Result<reply.Page<reply.Account>>> {
    return this.#connection.ask({ path: "/sim/accounts", query: { ...window } });
  }

  /** Adds USDC, and shares by token id. */
  fund(address: string, funding: request.Funding): Promise<Result<reply.Account>> {
    return this.#post(route`/sim/accounts/${address}/fund`, funding);
  }

  createEvent(event: request.NewEvent): Promise<Result<reply.MarketEvent>> {
    return this.#post("/sim/events", event);
  }

  createMarket(market: request.NewMarket): Promise<Result<reply.Market>> {
    return this.#post("/sim/markets", market);
  }

  /** Ends a market's trading; what rests is canceled. */
  close(idOrSlug: string): Promise<Result<reply.Market>> {
    return this.#post(route`/sim/markets/${idOrSlug}/close`);
  }

  resolve(idOrSlug: string, winningOutcome: request.WinningOutcome): Promise<Result<reply.Market>> {
    return this.#post(route`/sim/markets/${idOrSlug}/resolve`, { winningOutcome });
  }

  /** Why an order is where it is: the queue it joined, every fill, what ended it. */
  order(id: string): Promise<Result<reply.OrderStory>> {
    return this.#get(route`/sim/orders/${id}`);
  }

  /** Each invariant with its figures. */
  invariants(): Promise<Result<reply.Invariants>> {
    return this.#get("/sim/invariants");
  }

  /** The whole state, canonical. */
  state(): Promise<Result<reply.State>> {
    return this.#get("/sim/state");
  }

  stateHash(): Promise<Result<reply.StateHash>> {
    return this.#get("/sim/state/hash");
  }

  /** Why a signed request would be a 401. */
  explainAuth(pasted: request.PastedRequest): Promise<Result<reply.AuthExplanation>> {
    return this.#post("/sim/explain-auth", pasted);
  }

  /** All that was done since the exchange was opened, as a scenario that passes. */
  scenario(name?: string): Promise<Result<reply.RecordedScenario>> {
    return this.#connection.ask({ path: "/sim/scenario", query: { name } });
  }

  /** All that another machine needs to replay what was done, a JSON object a line: the content of a report's file. */
  report(reason?: string): Promise<Result<string>> {
    return this.#connection.askText({ path: "/sim/report", query: { reason } });
  }

  /** Keeps books, accounts, clock, timers and id counters as they stand. */
  snapshot(name?: string): Promise<Result<reply.Snapshot>> {
    return this.#post("/sim/snapshots", name === undefined ? undefined : { name });
  }

  /** Oldest first. */
  snapshots(window: PageWindow = {}): Promise<Result<reply.Page<reply.Snapshot>>> {
    return this.#connection.ask({ path: "/sim/snapshots", query: { ...window } });
  }

  /** Goes back to a snapshot, by its id or name; of several with one name to the latest. */
  restore(idOrName: string): Promise<Result<reply.Info>> {
    return this.#post(route`/sim/snapshots/${idOrName}/restore`);
  }

  /** Forgets a snapshot, and answers it. */
  deleteSnapshot(idOrName: string): Promise<Result<reply.Snapshot>> {
    return this.#delete(route`/sim/snapshots/${idOrName}`);
  }

  /** Injects a fault into `/api` and `/clob`. */
  addFault(fault: request.NewFault): Promise<Result<reply.Fault>> {
    return this.#post("/sim/faults", fault);
  }

  /** Oldest first, with how often each has fired. */
  faults(window: PageWindow = {}): Promise<Result<reply.Page<reply.Fault>>> {
    return this.#connection.ask({ path: "/sim/faults", query: { ...window } });
  }

  /** Removes a fault, and answers it as it stood. */
  deleteFault(id: string): Promise<Result<reply.Fault>> {
    return this.#delete(route`/sim/faults/${id}`);
  }

  clearFaults(): Promise<Result<reply.RemovedFaults>> {
    return this.#delete("/sim/faults");
  }

  #get<Value>(path: string): Promise<Result<Value>> {
    return this.#connection.ask({ path });
  }

  #post<Value>(path: string, body?: object): Promise<Result<Value>> {
    return this.#connection.ask({ method: "POST", path, ...(body && { body }) });
  }

  #delete<Value>(path: string): Promise<Result<Value>> {
    return this.#connection.ask({ method: "DELETE", path });
  }
}
