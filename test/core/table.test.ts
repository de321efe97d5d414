import { scheduler } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { Table } from "../../src/core/table.ts";
import { garbageCollector } from "../bench/rounds.ts";
import { forAll, ofKind, runs, type ValueOf } from "../support/runs.ts";

interface Item {
  readonly name: number;
  changes: number;
}

/** More than two chunks. */
const SIZE = 10_000;
const itemOf = (name: number): Item => ({ name, changes: 0 });
const made = (from: number, to: number): Item[] =>
  Array.from({ length: to - from }, (_, index) => itemOf(from + index + 1));
const ownCopy = (item: Item): Item => ({ ...item });

function filled(items: readonly Item[] = made(0, SIZE)): Table<Item> {
  const table = new Table<Item>();
  for (const item of items) table.add(item);
  return table;
}

/** A table and its expected items. */
interface Expected {
  readonly table: Table<Item>;
  readonly items: Item[];
}

/** Ways to create a table, its expected items, and the number of cases. */
const INITIAL_TABLES: readonly [how: string, table: () => Table<Item>, items: () => Item[], cases: number][] =
  [
    ["empty", () => new Table(), () => [], 75],
    ["filled", () => filled(), () => made(0, SIZE), 30],
    ["lazy", () => Table.lazy(SIZE, (index) => itemOf(index + 1)), () => made(0, SIZE), 30],
  ];

const pick = fc.oneof(fc.nat(), fc.constantFrom(0, 511, 512, 1_023, SIZE - 1));
const step = fc.oneof(
  ofKind(3, "add", { count: fc.constantFrom(1, 2, 3, 512, 2000) }),
  ofKind(2, "change", { pick }),
  ...(["read", "replace"] as const).map((kind) => ofKind(1, kind, { pick })),
  ofKind(2, "snapshot"),
  ofKind(2, "restore", { pick: fc.nat() }),
);
type Step = ValueOf<typeof step>;

/** Runs steps on tables, of which some are kept as snapshots and restored, and on plain arrays. */
function play({ table, items }: Expected, steps: readonly Step[]): void {
  const snapshots: Expected[] = [];
  let now: Expected = { table, items };
  let names = SIZE;
  const continued = (from: Expected): Expected => ({
    table: from.table.copy(ownCopy),
    items: from.items.map((item) => ({ ...item })),
  });
  for (const each of steps) {
    if (each.kind === "add") {
      let number = 0;
      for (let count = 0; count < each.count; count += 1) {
        names += 1;
        number = now.table.add(itemOf(names));
        now.items.push(itemOf(names));
      }
      expect(number).toBe(now.items.length);
    } else if (each.kind === "snapshot") {
      snapshots.push(now);
      now = continued(now);
    } else if (each.kind === "restore") {
      if (snapshots.length > 0) now = continued(snapshots[each.pick % snapshots.length] as Expected);
    } else if (now.items.length > 0) {
      const index = each.pick % now.items.length;
      const expected = now.items[index] as Item;
      expect(now.table.peek(index + 1)).toEqual(expected);
      if (each.kind === "replace") {
        names += 1;
        now.table.replace(index + 1, itemOf(names));
        now.items[index] = itemOf(names);
        continue;
      }
      const item = now.table.get(index + 1);
      if (each.kind === "change") for (const which of [item, expected]) which.changes += 1;
      expect(now.table.get(index + 1)).toBe(item);
    }
  }
  for (const { table, items } of [now, ...snapshots]) {
    expect(JSON.stringify([...table])).toBe(JSON.stringify(items));
    expect([table.size, table.next]).toEqual([items.length, items.length + 1]);
  }
}

describe("a table", () => {
  it.each(INITIAL_TABLES)(
    "that begins %s, and each of its copies, is independent of changes to the others",
    (_how, table, items, cases) => {
      const steps = fc.array(step, { maxLength: 30, size: "max" });
      forAll(runs(cases), [steps], (some) => play({ table: table(), items: items() }, some));
    },
  );

  it.each([0, -1, -512, 4, 512, 513, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 44 + 1, 2 ** 48 - 1, Number.NaN])(
    "of three items has no number %d",
    (number) => {
      const table = filled(made(0, 3));
      expect(table.find(number)).toBe(undefined);
      expect(() => table.get(number)).toThrow(RangeError);
      expect(() => table.peek(number)).toThrow(RangeError);
    },
  );

  it("that is lazy makes a chunk on first access, once for all copies", () => {
    const make = vi.fn((index: number) => itemOf(index + 1));
    const table = Table.lazy(SIZE, make);
    const copy = table.copy();
    expect(table.size).toBe(SIZE);
    expect(make).not.toHaveBeenCalled();
    expect(copy.get(5_000)).toBe(table.get(5_000));
    expect(table.find(SIZE + 1)).toBeUndefined();
    expect(make.mock.calls).toEqual(made(4_608, 5_120).map(({ name }) => [name - 1]));
  });
});

describe("a copied table", () => {
  it("copies an item when it is first read, but not for a peek", () => {
    const table = filled(made(0, 5000));
    let copied = 0;
    const copy = table.copy((item) => {
      copied += 1;
      return { ...item };
    });
    expect([copy.peek(7).name, copied]).toEqual([7, 0]);
    const seen = copy.get(4999);
    expect([copied, copy.get(4999) === seen, seen === table.get(4999)]).toEqual([1, true, false]);
    expect([[...copy].length, copied]).toEqual([5000, 5000]);
    expect([copy.find(0), copy.find(5001)]).toEqual([undefined, undefined]);
  });

  it.each([1, 5_000, SIZE])(
    "that shares its items leaves the original unchanged if it replaces item %d",
    (number) => {
      const table = filled();
      const copy = table.copy();
      copy.replace(number, itemOf(-1));
      expect(copy.get(number)).toEqual(itemOf(-1));
      expect([...table]).toEqual(made(0, SIZE));
    },
  );

  it("no longer holds the items of its original when it is itself copied", async () => {
    const collect = garbageCollector();
    const originals: WeakRef<Item>[] = [];
    const copyOnce = (): Table<Item> => {
      const items = made(0, 1_000);
      originals.push(...items.map((item) => new WeakRef(item)));
      const copy = filled(items).copy(ownCopy);
      for (const item of copy) item.changes += 1;
      return copy;
    };
    const kept = copyOnce();
    const copied = kept.copy(ownCopy);
    await scheduler.yield();
    collect();
    expect(originals.filter((each) => each.deref() !== undefined)).toHaveLength(0);
    expect([copied.get(1), kept.size]).toEqual([{ name: 1, changes: 1 }, 1_000]);
  });

  it("numbers new items in sequence, and refuses an item that must get another number", () => {
    const copy = filled(made(0, 3)).copy();
    copy.addAs(4, itemOf(4));
    expect(() => copy.addAs(6, itemOf(6))).toThrow("expected number 5, found 6");
    expect([...copy]).toEqual(made(0, 4));
  });
});
