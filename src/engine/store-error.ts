/** Why a directory or a file cannot be used; the number is the exit code of the program. */
export type StoreProblem = "usage" | "corrupt" | "disk" | "locked" | "newer" | "differs";

/** What keeps the store from being opened, in words for the person who wants it open. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly problem: StoreProblem;

  constructor(problem: StoreProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.problem = problem;
  }
}

/** What is wrong with the content of a line of a journal: `path: expected X, found Y`. */
export const wrongLine = (path: string, line: number, what: string): StoreError =>
  new StoreError("corrupt", `${path}, line ${line}: ${what} (sed -n ${line}p ${path} prints it)`);
