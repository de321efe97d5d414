import type { ContractCall } from "./call.ts";

/** What a transaction costs before it does anything (Yellow Paper, appendix G), and what a byte of its input adds (EIP-2028). */
const BASE_GAS = 21_000;
const ZERO_BYTE_GAS = 4;
const BYTE_GAS = 16;

/** What a transaction must offer at least: its base cost and its input, given in hex with `0x`. */
export function intrinsicGas(input: string): number {
  let gas = BASE_GAS;
  for (let at = 2; at < input.length; at += 2) {
    gas += input[at] === "0" && input[at + 1] === "0" ? ZERO_BYTE_GAS : BYTE_GAS;
  }
  return gas;
}

/** What each kind of call costs beyond its input: round figures near those of the real contracts. */
const CALL_GAS: Readonly<Record<ContractCall["kind"], number>> = {
  send: 0,
  approve: 24_000,
  transfer: 30_000,
  transferFrom: 36_000,
  setApprovalForAll: 24_000,
  safeTransfer: 30_000,
  split: 110_000,
  merge: 90_000,
  redeem: 70_000,
  unknown: 1_000,
};

/** What a call uses, carried out or not. */
export const callGas = (call: ContractCall, input: string): number =>
  intrinsicGas(input) + CALL_GAS[call.kind];

const LOG_GAS = 18_000;

/** What a transaction of the exchange's own uses: its base cost, and so much for each of its logs. */
export const ownGas = (logs: number): number => BASE_GAS + LOG_GAS * logs;
