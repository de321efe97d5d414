import { defectOf } from "../../history/shrink/signature.ts";
import type { AnswerAgain, Reply } from "./answer-again.ts";
import { answerDifference } from "./answer-difference.ts";
import { type Finding, found, ofHistory, requestName } from "./finding.ts";
import type { Observation } from "./observation.ts";

/** Holds single answers against what is answered where a history stands. */
export class AnswerCheck {
  readonly #again: AnswerAgain;
  readonly #indexOf: ReadonlyMap<Observation, number>;

  constructor(again: AnswerAgain, observations: readonly Observation[]) {
    this.#again = again;
    this.#indexOf = new Map(observations.map((observation, index) => [observation, index]));
  }

  /** The request answered here, which carries it out; a finding where that fails. */
  async reply(seen: Observation): Promise<Reply | Finding> {
    try {
      return await this.#again.answer(seen.request, seen.answer?.requestId ?? "");
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return ofHistory(defectOf(message), this.#indexOf.get(seen) ?? 0);
    }
  }

  /** How an answer differs from the one that was made here. */
  different(seen: Observation, reply: Reply): Finding | null {
    const difference = answerDifference(seen, reply);
    return difference && this.found(difference.fingerprint, seen, difference.sentence);
  }

  /** A finding about a request. */
  found(fingerprint: string, seen: Observation, sentence: string): Finding {
    return found(fingerprint, `${requestName(seen)} ${sentence}`, this.#indexOf.get(seen) ?? 0);
  }
}
