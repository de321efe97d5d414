import { Buffer } from "node:buffer";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { scheduler } from "node:timers/promises";
import { endpointOf, filledPath, type Operation } from "../../api/endpoints.ts";
import { authHeaders } from "../../api/signing.ts";
import { type SigningCredentials, targetOf } from "../../client/connection.ts";
import type { FailureFingerprint } from "../../history/shrink/trial.ts";

/** A request as it was sent. */
export interface SentRequest {
  readonly operation: Operation;
  readonly method: "GET" | "POST" | "DELETE";
  /** Path and query. */
  readonly target: string;
  /** Node's flat list: name, value, name, value, ... */
  readonly headers: readonly string[];
  /** Empty if there is none. */
  readonly body: string;
  /** Path parameters. */
  readonly path: Readonly<Record<string, string>>;
}

/** An answer as a client received it. */
export interface SeenAnswer {
  readonly status: number;
  /** `x-sim-sequence`: number of commands accepted when the answer was made. */
  readonly sequence: number;
  /** `x-sim-time`: virtual time when the answer was made, Unix ms. */
  readonly time: number;
  readonly requestId: string;
  /** `x-sim-fault`: the injected fault that applied to the request; null for none. */
  readonly fault: string | null;
  readonly body: string;
}

/**
 * A request with its answer. `sent` and `answered` number all requests sent and answers received in the order in which
 * they happened, over all clients.
 */
export interface Observation {
  readonly client: number;
  readonly request: SentRequest;
  readonly sent: number;
  /** Null until the answer is received. */
  answered: number | null;
  answer: SeenAnswer | null;
}

/** All observations of the clients of one exchange, in the order in which requests were sent. */
export interface ObservationLog {
  /** How the server writes numbers, which the replay needs to make the same answers. */
  readonly numbers: "number" | "string";
  /** Why requests may lack an answer. If empty, each must have one. */
  readonly mayLose: readonly ("faults" | "kill")[];
  /** State hash at the end, from `GET /sim/state/hash`; null if the request had no answer. */
  readonly finalHash: string | null;
  readonly observations: readonly Observation[];
}

/** Returns the text of a log file: the other fields in the first line, then a line for each observation. */
export function logText({ observations, ...facts }: ObservationLog): string {
  return [facts, ...observations].map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** Whether an injected fault answered, so that the request was not executed. */
export const isInjected = ({ fault, status, body }: SeenAnswer): boolean =>
  fault !== null && status >= 429 && body.includes('"details":{"fault":');

/** Returns the bytes of a request on a keep-alive connection. */
function bytesOf({ method, target, headers, body }: SentRequest): Buffer {
  const lines = [`${method} ${target} HTTP/1.1`];
  for (let index = 0; index < headers.length; index += 2)
    lines.push(`${headers[index]}: ${headers[index + 1]}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`, "utf8");
}

/** The parts of a request that its endpoint does not define. */
interface RequestParts {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
}

const HOST = "127.0.0.1";

/** Builds a request to an endpoint. `signer` signs it at `unixTime`, in seconds. */
export function requestTo(
  operation: Operation,
  { path = {}, query = {}, body }: RequestParts = {},
  signer: { readonly credentials: SigningCredentials; readonly unixTime: number } | null = null,
): SentRequest {
  const endpoint = endpointOf(operation);
  const { method } = endpoint;
  const target = targetOf(filledPath(endpoint, path), query);
  const text = body === undefined ? "" : JSON.stringify(body);
  const headers = ["host", HOST];
  if (text !== "") headers.push("content-type", "application/json");
  if (text !== "" || method === "POST") headers.push("content-length", String(Buffer.byteLength(text)));
  if (signer !== null) {
    const signable = { method, target, body: text };
    headers.push(...authHeaders(signer.credentials, signable, signer.unixTime).flat());
  }
  return { operation, method, target, headers, body: text, path };
}

/** Thrown when observations and journal contradict each other. */
export class Contradiction extends Error {
  /** Kind of failure without numbers and names: equal for failures of the same cause. */
  readonly fingerprint: string;
  /** The request at which it was found; null if it was found after the last. */
  readonly observation: Observation | null;
  /** Whether the journal alone shows it, so that replaying its commands can reproduce it. */
  readonly isInJournal: boolean;

  constructor(fingerprint: string, sentence: string, observation: Observation | null, isInJournal = false) {
    super(sentence);
    this.fingerprint = isInJournal ? fingerprint : `http: ${fingerprint}`;
    this.observation = observation;
    this.isInJournal = isInJournal;
  }

  /** Returns a contradiction about a request. */
  static about(observation: Observation, fingerprint: string, sentence: string): Contradiction {
    const { client, sent, request } = observation;
    const name = `request ${sent} (connection ${client}, ${request.method} ${request.target.split("?")[0]})`;
    return new Contradiction(fingerprint, `${name} ${sentence}`, observation);
  }

  /** Returns a contradiction about the answer of a request. */
  static ofAnswer(observation: Observation, kind: string, detail: string): Contradiction {
    const fingerprint = `${kind}: ${observation.request.operation}`;
    return Contradiction.about(observation, fingerprint, `${answerName(observation)}${detail}`);
  }

  /** Returns a contradiction that the journal alone shows: a broken invariant or an error. */
  static inJournal(
    { key, sentence }: FailureFingerprint,
    observation: Observation | null = null,
  ): Contradiction {
    return new Contradiction(key, sentence, observation, true);
  }
}

/** Describes an answer: `answered 200 at sequence 41`. */
export const answerName = ({ answer }: Observation): string =>
  answer === null ? "had no answer" : `answered ${answer.status} at sequence ${answer.sequence}`;

const HEAD_END = "\r\n\r\n";

/** Time after which an answer counts as lost. Answers take less than a hundredth of it. */
const ANSWER_TIMEOUT_MS = 30_000;

export interface PendingRequest {
  /** Resolves to the answer; to null if there is none. */
  readonly done: Promise<SeenAnswer | null>;
}

/** A request whose answer is awaited. */
interface Waiting {
  readonly observation: Observation;
  readonly timer: NodeJS.Timeout;
  readonly resolve: (answer: SeenAnswer | null) => void;
}

/** A connection with HTTP pipelining, which neither the project's client nor Node's supports. */
interface Connection {
  /** Counts the connections of a seed, from 0. */
  readonly number: number;
  readonly socket: Socket;
  isEnded: boolean;
  /** Oldest first. */
  readonly waiting: Waiting[];
  received: Buffer;
}

/** The connections of one seed, with a record of all requests and answers. */
export class Clients {
  /** The latest virtual time in any answer, Unix ms; at first the start of the exchange. */
  time: number;
  /** Whether an answer timed out. */
  hasTimedOut = false;
  /** Error for received bytes that are not an answer to a request; null if there were none. */
  fault: Error | null = null;
  readonly #port: () => number;
  /** Latest connection of each client. */
  readonly #connections: Connection[] = [];
  readonly #opened: Connection[] = [];
  /** In the order in which requests were sent. */
  readonly observations: Observation[] = [];
  /** Number of requests sent and answers received. */
  #events = 0;
  /** Number of requests that have an answer or have none because their connection ended. */
  #ended = 0;
  /** Resolves when `count` requests have ended. */
  #waiting: { readonly count: number; readonly resolve: () => void } | null = null;

  constructor(port: () => number, time: number) {
    this.#port = port;
    this.time = time;
  }

  get pending(): number {
    return this.observations.length - this.#ended;
  }

  /**
   * Sends a request over a client's connection, or over a new one if that has ended. With `cutAt` the bytes from there
   * on are sent in a second write.
   */
  async send(client: number, request: SentRequest, cutAt: number | null = null): Promise<PendingRequest> {
    const connection = await this.#connectionOf(client);
    const { socket, number, waiting } = connection;
    this.#events += 1;
    const unanswered = { answered: null, answer: null };
    const observation: Observation = { client: number, request, sent: this.#events, ...unanswered };
    this.observations.push(observation);
    const timer = setTimeout(() => {
      this.hasTimedOut = true;
      this.#close(connection);
    }, ANSWER_TIMEOUT_MS);
    const done = new Promise<SeenAnswer | null>((resolve) => waiting.push({ observation, timer, resolve }));
    const bytes = bytesOf(request);
    const cut = Math.min(cutAt ?? bytes.length, bytes.length - 1);
    socket.write(cutAt === null ? bytes : bytes.subarray(0, cut));
    if (cutAt === null) return { done };
    await scheduler.yield();
    if (!connection.isEnded) socket.write(bytes.subarray(cut));
    return { done };
  }

  async ask(client: number, request: SentRequest): Promise<SeenAnswer | null> {
    return (await this.send(client, request)).done;
  }

  /** Waits until `count` of the pending requests have ended. Only one caller may wait at a time. */
  waitForEnded(count: number): Promise<void> {
    if (count === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting = { count: this.#ended + count, resolve };
    });
  }

  close(): void {
    for (const connection of this.#opened) this.#close(connection);
  }

  /** Returns the connection of a client, a new one if it has ended. Rejects if the server cannot be reached. */
  async #connectionOf(client: number): Promise<Connection> {
    const latest = this.#connections[client];
    if (latest !== undefined && !latest.isEnded) return latest;
    const socket = connect({ port: this.#port(), host: HOST, noDelay: true });
    await once(socket, "connect");
    const { length: number } = this.#opened;
    const connection: Connection = { number, socket, isEnded: false, waiting: [], received: Buffer.alloc(0) };
    socket.on("data", (bytes) => this.#receive(connection, bytes));
    socket.on("error", () => {});
    socket.on("close", () => this.#end(connection));
    this.#connections[client] = connection;
    this.#opened.push(connection);
    return connection;
  }

  /** Closes a connection. Its pending requests end without an answer. */
  #close(connection: Connection): void {
    connection.socket.destroy();
    this.#end(connection);
  }

  #end(connection: Connection): void {
    connection.isEnded = true;
    for (const waiting of connection.waiting.splice(0)) this.#record(waiting, null);
  }

  #receive(connection: Connection, bytes: Buffer): void {
    connection.received = Buffer.concat([connection.received, bytes]);
    for (;;) {
      const { received } = connection;
      const head = received.indexOf(HEAD_END);
      if (head < 0) return;
      const [first = "", ...lines] = received.toString("latin1", 0, head).split("\r\n");
      const header = (name: string): string | undefined =>
        lines
          .find((line) => line.toLowerCase().startsWith(`${name}:`))
          ?.slice(name.length + 1)
          .trim();
      const length = Number(header("content-length"));
      const [waiting] = connection.waiting;
      if (!Number.isInteger(length) || waiting === undefined) {
        this.fault ??= new Error("an answer without a content-length, or without a request");
        this.#close(connection);
        return;
      }
      const end = head + HEAD_END.length + length;
      if (received.length < end) return;
      connection.received = received.subarray(end);
      connection.waiting.shift();
      this.#record(waiting, {
        status: Number(first.split(" ")[1]),
        sequence: Number(header("x-sim-sequence")),
        time: Number(header("x-sim-time")),
        requestId: header("x-request-id") ?? "",
        fault: header("x-sim-fault") ?? null,
        body: received.toString("utf8", head + HEAD_END.length, end),
      });
    }
  }

  #record({ observation, timer, resolve }: Waiting, answer: SeenAnswer | null): void {
    clearTimeout(timer);
    this.#ended += 1;
    if (this.#waiting?.count === this.#ended) this.#waiting.resolve();
    if (answer !== null) {
      this.#events += 1;
      observation.answered = this.#events;
      observation.answer = answer;
      if (answer.time > this.time) this.time = answer.time;
    }
    resolve(answer);
  }
}
