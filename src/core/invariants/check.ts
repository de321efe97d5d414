import { StepCounter } from "../steps.ts";

export type Invariant = ReturnType<InvariantCheck["result"]>;

const MAX_DIFFERENCES = 5;

/** Compares found with expected values for one invariant, and counts records for its steps. */
export class InvariantCheck extends StepCounter {
  #checked = 0;
  /** Descriptions of the first few differences. */
  readonly #differences: string[] = [];

  equal(what: () => string, found: number, expected: number): void {
    this.#checked += 1;
    if (found !== expected) this.differs(`${what()}: ${found}, expected ${expected}`);
  }

  // For loops over many records, where a closure per comparison would cost more than the rest: the loop compares, and
  // reports counts and differences.

  compared(count: number): void {
    this.#checked += count;
  }

  differs(difference: string): void {
    if (this.#differences.length < MAX_DIFFERENCES) this.#differences.push(difference);
  }

  result(name: string) {
    const differences = this.#differences;
    return { name, holds: differences.length === 0, checked: this.#checked, differences };
  }
}
