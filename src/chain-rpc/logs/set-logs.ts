import { CONTRACTS, ZERO_ADDRESS } from "../../core/chain/contracts.ts";
import type { Address } from "../../core/commands.ts";
import type { Market } from "../../core/market.ts";
import { addressWord, bytesWord, numberWord } from "../hex.ts";
import { batchMoved, pairOf } from "./asset.ts";
import { tokenEvents, transfer } from "./events.ts";
import type { Log } from "./log.ts";

const { collateral, conditionalTokens } = CONTRACTS;
const NO_PARENT = numberWord(0);
/** YES alone and NO alone. */
const BOTH = [1n, 2n];

/** So many full sets, in the contract's units, which are also what they cost; `partition` has both outcomes in some order. */
interface Sets {
  readonly holder: Address;
  readonly market: Market;
  readonly units: number | bigint;
  readonly partition?: readonly bigint[];
}

/** A holder's USDC becomes full sets. */
export const splitLogs = (sets: Sets): Log[] => [
  transfer(sets.holder, conditionalTokens, sets.units),
  setsMoved(sets, ZERO_ADDRESS, sets.holder),
  tokenEvents.PositionSplit(...positionWords(sets)),
];

/** A holder's full sets become USDC again. */
export const mergeLogs = (sets: Sets): Log[] => [
  setsMoved(sets, sets.holder, ZERO_ADDRESS),
  transfer(conditionalTokens, sets.holder, sets.units),
  tokenEvents.PositionsMerge(...positionWords(sets)),
];

function setsMoved({ holder, market, units, partition = BOTH }: Sets, from: Address, to: Address): Log {
  const [yes, no] = pairOf(market);
  const amount = numberWord(units);
  const tokens = partition.map((set) => (set === 1n ? yes : no));
  return batchMoved(
    holder,
    from,
    to,
    tokens,
    tokens.map(() => amount),
  );
}

const positionWords = ({ holder, market, units, partition = BOTH }: Sets) => [
  addressWord(holder),
  addressWord(collateral),
  NO_PARENT,
  bytesWord(market.conditionId),
  partition.map(numberWord),
  numberWord(units),
];
