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

/** `file:line:column`, as editors and terminals make it a link. */
export const placeText = ({ file, line, column }: Place): string => `${file}:${line}:${column}`;

/** One problem on one line. */
export const problemText = ({ place, message, hint }: Problem): string =>
  `${placeText(place)}: ${message}${hint === null ? "" : ` (${hint})`}`;
