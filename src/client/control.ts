import type { Route } from "../api/endpoints.ts";
import type { StreamEntry } from "../api/event-stream.ts";
import type { Chain, Market, RecordedScenario, Snapshot, WinningOutcome } from "./api-messages.ts";
import type { Connection } from "./connection.ts";
import { CHAIN_CALLS, type ChainCalls, CONTROL_CALLS, type ControlCalls } from "./control-calls.ts";
import type { Result } from "./result.ts";
import { follow, type StreamOptions } from "./stream.ts";

/** `/sim/chain`: mining of blocks and faults of settlements. */
interface ChainControl extends ChainCalls {
  /** Mines blocks immediately, by default one; the first contains all pending transactions. */
  mine(blocks?: number): Promise<Result<Chain>>;
}

/** The control plane `/sim`, which is not part of the imitated service. Values are the bodies of its replies. */
export interface ControlPlane extends ControlCalls {
  readonly chain: ChainControl;
  resolve(idOrSlug: string, winningOutcome: WinningOutcome): Promise<Result<Market>>;
  /** Takes a snapshot of books, accounts, clock, timers and id counters. */
  snapshot(name?: string): Promise<Result<Snapshot>>;
  /** Returns the session since the exchange was opened as a scenario that passes. */
  scenario(name?: string): Promise<Result<RecordedScenario>>;
  /** Returns a bug report with which another machine can replay the session: JSON lines, the content of a report file. */
  report(reason?: string): Promise<Result<string>>;
  /**
   * Yields the entries of the live feed. Reconnects after the last entry when the connection is lost, until `signal` aborts
   * or the caller stops iterating. @throws ExchangeFailure if the server refuses it or the first connection fails.
   */
  stream(options?: StreamOptions): AsyncIterable<StreamEntry>;
}

/** Returns the control plane over a connection. */
export const controlOf = (connection: Connection): ControlPlane => ({
  ...(callsOf(connection, CONTROL_CALLS) as ControlCalls),
  chain: {
    ...(callsOf(connection, CHAIN_CALLS) as ChainCalls),
    mine: (blocks = 1) => connection.ask("POST /sim/chain/mine", { body: { blocks } }),
  },
  resolve: (idOrSlug, winningOutcome) =>
    connection.ask("POST /sim/markets/{idOrSlug}/resolve", { path: [idOrSlug], body: { winningOutcome } }),
  snapshot: (name) => connection.ask("POST /sim/snapshots", name === undefined ? {} : { body: { name } }),
  scenario: (name) => connection.ask("GET /sim/scenario", { query: { name } }),
  report: (reason) => connection.askText("GET /sim/report", { query: { reason } }),
  stream: (options) => follow(connection, options),
});

/** Returns a call for each row of a table; it takes the path parameters, then the query of a GET or else the body. */
const callsOf = (connection: Connection, table: Readonly<Record<string, Route>>): unknown =>
  Object.fromEntries(
    Object.entries(table).map(([name, route]) => {
      const count = route.split("{").length - 1;
      const part = route.startsWith("GET") ? "query" : "body";
      const call = (...args: unknown[]) =>
        connection.ask(route, { path: args.slice(0, count) as string[], [part]: args[count] });
      return [name, call];
    }),
  );
