import { allowanceOf } from "../../core/chain/permissions.ts";
import type { CallTo } from "./abis.ts";
import { collateralAt } from "./balance-at.ts";
import { presentState, type Scene } from "./scene.ts";

/** What the collateral answers when it is read. */
export function readCollateral(scene: Scene, { functionName, args }: CallTo<"collateral">): unknown {
  switch (functionName) {
    case "name":
      return "USD Coin";
    case "symbol":
      return "USDC";
    case "decimals":
      return 6;
    case "totalSupply":
      return BigInt(presentState(scene).issued);
    case "balanceOf":
      return collateralAt(scene, args[0].toLowerCase());
    case "allowance":
      return allowanceOf(presentState(scene).chain, args[0].toLowerCase(), args[1].toLowerCase());
    default:
      throw new Error(`${functionName} is no view`);
  }
}
