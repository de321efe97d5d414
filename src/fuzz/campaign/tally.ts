import type { SeedOutcome } from "../outcome.ts";
import { bySeed, type FoundFailure } from "./results.ts";

/** What became of the seeds of a campaign, taken in their order, in whatever order they end. */
export class Tally {
  readonly #engine: string;
  /** What came before its turn, by its place. */
  readonly #early = new Map<number, SeedOutcome>();
  readonly #failures = new Map<string, FoundFailure>();
  #done = 0;
  #commands = 0;

  constructor(engine: string) {
    this.#engine = engine;
  }

  /** How many seeds have ended, counted from the first without a gap. */
  get done(): number {
    return this.#done;
  }

  /** How many seeds have ended. */
  get ended(): number {
    return this.#done + this.#early.size;
  }

  /** The commands of the seeds that are done. */
  get commands(): number {
    return this.#commands;
  }

  /** By seed. */
  get failures(): FoundFailure[] {
    return [...this.#failures.values()].sort(bySeed);
  }

  /** Takes the outcome of the seed at a place, from 0. Answers those that are the first to fail as they do. */
  add(place: number, outcome: SeedOutcome): SeedOutcome[] {
    this.#early.set(place, outcome);
    const firsts: SeedOutcome[] = [];
    for (;;) {
      const next = this.#early.get(this.#done);
      if (next === undefined) return firsts;
      this.#early.delete(this.#done);
      this.#done += 1;
      this.#commands += next.commands;
      if (this.#isFirst(next)) firsts.push(next);
    }
  }

  /** Changes what is known of a failure. */
  set(fingerprint: string, changes: Partial<FoundFailure>): void {
    const known = this.#failures.get(fingerprint);
    if (known !== undefined) this.#failures.set(fingerprint, { ...known, ...changes });
  }

  #isFirst({ seed, profile, failure }: SeedOutcome): boolean {
    if (failure === null) return false;
    const { fingerprint } = failure;
    const known = this.#failures.get(fingerprint);
    if (known !== undefined) {
      this.set(fingerprint, { count: known.count + 1 });
      return false;
    }
    const files = { scenario: null, report: null, remark: "interrupted before its files were written" };
    this.#failures.set(fingerprint, { ...failure, ...files, seed, profile, count: 1, version: this.#engine });
    return true;
  }
}
