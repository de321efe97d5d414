import { numbersAs } from "../api/decimals.ts";
import { retryRefused } from "../api/order-request.ts";
import type { State } from "../core/state.ts";
import { isControl } from "../engine/journal-line.ts";
import { count, grouped } from "../scenario/report/text.ts";
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
        : retryRefused({ state, numbers: numbersAs("number") }, line.t, line.d);
    if (now.kind === "unknown") this.#untried += 1;
    else this.#tried += 1;
    const change = changeText(line.d, now);
    if (change !== null) this.changed.push({ line: line.n, asked: refusedText(line.d, state), change });
  }

  /** How many there are, tried and not; null where there is none. */
  get summary(): string | null {
    const all = this.#tried + this.#untried;
    if (all === 0) return null;
    const changed = this.changed.length;
    const parts: readonly (readonly [of: number, what: string])[] = [
      [this.#tried - changed, "refused again in the same way"],
      [changed, "answered otherwise now"],
      [this.#untried, "that cannot be tried again"],
    ];
    const said = parts.filter(([of]) => of > 0).map(([of, what]) => `${grouped(of)} ${what}`);
    return `${count(all, "refused request")}: ${said.join(", ")}`;
  }
}
