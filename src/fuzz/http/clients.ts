import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";
import { bytesOf, type Observation, type SeenAnswer, type SentRequest } from "./observation.ts";

/** Called with the answer to a request, or null when the connection has ended without one. */
type Take = (answer: SeenAnswer | null) => void;

const HEAD_END = "\r\n\r\n";

/**
 * One connection over which requests are sent without waiting for the answers, which come in the same order. The
 * project's client waits for each answer, and Node's does, so that neither can pipeline.
 */
class Pipeline {
  /** Counts the connections of a seed, from 0. */
  readonly number: number;
  /** Whether nothing more can be sent. */
  isEnded = false;
  /** What came that is no answer; null when nothing did. */
  fault: Error | null = null;
  readonly #socket: Socket;
  readonly #waiting: Take[] = [];
  #received: Buffer = Buffer.alloc(0);

  private constructor(number: number, socket: Socket) {
    this.number = number;
    this.#socket = socket;
    socket.on("data", (bytes) => this.#take(bytes));
    socket.on("error", () => {});
    socket.on("close", () => this.#end());
  }

  /** Rejects when the server cannot be reached. */
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

  /** Sends the bytes of one request, from `cutAt` on in a later write; `take` is called exactly once. */
  async send(bytes: Buffer, cutAt: number | null, take: Take): Promise<void> {
    if (this.isEnded) {
      take(null);
      return;
    }
    this.#waiting.push(take);
    this.#socket.write(bytes.subarray(0, cutAt ?? bytes.length));
    if (cutAt === null) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
    if (!this.isEnded) this.#socket.write(bytes.subarray(cutAt));
  }

  /** Hangs up; requests without an answer get none. */
  close(): void {
    this.#socket.destroy();
    this.#end();
  }

  #end(): void {
    this.isEnded = true;
    for (const take of this.#waiting.splice(0)) take(null);
  }

  #take(bytes: Buffer): void {
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
        this.fault = new Error("an answer without a length, or that nobody asked for");
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

/** How long an answer may take before it counts as lost; nothing here takes a hundredth of it. */
const ANSWER_TIMEOUT_MS = 30_000;

/** A request that is under way. */
export interface Flight {
  /** Settles with the answer; with null when there is none. */
  readonly done: Promise<SeenAnswer | null>;
}

interface Noted extends Observation {
  answered: number | null;
  answer: SeenAnswer | null;
}

/** The connections of one seed, and all that was sent and seen over them. */
export class Clients {
  /** The latest virtual time that any answer has shown, Unix ms; at first when the exchange opens. */
  time: number;
  /** Whether some answer did not come in time, though its connection was open. */
  isStuck = false;
  readonly #port: () => number;
  /** Each client's latest connection. */
  readonly #pipelines: Pipeline[] = [];
  readonly #opened: Pipeline[] = [];
  readonly #observations: Noted[] = [];
  #happened = 0;
  #ended = 0;
  /** Called when so many requests have ended. */
  #waiting: { readonly count: number; readonly resolve: () => void } | null = null;

  constructor(port: () => number, time: number) {
    this.#port = port;
    this.time = time;
  }

  /** In the order in which requests were sent. */
  get observations(): readonly Observation[] {
    return this.#observations;
  }

  /** What came over some connection that is no answer; null when nothing did. */
  get fault(): Error | null {
    return this.#opened.find(({ fault }) => fault !== null)?.fault ?? null;
  }

  /** How many requests are under way. */
  get underWay(): number {
    return this.#observations.length - this.#ended;
  }

  /**
   * Sends a request over a client's connection, behind those that are under way there, and over a new one when that has
   * ended; in two writes from `cutAt` on.
   */
  async send(client: number, request: SentRequest, cutAt: number | null = null): Promise<Flight> {
    const pipeline = await this.#pipelineOf(client);
    this.#happened += 1;
    const noted: Noted = {
      client: pipeline.number,
      request,
      sent: this.#happened,
      answered: null,
      answer: null,
    };
    this.#observations.push(noted);
    const timer = setTimeout(() => {
      this.isStuck = true;
      pipeline.close();
    }, ANSWER_TIMEOUT_MS);
    let written: Promise<void> | null = null;
    const done = new Promise<SeenAnswer | null>((resolve) => {
      const bytes = bytesOf(request);
      const cut = cutAt === null ? null : Math.min(cutAt, bytes.length - 1);
      written = pipeline.send(bytes, cut, (answer) => {
        clearTimeout(timer);
        this.#take(noted, answer);
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

  /** Waits until so many more requests have ended, of those under way. One waits at a time. */
  ends(count: number): Promise<void> {
    if (count === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting = { count: this.#ended + count, resolve };
    });
  }

  /** Hangs up everywhere. */
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

  #take(noted: Noted, answer: SeenAnswer | null): void {
    this.#ended += 1;
    if (this.#waiting?.count === this.#ended) this.#waiting.resolve();
    if (answer === null) return;
    this.#happened += 1;
    noted.answered = this.#happened;
    noted.answer = answer;
    if (answer.time > this.time) this.time = answer.time;
  }
}
