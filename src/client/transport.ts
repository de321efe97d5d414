import * as http from "node:http";
import type { Duplex } from "node:stream";
import { scheduler } from "node:timers/promises";
import { urlToHttpOptions } from "node:url";

/** One header line of a request; a name may come several times. */
export type Header = readonly [name: string, value: string];

/** Headers by name, in any letter case. Each text is sent as one header line; null removes the header. */
export type HeaderChanges = Readonly<Record<string, string | readonly string[] | null>>;

/** Returns the headers `made`, whose names are in lower case, with `changes` applied. */
export function changeHeaders(made: readonly Header[], changes: HeaderChanges): Header[] {
  const changed = new Set(Object.keys(changes).map((name) => name.toLowerCase()));
  const added = Object.entries(changes).flatMap(([name, values]) =>
    [values ?? []].flat().map((value): Header => [name, value]),
  );
  return [...made.filter(([name]) => !changed.has(name)), ...added];
}

/** Structural type of `AbortSignal`, because not every project includes its types. */
export interface EndSignal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** A request exactly as it is sent. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly path: string;
  /** All headers, including `host` and `content-length`. */
  readonly headers: readonly Header[];
  /** null if there is none. */
  readonly body: string | null;
}

/** A complete reply. */
export interface HttpReply {
  readonly status: number;
  /** By lower-case name; repeated headers are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** A reply whose body is read while it arrives. */
export interface OpenReply extends Omit<HttpReply, "text"> {
  /** Fails if the connection is lost; ending the iteration closes the connection. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Sends a request and resolves to its reply; rejects if no complete reply is received. It must not retry. */
export interface Transport {
  (request: HttpRequest): Promise<HttpReply>;
  /** Opens a reply that may be endless; rejects if none begins. Needed only for the live feed. */
  readonly open?: (request: HttpRequest, signal?: EndSignal) => Promise<OpenReply>;
}

/** Three heartbeats of the live feed. */
const MAX_SILENCE_MS = 45_000;

/** How long a client waits for a reply, unless it is told otherwise. */
export const REPLY_TIMEOUT_MS = 30_000;

/**
 * Opens a transport over HTTP or HTTPS to one origin, with keep-alive connections of its own; `close` closes them and rejects
 * pending and later requests. A request is rejected if its reply is not complete within `timeoutMs`.
 * `connect`, if given, creates its connections, in this process: they need no turn of the event loop, so each request waits
 * for one. Without that, no timer would run while a program awaits one reply after the other.
 */
export function openTransport(origin: URL, timeoutMs: number, connect?: () => Duplex) {
  // TLS is loaded only if needed, because a server starts with a client of its own.
  const { Agent, request: begin } =
    origin.protocol === "https:" ? process.getBuiltinModule("node:https") : http;
  const agent = new Agent({ keepAlive: true });
  if (connect !== undefined) Object.assign(agent, { createConnection: connect });
  const { hostname } = urlToHttpOptions(origin);
  let isClosed = false;

  const beginning = (request: HttpRequest, options: http.RequestOptions = {}): http.ClientRequest => {
    if (isClosed) {
      const what = connect === undefined ? "client" : "exchange";
      throw Object.assign(new Error(`the ${what} is closed`), { code: "ERR_CLIENT_CLOSED" });
    }
    const { method, path, headers } = request;
    return begin({ hostname, port: origin.port, agent, method, path, headers: headers.flat(), ...options });
  };

  const send: Transport = async (request) => {
    if (connect !== undefined) await scheduler.yield();
    return new Promise((resolve, reject) => {
      const outgoing = beginning(request);
      const deadline = setTimeout(() => {
        outgoing.destroy(new Error(`no complete reply within ${timeoutMs} ms`));
      }, timeoutMs);
      let isAnswered = false;
      outgoing.on("error", reject);
      outgoing.on("close", () => {
        clearTimeout(deadline);
        if (!isAnswered) reject(new Error("the connection closed before a reply"));
      });
      outgoing.on("response", (incoming) => {
        isAnswered = true;
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          resolve({ status: incoming.statusCode ?? 0, headers: joined(incoming.headersDistinct), text });
        });
      });
      outgoing.end(request.body ?? undefined);
    });
  };

  const open: Transport["open"] = (request, signal) =>
    new Promise((resolve, reject) => {
      const outgoing = beginning(request, signal === undefined ? {} : { signal: signal as AbortSignal });
      outgoing.setTimeout(MAX_SILENCE_MS, () =>
        outgoing.destroy(new Error(`no data within ${MAX_SILENCE_MS} ms`)),
      );
      outgoing.on("error", reject);
      outgoing.on("response", (body) => {
        resolve({ status: body.statusCode ?? 0, headers: joined(body.headersDistinct), body });
      });
      outgoing.end(request.body ?? undefined);
    });

  return {
    send: Object.assign(send, { open }),
    close: (): void => {
      isClosed = true;
      agent.destroy();
    },
  };
}

const joined = (distinct: Readonly<Record<string, readonly string[] | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(distinct).map(([name, values = []]) => [name, values.join(", ")]));
