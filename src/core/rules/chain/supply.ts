import type { SupplyChange } from "../../chain/transaction.ts";
import type { Supply } from "../../market.ts";
import { money, size } from "../../units.ts";

/** Adds a change to what a market has issued, or takes it away. */
export function changeSupply(
  supply: Supply,
  { yes, no, collateral }: Omit<SupplyChange, "market">,
  sign: 1 | -1 = 1,
): void {
  supply.yes = size(supply.yes + sign * yes);
  supply.no = size(supply.no + sign * no);
  supply.collateral = money(supply.collateral + sign * collateral);
}
