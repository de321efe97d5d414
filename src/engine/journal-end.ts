/**
 * What an acknowledged command survives. `process`: the end of the process, however it comes, for it was written;
 * `power`: the end of the machine, for it is on the disk itself.
 */
export type Durability = "process" | "power";

/** Where in a journal its next line comes. */
export interface JournalEnd {
  /** The number and the check of the last line, 0 before the first. */
  readonly number: number;
  readonly check: number;
  /** The size of the file. */
  readonly offset: number;
  /** How many refused requests are noted before it; left out where that does not matter. */
  readonly refused?: number;
}

/** A place up to which the file is good. */
export interface Mark {
  readonly number: number;
  readonly offset: number;
}

/** What becomes of a journal that can no longer be written. */
export type WhenBroken = () => void;
