import { parseDuration } from "../../core/time.ts";
import type { Entry } from "../../engine/journal.ts";
import { isAccepted } from "./claims.ts";
import type { Observation } from "./observation.ts";

interface Due {
  /** As an answer about the clock names it. */
  readonly what: object;
  /** Whether somebody else's request may have brought it, between two steps of the clock: then no answer names it. */
  readonly mayBeOthers: boolean;
}

/**
 * What a frozen clock must have answered to those who moved it. Changes of the clock come one after the other: each
 * begins at the time that the one before it has set, and names what became due since.
 */
export class ClockAnswers {
  /** Every time at which an answer may be made; null where a change of the clock has no answer, so that nobody knows. */
  readonly #moments: ReadonlySet<number> | null;
  /** What became due, and has not been named yet. */
  #due: Due[] = [];
  /** The sequences at which requests were answered that changed nothing, but may have brought what was due. */
  readonly #triedAt: ReadonlySet<number>;
  #time: number;

  constructor(start: number, entries: readonly Entry[], observations: readonly Observation[]) {
    this.#time = start;
    const changes = observations.filter(({ request }) => request.operation === "setClock");
    const isKnown = changes.every(({ answer }) => answer !== null);
    this.#triedAt = new Set(observations.filter(mayHaveTried).map(({ answer }) => answer?.sequence ?? 0));
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

  /** Notes what became due with the command of a sequence. */
  fired(what: readonly object[], sequence: number): void {
    const mayBeOthers = this.#triedAt.has(sequence);
    this.#due.push(...what.map((each) => ({ what: each, mayBeOthers })));
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
    const { fired = [] } = JSON.parse(answer?.body ?? "{}") as { readonly fired?: readonly object[] };
    const due = this.#due.splice(0);
    const bodyFrom = (start: number): string =>
      JSON.stringify({ ...clock, fired: named(due.slice(start), fired).map(({ what }) => what) });
    // A change without an answer may have been the one to name what became due first.
    for (let start = 0; start <= (this.#moments === null ? due.length : 0); start += 1) {
      if (bodyFrom(start) === answer?.body) return null;
    }
    return {
      fingerprint: "clock names other events",
      sentence: `expected ${bodyFrom(0)}, found ${answer?.body}`,
    };
  }
}

/** What of all that became due an answer must name, where it names these: whatever it leaves out may be others'. */
function named(due: readonly Due[], fired: readonly object[]): readonly Due[] {
  let next = 0;
  return due.filter(({ what, mayBeOthers }) => {
    const isNamed = JSON.stringify(what) === JSON.stringify(fired[next]);
    if (isNamed) next += 1;
    return isNamed || !mayBeOthers;
  });
}

/** Whether a request was refused, or changed nothing, after the exchange had looked at it: what is due then is done first. */
const mayHaveTried = (observation: Observation): boolean =>
  observation.answer !== null &&
  observation.request.method !== "GET" &&
  observation.request.operation !== "setClock" &&
  !isAccepted(observation);
