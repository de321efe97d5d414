import { counted } from "../../core/format.ts";

/** Where something stands in a file; lines and columns count from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface Problem {
  readonly place: Place;
  readonly message: string;
  /** The nearest valid word, or what to do. */
  readonly hint: string | null;
}

/** A file that is no scenario, with all that is wrong with it and the files it includes, 20 problems at most. */
export interface WrongFile {
  /** As the user named it. */
  readonly file: string;
  readonly problems: readonly Problem[];
}

/** `file:line:column`, as editors and terminals make it a link. */
export const placeText = ({ file, line, column }: Place): string => `${file}:${line}:${column}`;

export const sentenceOf = ({ message, hint }: Omit<Problem, "place">): string =>
  hint === null ? message : `${message} (${hint})`;

export const problemText = (problem: Problem): string =>
  `${placeText(problem.place)}: ${sentenceOf(problem)}`;

export function wrongFilesText(wrong: readonly WrongFile[]): string {
  const problems = wrong.reduce((sum, file) => sum + file.problems.length, 0);
  return `${counted(problems, "problem")} in ${counted(wrong.length, "file")}, nothing was run`;
}

export const MAX_PROBLEMS = 20;

/** The problems found so far, of each place the first: what else is wrong there is mostly its consequence. */
export class ProblemList {
  readonly #problems = new Map<string, Problem>();

  get isEmpty(): boolean {
    return this.#problems.size === 0;
  }

  get isFull(): boolean {
    return this.#problems.size >= MAX_PROBLEMS;
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
