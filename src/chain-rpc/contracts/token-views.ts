import { NO_PARENT } from "../../core/chain/call.ts";
import { isOperator } from "../../core/chain/permissions.ts";
import { collectionId, conditionId, positionId } from "../../core/chain/position-ids.ts";
import type { Market } from "../../core/market.ts";
import { isReported, PAYOUTS } from "../../core/rules/chain/payouts.ts";
import type { State } from "../../core/state.ts";
import type { CallTo } from "./abis.ts";
import { sharesAt } from "./balance-at.ts";
import { reverted } from "./reverted.ts";
import { presentState, type Scene } from "./scene.ts";

const OUTCOMES = 2;
/** ERC-165 itself, and ERC-1155. */
const INTERFACES: ReadonlySet<string> = new Set(["0x01ffc9a7", "0xd9b67a26"]);

/** What the tokens' contract answers when it is read. @throws RpcError when it reverts. */
export function readTokens(scene: Scene, call: CallTo<"conditionalTokens">): unknown {
  const { functionName, args } = call;
  switch (functionName) {
    case "balanceOf":
      return sharesAt(scene, args[0].toLowerCase(), args[1]);
    case "balanceOfBatch": {
      const [owners, ids] = args;
      if (owners.length !== ids.length) throw reverted("ERC1155: owners and IDs must have same lengths");
      return owners.map((owner, index) => sharesAt(scene, owner.toLowerCase(), ids[index] as bigint));
    }
    case "isApprovedForAll":
      return isOperator(presentState(scene).chain, args[0].toLowerCase(), args[1].toLowerCase());
    case "supportsInterface":
      return INTERFACES.has(args[0]);
    case "getConditionId":
      return conditionId(args[0].toLowerCase(), args[1], counted(args[2]));
    case "getCollectionId":
      if (args[0] !== NO_PARENT) throw reverted("clobsim: positions have no parent collection");
      return collectionId(args[1], counted(args[2]));
    case "getPositionId":
      return positionId(args[0].toLowerCase(), args[1]);
    default:
      return readCondition(presentState(scene), call);
  }
}

function readCondition(state: State, { functionName, args }: CallTo<"conditionalTokens">): unknown {
  switch (functionName) {
    case "getOutcomeSlotCount":
      return BigInt(marketOf(state, args[0]) === undefined ? 0 : OUTCOMES);
    case "payoutNumerators": {
      const market = marketOf(state, args[0]);
      const numerator = args[1] < OUTCOMES ? payoutsOf(state, market)?.[Number(args[1])] : undefined;
      if (numerator === undefined) throw reverted("clobsim: there is no such outcome");
      return BigInt(numerator);
    }
    case "payoutDenominator":
      return BigInt((payoutsOf(state, marketOf(state, args[0])) ?? []).reduce((a, b) => a + b, 0));
    default:
      throw new Error(`${functionName} is no view`);
  }
}

const marketOf = ({ markets, marketByConditionId }: State, condition: string): Market | undefined =>
  markets.find(marketByConditionId.get(condition) ?? 0);

/** The numerators of a condition's payouts, zeros before the oracle has reported. */
function payoutsOf(state: State, market: Market | undefined): readonly number[] | undefined {
  if (market === undefined) return undefined;
  const { winningOutcome } = market;
  return winningOutcome !== null && isReported(state, market) ? PAYOUTS[winningOutcome] : [0, 0];
}

/** A number of outcomes or a set of them, as far as the core counts. @throws RpcError */
function counted(value: bigint): number {
  if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
  throw reverted("clobsim: a market has two outcomes");
}
