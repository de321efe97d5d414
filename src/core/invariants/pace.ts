const RECORDS_OF_A_STEP = 1_024;

/** Says when a walk over many records should let others have their turn. */
export class Pace {
  #records = 0;

  /** Counts a record; true at every 1,024th. */
  isStep(): boolean {
    this.#records += 1;
    return this.#records % RECORDS_OF_A_STEP === 0;
  }
}

/** A judgement in steps. */
export type Steps<Result> = Generator<undefined, Result>;
