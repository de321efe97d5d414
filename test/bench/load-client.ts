import { once } from "node:events";
import { type Agent, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { authHeaders } from "../../src/api/signing.ts";
import type { Info } from "../../src/client/api-messages.ts";
import { ExchangeClient, walletOf } from "../../src/client/client.ts";
import { orThrow } from "../../src/client/result.ts";

/** Request of a client. */
export interface Call {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty if there is none. */
  readonly body: string;
}

/** Response of a server. */
export interface Answer {
  /** Flat pairs in the order received, without those of the connection. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** A GET without additional headers. */
export const get = (path: string): Call => ({ method: "GET", path, headers: {}, body: "" });

/** A POST with a JSON body. */
export const post = (path: string, body: object, headers: Call["headers"] = {}): Call => ({
  method: "POST",
  path,
  headers: { ...headers, "content-type": "application/json" },
  body: JSON.stringify(body),
});

/** Encodes a request to this machine. */
function bytesOf({ method, path, headers, body }: Call, port: number): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, `host: 127.0.0.1:${port}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (body !== "") lines.push(`content-length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`);
}

/** Sends one request and returns the response. @throws Error if its status is not 200. */
export async function answerTo(
  { method, path, headers, body }: Call,
  port: number,
  agent: Agent | false = false,
): Promise<Answer> {
  const sent = request({ port, host: "127.0.0.1", method, path, headers, agent });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const answer = await text(response);
  if (response.statusCode !== 200) throw new Error(`${method} ${path}: ${response.statusCode} ${answer}`);
  return { headers: withoutConnection(response.rawHeaders), body: answer };
}

/** Names and values alternate. */
const withoutConnection = (rawHeaders: readonly string[]): string[] =>
  rawHeaders.filter((_, at) => !/^(?:connection|keep-alive)$/i.test(rawHeaders[at - (at % 2)] as string));

/** Number of connections of a load, each with one request under way. */
export const CONNECTIONS = 32;

interface LoadResult {
  readonly requestsPerSecond: number;
  /** Processors used by the client; near 1 it measures itself, not the server. */
  readonly clientBusy: number;
}

/**
 * Loads a server over plain sockets with prepared bytes and minimal parsing: each connection sends the requests in turn, one
 * after the previous response. This takes half the CPU time of autocannon, so that on two processors the server is the bottleneck.
 * @throws Error if a status is not 200 or 201, or a connection breaks.
 */
async function bombard(port: number, requests: readonly Buffer[], durationMs: number): Promise<LoadResult> {
  const crew = Array.from({ length: CONNECTIONS }, () => new Connection(port, requests));
  const ended = Promise.all(crew.map((connection) => connection.ended));
  await Promise.race([ended, Promise.all(crew.map((connection) => connection.opened))]);
  const processor = process.cpuUsage();
  const start = performance.now();
  for (const connection of crew) connection.send();
  await Promise.race([ended, delay(durationMs)]);
  const milliseconds = performance.now() - start;
  const { user, system } = process.cpuUsage(processor);
  const answers = crew.reduce((sum, connection) => sum + connection.answers, 0);
  for (const connection of crew) connection.isLeaving = true;
  await ended;
  return {
    requestsPerSecond: (answers * 1000) / milliseconds,
    clientBusy: (user + system) / 1000 / milliseconds,
  };
}

/** Returns a sample: the thousand answers per second to calls that are sent in turn. Calls `watch` with each result. */
export function load(
  port: number,
  calls: readonly Call[],
  durationMs: number,
  watch: (result: LoadResult) => void = () => {},
): () => Promise<number> {
  const requests = calls.map((call) => bytesOf(call, port));
  return async () => {
    const result = await bombard(port, requests, durationMs);
    watch(result);
    return result.requestsPerSecond / 1_000;
  };
}

const LARGEST_READ = 64 * 1024;
const END_OF_HEAD = Buffer.from("\r\n\r\n");
/** A server that creates a resource may answer 201. */
const OK = Buffer.from("HTTP/1.1 20");
const LENGTH = Buffer.from("\r\ncontent-length: ");
const LENGTH_IN_CAPITALS = Buffer.from("\r\nContent-Length: ");
const NOTHING = Buffer.alloc(0);
const CARRIAGE_RETURN = 13;
const ZERO = 48;

function hasHead(bytes: Buffer, length: number): boolean {
  const end = bytes.indexOf(END_OF_HEAD);
  return end >= 0 && end < length;
}

class Connection {
  readonly opened: Promise<unknown>;
  /** Rejects if the connection breaks. */
  readonly ended: Promise<unknown>;
  answers = 0;
  /** If set, the connection ends when every request has been answered equally often. */
  isLeaving = false;
  readonly #socket: Socket;
  readonly #requests: readonly Buffer[];
  #turn = 0;
  /** Missing bytes of the response; 0 before its head. */
  #missing = 0;
  /** Received part of a head that arrives in several pieces. */
  #begun: Buffer | null = null;

  constructor(port: number, requests: readonly Buffer[]) {
    this.#requests = requests;
    const callback = (length: number, bytes: Uint8Array): boolean => {
      this.#read(bytes as Buffer, length);
      return true;
    };
    const onread = { buffer: Buffer.allocUnsafe(LARGEST_READ), callback };
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true, onread });
    this.#socket.on("end", () => this.#socket.destroy(new Error("the server closed a connection")));
    this.opened = once(this.#socket, "connect");
    this.ended = once(this.#socket, "close");
  }

  send(): void {
    this.#socket.write(this.#requests[this.#turn] as Buffer);
  }

  #read(bytes: Buffer, length: number): void {
    if (this.#missing > 0) this.#missing -= length;
    else if (this.#begun === null && hasHead(bytes, length)) {
      this.#missing = this.#answerLength(bytes, length) - length;
    } else {
      this.#begun = Buffer.concat([this.#begun ?? NOTHING, bytes.subarray(0, length)]);
      if (!hasHead(this.#begun, this.#begun.length)) return;
      this.#missing = this.#answerLength(this.#begun, this.#begun.length) - this.#begun.length;
      this.#begun = null;
    }
    if (this.#missing > 0) return;
    this.answers += 1;
    this.#turn = (this.#turn + 1) % this.#requests.length;
    if (this.isLeaving && this.#turn === 0) this.#socket.destroy();
    else this.send();
  }

  /** Bytes of head and body together. */
  #answerLength(bytes: Buffer, read: number): number {
    const head = bytes.indexOf(END_OF_HEAD);
    // After the head may be the bytes of earlier answers.
    const inHead = (name: Buffer): number => {
      const at = bytes.indexOf(name);
      return at < head ? at : -1;
    };
    const lower = inHead(LENGTH);
    const field = lower < 0 ? inHead(LENGTH_IN_CAPITALS) : lower;
    if (head < 0 || head >= read || field < 0 || OK.compare(bytes, 0, OK.length) !== 0) {
      this.#socket.destroy(new Error(`not an answer of 200 or 201: ${bytes.toString("latin1", 0, read)}`));
      return Number.POSITIVE_INFINITY;
    }
    let length = 0;
    for (let at = field + LENGTH.length; bytes[at] !== CARRIAGE_RETURN; at++) {
      length = length * 10 + (bytes[at] as number) - ZERO;
    }
    return head + END_OF_HEAD.length + length;
  }
}

/** Sends one request and returns the JSON of its response. */
export const replyTo = async <Reply>(call: Call, port: number): Promise<Reply> =>
  JSON.parse((await answerTo(call, port)).body) as Reply;

/** Two signed orders of one wallet that fill each other completely, so that the book stays the same. */
export interface CrossingOrders {
  readonly buy: Call;
  readonly sell: Call;
  /** HMAC key of both. */
  readonly secret: string;
}

/** Derives credentials of a wallet and signs its orders in a new market. */
export async function crossingOrders(port: number): Promise<CrossingOrders> {
  const { clock, devAccounts } = await replyTo<Info>(get("/sim"), port);
  const account = await walletOf(devAccounts[0]?.privateKey ?? "");
  const client = new ExchangeClient(`http://127.0.0.1:${port}`, { account, time: () => clock.unixTime });
  const credentials = orThrow(await client.derive());
  const { tokens } = orThrow(await client.control.createMarket({ question: "Will the benchmark end?" }));
  client.close();
  const order = (side: "BUY" | "SELL"): Call => {
    const fields = { tokenId: tokens[0]?.tokenId, side, orderType: "GTC", price: 0.5, size: 10 };
    const signed = { method: "POST", target: "/clob/order", body: JSON.stringify(fields) };
    return post(signed.target, fields, Object.fromEntries(authHeaders(credentials, signed, clock.unixTime)));
  };
  return { buy: order("BUY"), sell: order("SELL"), secret: credentials.secret };
}
