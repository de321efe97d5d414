import * as http from "node:http";
import type { Duplex } from "node:stream";
import { urlToHttpOptions } from "node:url";

/** One header line of a request; a name may come several times. */
export type Header = readonly [name: string, value: string];

/** Headers by name, in any letter case: a text is sent, several as often, and null sends none. */
export type HeaderChanges = Readonly<Record<string, string | readonly string[] | null>>;

/** The headers that were made, in lower case, with those that are named in `changes` replaced by what it says. */
export function changeHeaders(made: readonly Header[], changes: HeaderChanges): Header[] {
  const changed = new Set(Object.keys(changes).map((name) => name.toLowerCase()));
  const headers = made.filter(([name]) => !changed.has(name));
  for (const [name, values] of Object.entries(changes)) {
    for (const value of [values ?? []].flat()) headers.push([name, value]);
  }
  return headers;
}

/** What ends a request that goes on: an `AbortSignal`, which not every project has the types of. */
export interface EndSignal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** A request as it goes out, byte for byte. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly path: string;
  /** All of them, `host` and `content-length` included. */
  readonly headers: readonly Header[];
  /** Null when there is none. */
  readonly body: string | null;
}

/** A whole reply. */
export interface HttpReply {
  readonly status: number;
  /** By lower-case name; a header that came several times is joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** A reply whose body is still coming. */
export interface OpenReply extends Omit<HttpReply, "text"> {
  /** Fails when the connection is lost; who reads no more of it ends the connection. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Carries a request to the server and its reply back; rejects when no whole reply came. It never sends twice. */
export interface Transport {
  (request: HttpRequest): Promise<HttpReply>;
  /** The same for a reply that need not end; rejects when none began. Only following the live feed needs it. */
  readonly open?: (request: HttpRequest, signal?: EndSignal) => Promise<OpenReply>;
}

/** Three heartbeats of the live feed. */
const MAX_SILENCE_MS = 45_000;

/** A transport over connections of its own, which stay open for the next request until it is closed. */
interface OpenTransport {
  readonly send: Transport;
  /** Ends all connections; what is under way or comes later is rejected. */
  close(): void;
}

/**
 * HTTP or HTTPS to one origin, over the connections that `connect` makes where it is given; a reply that is not whole after
 * `timeoutMs` counts as lost.
 */
export function openTransport(origin: URL, timeoutMs: number, connect?: () => Duplex): OpenTransport {
  // TLS is loaded for those who need it: a server starts with a client of its own.
  const { Agent, request: begin } =
    origin.protocol === "https:" ? process.getBuiltinModule("node:https") : http;
  const agent = new Agent({ keepAlive: true });
  if (connect !== undefined) Object.assign(agent, { createConnection: connect });
  const { hostname } = urlToHttpOptions(origin);
  let isClosed = false;

  const beginning = (
    { method, path, headers }: HttpRequest,
    options: http.RequestOptions = {},
  ): http.ClientRequest => {
    if (isClosed) throw Object.assign(new Error("the client is closed"), { code: "ERR_CLIENT_CLOSED" });
    const { port } = origin;
    return begin({ hostname, port, agent, method, path, headers: headers.flat(), ...options });
  };

  const send: Transport = (request) =>
    new Promise((resolve, reject) => {
      const outgoing = beginning(request);
      const deadline = setTimeout(() => {
        outgoing.destroy(new Error(`no whole reply within ${timeoutMs} ms`));
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

  const open: Transport["open"] = (request, signal) =>
    new Promise((resolve, reject) => {
      const outgoing = beginning(request, signal === undefined ? {} : { signal: signal as AbortSignal });
      outgoing.setTimeout(MAX_SILENCE_MS, () => outgoing.destroy(new Error("nothing came for too long")));
      outgoing.on("error", reject);
      outgoing.on("response", (body) => {
        resolve({ status: body.statusCode ?? 0, headers: joined(body.headersDistinct), body });
      });
      outgoing.end(request.body ?? undefined);
    });

  return {
    send: Object.assign(send, { open }),
    close: () => {
      isClosed = true;
      agent.destroy();
    },
  };
}

const joined = (distinct: Readonly<Record<string, readonly string[] | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(distinct).map(([name, values = []]) => [name, values.join(", ")]));
