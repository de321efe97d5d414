import fc from "fast-check";
import { type ChainNode, createNode } from "../../../src/chain-rpc/chain-node.ts";
import { LogIndex } from "../../../src/chain-rpc/log-index.ts";
import type { ExchangeConfig } from "../../../src/core/state.ts";
import { millis } from "../../../src/core/units.ts";
import { Clock } from "../../../src/engine/clock.ts";
import { Exchange } from "../../../src/engine/exchange.ts";
import { Slices } from "../../../src/engine/slices.ts";
import { anySteeredMove, type ChainMove, chainCommandOf } from "../../core/chain/chain-moves.ts";
import { type Move, openArena } from "../../core/properties/moves.ts";
import { START } from "../../support/exchange.ts";

export type Moves = readonly (Move | ChainMove)[];

/** Any history of trading and of the chain. */
export const histories = (maxLength: number): fc.Arbitrary<Moves> =>
  fc.array(anySteeredMove, { maxLength, size: "max" });

/** An exchange with a market of every kind, and the node that shows its chain; the node looks up whatever it can. */
export function openNode(config: ExchangeConfig, slices = new Slices()): ChainNode {
  const exchange = openArena(new Exchange(config, START));
  const clock = new Clock(exchange, { mode: "frozen", rate: 0 }, () => 0);
  const nobody = { accounts: [], keyOf: () => null, reset: () => {} };
  return createNode({ exchange, clock, version: "0", slices, ...nobody }, new LogIndex(0));
}

/** Makes a move; what is refused is refused. */
export function make({ exchange }: ChainNode, move: Move | ChainMove): void {
  const command = chainCommandOf(exchange.state, exchange.now, move);
  if (command !== null) exchange.submit(command);
  if (move.kind === "wait") exchange.advanceTo(millis(exchange.now + move.ms));
}

/** The result of one call. @throws Error with what it fails with. */
export async function call<Result>(node: ChainNode, method: string, ...params: unknown[]): Promise<Result> {
  const request = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
  const answer = JSON.parse(await node.answer(request, true)) as {
    readonly result?: Result;
    readonly error?: { readonly message: string };
  };
  if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result as Result;
}
