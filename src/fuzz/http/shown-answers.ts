import type { Operation } from "../../api/endpoints.ts";
import { parseDuration } from "../../core/time.ts";
import type { Entry } from "../../engine/journal.ts";
import type { AnswerAgain, AnswerCheck } from "./answers.ts";
import { isAccepted } from "./claims.ts";
import { answerName, type Finding, isInjected, type Observation } from "./observation.ts";

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

/** What they answer depends on requests alone, not on the exchange. */
const OF_THE_EDGE: ReadonlySet<Operation> = new Set(["addFault", "removeFaults"]);

/** The answers that come with no command of their own: reads, refusals, and what changed nothing. */
export class ShownAnswers {
  readonly #again: AnswerAgain;
  readonly #answers: AnswerCheck;
  readonly #clock: ClockAnswers;
  /** By sequence, each list by time. */
  readonly #shown = new Map<number, Observation[]>();

  constructor(
    observations: readonly Observation[],
    { again, answers, clock }: { again: AnswerAgain; answers: AnswerCheck; clock: ClockAnswers },
  ) {
    this.#again = again;
    this.#answers = answers;
    this.#clock = clock;
    for (const observation of observations) {
      const { answer } = observation;
      if (answer === null || (isAccepted(observation) && !isInjected(answer))) continue;
      this.#shown.set(answer.sequence, [...(this.#shown.get(answer.sequence) ?? []), observation]);
    }
    for (const list of this.#shown.values()) {
      list.sort((a, b) => (a.answer?.time ?? 0) - (b.answer?.time ?? 0));
    }
  }

  /** Makes those again that were made where the history stands; `next` is the entry that follows. */
  async here(next: Entry | undefined): Promise<Finding | null> {
    const { sequence } = this.#again.exchange;
    const here = this.#shown.get(sequence) ?? [];
    this.#shown.delete(sequence);
    for (const seen of here) {
      const wrong = await this.#one(seen, next);
      if (wrong !== null) return wrong;
    }
    return null;
  }

  /** An answer that was made where the history never stood when it could answer. */
  unreached(): Finding | null {
    const [list] = this.#shown.values();
    const [seen] = list ?? [];
    if (seen === undefined) return null;
    const sentence = `${answerName(seen)}, where nobody is answered: in the middle of a command`;
    return this.#answers.found(`in the middle of a command: ${seen.request.operation}`, seen, sentence);
  }

  async #one(seen: Observation, next: Entry | undefined): Promise<Finding | null> {
    const { answer, request } = seen;
    if (answer === null) return null;
    const { exchange } = this.#again;
    const isPossible = answer.time >= exchange.now && (next === undefined || answer.time <= next.at);
    if (!isPossible || !this.#clock.mayShow(answer.time)) {
      return this.#answers.found(
        `impossible time: ${request.operation}`,
        seen,
        `${answerName(seen)} and time ${answer.time}`,
      );
    }
    if (isInjected(answer)) return null;
    this.#again.passTo(answer.time);
    if (request.operation === "setClock") {
      const wrong = this.#clock.wrong(seen, this.#again.clock());
      return wrong === null ? null : this.#answers.found(wrong.fingerprint, seen, wrong.sentence);
    }
    if (OF_THE_EDGE.has(request.operation)) return null;
    const reply = await this.#answers.reply(seen);
    if ("fingerprint" in reply) return reply;
    return this.#answers.different(seen, reply);
  }
}
