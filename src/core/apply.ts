import type { DomainEvent, EventOf } from "./events.ts";
import { accountAppliers } from "./rules/accounts.ts";
import { tradingAppliers } from "./rules/apply-trading.ts";
import { blockAppliers } from "./rules/blocks.ts";
import { callAppliers } from "./rules/calls.ts";
import { marketAppliers } from "./rules/markets.ts";
import { settlementAppliers } from "./rules/settlement.ts";
import { steeringAppliers } from "./rules/steering.ts";
import type { State } from "./state.ts";
import type { Millis } from "./units.ts";

type Applier<Kind extends DomainEvent["kind"]> = (state: State, event: EventOf<Kind>, at: Millis) => void;

const APPLIERS: { readonly [Kind in DomainEvent["kind"]]: Applier<Kind> } = {
  ...marketAppliers,
  ...accountAppliers,
  ...steeringAppliers,
  ...tradingAppliers,
  ...callAppliers,
  ...blockAppliers,
  ...settlementAppliers,
};

/** Writes an event into the state. @throws Error if the event cannot be applied, which is a defect. */
export function apply(state: State, event: DomainEvent, at: Millis): void {
  const applier = APPLIERS[event.kind] as Applier<DomainEvent["kind"]>;
  applier(state, event, at);
}
