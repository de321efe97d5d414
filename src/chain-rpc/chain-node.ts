import type { NotificationSink } from "../api/chain-rpc.ts";
import { nearest } from "../api/nearest.ts";
import type { Steps } from "../core/steps.ts";
import { chainMethods } from "./chain-methods.ts";
import { contextOf, type Host, type Method, type NodeContext } from "./context.ts";
import {
  answerRpc,
  ChainChanged,
  invalidParams,
  isLazy,
  isSteps,
  jsonInSteps,
  RpcError,
} from "./json-rpc.ts";
import { IndexBehind, LogIndex } from "./log-index.ts";
import { logMethods, subscriptionMethods } from "./log-methods.ts";
import { miningMethods } from "./mining-methods.ts";
import { sendingMethods } from "./sending-methods.ts";
import { Subscriber } from "./subscriptions.ts";

export const METHODS: ReadonlyMap<string, Method> = new Map(
  Object.entries({
    ...chainMethods,
    ...logMethods,
    ...subscriptionMethods(null),
    ...sendingMethods,
    ...miningMethods,
  }),
);

export type ChainNode = ReturnType<typeof createNode>;

/**
 * Creates the settlement chain of one exchange as an Ethereum node. Blocks, transactions and balances are the exchange's;
 * the node itself has only filters, subscriptions, snapshots and impersonations.
 */
export function createNode(host: Host, logIndex = new LogIndex()) {
  const node = contextOf(host, logIndex);
  /** Adds a client with a connection of its own, which may subscribe. */
  const connect = (sink: NotificationSink) => {
    const client = new Subscriber(node.subscriptions, sink);
    const own = new Map(Object.entries(subscriptionMethods(client)));
    return {
      answer: answerWith(node, (name) => own.get(name) ?? METHODS.get(name)),
      sendPending: () => client.sendPending(),
      close: () => client.close(),
    };
  };
  return Object.assign(node, { answer: answerWith(node, (name) => METHODS.get(name)), connect });
}

/**
 * Returns a function that answers a JSON-RPC request; empty if it contains only notifications. Untrusted clients may only
 * read and send signed transactions.
 */
const answerWith =
  (node: NodeContext, find: (name: string) => Method | undefined) =>
  (request: Buffer, isTrusted: boolean): Promise<string> =>
    answerRpc(request, node.slices, async (name, params) => {
      for (;;) {
        try {
          let result = await perform(node, find(name), name, params, isTrusted);
          if (isSteps(result)) result = await node.slices.run(whileUnchanged(node, result));
          if (!isLazy(result)) return JSON.stringify(result ?? null);
          return await node.slices.run(whileUnchanged(node, jsonInSteps(result)));
        } catch (error) {
          await prepareRetry(node, error);
        }
      }
    });

function perform(
  node: NodeContext,
  method: Method | undefined,
  name: string,
  given: readonly unknown[],
  isTrusted: boolean,
): unknown {
  if (method === undefined) throw methodNotFound(name);
  const { params, isControl } = method;
  if (isControl && !isTrusted) {
    throw new RpcError(
      "UNAUTHORIZED",
      `${name} needs the token of the control plane: send the value of --sim-token as authorization: Bearer TOKEN or as x-sim-token`,
    );
  }
  const min = params.filter(({ isOptional }) => !isOptional).length;
  if (given.length < min || given.length > params.length) {
    const expected = min === params.length ? String(min) : `${min} to ${params.length}`;
    throw invalidParams(`${name} takes ${expected} parameters, found ${given.length}`);
  }
  const values = params.map(({ name, read }, index) => read(given[index], name, node.state));
  return method.perform(node, ...(values as never));
}

/** Prepares the retry of a call that has failed. @throws the error itself if a retry would not help. */
async function prepareRetry(node: NodeContext, error: unknown): Promise<void> {
  if (error instanceof ChainChanged) return;
  if (!(error instanceof IndexBehind)) throw error;
  try {
    await node.slices.run(whileUnchanged(node, node.logIndex.update(node.state)));
  } catch (changed) {
    if (!(changed instanceof ChainChanged)) throw changed;
  }
}

/** Runs steps that read the current state; blocks may be mined meanwhile. @throws ChainChanged if blocks are replaced. */
function* whileUnchanged<T>(node: NodeContext, steps: Steps<T>): Steps<T> {
  const { state } = node;
  const { reorganizations } = state.chain;
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    yield;
    if (node.state !== state || state.chain.reorganizations !== reorganizations) throw new ChainChanged();
  }
}

function methodNotFound(name: string): RpcError {
  const shown = name.slice(0, 60);
  const similar = nearest(shown, METHODS.keys());
  const suggestion = similar === undefined ? "" : ` Did you mean ${similar}?`;
  const message = `Method not found: ${shown}.${suggestion} error.data.methods lists all methods`;
  return new RpcError("METHOD_NOT_FOUND", message, { methods: [...METHODS.keys()].sort() });
}
