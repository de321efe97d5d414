import { setTimeout as delay } from "node:timers/promises";
import { eventStreamReader, type StreamEntry, streamEntry } from "../api/event-stream.ts";
import { type Connection, targetOf } from "./connection.ts";
import { type ExchangeError, ExchangeFailure } from "./result.ts";
import type { EndSignal, OpenReply } from "./transport.ts";

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
export async function* follow(
  connection: Connection,
  { from, since, signal }: StreamOptions = {},
): AsyncGenerator<StreamEntry, void> {
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
    } else if (!isEnded() && !(isBegun && isTemporary(opened.error))) {
      throw new ExchangeFailure(opened.error);
    }
    // An abort during the wait is not an error.
    await delay(wait, undefined, { signal: signal as AbortSignal }).catch(() => {});
    wait = Math.min(wait * 2, MAX_WAIT_MS);
  }
}

/** Whether an error may be temporary, for example while the server restarts. */
const isTemporary = ({ code, status, details }: ExchangeError): boolean =>
  status === 503 || (code === "CONNECTION_LOST" && details?.cause !== "ERR_CLIENT_CLOSED");

/** Yields the events of a reply until the connection ends, with or without an error. */
async function* eventsIn({ body }: OpenReply) {
  const read = eventStreamReader();
  try {
    for await (const bytes of body) yield* read(bytes);
  } catch {}
}
