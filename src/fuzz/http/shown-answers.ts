import type { Operation } from "../../api/endpoints.ts";
import type { Entry } from "../../engine/journal.ts";
import type { AnswerAgain } from "./answer-again.ts";
import type { AnswerCheck } from "./answer-check.ts";
import { isAccepted } from "./claims.ts";
import type { ClockAnswers } from "./clock-answers.ts";
import { answerName, type Finding } from "./finding.ts";
import { isInjected, type Observation } from "./observation.ts";

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
