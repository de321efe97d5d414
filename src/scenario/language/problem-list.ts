import { type Problem, placeText } from "./problem.ts";

/** So many problems of a file and its parts are told at most. */
export const MOST_PROBLEMS = 20;

/** The problems found so far, of each place the first: what else is wrong there is mostly its consequence. */
export class ProblemList {
  readonly #problems = new Map<string, Problem>();

  get isEmpty(): boolean {
    return this.#problems.size === 0;
  }

  /** Whether further problems are not kept. */
  get isFull(): boolean {
    return this.#problems.size >= MOST_PROBLEMS;
  }

  add(problem: Problem): void {
    const place = placeText(problem.place);
    if (!this.isFull && !this.#problems.has(place)) this.#problems.set(place, problem);
  }

  /** As they stand in each file; the files in the order of their first problem, the scenario's own before its parts. */
  inOrder(scenario: string): Problem[] {
    const problems = [...this.#problems.values()];
    const files = [...new Set([scenario, ...problems.map(({ place }) => place.file)])];
    return problems.sort(
      ({ place: a }, { place: b }) =>
        files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column,
    );
  }
}
