import type { Stamped } from "./commands.ts";
import type { Decision } from "./refusals.ts";
import { deriveCredentials, fundAccount } from "./rules/accounts.ts";
import { askForBlocks, endBlock, produceBlock, reorganizeChain } from "./rules/blocks.ts";
import { sendTransaction } from "./rules/calls.ts";
import { closeMarket, createEvent, createMarket, resolveMarket } from "./rules/markets.ts";
import { RULES, type RuleSet } from "./rules/rule-set.ts";
import {
  bumpFees,
  endSettlementFault,
  executeTransaction,
  setNativeBalance,
  setSettlementFault,
} from "./rules/settlement.ts";
import { cancelAllOrders, cancelOrder, expireOrder, placeOrder } from "./rules/trading.ts";
import type { State } from "./state.ts";
import { unreachable } from "./unreachable.ts";

/**
 * Turns a command into events or a refusal. Reads the state, never writes it. Only a command that an earlier version has
 * accepted is decided by other rules than today's.
 */
export function decide(state: State, { at, command }: Stamped, rules: RuleSet = RULES): Decision {
  switch (command.kind) {
    case "placeOrder":
      return placeOrder(state, at, command);
    case "produceBlock":
      return produceBlock(state);
    case "cancelOrder":
      return cancelOrder(state, command);
    case "cancelAllOrders":
      return cancelAllOrders(state, command);
    case "expireOrder":
      return expireOrder(state, command);
    case "fundAccount":
      return fundAccount(state, command, rules);
    case "deriveCredentials":
      return deriveCredentials(state, command, rules);
    case "createEvent":
      return createEvent(state, command);
    case "createMarket":
      return createMarket(state, command);
    case "closeMarket":
      return closeMarket(state, command);
    case "resolveMarket":
      return resolveMarket(state, command);
    case "sendTransaction":
      return sendTransaction(state, at, command);
    case "executeTransaction":
      return executeTransaction(state, command, rules);
    case "sealBlock":
      return endBlock(state);
    case "mineBlocks":
      return askForBlocks(command);
    case "reorganizeChain":
      return reorganizeChain(state, command);
    case "setSettlementFault":
      return setSettlementFault(state, command);
    case "endSettlementFault":
      return endSettlementFault(state, command);
    case "bumpFees":
      return bumpFees(state);
    case "setNativeBalance":
      return setNativeBalance(command);
    default:
      throw unreachable(command);
  }
}
