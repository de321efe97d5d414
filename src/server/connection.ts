import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

interface Turn {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly begin: () => void;
}

/**
 * The requests of one connection, in the order in which they were sent and one at a time: the next is taken up when the
 * answer before it has left and the client has made room for more. While requests wait, nothing more is read, so that a
 * connection holds at most what one read brings (64 KiB) and one answer.
 */
export class Connection {
  readonly #socket: Duplex;
  #current: Turn | null = null;
  #waiting: Turn[] = [];
  /** Answers what follows the last request and is none itself. */
  #refuse: (() => void) | null = null;

  constructor(socket: Duplex) {
    this.#socket = socket;
    // Node resumes reading after each request that is complete.
    socket.on("resume", () => {
      if (this.#waiting.length > 0) socket.pause();
    });
    socket.once("close", () => {
      this.#waiting = [];
      this.#refuse = null;
    });
  }

  /** Calls `begin` when it is the request's turn; never when the connection has ended by then. */
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
   * Calls `refuse` after the last complete request was answered: what follows it is no request that can be read. Nothing
   * comes after that.
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

/** Whether a request still needs its connection for its answer; one whose end never comes does not. */
const isAnswering = (turn: Turn | null): boolean =>
  turn !== null && !turn.response.writableFinished && (turn.request.complete || turn.response.headersSent);

/** So many clients at a time are a crowd. */
const CROWD = 4;

/**
 * Where answers leave. In a crowd, all that are ready by the end of a turn of the event loop leave together: what they may
 * show is kept by one write, and the clients are woken once, which costs more than most answers. To a few clients each
 * leaves at once.
 */
export class Outbox {
  #clients = 0;
  #ready: (() => void)[] = [];

  /** Counts a client for as long as it is connected. */
  admit(socket: Socket): void {
    this.#clients += 1;
    socket.once("close", () => {
      this.#clients -= 1;
    });
  }

  /** Lets an answer leave; `leave` must not throw. */
  post(leave: () => void): void {
    if (this.#clients < CROWD) leave();
    else if (this.#ready.push(leave) === 1) setImmediate(() => this.#empty());
  }

  #empty(): void {
    const ready = this.#ready;
    this.#ready = [];
    for (const leave of ready) leave();
  }
}
