import { isUtf8 } from "node:buffer";
import { isRpcId, RPC_CODES } from "../api/chain-rpc.ts";
import { runSteps, type Steps } from "../core/steps.ts";
import type { Slices } from "../engine/clock.ts";

export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  /** Additional information for the client; undefined if there is none. */
  readonly data: unknown;

  constructor(code: keyof typeof RPC_CODES, message: string, data?: unknown) {
    super(message);
    this.code = RPC_CODES[code];
    this.data = data;
  }
}

export const invalidParams = (message: string): RpcError => new RpcError("INVALID_PARAMS", message);

/** A list in a result whose JSON is built in steps, because it may be long. */
export class LazyList {
  /** Each step returns the JSON of some items, separated by commas; empty for no items. */
  readonly steps: Iterable<string>;

  private constructor(steps: Iterable<string>) {
    this.steps = steps;
  }

  /** A list whose items are JSON already; each array of them is one step. */
  static ofTexts(steps: Iterable<readonly string[]>): LazyList {
    // Joined at once, because many short strings make garbage collection slow.
    return new LazyList(mapped(steps, (texts) => texts.join()));
  }

  static of<Value>(values: Iterable<Value>, itemOf: (value: Value) => unknown): LazyList {
    return new LazyList(mapped(values, (value) => runSteps(jsonInSteps(itemOf(value)))));
  }
}

function* mapped<Value>(values: Iterable<Value>, textOf: (value: Value) => string): Generator<string> {
  for (const value of values) yield textOf(value);
}

/** Whether a result is computed in steps. */
export const isSteps = (result: unknown): result is Steps<unknown> =>
  typeof result === "object" && result !== null && "next" in result && typeof result.next === "function";

/** Whether a result is a `LazyList` or has one in a field. */
export const isLazy = (result: unknown): boolean =>
  result instanceof LazyList ||
  (typeof result === "object" &&
    result !== null &&
    Object.values(result).some((value) => value instanceof LazyList));

/** Writes a result as JSON; a `LazyList` takes one step for each of its own. */
export function* jsonInSteps(result: unknown): Steps<string> {
  if (result instanceof LazyList) {
    let list = "";
    for (const items of result.steps) {
      if (items !== "") list += list === "" ? items : `,${items}`;
      yield;
    }
    return `[${list}]`;
  }
  if (!isLazy(result)) return JSON.stringify(result);
  const fields: string[] = [];
  for (const [name, value] of Object.entries(result as object)) {
    if (value !== undefined) fields.push(`${JSON.stringify(name)}:${yield* jsonInSteps(value)}`);
  }
  return `{${fields.join(",")}}`;
}

/** Thrown if the chain was replaced while a result was computed; the call must be performed again. */
export class ChainChanged extends Error {
  override readonly name = "ChainChanged";
}

/** Performs one call and returns the JSON of its result. @throws RpcError */
type Perform = (method: string, params: readonly unknown[]) => string | Promise<string>;

const MAX_CALLS = 1_000;
/** Characters of the answers to a batch above which its remaining calls are refused. */
const MAX_CHARACTERS = 25 * 1024 * 1024;

type Id = string | number | null;

/**
 * Answers a JSON-RPC 2.0 request, which is one call or a batch; empty if it contains only notifications. The calls of a
 * batch are performed in order, with other work in between.
 */
export async function answerRpc(request: Buffer, slices: Slices, perform: Perform): Promise<string> {
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
  try {
    if (isUtf8(bytes)) return JSON.parse(bytes.toString("utf8"));
  } catch {
    // Same error as for bytes that are not UTF-8.
  }
  throw new RpcError("PARSE_ERROR", "Parse error: the body is not JSON in UTF-8");
}

async function answerOne(message: unknown, perform: Perform): Promise<string> {
  if (!isObject(message)) return failure(null, invalid("a call is an object"));
  const { id, jsonrpc, method, params } = message;
  if (id !== undefined && !isRpcId(id)) {
    return failure(null, invalid("an id is a string, an integer or null"));
  }
  const respond = (answer: () => string): string => (id === undefined ? "" : answer());
  if (jsonrpc !== "2.0") return failure(id ?? null, invalid('expected "jsonrpc":"2.0"'));
  if (typeof method !== "string") return failure(id ?? null, invalid("a method is a string"));
  try {
    const result = await perform(method, readParams(params));
    return respond(() => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return respond(() => failure(id ?? null, error));
  }
}

function readParams(params: unknown): readonly unknown[] {
  if (params === undefined || params === null) return [];
  if (Array.isArray(params)) return params;
  throw isObject(params)
    ? invalidParams("params by name are not modelled: send them as an array")
    : invalid("params are an array");
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const invalid = (why: string): RpcError => new RpcError("INVALID_REQUEST", `Invalid request: ${why}`);

function failure(id: Id, error: unknown): string {
  if (!(error instanceof RpcError)) throw error;
  const { code, message, data } = error;
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } });
}
