import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { Table } from "../../src/core/table.ts";

interface Item {
  readonly number: number;
  value: string;
}

const SIZE = 10_000;
const made = (from: number, to: number): Item[] =>
  Array.from({ length: to - from }, (_, index) => ({ number: from + index + 1, value: "made" }));
const ownCopy = (item: Item): Item => ({ ...item });

/** The same list, filled item by item. */
function filled(): Table<Item> {
  const table = new Table<Item>();
  for (const item of made(0, SIZE)) table.add(item);
  return table;
}

describe("a list whose items are made later", () => {
  it("makes those near the one that is looked at, once for all copies", () => {
    const make = vi.fn(made);
    const table = Table.lazy(SIZE, make);
    const copy = table.copy();
    expect(table.size).toBe(SIZE);
    expect(make).not.toHaveBeenCalled();
    expect(copy.get(5_000)).toBe(table.get(5_000));
    expect(table.find(SIZE + 1)).toBeUndefined();
    expect(make.mock.calls).toEqual([[4_096, 8_192]]);
  });

  it("is like one that was filled, whatever is done to it and its copies", () => {
    const number = fc.oneof(fc.integer({ min: 1, max: SIZE }), fc.constantFrom(1, 4_096, 4_097, 8_192, SIZE));
    const action = fc.record({
      kind: fc.constantFrom("read", "peek", "write", "add", "replace", "copy"),
      list: fc.nat({ max: 9 }),
      number,
    });
    const play = (first: Table<Item>, actions: readonly { kind: string; list: number; number: number }[]) => {
      const lists = [first];
      // Nobody writes to a list that was copied.
      const frozen = new Set<Table<Item>>();
      const seen: unknown[] = [];
      for (const [step, { kind, list, number }] of actions.entries()) {
        const table = lists[list % lists.length] as Table<Item>;
        if (kind === "read" || kind === "peek" || frozen.has(table)) seen.push(table.peek(number).value);
        if (kind === "copy") {
          lists.push(table.copy(ownCopy));
          frozen.add(table);
        } else if (frozen.has(table)) continue;
        else if (kind === "read") seen.push({ ...table.get(number) });
        else if (kind === "write") table.get(number).value = `written ${step}`;
        else if (kind === "add") seen.push(table.add({ number: table.next, value: `added ${step}` }));
        else if (kind === "replace") table.replace(number, { number, value: `replaced ${step}` });
      }
      return [seen, lists.map((table) => [1, 4_096, 4_097, 8_192, SIZE].map((at) => table.peek(at).value))];
    };
    fc.assert(
      fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
        expect(play(Table.lazy(SIZE, made), actions)).toEqual(play(filled(), actions));
      }),
      { numRuns: 60 },
    );
  });
});

describe("peeking at a list", () => {
  it("answers what there is, and copies nothing", () => {
    const copied = vi.fn(ownCopy);
    const list = filled().copy(copied);
    expect(list.peek(7).value).toBe("made");
    expect(copied).not.toHaveBeenCalled();
    list.get(7).value = "written";
    expect(list.peek(7).value).toBe("written");
    expect(() => list.peek(SIZE + 1)).toThrow(RangeError);
  });
});
