import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { Table } from "../../src/core/table.ts";
import { runs } from "../support/runs.ts";

interface Item {
  readonly name: number;
  marks: number;
  /** Once true, nothing writes to it again. */
  ended: boolean;
}

/** More than two chunks. */
const SIZE = 10_000;
const itemOf = (name: number): Item => ({ name, marks: 0, ended: false });
const made = (from: number, to: number): Item[] =>
  Array.from({ length: to - from }, (_, index) => itemOf(from + index + 1));
const ownCopy = (item: Item): Item => (item.ended ? item : { ...item });

function filled(items: readonly Item[] = made(0, SIZE)): Table<Item> {
  const table = new Table<Item>();
  for (const item of items) table.add(item);
  return table;
}

/** A list and what must be in it. */
interface Told {
  readonly list: Table<Item>;
  readonly items: Item[];
}

/** How the list begins, what must be in it then, and how many cases are tried. */
const BEGINNINGS: readonly [how: string, list: () => Table<Item>, items: () => Item[], cases: number][] = [
  ["empty", () => new Table(), () => [], 150],
  ["filled", () => filled(), () => made(0, SIZE), 60],
  ["lazy", () => Table.lazy(SIZE, made), () => made(0, SIZE), 60],
];

type Step =
  | { readonly kind: "add"; readonly count: number }
  | { readonly kind: "mark" | "end" | "look" | "replace"; readonly pick: number }
  | { readonly kind: "keep" }
  | { readonly kind: "return"; readonly pick: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("add"), count: fc.constantFrom(1, 2, 3, 2000, 4096) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom<"mark" | "end" | "look" | "replace">("mark", "mark", "end", "look", "replace"),
      pick: fc.oneof(fc.nat(), fc.constantFrom(0, 4_095, 4_096, 8_191, SIZE - 1)),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("keep") }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("return"), pick: fc.nat() }) },
);

/** Plays steps on lists that are kept and gone back to, and on plain arrays. */
function play({ list, items }: Told, steps: readonly Step[]): void {
  const kept: Told[] = [];
  let now: Told = { list, items };
  let names = SIZE;
  const goOn = (from: Told): Told => ({
    list: from.list.copy(ownCopy),
    items: from.items.map((item) => ({ ...item })),
  });
  for (const each of steps) {
    if (each.kind === "add") {
      for (let count = 0; count < each.count; count += 1) {
        names += 1;
        now.list.add(itemOf(names));
        now.items.push(itemOf(names));
      }
    } else if (each.kind === "keep") {
      kept.push(now);
      now = goOn(now);
    } else if (each.kind === "return") {
      if (kept.length > 0) now = goOn(kept[each.pick % kept.length] as Told);
    } else if (now.items.length > 0) {
      const index = each.pick % now.items.length;
      const expected = now.items[index] as Item;
      expect(now.list.peek(index + 1)).toEqual(expected);
      if (each.kind === "replace") {
        names += 1;
        now.list.replace(index + 1, itemOf(names));
        now.items[index] = itemOf(names);
        continue;
      }
      const item = now.list.get(index + 1);
      if (each.kind !== "look" && !expected.ended) {
        for (const which of [item, expected]) {
          which.marks += 1;
          which.ended = each.kind === "end";
        }
      }
      expect(now.list.get(index + 1)).toBe(item);
    }
  }
  for (const { list, items } of [now, ...kept]) {
    expect(JSON.stringify([...list])).toBe(JSON.stringify(items));
    expect([list.size, list.next]).toEqual([items.length, items.length + 1]);
  }
}

describe("a list", () => {
  it.each(BEGINNINGS)(
    "that begins %s, and each of its copies, has what was put into it, whatever happens to the others",
    (_how, list, items, cases) => {
      const steps = fc.array(step, { maxLength: 30, size: "max" });
      fc.assert(
        fc.property(steps, (some) => play({ list: list(), items: items() }, some)),
        runs(cases),
      );
    },
  );

  it("numbers from 1 and finds every number again, over the edges of its chunks", () => {
    const list = new Table<string>();
    for (let number = 1; number <= SIZE; number += 1) {
      if (list.next !== number || list.add(`item ${number}`) !== number) expect.fail(`number ${number}`);
    }
    for (let number = 1; number <= SIZE; number += 1) {
      if (list.get(number) !== `item ${number}`) expect.fail(`number ${number}: ${list.find(number)}`);
    }
  });

  it.each([0, -1, -4096, 4, 4096, 4097, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 44 + 1, 2 ** 48 - 1, Number.NaN])(
    "of three has no number %d",
    (number) => {
      const list = filled(made(0, 3));
      expect(list.find(number)).toBe(undefined);
      expect(() => list.get(number)).toThrow(RangeError);
      expect(() => list.peek(number)).toThrow(RangeError);
    },
  );

  it("whose items are made later makes those near the one that is looked at, once for all copies", () => {
    const make = vi.fn(made);
    const table = Table.lazy(SIZE, make);
    const copy = table.copy();
    expect(table.size).toBe(SIZE);
    expect(make).not.toHaveBeenCalled();
    expect(copy.get(5_000)).toBe(table.get(5_000));
    expect(table.find(SIZE + 1)).toBeUndefined();
    expect(make.mock.calls).toEqual([[4_096, 8_192]]);
  });
});

describe("a copied list", () => {
  it("takes its own of an item when somebody gets it, once, and of an ended one or for a peek never", () => {
    const list = filled(made(0, 5000).map((item) => ({ ...item, ended: item.name % 2 === 0 })));
    let copied = 0;
    const copy = list.copy((item) => {
      if (item.ended) return item;
      copied += 1;
      return { ...item };
    });
    expect([copy.peek(7).name, copied]).toEqual([7, 0]);
    const seen = copy.get(4999);
    expect([copied, copy.get(4999) === seen, seen === list.get(4999)]).toEqual([1, true, false]);
    expect([copy.get(5000) === list.get(5000), copied]).toEqual([true, 1]);
    expect([[...copy].length, copied]).toEqual([5000, 2500]);
    expect([copy.find(0), copy.find(5001)]).toEqual([undefined, undefined]);
  });

  it("shares its items for ever when nothing is to be copied", () => {
    const list = filled(made(0, 1));
    const [one, two] = [list.copy(), list.copy()];
    one.add(itemOf(2));
    two.add(itemOf(3));
    expect([list, one, two].map((each) => [...each].map(({ name }) => name))).toEqual([[1], [1, 2], [1, 3]]);
    expect(one.get(1)).toBe(list.get(1));
  });
});
