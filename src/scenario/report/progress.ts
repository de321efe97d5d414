import type { ScenarioResult } from "../run/result.ts";
import { grouped } from "./figures.ts";

/** Results between two looks. */
const EVERY = 50;
/** What finished scenarios have taken before there is anything to see, in milliseconds. */
const PATIENCE_MS = 1000;
/** Back to the first column, then erase to the end of the line (ECMA-48, EL). */
const ERASE = "\r\u001b[K";

/** One line of a terminal that says how far a suite is, written over again and again; no timers. */
export class Progress {
  readonly #write: (text: string) => void;
  readonly #scenarios: number;
  #finished = 0;
  #failed = 0;
  #elapsedMs = 0;
  #shownAt = 0;
  #isShown = false;

  constructor(write: (text: string) => void, scenarios: number) {
    this.#write = write;
    this.#scenarios = scenarios;
  }

  finished({ status, durationMs }: ScenarioResult): void {
    this.#finished += 1;
    if (status === "failed") this.#failed += 1;
    this.#elapsedMs += durationMs;
    if (this.#elapsedMs <= PATIENCE_MS || this.#finished - this.#shownAt < EVERY) return;
    this.#shownAt = this.#finished;
    this.#isShown = true;
    const failed = this.#failed === 0 ? "" : ` · ${grouped(this.#failed)} failed`;
    this.#write(`${ERASE}${grouped(this.#finished)}/${grouped(this.#scenarios)}${failed}`);
  }

  /** Makes way for other lines. */
  erase(): void {
    if (this.#isShown) this.#write(ERASE);
    this.#isShown = false;
  }
}
