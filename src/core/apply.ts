import type { DomainEvent, EventOf } from "./events.ts";
import { accountWrites } from "./rules/accounts.ts";
import { tradingWrites } from "./rules/apply-trading.ts";
import { blockWrites } from "./rules/blocks.ts";
import { callWrites } from "./rules/calls.ts";
import { marketWrites } from "./rules/markets.ts";
import { settlementWrites } from "./rules/settlement.ts";
import { steeringWrites } from "./rules/steering.ts";
import type { State } from "./state.ts";
import type { Millis } from "./units.ts";

type Write<Kind extends DomainEvent["kind"]> = (state: State, event: EventOf<Kind>, at: Millis) => void;

const WRITES: { readonly [Kind in DomainEvent["kind"]]: Write<Kind> } = {
  ...marketWrites,
  ...accountWrites,
  ...steeringWrites,
  ...tradingWrites,
  ...callWrites,
  ...blockWrites,
  ...settlementWrites,
};

/** Writes an event into the state. @throws Error if the event cannot be applied, which is a defect. */
export function apply(state: State, event: DomainEvent, at: Millis): void {
  const write = WRITES[event.kind] as Write<DomainEvent["kind"]>;
  write(state, event, at);
}
