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
