import type { Meter, Tally } from "./meter.ts";
import type { Phase } from "./plan.ts";
import { progressLine } from "./report.ts";
import type { SoakServer } from "./server.ts";

const TERMINAL_MS = 2_000;
const ELSEWHERE_MS = 30_000;
const CLEAR_LINE = "\r\u001b[K";

/** Tells on stderr how the soak stands: one line that changes on a terminal, else a line now and then. */
export class Progress {
  readonly #start = performance.now();
  readonly #isTerminal = process.stderr.isTTY === true;
  readonly #timer: NodeJS.Timeout;
  #phase: Phase | null = null;
  #server: SoakServer | null = null;
  #tally: Tally | null = null;
  #last = { at: performance.now(), requests: 0 };

  constructor() {
    this.#timer = setInterval(() => void this.#tell(), this.#isTerminal ? TERMINAL_MS : ELSEWHERE_MS);
  }

  /** A phase begins. */
  readonly watch = (phase: Phase, server: SoakServer, { tally }: Meter): void => {
    this.#phase = phase;
    this.#server = server;
    this.#tally = tally;
    this.#last = { at: performance.now(), requests: 0 };
  };

  end(): void {
    clearInterval(this.#timer);
    if (this.#isTerminal) process.stderr.write(CLEAR_LINE);
  }

  async #tell(): Promise<void> {
    const [phase, server, tally] = [this.#phase, this.#server, this.#tally];
    if (phase === null || server === null || tally === null) return;
    const residentBytes = await server.residentBytes();
    const descriptors = await server.descriptors();
    const now = performance.now();
    const requestsPerSecond = ((tally.requests - this.#last.requests) * 1_000) / (now - this.#last.at);
    this.#last = { at: now, requests: tally.requests };
    const seconds = (now - this.#start) / 1_000;
    const line = progressLine({
      ...{ seconds, phase: phase.kind, requestsPerSecond, tally },
      ...{ residentBytes, descriptors },
    });
    process.stderr.write(this.#isTerminal ? `${CLEAR_LINE}${line}` : `${line}\n`);
  }
}
