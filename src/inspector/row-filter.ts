import type { StreamRequest } from "../api/event-stream.ts";
import type { State } from "../core/state.ts";
import { isControl } from "../engine/journal-line.ts";
import { describeLine } from "../history/describe-line.ts";
import type { History } from "./history.ts";

/** Criteria for rows. */
export interface RowChoice {
  /** Number of an account; 0 for all. */
  readonly account: number;
  /** Number of a market; 0 for all. */
  readonly market: number;
  /** `MARK` bits of which a row must have one; 0 for all. */
  readonly marks: number;
  /** Text that a row, its error code or its fault must contain, ignoring case; empty for all. */
  readonly text: string;
}

const SLICE_MS = 12;

/** Finds the rows of a history that meet the criteria, in slices. */
export class RowFilter {
  readonly #history: History;
  readonly #choice: RowChoice;
  readonly #requests: ReadonlyMap<number, StreamRequest>;
  readonly #nameOf: (state: State, account: number) => string;
  readonly rows: number[] = [];
  #searched = 0;

  constructor(
    history: History,
    choice: RowChoice,
    requests: ReadonlyMap<number, StreamRequest>,
    nameOf: (state: State, account: number) => string,
  ) {
    this.#history = history;
    this.#nameOf = nameOf;
    this.#choice = { ...choice, text: choice.text.trim().toLowerCase() };
    this.#requests = requests;
  }

  /** Part of the rows that has been searched, 0 to 1. */
  get done(): number {
    return this.#history.count === 0 ? 1 : this.#searched / this.#history.count;
  }

  /** Searches for one time slice; returns whether all present rows have been searched. */
  search(): boolean {
    const { account, market, marks, text } = this.#choice;
    const { count, actors, markets, marks: markedAs } = this.#history;
    const until = performance.now() + SLICE_MS;
    while (this.#searched < count) {
      const row = this.#searched;
      this.#searched += 1;
      const isChosen =
        (account === 0 || actors.at(row) === account) &&
        (market === 0 || markets.at(row) === market) &&
        (marks === 0 || (markedAs.at(row) & marks) !== 0);
      if (isChosen && (text === "" || this.#matches(row, text))) this.rows.push(row);
      // Most rows take almost no time, so that the clock is read only once in 4,096 rows.
      if ((text !== "" || (row & 4095) === 4095) && performance.now() > until)
        return this.#searched === count;
    }
    return true;
  }

  #matches(row: number, text: string): boolean {
    const line = this.#history.lines.at(row);
    const request = this.#requests.get(row);
    let isMatch = [request?.code, request?.fault, request?.requestId, request?.path].some((part) =>
      part?.toLowerCase().includes(text),
    );
    if (isControl(line, "refused")) isMatch ||= line.d.code.toLowerCase().includes(text);
    this.#history.visit(row, row + 1, (_row, replayed, state) => {
      const { actor, text: asked, result } = describeLine(replayed, state);
      const name = this.#nameOf(state, this.#history.actors.at(row));
      isMatch ||= `${name} ${actor ?? ""} ${asked} ${result}`.toLowerCase().includes(text);
    });
    return isMatch;
  }
}
