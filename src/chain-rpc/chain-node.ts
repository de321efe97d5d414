import { nearest } from "../api/nearest.ts";
import type { Steps } from "../core/steps.ts";
import { chainMethods } from "./chain-methods.ts";
import { contextOf, type Host, type Method, type NodeContext } from "./context.ts";
import { controlMethods } from "./control-methods.ts";
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
import { steeringMethods } from "./steering-methods.ts";
import type { Subscriber } from "./subscriptions.ts";

export const METHODS: ReadonlyMap<string, Method> = new Map(
  Object.entries({
    ...chainMethods,
    ...logMethods,
    ...subscriptionMethods(null),
    ...controlMethods,
    ...steeringMethods,
  }),
);

type OwnMethods = ReadonlyMap<string, Method>;

const NONE: OwnMethods = new Map();

/**
 * The settlement chain of one exchange as an Ethereum node. Blocks, transactions and balances are the exchange's; the node
 * itself remembers only filters, snapshots and impersonations.
 */
export interface ChainNode extends NodeContext {
  /**
   * The response to a JSON-RPC request, empty for notifications; untrusted clients may only read and send signed
   * transactions. `own`: the methods that stand for one client, from `methodsOf`.
   */
  readonly answer: (request: Buffer, isTrusted: boolean, own?: OwnMethods) => Promise<string>;
}

export const methodsOf = (client: Subscriber): OwnMethods =>
  new Map(Object.entries(subscriptionMethods(client)));

export function createNode(host: Host, logIndex = new LogIndex()): ChainNode {
  const node = contextOf(host, logIndex);
  const answer: ChainNode["answer"] = (request, isTrusted, own = NONE) =>
    answerRpc(request, node.slices, async (method, params) => {
      for (;;) {
        try {
          let result = await perform(node, own.get(method) ?? METHODS.get(method), method, params, isTrusted);
          if (isSteps(result)) result = await node.slices.run(whileSame(node, result));
          if (!isLazy(result)) return JSON.stringify(result ?? null);
          return await node.slices.run(whileSame(node, jsonInSteps(result)));
        } catch (error) {
          await prepare(node, error);
        }
      }
    });
  return Object.assign(node, { answer });
}

function perform(
  node: NodeContext,
  method: Method | undefined,
  name: string,
  given: readonly unknown[],
  isTrusted: boolean,
): unknown {
  if (method === undefined) throw notModelled(name);
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
  const values = params.map(({ name, read }, place) => read(given[place], name, node.state));
  return method.perform(node, ...(values as never));
}

/** Does what must be done before a call is tried again. @throws the error where there is nothing to do. */
async function prepare(node: NodeContext, error: unknown): Promise<void> {
  if (error instanceof ChainChanged) return;
  if (!(error instanceof IndexBehind)) throw error;
  try {
    await node.slices.run(whileSame(node, node.logIndex.update(node.state)));
  } catch (changed) {
    if (!(changed instanceof ChainChanged)) throw changed;
  }
}

/** Steps on the state of this moment, in which blocks may go on being mined. @throws ChainChanged where it becomes another. */
function* whileSame<T>(node: NodeContext, steps: Steps<T>): Steps<T> {
  const { state } = node;
  const { reorganizations } = state.chain;
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    yield;
    if (node.state !== state || state.chain.reorganizations !== reorganizations) throw new ChainChanged();
  }
}

function notModelled(name: string): RpcError {
  const shown = name.slice(0, 60);
  const like = nearest(shown, METHODS.keys());
  const meant = like === undefined ? "" : ` Did you mean ${like}?`;
  const message = `Method not found: ${shown}.${meant} error.data.methods lists those there are`;
  return new RpcError("METHOD_NOT_FOUND", message, { methods: [...METHODS.keys()].sort() });
}
