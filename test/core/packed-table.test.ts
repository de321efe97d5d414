import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { PackedTable, type Packing, packingOf } from "../../src/core/packed-table.ts";
import {
  boolean,
  type Infer,
  id,
  integer,
  moment,
  oneOf,
  orNull,
  record,
  text,
} from "../../src/core/schema.ts";
import { type Millis, millis } from "../../src/core/units.ts";
import { withoutCompiler } from "../support/no-compiler.ts";
import { forAll, ofKind, runs, type ValueOf } from "../support/runs.ts";

/** A field of each kind that can be packed. */
const Item = record(
  {
    number: id(),
    side: oneOf("BUY", "SELL"),
    small: integer(0, 100),
    smallOrNull: orNull(integer(0, 100)),
    large: integer(),
    at: moment(),
    until: orNull(moment()),
  },
  {
    changing: { rested: boolean(), reason: orNull(oneOf("USER", "EXPIRED")), changes: integer() },
    derived: { slot: () => 0 },
  },
);
type Item = Infer<typeof Item>;

const NOON = 1_700_000_000_000;

const itemOf = (number: number): Item => ({
  number,
  side: number % 2 === 0 ? "BUY" : "SELL",
  small: number % 101,
  smallOrNull: number % 3 === 0 ? null : number % 101,
  large: Number.MAX_SAFE_INTEGER - number,
  at: millis(NOON + number),
  until: number % 5 === 0 ? millis(NOON + 2 * number) : null,
  rested: number % 7 === 0,
  reason: ([null, "USER", "EXPIRED"] as const)[number % 3] ?? null,
  changes: 0,
  slot: 2 ** 31 - 1 - number,
});

const pick = fc.oneof(fc.nat(), fc.constantFrom(0, 31, 32, 511, 512, 1_023));
const step = fc.oneof(
  ofKind(3, "add", { count: fc.constantFrom(1, 2, 40, 513) }),
  ofKind(2, "addClosed", { count: fc.constantFrom(1, 2, 40, 513) }),
  ...(["change", "close", "read", "look", "restore"] as const).map((kind) => ofKind(2, kind, { pick })),
  ofKind(2, "snapshot"),
);
type Step = ValueOf<typeof step>;

/** A table, its expected records, and the numbers of the open ones. */
interface Expected {
  readonly table: PackedTable<Item>;
  readonly items: Item[];
  readonly open: Set<number>;
}

/** Runs steps on tables, of which some are kept as snapshots and restored, and on plain arrays. */
function play(packing: Packing<Item>, steps: readonly Step[]): Expected {
  const snapshots: Expected[] = [];
  let now: Expected = { table: new PackedTable(packing), items: [], open: new Set() };
  /** Different for each change, so that records of one number differ between copies. */
  let changes = 0;
  const continued = ({ table, items, open }: Expected): Expected => ({
    table: table.copy(),
    items: items.map((item) => ({ ...item })),
    open: new Set(open),
  });
  for (const each of steps) {
    if (each.kind === "add" || each.kind === "addClosed") {
      for (let count = 0; count < each.count; count += 1) {
        changes += 1;
        const item = { ...itemOf(now.table.next), changes };
        now.items.push({ ...item });
        now.table[each.kind](item);
        if (each.kind === "add") now.open.add(item.number);
      }
    } else if (each.kind === "snapshot") {
      snapshots.push(now);
      now = continued(now);
    } else if (each.kind === "look") {
      // A snapshot is read while the exchange goes on with its copy.
      const { table, items } = snapshots[each.pick % snapshots.length] ?? now;
      expect([...table]).toEqual(items);
    } else if (each.kind === "restore") {
      if (snapshots.length > 0) now = continued(snapshots[each.pick % snapshots.length] as Expected);
    } else if (now.items.length > 0) {
      const expected = now.items[each.pick % now.items.length] as Item;
      const item = now.table.get(expected.number);
      expect(item).toEqual(expected);
      if (each.kind === "read" || !now.open.has(item.number)) continue;
      changes += 1;
      for (const which of [item, expected]) which.changes = changes;
      expect(now.table.get(item.number)).toBe(item);
      if (each.kind === "change") continue;
      now.table.close(item);
      now.open.delete(item.number);
    }
  }
  for (const { table, items, open } of [now, ...snapshots]) {
    expect(Array.from(table.open(), ({ number }) => number)).toEqual([...open].sort((a, b) => a - b));
    expect([table.size, table.next]).toEqual([items.length, items.length + 1]);
    expect([...table]).toEqual(items);
  }
  return now;
}

describe.each([
  ["compiled", packingOf(Item)],
  ["interpreted, where code cannot be compiled", await withoutCompiler(() => packingOf(Item))],
])("a packed table, %s", (_how, packing) => {
  it("and each of its copies are independent of changes to the others, open and closed", () => {
    const steps = fc.array(step, { maxLength: 40, size: "max" });
    forAll(runs(75), [steps], (some) => void play(packing, some));
  });

  it("is not changed by its copy after a snapshot between them has been read", () => {
    const table = new PackedTable(packing);
    for (const number of [1, 2]) table.add(itemOf(number));
    const snapshot = table.copy();
    const copy = snapshot.copy();
    copy.get(1).changes = 1;
    const read = [...snapshot];
    copy.get(2).changes = 2;
    for (const kept of [table, snapshot]) expect([...kept]).toEqual([itemOf(1), itemOf(2)]);
    expect(read).toEqual([itemOf(1), itemOf(2)]);
    expect(Array.from(copy, ({ changes }) => changes)).toEqual([1, 2]);
  });

  it("becomes an image and again the same table, moments shifted", () => {
    const steps = fc.array(step, { maxLength: 10, size: "max" });
    forAll(runs(25), [steps, fc.integer({ min: -NOON / 2, max: NOON })], (some, by) => {
      const { table, items, open } = play(packing, some);
      const shifted = PackedTable.of(packing, structuredClone(table.image()), by);
      const at = (moment: Millis): Millis => millis(moment + by);
      const moved = items.map((item) => ({ ...item, at: at(item.at), until: item.until && at(item.until) }));
      expect([...shifted]).toEqual(moved);
      expect(Array.from(shifted.open(), ({ number }) => number)).toEqual([...open]);
      expect([...table]).toEqual(items);
      const [next] = shifted.open();
      if (next !== undefined) shifted.close(next);
      expect([...shifted]).toEqual(moved);
    });
  });

  it("returns some fields of an open and of a closed record", () => {
    const [table, part] = [new PackedTable(packing), packing.part("side", "until")];
    table.add(itemOf(1));
    table.addClosed(itemOf(2));
    expect(table.part(1, part)).toBe(table.get(1));
    expect(table.part(2, part)).toEqual({ number: 2, side: "BUY", until: null });
    expect([1, 2, 3].map((number) => table.isOpen(number))).toEqual([true, false, false]);
    expect(() => table.part(3, part)).toThrow(RangeError);
  });

  it("keeps nothing that is written to a closed record", () => {
    const table = new PackedTable(packing);
    table.addClosed(itemOf(1));
    table.get(1).changes = 7;
    expect(table.get(1)).toEqual(itemOf(1));
  });
});

describe("a packed table", () => {
  it.each([0, -1, 3, 512, 2 ** 32 + 1, Number.NaN])("of two records has no number %d", (number) => {
    const table = new PackedTable(packingOf(Item));
    table.add(itemOf(1));
    table.addClosed(itemOf(2));
    expect(table.find(number)).toBe(undefined);
    expect(() => table.get(number)).toThrow(RangeError);
  });

  it.each(["add", "addClosed"] as const)(
    "refuses in %s a record that does not have the next number",
    (how) => {
      const table = new PackedTable(packingOf(Item));
      expect(() => table[how](itemOf(2))).toThrow("expected number 1, found 2");
      expect(table.size).toBe(0);
    },
  );

  it("copies figures once after a copy of it has closed records of the same numbers", () => {
    const packing = packingOf(Item);
    const figures = vi.spyOn(packing, "figures");
    const table = new PackedTable(packing);
    for (let number = 1; number <= 600; number += 1) table.addClosed(itemOf(number));
    for (let number = 601; number <= 700; number += 1) table.add(itemOf(number));
    figures.mockClear();
    for (const changes of [1, 2, 3]) {
      const copy = table.copy();
      for (let number = 601; number <= 700; number += 1)
        copy.close(Object.assign(copy.get(number), { changes }));
      for (let number = 701; number <= 720; number += 1) copy.addClosed({ ...itemOf(number), changes });
      expect(Array.from(copy, (item) => item.changes)).toEqual(
        Array.from({ length: 720 }, (_, index) => (index < 600 ? 0 : changes)),
      );
    }
    expect(figures).toHaveBeenCalledTimes(2);
  });

  it("keeps values that are not figures", () => {
    const table = new PackedTable(packingOf(record({ number: id(), note: text(), old: orNull(text()) })));
    for (const number of [1, 2]) table.addClosed({ number, note: `note ${number}`, old: null });
    expect([...table.copy()]).toEqual(
      [1, 2].map((number) => ({ number, note: `note ${number}`, old: null })),
    );
  });
});
