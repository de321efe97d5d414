import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

interface Turn {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly begin: () => void;
}

/**
 * Serializes the requests of one connection: each begins after the answer to the one before is flushed to the socket.
 * While requests wait, the socket is paused, so that a connection holds at most one read (64 KiB) and one answer.
 */
export class Connection {
  readonly #socket: Duplex;
  #current: Turn | null = null;
  #waiting: Turn[] = [];
  /** Answers the input after the last complete request, which is not a request; null if there is none. */
  #refuse: (() => void) | null = null;

  constructor(socket: Duplex) {
    this.#socket = socket;
    // Node resumes reading after each complete request.
    socket.on("resume", () => {
      if (this.#waiting.length > 0) socket.pause();
    });
    socket.once("close", () => {
      this.#waiting = [];
      this.#refuse = null;
    });
  }

  /** Calls `begin` after the requests before are answered; never if the connection closes before that. */
  take(turn: Turn): void {
    if (this.#waiting.length === 0 && !isAnswering(this.#current)) {
      this.#begin(turn);
      return;
    }
    this.#waiting.push(turn);
    this.#socket.pause();
    if (this.#waiting.length === 1) this.#awaitEnd();
  }

  /**
   * Calls `refuse` after the last complete request was answered, because what follows is not served as a request. Must
   * be the last call.
   */
  end(refuse: () => void): void {
    if (this.#waiting.length === 0 && !isAnswering(this.#current)) {
      refuse();
      return;
    }
    this.#refuse = refuse;
    if (this.#waiting.length === 0) this.#awaitEnd();
  }

  #begin(turn: Turn): void {
    this.#current = turn;
    turn.begin();
  }

  #awaitEnd(): void {
    this.#current?.response.once("close", () => setImmediate(() => this.#next()));
  }

  #next(): void {
    const turn = this.#waiting.shift();
    const refuse = this.#refuse;
    if (turn === undefined || (refuse !== null && !turn.request.complete)) {
      this.#refuse = null;
      refuse?.();
      return;
    }
    this.#begin(turn);
    if (this.#waiting.length > 0 || refuse !== null) this.#awaitEnd();
    else this.#socket.resume();
  }
}

/** Whether the answer to a request is still pending. An incomplete request counts only once its answer has begun. */
const isAnswering = (turn: Turn | null): boolean =>
  turn !== null && !turn.response.writableFinished && (turn.request.complete || turn.response.headersSent);

/** With fewer clients, each answer is sent immediately. */
const MIN_BATCHING_CLIENTS = 4;

/**
 * Sends answers in batches. With many clients, the answers of one turn of the event loop are sent together at its end: one
 * flush of the journal serves them all, and the clients are woken once, which costs more than making most answers.
 */
export class Outbox {
  #clients = 0;
  #ready: (() => void)[] = [];

  /** Counts a client until it disconnects. */
  admit(socket: Socket): void {
    this.#clients += 1;
    socket.once("close", () => {
      this.#clients -= 1;
    });
  }

  /** Calls `send` now or with the next batch; it must not throw. */
  post(send: () => void): void {
    if (this.#clients < MIN_BATCHING_CLIENTS) send();
    else if (this.#ready.push(send) === 1) setImmediate(() => this.#sendBatch());
  }

  #sendBatch(): void {
    const ready = this.#ready;
    this.#ready = [];
    for (const send of ready) send();
  }
}
