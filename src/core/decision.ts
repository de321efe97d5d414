import type { DomainEvent } from "./events.ts";
import type { Refusal } from "./refusals.ts";

/** What becomes of a command: events that happen, or the reason why nothing does. */
export type Decision =
  | { readonly ok: true; readonly events: readonly DomainEvent[] }
  | { readonly ok: false; readonly refusal: Refusal };

export const accepted = (events: readonly DomainEvent[]): Decision => ({ ok: true, events });
export const refused = (refusal: Refusal): Decision => ({ ok: false, refusal });
