import type { Command } from "./commands.ts";
import type { Millis } from "./units.ts";

/** Agents that submit commands as time passes, such as bots. The rules apply to their commands as to any other. */
export interface Agents {
  /** Returns the next moment after `moment` at which an agent acts; null if none will. */
  nextAfter(moment: Millis): Millis | null;
  /** Yields the commands of the moment returned last; each is made after the one before has been decided. */
  act(): Iterable<Command>;
}
