import type { StreamRequest } from "../api/event-stream.ts";
import type { State } from "../core/state.ts";
import { isControl } from "../engine/journal-line.ts";
import { wordsOf } from "../history/words.ts";
import type { History } from "./history.ts";

/** Which rows are wanted. */
export interface RowChoice {
  /** A number of an account, or 0. */
  readonly account: number;
  /** A number of a market, or 0. */
  readonly market: number;
  /** `MARK` bits of which a row must have one, or 0. */
  readonly marks: number;
  /** What the words of a row, an error code or a fault must hold, whatever the case; or nothing. */
  readonly text: string;
}

const TURN_MS = 12;

/** The rows of a history that are wanted, found a piece at a time. */
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

  /** How much has been searched, 0 to 1. */
  get done(): number {
    return this.#history.count === 0 ? 1 : this.#searched / this.#history.count;
  }

  /** Searches for a while; answers whether all rows that there are have been searched. */
  search(): boolean {
    const { account, market, marks, text } = this.#choice;
    const { count, actors, markets, marks: markedAs } = this.#history;
    const until = performance.now() + TURN_MS;
    while (this.#searched < count) {
      const row = this.#searched;
      this.#searched += 1;
      const isChosen =
        (account === 0 || actors.at(row) === account) &&
        (market === 0 || markets.at(row) === market) &&
        (marks === 0 || (markedAs.at(row) & marks) !== 0);
      if (isChosen && (text === "" || this.#tells(row, text))) this.rows.push(row);
      // Most rows take no time at all: the clock is looked at now and then.
      if ((text !== "" || (row & 4095) === 4095) && performance.now() > until)
        return this.#searched === count;
    }
    return true;
  }

  #tells(row: number, text: string): boolean {
    const line = this.#history.lines.at(row);
    const request = this.#requests.get(row);
    let isTold = [request?.code, request?.fault, request?.requestId, request?.path].some((part) =>
      part?.toLowerCase().includes(text),
    );
    if (isControl(line, "refused")) isTold ||= line.d.code.toLowerCase().includes(text);
    this.#history.tell(row, row + 1, (_row, told, state) => {
      const { actor, text: asked, became } = wordsOf(told, state);
      const name = this.#nameOf(state, this.#history.actors.at(row));
      isTold ||= `${name} ${actor ?? ""} ${asked} ${became}`.toLowerCase().includes(text);
    });
    return isTold;
  }
}
