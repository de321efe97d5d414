import type { Socket } from "node:net";

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
