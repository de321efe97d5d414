import { setTimeout as delay } from "node:timers/promises";
import { openTransport, type Transport } from "../../src/client/transport.ts";

/** Counts and latencies of one phase. */
export class Tally {
  requests = 0;
  /** Number of accepted commands: orders, cancels, transactions of wallets. */
  accepted = 0;
  /** Latency of each request from its due time, in milliseconds. */
  readonly latencies: number[] = [];
  /** Number of 5xx and 429 answers by status; 0 for requests without an answer. */
  readonly failures: Record<string, number> = {};
  /** Number of other errors by code. */
  readonly refusals: Record<string, number> = {};
  /** An example of each failure and refusal. */
  readonly examples: Record<string, string> = {};

  fail(status: number, example: string): void {
    this.#add(this.failures, String(status), example);
  }

  refuse(code: string, example: string): void {
    this.#add(this.refusals, code, example);
  }

  #add(counts: Record<string, number>, key: string, example: string): void {
    counts[key] = (counts[key] ?? 0) + 1;
    this.examples[key] ??= example;
  }
}

/** The tally of the current phase and the server's clock, which all clients share. */
export class Meter {
  tally = new Tally();
  #aheadMs = 0;

  /** Estimates the server's time from its latest answer, in Unix seconds, for signatures. */
  readonly serverTime = (): number => (Date.now() + this.#aheadMs) / 1000;

  /** Opens the transport of a client, which paces and measures its requests. */
  open(origin: URL, pace: Pace): { readonly send: Transport; close(): void } {
    const { send, close } = openTransport(origin, ANSWER_TIMEOUT_MS);
    const measured: Transport = async (request) => {
      const due = await pace.turn();
      const { tally } = this;
      tally.requests += 1;
      const what = `${request.method} ${request.path}`;
      try {
        const reply = await send(request);
        tally.latencies.push(performance.now() - due);
        const time = Number(reply.headers["x-sim-time"]);
        if (time > 0) this.#aheadMs = time - Date.now();
        if (reply.status >= 500 || reply.status === 429) tally.fail(reply.status, `${what}: ${reply.text}`);
        else if (reply.status >= 400) tally.refuse(codeIn(reply.text), `${what}: ${reply.text}`);
        else if (isCommand(request.method, request.path)) tally.accepted += 1;
        return reply;
      } catch (error) {
        tally.fail(0, `${what}: ${(error as Error).message}`);
        throw error;
      }
    };
    return { send: measured, close };
  }
}

const ANSWER_TIMEOUT_MS = 30_000;

const isCommand = (method: string, path: string): boolean =>
  method !== "GET" && path.startsWith("/clob/order");

/** Returns the error code of a body of the API or of JSON-RPC. */
function codeIn(text: string): string {
  const body = JSON.parse(text) as { code?: string; error?: { data?: { code?: string } } };
  return body.code ?? body.error?.data?.code ?? "NO_CODE";
}

/** Due times of the requests of one client. */
export class Pace {
  readonly #random: (bound: number) => number;
  readonly #meanMs: number;
  #due = performance.now();
  /** Number of requests since `begin`. */
  turns = 0;

  /** @param meanMs mean time between two requests, drawn from 0 to twice the mean; 0 for no pause. */
  constructor(random: (bound: number) => number, meanMs: number) {
    this.#random = random;
    this.#meanMs = meanMs;
  }

  /** Restarts the schedule from now. */
  begin(): void {
    this.#due = performance.now();
    this.turns = 0;
  }

  /**
   * Waits until the next request is due, and returns its due time. A request that is late because the server has not answered
   * the previous one keeps its due time, so that a pause of the server counts in every delayed request.
   */
  async turn(): Promise<number> {
    this.turns += 1;
    if (this.#meanMs === 0) return performance.now();
    this.#due += (this.#random(2_001) / 1_000) * this.#meanMs;
    const early = this.#due - performance.now();
    if (early <= 0) return this.#due;
    await delay(early);
    return performance.now();
  }
}
