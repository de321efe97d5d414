/** Result of checking one invariant of the state. */
export interface Invariant {
  readonly name: string;
  readonly holds: boolean;
  /** Number of comparisons. */
  readonly checked: number;
  /** Descriptions of the first few differences. */
  readonly differences: readonly string[];
}

const MAX_DIFFERENCES = 5;

/** Compares found with expected values for one invariant. */
export class InvariantCheck {
  readonly name: string;
  #checked = 0;
  readonly #differences: string[] = [];

  constructor(name: string) {
    this.name = name;
  }

  expect(isTrue: boolean, difference: () => string): void {
    this.#checked += 1;
    if (!isTrue) this.differs(difference());
  }

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

  get result(): Invariant {
    const differences = this.#differences;
    return { name: this.name, holds: differences.length === 0, checked: this.#checked, differences };
  }
}
