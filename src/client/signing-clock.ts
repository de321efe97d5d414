import { type Result, success } from "./result.ts";

/**
 * Where the time of a signed request comes from: this machine's clock, GET /clob/time before each request, or a
 * function that stands in for the machine's clock and answers Unix seconds.
 */
export type TimeSource = "local" | "server" | (() => number);

/** What a synchronisation found. */
export interface TimeSync {
  /** Unix seconds. */
  readonly serverTime: number;
  /** Seconds that the server's clock is ahead of the local one. */
  readonly offset: number;
}

/** The time that signed requests carry. */
export class SigningClock {
  readonly #asksEachTime: boolean;
  readonly #local: () => number;
  readonly #ask: () => Promise<Result<{ readonly time: number }>>;
  #offset = 0;

  /** `ask` asks the server for its time, in Unix seconds. */
  constructor(source: TimeSource, ask: () => Promise<Result<{ readonly time: number }>>) {
    this.#asksEachTime = source === "server";
    this.#local = typeof source === "function" ? source : () => Date.now() / 1000;
    this.#ask = ask;
  }

  /** Unix seconds; fails only when the server had to be asked. */
  async now(): Promise<Result<number>> {
    if (!this.#asksEachTime) return success(this.#seconds() + this.#offset);
    const asked = await this.#ask();
    return asked.ok ? success(asked.value.time) : asked;
  }

  /** Asks the server for its time and keeps how far the local clock is from it. */
  async sync(): Promise<Result<TimeSync>> {
    const asked = await this.#ask();
    if (!asked.ok) return asked;
    const { time } = asked.value;
    this.#offset = time - this.#seconds();
    return success({ serverTime: time, offset: this.#offset });
  }

  #seconds(): number {
    return Math.floor(this.#local());
  }
}
