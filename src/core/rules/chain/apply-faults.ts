import { baseFeeOf, type Chain } from "../../chain/chain.ts";
import type { FeesBumped, SettlementFaultEnded, SettlementFaultSet } from "../../chain/chain-events.ts";
import type { State } from "../../state.ts";
import type { Millis } from "../../units.ts";
import { awaitBlock, oddityOf } from "./apply-transactions.ts";

/** A fault is in force from now on. */
export function setFault({ chain }: State, { kind: _, ...fault }: SettlementFaultSet): void {
  chain.faults = [...chain.faults, { ...fault, struck: 0 }];
  chain.faultsSet = fault.number;
}

/** A fault is in force no more; what a spike has kept out of blocks is looked at again. */
export function endFault(state: State, { number }: SettlementFaultEnded, at: Millis): void {
  const { chain, config } = state;
  const before = baseFeeOf(chain);
  chain.faults = number === 0 ? [] : chain.faults.filter((fault) => fault.number !== number);
  if (baseFeeOf(chain) < before && isAnyUnderpriced(chain)) awaitBlock(chain, config, at);
}

/** The exchange raises its fees. */
export function bumpFees(state: State, { transactions }: FeesBumped, at: Millis): void {
  for (const number of transactions) oddityOf(state.chain.transactions.get(number)).isBumped = true;
  awaitBlock(state.chain, state.config, at);
}

const isAnyUnderpriced = ({ held, transactions }: Chain): boolean =>
  held.some((number) => transactions.get(number).oddity?.hold === "UNDERPRICED");
