import { headBlock } from "../../core/chain/chain.ts";
import type { State } from "../../core/state.ts";
import type { Moment } from "../block-parameter.ts";
import type { ChainNode } from "../chain-node.ts";
import { RpcError } from "../rpc-error.ts";

/** What is asked, and of which moment. */
export interface Scene {
  readonly node: ChainNode;
  readonly moment: Moment;
}

/** The state as of the latest block or of what is pending: nothing but balances is known of the past. @throws RpcError */
export function presentState({ node, moment }: Scene): State {
  const head = headBlock(node.state.chain);
  if (moment === "pending" || moment === head) return node.state;
  throw new RpcError(
    "SERVER_ERROR",
    `of past blocks only balances of the collateral and of tokens are kept: asked for block ${moment.height}, the latest is ${head.height}`,
  );
}
