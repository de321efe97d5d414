import { counted } from "../../core/format.ts";

/** A position in a file; lines and columns count from 1. */
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

/** A file that is not a valid scenario, with the problems in it and in the files it includes, at most 20. */
export interface WrongFile {
  /** As the user named it. */
  readonly file: string;
  readonly problems: readonly Problem[];
}

/** `file:line:column`, which editors and terminals turn into a link. */
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

/** The problems found so far. Only the first of a place is kept, because later ones mostly follow from it. */
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

  /** Returns the problems sorted by place: the scenario's file first, other files in the order of their first problem. */
  inOrder(scenario: string): Problem[] {
    const problems = [...this.#problems.values()];
    const files = [...new Set([scenario, ...problems.map(({ place }) => place.file)])];
    return problems.sort(
      ({ place: a }, { place: b }) =>
        files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column,
    );
  }
}
