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
  readonly #socket: Socket;
  readonly #waiting: Take[] = [];
  #received: Buffer = Buffer.alloc(0);
  #isEnded = false;
  /** Why answers cannot be read; null while they can. */
  #fault: Error | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (bytes) => this.#take(bytes));
    socket.on("error", () => {});
    socket.on("close", () => this.#end());
  }

  /** Rejects when the server cannot be reached. */
  static open(port: number): Promise<Pipeline> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: "127.0.0.1", noDelay: true });
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.off("error", reject);
        resolve(new Pipeline(socket));
      });
    });
  }

  /** Whether nothing more can be sent. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** What came that is no answer; null when nothing did. */
  get fault(): Error | null {
    return this.#fault;
  }

  /** Sends the bytes of one request; `take` is called exactly once. */
  send(bytes: Buffer, take: Take): void {
    if (this.#isEnded) {
      take(null);
      return;
    }
    this.#waiting.push(take);
    this.#socket.write(bytes);
  }

  /** The same in two writes with other work in between. */
  async sendCut(bytes: Buffer, at: number, take: Take): Promise<void> {
    this.send(bytes.subarray(0, at), take);
    await new Promise<void>((resolve) => setImmediate(resolve));
    if (!this.#isEnded) this.#socket.write(bytes.subarray(at));
  }

  /** Hangs up; requests without an answer get none. */
  close(): void {
    this.#socket.destroy();
    this.#end();
  }

  #end(): void {
    this.#isEnded = true;
    for (const take of this.#waiting.splice(0)) take(null);
  }

  #take(bytes: Buffer): void {
    this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes]);
    for (;;) {
      const head = this.#received.indexOf(HEAD_END);
      if (head < 0) return;
      const { status, headers } = headOf(this.#received.toString("latin1", 0, head));
      const length = Number(headers.get("content-length"));
      if (!headers.has("content-length") || !Number.isInteger(length) || this.#waiting.length === 0) {
        this.#fault = new Error("an answer without a length, or that nobody asked for");
        this.close();
        return;
      }
      const end = head + HEAD_END.length + length;
      if (this.#received.length < end) return;
      const body = this.#received.toString("utf8", head + HEAD_END.length, end);
      this.#received = this.#received.subarray(end);
      this.#waiting.shift()?.({
        status,
        sequence: Number(headers.get("x-sim-sequence") ?? Number.NaN),
        time: Number(headers.get("x-sim-time") ?? Number.NaN),
        requestId: headers.get("x-request-id") ?? "",
        fault: headers.get("x-sim-fault") ?? null,
        body,
      });
    }
  }
}

function headOf(text: string): { readonly status: number; readonly headers: ReadonlyMap<string, string> } {
  const [first = "", ...lines] = text.split("\r\n");
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return { status: Number(first.split(" ")[1]), headers };
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
  readonly #port: () => number;
  readonly #pipelines: (Pipeline | null)[] = [];
  /** The name of each client's present connection. */
  readonly #names: number[] = [];
  readonly #observations: Noted[] = [];
  #happened = 0;
  #ended = 0;
  /** Called when so many requests have ended. */
  #waiting: { readonly count: number; readonly resolve: () => void } | null = null;
  #connections = 0;
  #time: number;
  #isStuck = false;
  #fault: Error | null = null;

  /** `time` is the virtual time at which the exchange opens, Unix ms. */
  constructor(port: () => number, time: number) {
    this.#port = port;
    this.#time = time;
  }

  /** In the order in which requests were sent. */
  get observations(): readonly Observation[] {
    return this.#observations;
  }

  /** The latest virtual time that any answer has shown, Unix ms. */
  get time(): number {
    return this.#time;
  }

  /** Whether some answer did not come in time, though its connection was open. */
  get isStuck(): boolean {
    return this.#isStuck;
  }

  /** What came over some connection that is no answer; null when nothing did. */
  get fault(): Error | null {
    return this.#fault;
  }

  /** Connects a client whose connection is not open, or no more. */
  async connect(client: number): Promise<void> {
    const before = this.#pipelines[client];
    if (before != null && !before.isEnded) return;
    this.#fault ??= before?.fault ?? null;
    this.#pipelines[client] = await Pipeline.open(this.#port());
    this.#names[client] = this.#connections;
    this.#connections += 1;
  }

  /** Sends a request over a client's connection, behind those that are under way there; in two writes from `cutAt` on. */
  async send(client: number, request: SentRequest, cutAt: number | null = null): Promise<Flight> {
    await this.connect(client);
    const pipeline = this.#pipelines[client];
    if (pipeline == null) throw new Error(`client ${client} has no connection`);
    const noted = this.#note(this.#names[client] ?? 0, request);
    let cut: Promise<void> | null = null;
    const done = new Promise<SeenAnswer | null>((resolve) => {
      const timer = setTimeout(() => {
        this.#isStuck = true;
        pipeline.close();
      }, ANSWER_TIMEOUT_MS);
      const take = (answer: SeenAnswer | null): void => {
        clearTimeout(timer);
        this.#take(noted, answer);
        resolve(answer);
      };
      const bytes = bytesOf(request);
      if (cutAt === null) pipeline.send(bytes, take);
      else cut = pipeline.sendCut(bytes, Math.min(cutAt, bytes.length - 1), take);
    });
    if (cut !== null) await cut;
    return { done };
  }

  /** Sends a request and waits for its answer. */
  async ask(client: number, request: SentRequest): Promise<SeenAnswer | null> {
    return (await this.send(client, request)).done;
  }

  /** How many requests are under way. */
  get underWay(): number {
    return this.#observations.length - this.#ended;
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
    for (const pipeline of this.#pipelines) {
      this.#fault ??= pipeline?.fault ?? null;
      pipeline?.close();
    }
  }

  #note(client: number, request: SentRequest): Noted {
    this.#happened += 1;
    const noted: Noted = { client, request, sent: this.#happened, answered: null, answer: null };
    this.#observations.push(noted);
    return noted;
  }

  #take(noted: Noted, answer: SeenAnswer | null): void {
    this.#ended += 1;
    if (this.#waiting?.count === this.#ended) this.#waiting.resolve();
    if (answer === null) return;
    this.#happened += 1;
    noted.answered = this.#happened;
    noted.answer = answer;
    if (answer.time > this.#time) this.#time = answer.time;
  }
}
