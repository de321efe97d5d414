import type { CommandOf, Stamped } from "../commands.ts";
import type { DomainEvent } from "../events.ts";
import type { Decision } from "../refusals.ts";
import type { State } from "../state.ts";
import type { Millis } from "../units.ts";
import { accountAppliers, accountDeciders } from "./accounts.ts";
import { blockAppliers, blockDeciders } from "./blocks.ts";
import { callAppliers, callDeciders } from "./calls.ts";
import { marketAppliers, marketDeciders } from "./markets.ts";
import { type Appliers, type Deciders, RULES } from "./rule-set.ts";
import { settlementAppliers, settlementDeciders } from "./settlement.ts";
import { tradingAppliers, tradingDeciders } from "./trading.ts";

const DECIDERS: Deciders = {
  ...marketDeciders,
  ...accountDeciders,
  ...tradingDeciders,
  ...callDeciders,
  ...blockDeciders,
  ...settlementDeciders,
};

const APPLIERS: Appliers = {
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
export function decide(state: State, { at, command }: Stamped, rules = RULES): Decision {
  const decider = DECIDERS[command.kind] as Deciders["placeOrder"];
  return decider(state, command as CommandOf<"placeOrder">, rules, at);
}

export function apply(state: State, event: DomainEvent, at: Millis): void {
  (APPLIERS[event.kind] as (of: State, event: DomainEvent, at: Millis) => void)(state, event, at);
}
