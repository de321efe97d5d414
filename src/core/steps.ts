const RECORDS_PER_STEP = 1_024;

/** Long work in steps, so that the event loop can run other work between two of them. */
export type Steps<Result> = Generator<undefined, Result>;

/** Runs all steps synchronously and returns the result. */
export function runSteps<Result>(steps: Iterator<unknown, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

export class StepCounter {
  #records = 0;

  /** Counts records; returns true about once per 1,024 of them. */
  isStep(records = 1): boolean {
    this.#records += records;
    if (this.#records < RECORDS_PER_STEP) return false;
    this.#records = 0;
    return true;
  }
}
