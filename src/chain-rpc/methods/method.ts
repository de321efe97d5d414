import type { ChainNode } from "../chain-node.ts";

/** Carries out a call of one method. @throws RpcError */
export type Act = (node: ChainNode, params: readonly unknown[]) => unknown;

/** One method of JSON-RPC. */
export interface Method {
  /** How many parameters it needs, and how many it knows. */
  readonly least: number;
  readonly most: number;
  /** Whether it steers the chain, or acts in somebody's name: what a token guards. */
  readonly isControl: boolean;
  readonly act: Act;
}

export type Methods = Readonly<Record<string, Method>>;

/** A method that anybody may call. */
export const open = (least: number, most: number, act: Act): Method => ({
  least,
  most,
  isControl: false,
  act,
});

/** A method for whom the exchange trusts. */
export const control = (least: number, most: number, act: Act): Method => ({
  least,
  most,
  isControl: true,
  act,
});
