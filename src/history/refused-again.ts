import { numbersAs } from "../api/decimals.ts";
import { askAgain } from "../api/order-request.ts";
import type { State } from "../core/state.ts";
import { isControl } from "../engine/journal-line.ts";
import type { ReplayedLine } from "./journal-replay.ts";
import { changeText, refusedText } from "./words.ts";

/** A refused request that gets another answer now. */
export interface ChangedAnswer {
  /** Its line in the journal. */
  readonly line: number;
  /** What it asked for, and both answers, in words. */
  readonly asked: string;
  readonly change: string;
}

/** Tries the refused requests of a journal again, each on the state in which it was refused. */
export class RefusedAgain {
  readonly changed: ChangedAnswer[] = [];
  #tried = 0;
  #untried = 0;

  /** Takes the next line; the state is that behind it. */
  take({ line, outcome }: ReplayedLine, state: State): void {
    if (!isControl(line, "refused")) return;
    // Behind a line that comes out otherwise the state is another.
    const now =
      outcome.kind === "unknown"
        ? ({ kind: "unknown" } as const)
        : askAgain({ state, numbers: numbersAs("number") }, line.t, line.d);
    if (now.kind === "unknown") this.#untried += 1;
    else this.#tried += 1;
    const change = changeText(line.d, now);
    if (change !== null) this.changed.push({ line: line.n, asked: refusedText(line.d, state), change });
  }

  /** How many there are, tried and not; null where there is none. */
  get summary(): string | null {
    const count = this.#tried + this.#untried;
    if (count === 0) return null;
    const same = this.#tried - this.changed.length;
    const parts = [
      ...(same > 0 ? [`${same.toLocaleString("en-US")} refused again in the same way`] : []),
      ...(this.changed.length > 0
        ? [`${this.changed.length.toLocaleString("en-US")} answered otherwise now`]
        : []),
      ...(this.#untried > 0 ? [`${this.#untried.toLocaleString("en-US")} that cannot be tried again`] : []),
    ];
    return `${count.toLocaleString("en-US")} refused request${count === 1 ? "" : "s"}: ${parts.join(", ")}`;
  }
}
