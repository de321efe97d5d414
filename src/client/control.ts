import type { Route } from "../api/endpoints.ts";
import type { StreamEntry } from "../api/event-stream.ts";
import type { Chain, Market, RecordedScenario, Snapshot, WinningOutcome } from "./api-messages.ts";
import type { Connection } from "./connection.ts";
import { CHAIN_CALLS, type ChainCalls, CONTROL_CALLS, type ControlCalls } from "./control-calls.ts";
import type { Result } from "./result.ts";
import { follow, type StreamOptions } from "./stream.ts";

/** `/sim/chain`: when blocks are mined, and what goes wrong with settlements. */
interface ChainControl extends ChainCalls {
  /** Mines blocks at once, one unless told otherwise; all that is pending is in the first. */
  mine(blocks?: number): Promise<Result<Chain>>;
}

/** The control plane `/sim`, which is no part of the imitated service. Values are the bodies of its replies. */
export interface ControlPlane extends ControlCalls {
  readonly chain: ChainControl;
  resolve(idOrSlug: string, winningOutcome: WinningOutcome): Promise<Result<Market>>;
  /** Keeps books, accounts, clock, timers and id counters as they stand. */
  snapshot(name?: string): Promise<Result<Snapshot>>;
  /** All that was done since the exchange was opened, as a scenario that passes. */
  scenario(name?: string): Promise<Result<RecordedScenario>>;
  /** All that another machine needs to replay what was done, a JSON object a line: the content of a report's file. */
  report(reason?: string): Promise<Result<string>>;
  /**
   * What the exchange does, as it happens. Goes on behind the last entry when the connection is lost, until `signal` ends it
   * or nobody reads on. @throws ExchangeFailure when the server refuses it, or is not there at first.
   */
  stream(options?: StreamOptions): AsyncIterable<StreamEntry>;
}

/** The control plane that a connection leads to. */
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

/** A call for each row of a table: it takes the parameters of the path, then the query of a GET or the body of all others. */
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
