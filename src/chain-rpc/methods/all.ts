import { nearest } from "../../api/nearest.ts";
import type { ChainNode } from "../chain-node.ts";
import { RpcError } from "../rpc-error.ts";
import { accountMethods } from "./accounts.ts";
import { blockMethods } from "./blocks.ts";
import { executionMethods } from "./execution.ts";
import { feeMethods } from "./fees.ts";
import { logMethods } from "./logs.ts";
import type { Method } from "./method.ts";
import { miningMethods } from "./mining.ts";
import { nodeMethods } from "./node.ts";
import { sendingMethods } from "./sending.ts";
import { transactionMethods } from "./transactions.ts";

const METHODS: ReadonlyMap<string, Method> = new Map(
  Object.entries({
    ...nodeMethods,
    ...blockMethods,
    ...transactionMethods,
    ...logMethods,
    ...accountMethods,
    ...feeMethods,
    ...executionMethods,
    ...sendingMethods,
    ...miningMethods,
  }),
);

/** Carries out one call. @throws RpcError when there is no such method, or it cannot do what it is asked. */
export function perform(
  node: ChainNode,
  name: string,
  params: readonly unknown[],
  isTrusted: boolean,
): unknown {
  const method = METHODS.get(name);
  if (method === undefined) throw notModelled(name);
  const { least, most, isControl, act } = method;
  if (isControl && !isTrusted) {
    throw new RpcError(
      "UNAUTHORIZED",
      `${name} needs the token of the control plane: send the value of --sim-token as authorization: Bearer TOKEN or as x-sim-token`,
    );
  }
  if (params.length < least || params.length > most) {
    const expected = least === most ? String(least) : `${least} to ${most}`;
    throw new RpcError("INVALID_PARAMS", `${name} takes ${expected} parameters, found ${params.length}`);
  }
  return act(node, params);
}

function notModelled(name: string): RpcError {
  const shown = name.slice(0, 60);
  const like = nearest(shown, METHODS.keys());
  const meant = like === undefined ? "" : ` Did you mean ${like}?`;
  const message = `Method not found: ${shown}.${meant} error.data.methods lists those there are`;
  return new RpcError("METHOD_NOT_FOUND", message, { methods: [...METHODS.keys()].sort() });
}
