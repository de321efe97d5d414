import { numbersAs } from "../api/decimals.ts";
import { retryRefused } from "../api/order-request.ts";
import type { State } from "../core/state.ts";
import { isControl } from "../engine/journal-line.ts";
import { count, grouped } from "../scenario/report/text.ts";
import { changeText, refusedText } from "./describe-line.ts";
import type { ReplayedLine } from "./journal-replay.ts";

/** A refused request whose retry gets another answer. */
export interface ChangedAnswer {
  /** Its line in the journal. */
  readonly line: number;
  /** The request, and the two answers, as text. */
  readonly asked: string;
  readonly change: string;
}

/** Retries the refused requests of a journal, each in the state in which it was refused. */
export class RefusedRetries {
  readonly changed: ChangedAnswer[] = [];
  #tried = 0;
  #untried = 0;

  /** Processes the next line; the state is the one after it. */
  take({ line, result }: ReplayedLine, state: State): void {
    if (!isControl(line, "refused")) return;
    // After a line that differs, the state is not the recorded one.
    const now =
      result.kind === "unknown"
        ? ({ kind: "unknown" } as const)
        : retryRefused({ state, numbers: numbersAs("number") }, line.t, line.d);
    if (now.kind === "unknown") this.#untried += 1;
    else this.#tried += 1;
    const change = changeText(line.d, now);
    if (change !== null) this.changed.push({ line: line.n, asked: refusedText(line.d, state), change });
  }

  /** Counts of retried and other requests; null if none was refused. */
  get summary(): string | null {
    const all = this.#tried + this.#untried;
    if (all === 0) return null;
    const changed = this.changed.length;
    const parts: readonly (readonly [count: number, result: string])[] = [
      [this.#tried - changed, "refused again in the same way"],
      [changed, "answered differently now"],
      [this.#untried, "that cannot be retried"],
    ];
    const texts = parts.filter(([of]) => of > 0).map(([of, result]) => `${grouped(of)} ${result}`);
    return `${count(all, "refused request")}: ${texts.join(", ")}`;
  }
}
