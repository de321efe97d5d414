import type { Command, CommandOf, Stamped } from "./commands.ts";
import type { Decision } from "./refusals.ts";
import { accountRules } from "./rules/accounts.ts";
import { blockRules } from "./rules/blocks.ts";
import { callRules } from "./rules/calls.ts";
import { marketRules } from "./rules/markets.ts";
import { RULES, type RuleSet } from "./rules/rule-set.ts";
import { settlementRules } from "./rules/settlement.ts";
import { steeringRules } from "./rules/steering.ts";
import { tradingRules } from "./rules/trading.ts";
import type { State } from "./state.ts";
import type { Millis } from "./units.ts";

type Rule<Kind extends Command["kind"]> = (
  state: State,
  command: CommandOf<Kind>,
  at: Millis,
  rules: RuleSet,
) => Decision;

const RULE_OF: { readonly [Kind in Command["kind"]]: Rule<Kind> } = {
  ...marketRules,
  ...accountRules,
  ...tradingRules,
  ...steeringRules,
  ...callRules,
  ...blockRules,
  ...settlementRules,
};

/**
 * Decides a command: returns events or a refusal. Does not write the state. `rules` differs from RULES only for a command
 * that an earlier version has accepted.
 */
export function decide(state: State, { at, command }: Stamped, rules: RuleSet = RULES): Decision {
  const rule = RULE_OF[command.kind] as Rule<Command["kind"]>;
  return rule(state, command, at, rules);
}
