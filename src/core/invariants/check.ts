/** One rule about the state that must always hold, with the figures it was judged by. */
export interface Invariant {
  readonly name: string;
  readonly holds: boolean;
  /** How many things were compared. */
  readonly checked: number;
  /** The first few differences, in words. */
  readonly differences: readonly string[];
}

const SHOWN = 5;

/** Compares what is with what should be, for one rule. */
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

  // In a walk over many records a closure for each comparison would cost more than all the rest: there the walk compares,
  // counts, and tells what differs.

  compared(count: number): void {
    this.#checked += count;
  }

  differs(difference: string): void {
    if (this.#differences.length < SHOWN) this.#differences.push(difference);
  }

  get result(): Invariant {
    const differences = this.#differences;
    return { name: this.name, holds: differences.length === 0, checked: this.#checked, differences };
  }
}
