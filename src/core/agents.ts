import type { Command } from "./commands.ts";
import type { Millis } from "./units.ts";

/** Those who act by themselves as time passes. What they do is decided as whatever else is asked for. */
export interface Agents {
  /** When one of them acts next, later than a moment; null when none ever will. */
  nextAfter(moment: Millis): Millis | null;
  /** What they do at the moment answered last: each command is made once the one before has been decided. */
  act(): Iterable<Command>;
}
