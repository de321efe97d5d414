/** A repeat that is being read. */
interface Repeat {
  readonly times: number;
  /** From 1. */
  round: number;
  /** The round in which each name was given last. */
  readonly given: Map<string, number>;
}

/** The repeats around a step, and the round of each. */
export class Rounds {
  readonly #repeats: Repeat[] = [];

  /** `(round 2 of 3, round 4 of 20)`, the outer repeat first, after a blank; nothing outside of any. */
  get text(): string {
    if (this.#repeats.length === 0) return "";
    return ` (${this.#repeats.map(({ round, times }) => `round ${round} of ${times}`).join(", ")})`;
  }

  /** A name in which `#` stands for the round, counted on through the rounds of the repeats around; outside of any, as it is. */
  named(text: string): string {
    if (this.#repeats.length === 0 || !text.includes("#")) return text;
    const count = this.#repeats.reduce((before, { round, times }) => before * times + round - 1, 0);
    return text.replaceAll("#", String(count + 1));
  }

  /** Whether a name that was given before may be given again: it is that of a round before. */
  mayGiveAgain(name: string): boolean {
    return this.#repeats.some(({ round, given }) => (given.get(name) ?? round) < round);
  }

  /** Notes that a name is given. */
  give(name: string): void {
    for (const { round, given } of this.#repeats) given.set(name, round);
  }

  /** Reads what is repeated, round by round, until `read` answers that there is no more to be read. */
  repeat(times: number, read: () => boolean): void {
    const repeat: Repeat = { times, round: 1, given: new Map() };
    this.#repeats.push(repeat);
    while (repeat.round <= times && read()) repeat.round += 1;
    this.#repeats.pop();
  }
}
