import { setTimeout as delay } from "node:timers/promises";
import { openTransport, type Transport } from "../../src/client/transport.ts";

/** What the clients saw of the server in one phase. */
export class Tally {
  requests = 0;
  /** Commands that were accepted: orders, cancels, transactions of wallets. */
  accepted = 0;
  /** Milliseconds from the moment at which a request was due to its answer. */
  readonly latencies: number[] = [];
  /** Answers of 5xx and 429, by status; 0 stands for requests without an answer. */
  readonly failures = new Map<number, number>();
  /** Other errors, by code. */
  readonly refusals = new Map<string, number>();
  /** An example of each failure and refusal, for whoever has to look for the cause. */
  readonly examples = new Map<string, string>();

  fail(status: number, example: string): void {
    this.failures.set(status, (this.failures.get(status) ?? 0) + 1);
    this.#keep(String(status), example);
  }

  refuse(code: string, example: string): void {
    this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
    this.#keep(code, example);
  }

  #keep(key: string, example: string): void {
    if (!this.examples.has(key)) this.examples.set(key, example);
  }
}

/** What all clients of a soak share: the tally of the phase that runs, and the server's clock. */
export class Meter {
  tally = new Tally();
  #aheadMs = 0;

  /** The server's time as of the latest answer, in Unix seconds: what requests are signed with. */
  readonly serverTime = (): number => (Date.now() + this.#aheadMs) / 1000;

  /** A transport of one client, paced and measured. */
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

/** The code of an error body, of the API's own or of JSON-RPC. */
function codeIn(text: string): string {
  const body = JSON.parse(text) as { code?: string; error?: { data?: { code?: string } } };
  return body.code ?? body.error?.data?.code ?? "NO_CODE";
}

/** When the requests of one client are due. */
export class Pace {
  readonly #random: (bound: number) => number;
  readonly #meanMs: number;
  #due = performance.now();
  /** How many requests have been due since it began. */
  turns = 0;

  /** @param meanMs between two requests; 0: at once. Each gap is between none and twice as long. */
  constructor(random: (bound: number) => number, meanMs: number) {
    this.#random = random;
    this.#meanMs = meanMs;
  }

  /** The next request is due from now on, whatever came before. */
  begin(): void {
    this.#due = performance.now();
    this.turns = 0;
  }

  /**
   * Waits until the next request is due, and answers when it was. A request that the client could not send in time because the
   * server kept it waiting is late by that, so that a pause of the server counts in every request that it holds up.
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
