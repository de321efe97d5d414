import type { Command } from "./commands.ts";
import type { State } from "./state.ts";
import type { Millis } from "./units.ts";

/** A command that time alone causes, with the moment it is due. */
export interface Due {
  readonly at: Millis;
  readonly command: Command;
}

/** What time causes next, earliest first, then by order of creation; null when nothing waits. */
export function nextDue(state: State): Due | null {
  const order = state.expiries.first();
  if (order === 0) return null;
  const at = state.orders.get(order).expiration;
  if (at === null) throw new Error(`order ${order} waits for an expiration it does not have`);
  return { at, command: { kind: "expireOrder", order } };
}
