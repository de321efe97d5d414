import { isUtf8 } from "node:buffer";
import { isRpcId, RPC_CODES } from "../api/chain-rpc.ts";
import type { Steps } from "../core/steps.ts";
import type { Slices } from "../engine/slices.ts";

export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  /** What else a client may want to read; undefined for nothing. */
  readonly data: unknown;

  constructor(code: keyof typeof RPC_CODES, message: string, data?: unknown) {
    super(message);
    this.code = RPC_CODES[code];
    this.data = data;
  }
}

export const invalidParams = (message: string): RpcError => new RpcError("INVALID_PARAMS", message);

/** A list of a result that may be long: its items are made one at a time, while others have their turn. */
export class LazyList {
  /** Undefined stands for a step that has made no item. */
  readonly items: Iterable<unknown>;
  /** Whether each step has made a list of items that are JSON already. */
  readonly areTexts: boolean;

  constructor(items: Iterable<unknown>, areTexts = false) {
    this.items = items;
    this.areTexts = areTexts;
  }

  /** A list of items that are JSON already, any number of them made in one step. */
  static ofTexts(items: Iterable<readonly string[]>): LazyList {
    return new LazyList(items, true);
  }

  static of<Value>(values: Iterable<Value>, itemOf: (value: Value) => unknown): LazyList {
    function* items(): Generator<unknown> {
      for (const value of values) yield itemOf(value);
    }
    return new LazyList(items());
  }
}

/** Whether a result is yet to be worked out, in steps. */
export const isSteps = (result: unknown): result is Steps<unknown> =>
  typeof result === "object" && result !== null && "next" in result && typeof result.next === "function";

/** Whether a result is a list that is yet to be made, or has one in a field. */
export const isLazy = (result: unknown): boolean =>
  result instanceof LazyList ||
  (typeof result === "object" &&
    result !== null &&
    Object.values(result).some((value) => value instanceof LazyList));

/** The JSON of such a result, a step for each item. */
export function* jsonInSteps(result: unknown): Steps<string> {
  if (result instanceof LazyList) {
    let list = "";
    for (const item of result.items) {
      // Joined at once: the parts of a text are garbage that is otherwise collected again and again.
      const text = result.areTexts ? (item as readonly string[]).join() : yield* jsonOfItem(item);
      if (text !== "") list += list === "" ? text : `,${text}`;
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

function* jsonOfItem(item: unknown): Steps<string> {
  return item === undefined ? "" : yield* jsonInSteps(item);
}

/** What a list is made from has become another while it was made: it must be made anew. */
export class ChainChanged extends Error {
  override readonly name = "ChainChanged";
}

/** Carries out one call and answers its result's JSON. @throws RpcError when it cannot. */
type Perform = (method: string, params: readonly unknown[]) => string | Promise<string>;

const MAX_CALLS = 1_000;
/** How many characters the answers of a batch may have before the rest of it is refused. */
const MAX_CHARACTERS = 25 * 1024 * 1024;

type Id = string | number | null;

/**
 * The text that answers a JSON-RPC 2.0 request, one call or a batch, in its order; empty where only notifications came.
 * The calls of a batch are carried out one after the other, while others have their turn.
 */
export async function answerRpc(request: Buffer, slices: Slices, perform: Perform): Promise<string> {
  let message: unknown;
  try {
    message = parsed(request);
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

function parsed(bytes: Buffer): unknown {
  try {
    if (isUtf8(bytes)) return JSON.parse(bytes.toString("utf8"));
  } catch {
    // Said below, as of bytes that are no text.
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
    const result = await perform(method, listOf(params));
    return respond(() => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return respond(() => failure(id ?? null, error));
  }
}

function listOf(params: unknown): readonly unknown[] {
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
