import type { PositionChange } from "../../api/position-transaction.ts";
import { CONTRACTS, NO_PARENT, TOKEN_UNITS } from "../../core/chain/contracts.ts";
import type { SendTransaction } from "../../core/commands.ts";
import { sizeText } from "../../core/format.ts";
import type { State } from "../../core/state.ts";
import { size } from "../../core/units.ts";

/** What a wallet does with its position in a market, by the market's number. */
export interface Position {
  readonly market: number;
  readonly change: PositionChange;
}

/** What a wallet's transaction asks of full sets, as a step of a scenario can say it; null when none can. */
export function positionIn(state: State, { call }: Pick<SendTransaction, "call">): Position | null {
  if (call.kind !== "split" && call.kind !== "merge" && call.kind !== "redeem") return null;
  const market = state.marketByConditionId.get(call.condition);
  if (market === undefined || call.parent !== NO_PARENT || call.collateral !== CONTRACTS.collateral)
    return null;
  const sets = call.kind === "redeem" ? call.indexSets : call.partition;
  if (sets.length !== 2 || !["1", "2"].every((set) => sets.includes(set))) return null;
  if (call.kind === "redeem") return { market, change: { kind: call.kind } };
  const shares = Number(call.amount) / TOKEN_UNITS;
  const isSayable = Number.isSafeInteger(shares) && shares > 0;
  return isSayable ? { market, change: { kind: call.kind, size: size(shares) } } : null;
}

/** `split 10`, `merge 10` or `redeem`. */
export const positionText = (change: PositionChange): string =>
  change.kind === "redeem" ? change.kind : `${change.kind} ${sizeText(change.size)}`;
