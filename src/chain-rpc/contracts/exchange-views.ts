import { CONTRACTS } from "../../core/chain/contracts.ts";
import { type Market, marketOfToken } from "../../core/market.ts";
import type { State } from "../../core/state.ts";
import type { CallTo } from "./abis.ts";
import { reverted } from "./reverted.ts";
import { presentState, type Scene } from "./scene.ts";

/** What the exchange's contract answers when it is read. @throws RpcError when it reverts. */
export function readExchange(scene: Scene, { functionName, args }: CallTo<"exchange">): unknown {
  switch (functionName) {
    case "getCollateral":
      return CONTRACTS.collateral;
    case "getCtf":
      return CONTRACTS.conditionalTokens;
    case "getConditionId":
      return marketOf(presentState(scene), args[0]).conditionId;
    case "getComplement": {
      const { tokenIds } = marketOf(presentState(scene), args[0]);
      return BigInt(tokenIds[0] === String(args[0]) ? tokenIds[1] : tokenIds[0]);
    }
    default:
      throw new Error(`${functionName} is no view`);
  }
}

function marketOf({ markets, tokenById }: State, id: bigint): Market {
  const market = markets.find(marketOfToken(tokenById.get(String(id)) ?? 0));
  if (market === undefined) throw reverted(`clobsim: no market has the token ${id}`);
  return market;
}
