import { RPC_CODES } from "../api/chain-rpc.ts";
import { runSteps, type Steps } from "../core/steps.ts";
import type { Millis } from "../core/units.ts";

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
  /** Each step returns the JSON of some items; undefined for none. */
  readonly steps: Iterable<readonly string[] | undefined>;

  constructor(steps: LazyList["steps"]) {
    this.steps = steps;
  }
}

/** Returns a list with one item in each step. */
export const lazyList = <Value>(values: Iterable<Value>, itemOf: (value: Value) => unknown): LazyList =>
  new LazyList(textsOf(values, itemOf));

function* textsOf<Value>(values: Iterable<Value>, itemOf: (value: Value) => unknown): Generator<[string]> {
  for (const value of values) yield [runSteps(jsonInSteps(itemOf(value)))];
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
    for (const texts of result.steps) {
      // Joined at once, because many short strings make garbage collection slow.
      if (texts?.length) list += `${list === "" ? "" : ","}${texts.join()}`;
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

/** Encodes a number as a JSON-RPC quantity: `0x0`, `0x1f`. */
export const quantity = (value: number | bigint): `0x${string}` => `0x${value.toString(16)}`;

export const secondsOf = (at: Millis): number => Math.floor(at / 1000);
