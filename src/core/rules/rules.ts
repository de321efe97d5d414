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

// V8 finds an entry of a map in a quarter of the time of a property of so large an object.
const DECIDER_OF: ReadonlyMap<string, unknown> = new Map(Object.entries(DECIDERS));
const APPLIER_OF: ReadonlyMap<string, unknown> = new Map(Object.entries(APPLIERS));

/**
 * Decides a command: returns events or a refusal. Does not write the state. `rules` differs from RULES only for a command
 * that an earlier version has accepted.
 */
export function decide(state: State, { at, command }: Stamped, rules = RULES): Decision {
  const decider = DECIDER_OF.get(command.kind) as Deciders["placeOrder"];
  return decider(state, command as CommandOf<"placeOrder">, rules, at);
}

export function apply(state: State, event: DomainEvent, at: Millis): void {
  (APPLIER_OF.get(event.kind) as (of: State, event: DomainEvent, at: Millis) => void)(state, event, at);
}
