/** Where something stands in a file; lines and columns count from 1. */
export interface Place {
  /** As the user named it. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Something wrong with a file, in a sentence: what was expected, what was found. */
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

/** What is wrong, and what to do about it. */
export const sentenceOf = ({ message, hint }: Omit<Problem, "place">): string =>
  hint === null ? message : `${message} (${hint})`;

/** One problem on one line. */
export const problemText = (problem: Problem): string =>
  `${placeText(problem.place)}: ${sentenceOf(problem)}`;

/** How many problems there are in how many files, and what follows from it. */
export function wrongFilesText(wrong: readonly WrongFile[]): string {
  const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
  const problems = wrong.reduce((sum, file) => sum + file.problems.length, 0);
  return `${counted(problems, "problem")} in ${counted(wrong.length, "file")}, nothing was run`;
}
