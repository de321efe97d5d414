import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";
import { scheduler } from "node:timers/promises";
import { endpointOf, filledPath, type Operation } from "../../api/endpoints.ts";
import { authHeaders, type SigningCredentials, targetOf } from "../../client/connection.ts";
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
  /** Null if no answer was received. */
  readonly answered: number | null;
  readonly answer: SeenAnswer | null;
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
export class Finding extends Error {
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

  /** Returns a finding about a request. */
  static about(observation: Observation, fingerprint: string, sentence: string): Finding {
    const { client, sent, request } = observation;
    const name = `request ${sent} (connection ${client}, ${request.method} ${request.target.split("?")[0]})`;
    return new Finding(fingerprint, `${name} ${sentence}`, observation);
  }

  /** Returns a finding about the answer of a request. */
  static ofAnswer(observation: Observation, kind: string, detail: string): Finding {
    const fingerprint = `${kind}: ${observation.request.operation}`;
    return Finding.about(observation, fingerprint, `${answerName(observation)}${detail}`);
  }

  /** Returns a finding that the journal alone shows: a broken invariant or an error. */
  static inJournal({ key, sentence }: FailureFingerprint, observation: Observation | null = null): Finding {
    return new Finding(key, sentence, observation, true);
  }
}

/** Describes an answer: `answered 200 at sequence 41`. */
export const answerName = ({ answer }: Observation): string =>
  answer === null ? "had no answer" : `answered ${answer.status} at sequence ${answer.sequence}`;

/** Called with the answer to a request, or null if the connection ended without one. */
type OnAnswer = (answer: SeenAnswer | null) => void;

const HEAD_END = "\r\n\r\n";

/** A connection with HTTP pipelining, which neither the project's client nor Node's supports. */
class Pipeline {
  /** Number of the connection within its seed, from 0. */
  readonly number: number;
  /** Whether the connection is closed. */
  isEnded = false;
  /** Error for received bytes that are not an answer to a request; null if there were none. */
  fault: Error | null = null;
  readonly #socket: Socket;
  readonly #waiting: OnAnswer[] = [];
  #received: Buffer = Buffer.alloc(0);

  private constructor(number: number, socket: Socket) {
    this.number = number;
    this.#socket = socket;
    socket.on("data", (bytes) => this.#receive(bytes));
    socket.on("error", () => {});
    socket.on("close", () => this.#end());
  }

  /** Rejects if the server cannot be reached. */
  static open(port: number, number: number): Promise<Pipeline> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: "127.0.0.1", noDelay: true });
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.off("error", reject);
        resolve(new Pipeline(number, socket));
      });
    });
  }

  /** Sends a request, the bytes from `cutAt` on in a second write. Calls `onAnswer` exactly once. */
  async send(bytes: Buffer, cutAt: number | null, onAnswer: OnAnswer): Promise<void> {
    if (this.isEnded) {
      onAnswer(null);
      return;
    }
    this.#waiting.push(onAnswer);
    this.#socket.write(bytes.subarray(0, cutAt ?? bytes.length));
    if (cutAt === null) return;
    await scheduler.yield();
    if (!this.isEnded) this.#socket.write(bytes.subarray(cutAt));
  }

  /** Closes the connection. Pending requests end without an answer. */
  close(): void {
    this.#socket.destroy();
    this.#end();
  }

  #end(): void {
    this.isEnded = true;
    for (const onAnswer of this.#waiting.splice(0)) onAnswer(null);
  }

  #receive(bytes: Buffer): void {
    this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes]);
    for (;;) {
      const head = this.#received.indexOf(HEAD_END);
      if (head < 0) return;
      const [first = "", ...lines] = this.#received.toString("latin1", 0, head).split("\r\n");
      const headers = new Map(
        lines.map((line): [string, string] => {
          const colon = line.indexOf(":");
          return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
        }),
      );
      const length = Number(headers.get("content-length") ?? Number.NaN);
      if (!Number.isInteger(length) || this.#waiting.length === 0) {
        this.fault = new Error("an answer without a content-length, or without a request");
        this.close();
        return;
      }
      const end = head + HEAD_END.length + length;
      if (this.#received.length < end) return;
      const body = this.#received.toString("utf8", head + HEAD_END.length, end);
      this.#received = this.#received.subarray(end);
      this.#waiting.shift()?.({
        status: Number(first.split(" ")[1]),
        sequence: Number(headers.get("x-sim-sequence") ?? Number.NaN),
        time: Number(headers.get("x-sim-time") ?? Number.NaN),
        requestId: headers.get("x-request-id") ?? "",
        fault: headers.get("x-sim-fault") ?? null,
        body,
      });
    }
  }
}

/** Time after which an answer counts as lost. Answers take less than a hundredth of it. */
const ANSWER_TIMEOUT_MS = 30_000;

/** A request that was sent. */
export interface PendingRequest {
  /** Resolves to the answer; to null if there is none. */
  readonly done: Promise<SeenAnswer | null>;
}

interface MutableObservation extends Observation {
  answered: number | null;
  answer: SeenAnswer | null;
}

/** The connections of one seed, with a record of all requests and answers. */
export class Clients {
  /** The latest virtual time in any answer, Unix ms; at first the start of the exchange. */
  time: number;
  /** Whether an answer timed out. */
  hasTimedOut = false;
  readonly #port: () => number;
  /** Latest connection of each client. */
  readonly #pipelines: Pipeline[] = [];
  readonly #opened: Pipeline[] = [];
  /** In the order in which requests were sent. */
  readonly observations: MutableObservation[] = [];
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

  /** Error for received bytes that are not an answer to a request; null if there were none. */
  get fault(): Error | null {
    return this.#opened.find(({ fault }) => fault !== null)?.fault ?? null;
  }

  /** Number of pending requests. */
  get pending(): number {
    return this.observations.length - this.#ended;
  }

  /**
   * Sends a request over a client's connection, or over a new one if that has ended. With `cutAt` the bytes from there
   * on are sent in a second write.
   */
  async send(client: number, request: SentRequest, cutAt: number | null = null): Promise<PendingRequest> {
    const pipeline = await this.#pipelineOf(client);
    this.#events += 1;
    const observation: MutableObservation = {
      client: pipeline.number,
      request,
      sent: this.#events,
      answered: null,
      answer: null,
    };
    this.observations.push(observation);
    const timer = setTimeout(() => {
      this.hasTimedOut = true;
      pipeline.close();
    }, ANSWER_TIMEOUT_MS);
    let written: Promise<void> | null = null;
    const done = new Promise<SeenAnswer | null>((resolve) => {
      const bytes = bytesOf(request);
      const cut = cutAt === null ? null : Math.min(cutAt, bytes.length - 1);
      written = pipeline.send(bytes, cut, (answer) => {
        clearTimeout(timer);
        this.#record(observation, answer);
        resolve(answer);
      });
    });
    if (cutAt !== null) await written;
    return { done };
  }

  /** Sends a request and waits for its answer. */
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

  /** Closes all connections. */
  close(): void {
    for (const pipeline of this.#opened) pipeline.close();
  }

  async #pipelineOf(client: number): Promise<Pipeline> {
    const latest = this.#pipelines[client];
    if (latest !== undefined && !latest.isEnded) return latest;
    const pipeline = await Pipeline.open(this.#port(), this.#opened.length);
    this.#pipelines[client] = pipeline;
    this.#opened.push(pipeline);
    return pipeline;
  }

  #record(observation: MutableObservation, answer: SeenAnswer | null): void {
    this.#ended += 1;
    if (this.#waiting?.count === this.#ended) this.#waiting.resolve();
    if (answer === null) return;
    this.#events += 1;
    observation.answered = this.#events;
    observation.answer = answer;
    if (answer.time > this.time) this.time = answer.time;
  }
}
