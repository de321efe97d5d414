const RECORDS_OF_A_STEP = 1_024;

/** Long work in steps: between two of them others have their turn. */
export type Steps<Result> = Generator<undefined, Result>;

/** Runs steps to their end at once, for callers that nobody waits for. */
export function finish<Result>(steps: Iterator<undefined, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Says when a walk over many records should let others have their turn. */
export class StepCounter {
  #records = 0;

  /** Counts records; true once for every 1,024 of them. */
  isStep(records = 1): boolean {
    this.#records += records;
    if (this.#records < RECORDS_OF_A_STEP) return false;
    this.#records = 0;
    return true;
  }
}
