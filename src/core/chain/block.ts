import type { Millis } from "../units.ts";

/** One block, in the chain or, after a reorganization, beside it. */
export interface Block {
  /** Counts every block ever made, from 1. */
  readonly serial: number;
  /** Its number in the chain; the first is 0. */
  readonly height: number;
  /** The serial of the block before it; 0 of the first. */
  readonly parent: number;
  readonly at: Millis;
  /** Wei per gas. */
  readonly baseFee: number;
  /** Where its transactions begin in the list of all that were mined, counted from 0, and how many they are. */
  readonly first: number;
  readonly count: number;
  readonly logs: number;
  readonly gas: number;
  /** The four words of the digest that names all that the chain holds up to here. */
  readonly digestA: number;
  readonly digestB: number;
  readonly digestC: number;
  readonly digestD: number;
}
