import { parseDuration } from "../../core/time.ts";
import type { Entry } from "../../runtime/journal.ts";
import type { Observation } from "./observation.ts";

/**
 * What a frozen clock must have answered to those who moved it. Changes of the clock come one after the other: each
 * begins at the time that the one before it has set, and names what became due since.
 */
export class ClockAnswers {
  /** Every time at which an answer may be made; null where a change of the clock has no answer, so that nobody knows. */
  readonly #moments: ReadonlySet<number> | null;
  readonly #fired: object[] = [];
  #named = 0;
  #time: number;

  constructor(start: number, entries: readonly Entry[], observations: readonly Observation[]) {
    this.#time = start;
    const changes = observations.filter(({ request }) => request.operation === "setClock");
    const isKnown = changes.every(({ answer }) => answer !== null);
    this.#moments = isKnown
      ? new Set([
          start,
          ...entries.map(({ at }) => at),
          ...changes.map(({ answer }) => answer?.time ?? start),
        ])
      : null;
  }

  /** Whether an answer may be made at a time. */
  mayShow(time: number): boolean {
    return this.#moments?.has(time) ?? true;
  }

  /** Notes what became due. */
  fired(what: readonly object[]): void {
    this.#fired.push(...what);
  }

  /** What is wrong with the answer to a change; `clock` is what the clock says of itself there. */
  wrong({ answer, request }: Observation, clock: object): { fingerprint: string; sentence: string } | null {
    const { advance = "" } = JSON.parse(request.body) as { readonly advance?: string };
    const to = this.#time + (parseDuration(advance) ?? 0);
    const time = answer?.time ?? 0;
    const isThere = this.#moments === null ? time >= to : time === to;
    this.#time = time;
    if (!isThere) {
      return { fingerprint: "clock elsewhere", sentence: `moved the clock to ${time}, expected ${to}` };
    }
    const since = this.#fired.slice(this.#named);
    this.#named = this.#fired.length;
    const count = (this.#moments === null && (answer?.body.match(/"kind":/g)?.length ?? 0)) || 0;
    const fired = this.#moments === null ? (count === 0 ? [] : since.slice(-count)) : since;
    const body = JSON.stringify({ ...clock, fired });
    if (body === answer?.body) return null;
    return { fingerprint: "clock names other events", sentence: `expected ${body}, found ${answer?.body}` };
  }
}
