/** A list of a result that may be long: its items are made one at a time, while others have their turn. */
export class LazyList {
  /** Undefined stands for a step that has made no item. */
  readonly items: Iterable<unknown>;

  constructor(items: Iterable<unknown>) {
    this.items = items;
  }

  /** Makes an item of each of some values. */
  static of<Value>(values: Iterable<Value>, itemOf: (value: Value) => unknown): LazyList {
    function* items(): Generator<unknown> {
      for (const value of values) yield itemOf(value);
    }
    return new LazyList(items());
  }
}

/** Whether a result is a list that is yet to be made, or has one in a field. */
export const isLazy = (result: unknown): boolean =>
  result instanceof LazyList ||
  (typeof result === "object" &&
    result !== null &&
    Object.values(result).some((value) => value instanceof LazyList));

/** The JSON of such a result, a step for each item. */
export function* jsonInSteps(result: unknown): Generator<undefined, string> {
  if (result instanceof LazyList) {
    const items: string[] = [];
    for (const item of result.items) {
      if (item !== undefined) items.push(JSON.stringify(item));
      yield;
    }
    return `[${items.join(",")}]`;
  }
  if (!isLazy(result)) return JSON.stringify(result);
  const fields: string[] = [];
  for (const [name, value] of Object.entries(result as object)) {
    if (value !== undefined) fields.push(`${JSON.stringify(name)}:${yield* jsonInSteps(value)}`);
  }
  return `{${fields.join(",")}}`;
}

/** What a list is made from has become another while it was made: it must be made anew. */
export class ChainChanged extends Error {
  override readonly name = "ChainChanged";
}
