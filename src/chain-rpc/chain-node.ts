import { isUtf8 } from "node:buffer";
import { isRpcId, type NotificationSink } from "../api/chain-rpc.ts";
import { isObject } from "../api/errors.ts";
import { counted, shortened } from "../core/format.ts";
import { readJson } from "../core/json.ts";
import type { Steps } from "../core/steps.ts";
import type { Slices } from "../engine/clock.ts";
import { nearest } from "../nearest.ts";
import { chainMethods } from "./chain-methods.ts";
import { contextOf, type Host, type Method, type NodeContext } from "./context.ts";
import { filterMethods } from "./filters.ts";
import { ChainChanged, invalidParams, isLazy, isSteps, jsonInSteps, RpcError } from "./json-rpc.ts";
import { LogIndex } from "./log-search.ts";
import { miningMethods } from "./mining-methods.ts";
import { sendingMethods } from "./sending-methods.ts";
import { Subscriber, Subscriptions, subscriptionMethods } from "./subscriptions.ts";

export const METHODS: ReadonlyMap<string, Method> = new Map(
  Object.entries({
    ...chainMethods,
    ...filterMethods,
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
  const subscriptions = new Subscriptions(node);
  /** Adds a client with a connection of its own, which may subscribe. */
  const connect = (sink: NotificationSink) => {
    const client = new Subscriber(subscriptions, sink);
    const own = new Map(Object.entries(subscriptionMethods(client)));
    return Object.assign(client, { answer: answerWith(node, (name) => own.get(name) ?? METHODS.get(name)) });
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
          if (!(error instanceof ChainChanged)) throw error;
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
    const max = counted(params.length, "parameter");
    const names = params.map((param) => `${param.name}${param.isOptional ? "?" : ""}`).join(", ");
    throw invalidParams(
      `${name} takes ${min === params.length ? max : `${min} to ${max}`}${names && ` (${names})`}, found ${given.length}`,
    );
  }
  const values = params.map(({ name, read }, index) => read(given[index], name, node.state));
  return method.perform(node, ...(values as never));
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

/** Methods of other nodes that the chain lacks on purpose, and why. */
const LACKING: readonly (readonly [names: RegExp, why: string])[] = [
  [
    /^(?:debug|ots|trace)_|_(?:createAccessList|getProof|getStorageAt|setCode|setStorageAt)$/,
    "The chain has no EVM, so no code, storage or traces.",
  ],
  [/_(?:dumpState|loadState)$/, "clobsim serve --world opens a state, and --from continues a history."],
];

function methodNotFound(name: string): RpcError {
  const shown = shortened(name, 60);
  const why = LACKING.find(([names]) => names.test(name))?.[1];
  const similar = why === undefined ? nearest(shown, METHODS.keys()) : undefined;
  // Long namespaces make different names similar.
  const isMeant = similar !== undefined && nearest(inNamespace(shown), [inNamespace(similar)]) !== undefined;
  const help = isMeant ? ` Did you mean ${similar}?` : why === undefined ? "" : ` ${why}`;
  const message = `Method not found: ${shown}.${help} error.data.methods lists all methods`;
  return new RpcError("METHOD_NOT_FOUND", message, { methods: [...METHODS.keys()].sort() });
}

const inNamespace = (method: string): string => method.slice(method.indexOf("_") + 1);

/** Performs one call and returns the JSON of its result. @throws RpcError */
type Perform = (method: string, params: readonly unknown[]) => string | Promise<string>;

const MAX_CALLS = 1_000;
/** Characters of the answers to a batch above which its remaining calls are refused. */
const MAX_CHARACTERS = 25 * 1024 * 1024;

/**
 * Answers a JSON-RPC 2.0 request, which is one call or a batch; empty if it contains only notifications. The calls of a
 * batch are performed in order, with other work in between.
 */
async function answerRpc(request: Buffer, slices: Slices, perform: Perform): Promise<string> {
  let message: unknown;
  try {
    message = parse(request);
  } catch (error) {
    return failure(null, error);
  }
  if (!Array.isArray(message)) return answerOne(message, perform);
  if (message.length === 0 || message.length > MAX_CALLS) {
    return failure(null, invalid(`a batch has 1 to ${MAX_CALLS} calls, found ${message.length}`));
  }
  const answers: string[] = [];
  let characters = 0;
  let hasTime = await slices.next();
  for (const call of message) {
    if (!hasTime()) hasTime = await slices.next();
    const answer = await answerOne(call, characters > MAX_CHARACTERS ? refuse : perform);
    characters += answer.length;
    if (answer !== "") answers.push(answer);
  }
  return answers.length === 0 ? "" : `[${answers.join(",")}]`;
}

const refuse: Perform = () => {
  throw new RpcError("LIMIT_EXCEEDED", "the answers to this batch are too long: send fewer calls at once");
};

function parse(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new RpcError("PARSE_ERROR", "Parse error: expected UTF-8, found other bytes");
  try {
    return readJson(bytes.toString("utf8"));
  } catch (error) {
    throw new RpcError("PARSE_ERROR", `Parse error: ${(error as Error).message}`);
  }
}

async function answerOne(message: unknown, perform: Perform): Promise<string> {
  if (!isObject(message)) return failure(null, invalid("a call is an object"));
  const { id, jsonrpc, method, params } = message;
  if (id !== undefined && !isRpcId(id)) {
    return failure(null, invalid("an id is a string, an integer or null"));
  }
  if (jsonrpc !== "2.0") return failure(id ?? null, invalid('expected "jsonrpc":"2.0"'));
  if (typeof method !== "string") return failure(id ?? null, invalid("a method is a string"));
  try {
    const result = await perform(method, readParams(params));
    return id === undefined ? "" : `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
  } catch (error) {
    const answer = failure(id ?? null, error);
    return id === undefined ? "" : answer;
  }
}

function readParams(params: unknown): readonly unknown[] {
  if (params === undefined || params === null) return [];
  if (Array.isArray(params)) return params;
  throw isObject(params)
    ? invalidParams("params by name are not modelled: send them as an array")
    : invalid("params are an array");
}

const invalid = (why: string): RpcError => new RpcError("INVALID_REQUEST", `Invalid request: ${why}`);

function failure(id: string | number | null, error: unknown): string {
  if (!(error instanceof RpcError)) throw error;
  const { code, message, data } = error;
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } });
}
