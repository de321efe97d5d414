import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";
import type { SeenAnswer } from "./observation.ts";

/** Called with the answer to a request, or null when the connection has ended without one. */
export type Take = (answer: SeenAnswer | null) => void;

const HEAD_END = "\r\n\r\n";

/**
 * One connection over which requests are sent without waiting for the answers, which come in the same order. The
 * project's client waits for each answer, and Node's does, so that neither can pipeline.
 */
export class Pipeline {
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
