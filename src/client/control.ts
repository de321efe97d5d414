import { setTimeout as delay } from "node:timers/promises";
import type { Route } from "../api/endpoints.ts";
import { eventStreamReader, type StreamEntry, streamEntry } from "../api/event-stream.ts";
import type {
  Chain,
  Market,
  OrderPreview,
  RecordedScenario,
  Snapshot,
  WinningOutcome,
} from "./api-messages.ts";
import { type Connection, type NewOrder, orderBody, targetOf } from "./connection.ts";
import { CHAIN_CALLS, type ChainCalls, CONTROL_CALLS, type ControlCalls } from "./control-calls.ts";
import { type ExchangeError, ExchangeFailure, type Result, readReply, success } from "./result.ts";
import type { EndSignal, OpenReply } from "./transport.ts";

/** `/sim/chain`: mining of blocks and faults of settlements. */
interface ChainControl extends ChainCalls {
  /** Mines blocks immediately, by default one; the first contains all pending transactions. */
  mine(blocks?: number): Promise<Result<Chain>>;
}

/** The control plane `/sim`, which is not part of the imitated service. Values are the bodies of its replies. */
export interface ControlPlane extends ControlCalls {
  readonly chain: ChainControl;
  resolve(idOrSlug: string, winningOutcome: WinningOutcome): Promise<Result<Market>>;
  /** Previews an order of an address, without placing it. */
  preview(order: NewOrder & { readonly address: string }): Promise<Result<OrderPreview>>;
  /** Takes a snapshot of books, accounts, clock, timers and id counters. */
  snapshot(name?: string): Promise<Result<Snapshot>>;
  /** Returns the session since the exchange was opened as a scenario that passes. */
  scenario(name?: string): Promise<Result<RecordedScenario>>;
  /** Returns a bug report with which another machine can replay the session: JSON lines, the content of a report file. */
  report(reason?: string): Promise<Result<string>>;
  /**
   * Yields the entries of the live feed. Reconnects after the last entry when the connection is lost, until `signal` aborts,
   * the client is closed or the caller stops iterating. @throws ExchangeFailure if the server refuses it or the first
   * connection fails.
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
  preview: (order) => connection.ask("POST /sim/orders/preview", { body: orderBody(order) }),
  snapshot: (name) => connection.ask("POST /sim/snapshots", name === undefined ? {} : { body: { name } }),
  scenario: (name) => connection.ask("GET /sim/scenario", { query: { name } }),
  report: async (reason) => {
    const sent = await connection.send({ method: "GET", path: targetOf("/sim/report", { reason }) });
    if (!sent.ok) return sent;
    return sent.value.status === 200 ? success(sent.value.text) : readReply(sent.value);
  },
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

/** Start and end of following the live feed. */
export interface StreamOptions {
  /** Whether to begin at the start of the session or with the next entry; default `now`. */
  readonly from?: "start" | "now";
  /** Id of the entry after which to continue. */
  readonly since?: string;
  /** Ends the stream. */
  readonly signal?: EndSignal;
}

const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 2_000;

/** Yields the entries of the live feed, reconnecting as needed. @throws ExchangeFailure as `ControlPlane.stream` does. */
async function* follow(connection: Connection, options: StreamOptions = {}) {
  const { from, since, signal } = { ...options };
  let last = since;
  let isBegun = false;
  let wait = FIRST_WAIT_MS;
  const isEnded = (): boolean => signal?.aborted === true;
  while (!isEnded()) {
    const opened = await connection.open(targetOf("/sim/stream", { from, since: last }), signal);
    if (opened.ok) {
      isBegun = true;
      for await (const event of eventsIn(opened.value)) {
        last = event.id;
        wait = FIRST_WAIT_MS;
        yield streamEntry(event);
      }
    } else if (isBegun && opened.error.details?.cause === "ERR_CLIENT_CLOSED") {
      return;
    } else if (!isEnded() && !(isBegun && isTemporary(opened.error))) {
      throw new ExchangeFailure(opened.error);
    }
    // An abort during the wait is not an error.
    await delay(wait, undefined, { signal: signal as AbortSignal }).catch(() => {});
    wait = Math.min(wait * 2, MAX_WAIT_MS);
  }
}

/** Whether an error may be temporary, for example while the server restarts. */
const isTemporary = ({ code, status }: ExchangeError): boolean =>
  status === 503 || code === "CONNECTION_LOST";

/** Yields the events of a reply until the connection ends, with or without an error. */
async function* eventsIn({ body }: OpenReply) {
  const read = eventStreamReader();
  try {
    for await (const bytes of body) yield* read(bytes);
  } catch {}
}
