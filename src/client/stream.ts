import { setTimeout as delay } from "node:timers/promises";
import { eventStreamReader, type StreamEntry, streamEntry } from "../api/event-stream.ts";
import { type Connection, targetOf } from "./connection.ts";
import { type ExchangeError, ExchangeFailure } from "./result.ts";
import type { EndSignal, OpenReply } from "./transport.ts";

/** Where a client begins to follow an exchange, and for how long it does. */
export interface StreamOptions {
  /** With the session from its start, or with what comes next; default `now`. */
  readonly from?: "start" | "now";
  /** The id of the entry behind which it goes on. */
  readonly after?: string;
  /** Ends it. */
  readonly signal?: EndSignal;
}

const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 2_000;

/** The entries of the live feed, over as many connections as it takes. @throws ExchangeFailure */
export async function* follow(
  connection: Connection,
  { from, after, signal }: StreamOptions = {},
): AsyncGenerator<StreamEntry, void> {
  let last = after;
  let isBegun = false;
  let wait = FIRST_WAIT_MS;
  const isEnded = (): boolean => signal?.aborted === true;
  while (!isEnded()) {
    const opened = await connection.open(targetOf("/sim/stream", { from, after: last }), signal);
    if (opened.ok) {
      isBegun = true;
      for await (const event of eventsIn(opened.value)) {
        last = event.id;
        wait = FIRST_WAIT_MS;
        yield streamEntry(event);
      }
    } else if (!isEnded() && !(isBegun && mayPass(opened.error))) {
      throw new ExchangeFailure(opened.error);
    }
    // That it is ended meanwhile is no failure.
    await delay(wait, undefined, { signal: signal as AbortSignal }).catch(() => {});
    wait = Math.min(wait * 2, MAX_WAIT_MS);
  }
}

/** Whether a server that is started again may answer something else. */
const mayPass = ({ code, status, details }: ExchangeError): boolean =>
  status === 503 || (code === "CONNECTION_LOST" && details?.cause !== "ERR_CLIENT_CLOSED");

/** Ends where the connection does, however that was. */
async function* eventsIn({ body }: OpenReply) {
  const read = eventStreamReader();
  try {
    for await (const bytes of body) yield* read(bytes);
  } catch {}
}
