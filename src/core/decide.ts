import type { Command, CommandOf, Stamped } from "./commands.ts";
import type { Decision } from "./refusals.ts";
import { accountDeciders } from "./rules/accounts.ts";
import { blockDeciders } from "./rules/blocks.ts";
import { callDeciders } from "./rules/calls.ts";
import { marketDeciders } from "./rules/markets.ts";
import { RULES, type RuleSet } from "./rules/rule-set.ts";
import { settlementDeciders } from "./rules/settlement.ts";
import { steeringDeciders } from "./rules/steering.ts";
import { tradingDeciders } from "./rules/trading.ts";
import type { State } from "./state.ts";
import type { Millis } from "./units.ts";

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
  ...steeringDeciders,
  ...callDeciders,
  ...blockDeciders,
  ...settlementDeciders,
};

/**
 * Decides a command: returns events or a refusal. Does not write the state. `rules` differs from RULES only for a command
 * that an earlier version has accepted.
 */
export function decide(state: State, { at, command }: Stamped, rules: RuleSet = RULES): Decision {
  const decider = DECIDERS[command.kind] as Decider<Command["kind"]>;
  return decider(state, command, at, rules);
}
