import type { Command, CommandOf, Stamped } from "../commands.ts";
import type { DomainEvent, EventOf } from "../events.ts";
import type { Decision } from "../refusals.ts";
import type { State } from "../state.ts";
import type { Millis } from "../units.ts";
import { accountAppliers, accountDeciders } from "./accounts.ts";
import { blockAppliers, blockDeciders } from "./blocks.ts";
import { callAppliers, callDeciders } from "./calls.ts";
import { marketAppliers, marketDeciders } from "./markets.ts";
import { RULES, type RuleSet } from "./rule-set.ts";
import { settlementAppliers, settlementDeciders } from "./settlement.ts";
import { tradingAppliers, tradingDeciders } from "./trading.ts";

type Decider<Kind extends Command["kind"]> = (
  state: State,
  command: CommandOf<Kind>,
  at: Millis,
  rules: RuleSet,
) => Decision;

const DECIDERS: { readonly [Kind in Command["kind"]]: Decider<Kind> } = {
  ...marketDeciders,
  ...accountDeciders,
  ...tradingDeciders,
  ...callDeciders,
  ...blockDeciders,
  ...settlementDeciders,
};

type Applier<Kind extends DomainEvent["kind"]> = (state: State, event: EventOf<Kind>, at: Millis) => void;

const APPLIERS: { readonly [Kind in DomainEvent["kind"]]: Applier<Kind> } = {
  ...marketAppliers,
  ...accountAppliers,
  ...tradingAppliers,
  ...callAppliers,
  ...blockAppliers,
  ...settlementAppliers,
};

/**
 * Decides a command: returns events or a refusal. Does not write the state. `rules` differs from RULES only for a command
 * that an earlier version has accepted.
 */
export function decide(state: State, { at, command }: Stamped, rules: RuleSet = RULES): Decision {
  const decider = DECIDERS[command.kind] as Decider<Command["kind"]>;
  return decider(state, command, at, rules);
}

/** Writes an event into the state. @throws Error if the event cannot be applied, which is a defect. */
export function apply(state: State, event: DomainEvent, at: Millis): void {
  const applier = APPLIERS[event.kind] as Applier<DomainEvent["kind"]>;
  applier(state, event, at);
}
