import { type ChainNode, createNode } from "../../../src/chain-rpc/chain-node.ts";
import { LogIndex } from "../../../src/chain-rpc/log-search.ts";
import type { ExchangeConfig } from "../../../src/core/state.ts";
import { Clock, Slices } from "../../../src/engine/clock.ts";
import { openWith } from "../../core/chain/chain-moves.ts";
import { type Answer, resultIn, rpc } from "../rpc.ts";

/** Opens an exchange with a market of every kind, and its node, which always uses the log index. */
export function openNode(config: ExchangeConfig, slices = new Slices()): ChainNode {
  const exchange = openWith(config);
  const clock = new Clock(exchange, { mode: "frozen", rate: 0 }, () => 0);
  const host = { accounts: [], keyOf: () => null, reset: () => {} };
  return createNode({ exchange, clock, version: "0", slices, ...host }, new LogIndex(0));
}

/** Performs one call and returns its answer. */
export async function ask(
  { answer }: Pick<ChainNode, "answer">,
  method: string,
  ...params: readonly unknown[]
): Promise<Answer> {
  return JSON.parse(await answer(Buffer.from(JSON.stringify(rpc(method, params))), true)) as Answer;
}

/** Performs one call and returns its result. @throws Error with the message of its error. */
export async function call<Result>(node: ChainNode, method: string, ...params: unknown[]): Promise<Result> {
  return resultIn<Result>(method, await ask(node, method, ...params));
}
