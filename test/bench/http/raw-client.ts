import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** What a client asks of a server: connections that each send the requests in turn, one when the last is answered. */
export interface Load {
  readonly port: number;
  readonly requests: readonly Buffer[];
  readonly connections: number;
  readonly durationMs: number;
}

export interface LoadResult {
  readonly requestsPerSecond: number;
  /** Processors that the client itself kept busy: near 1, it measures itself and not the server. */
  readonly clientBusy: number;
}

/**
 * Loads a server for a while over plain sockets: request bytes made beforehand, answers read no further than to their
 * end, which takes half the processor time of autocannon, so that on two processors the server is what is measured.
 * @throws Error when an answer is no 200, or a connection breaks.
 */
export async function bombard({ port, requests, connections, durationMs }: Load): Promise<LoadResult> {
  const crew = Array.from({ length: connections }, () => new Connection(port, requests));
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

const LARGEST_READ = 64 * 1024;
const END_OF_HEAD = Buffer.from("\r\n\r\n");
const OK = Buffer.from("HTTP/1.1 200 ");
const LENGTH = Buffer.from("\r\ncontent-length: ");
const CARRIAGE_RETURN = 13;
const ZERO = 48;

class Connection {
  readonly opened: Promise<unknown>;
  /** Rejected when the connection breaks. */
  readonly ended: Promise<unknown>;
  answers = 0;
  /** Set, it ends the connection once every request has been answered equally often. */
  isLeaving = false;
  readonly #socket: Socket;
  readonly #requests: readonly Buffer[];
  #turn = 0;
  /** Bytes of the answer still to come; 0 before its head. */
  #missing = 0;

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
    if (this.#missing === 0) this.#missing = this.#answerLength(bytes, length);
    this.#missing -= length;
    if (this.#missing > 0) return;
    this.answers += 1;
    this.#turn = (this.#turn + 1) % this.#requests.length;
    if (this.isLeaving && this.#turn === 0) this.#socket.destroy();
    else this.send();
  }

  /** Bytes of head and body together. Both servers send the head in one piece. */
  #answerLength(bytes: Buffer, read: number): number {
    const head = bytes.indexOf(END_OF_HEAD);
    const field = bytes.indexOf(LENGTH);
    if (head < 0 || head >= read || field < 0 || field > head || OK.compare(bytes, 0, OK.length) !== 0) {
      this.#socket.destroy(new Error(`not an answer of 200: ${bytes.toString("latin1", 0, read)}`));
      return Number.POSITIVE_INFINITY;
    }
    let length = 0;
    for (let at = field + LENGTH.length; bytes[at] !== CARRIAGE_RETURN; at++) {
      length = length * 10 + (bytes[at] as number) - ZERO;
    }
    return head + END_OF_HEAD.length + length;
  }
}
