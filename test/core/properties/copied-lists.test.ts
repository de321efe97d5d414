import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Table } from "../../../src/core/table.ts";
import { runs } from "../../support/runs.ts";

interface Item {
  readonly name: number;
  marks: number;
  /** Once true, nothing writes to it again. */
  ended: boolean;
}

const ownCopy = (item: Item): Item => (item.ended ? item : { ...item });

/** A list and what must be in it. */
interface Told {
  readonly list: Table<Item>;
  readonly items: Item[];
}

type Step =
  | { readonly kind: "add"; readonly count: number }
  | { readonly kind: "mark" | "end" | "look"; readonly pick: number }
  | { readonly kind: "keep" }
  | { readonly kind: "return"; readonly pick: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("add"), count: fc.constantFrom(1, 2, 3, 2000, 4096) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom("mark" as const, "mark" as const, "end" as const, "look" as const),
      pick: fc.nat(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("keep") }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("return"), pick: fc.nat() }) },
);

/** Plays steps on lists that are kept and gone back to, and on plain arrays. */
function play(steps: readonly Step[]): void {
  const kept: Told[] = [];
  let now: Told = { list: new Table(), items: [] };
  let names = 0;
  const goOn = ({ list, items }: Told): Told => ({
    list: list.copy(ownCopy),
    items: items.map((item) => ({ ...item })),
  });
  for (const each of steps) {
    if (each.kind === "add") {
      for (let count = 0; count < each.count; count += 1) {
        names += 1;
        now.list.add({ name: names, marks: 0, ended: false });
        now.items.push({ name: names, marks: 0, ended: false });
      }
    } else if (each.kind === "keep") {
      kept.push(now);
      now = goOn(now);
    } else if (each.kind === "return") {
      if (kept.length > 0) now = goOn(kept[each.pick % kept.length] as Told);
    } else if (now.items.length > 0) {
      const index = each.pick % now.items.length;
      const expected = now.items[index] as Item;
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
    expect(list.size).toBe(items.length);
  }
}

describe("a copied list", () => {
  it("goes on by itself: whatever happens to it or to other copies, each has what it was told", () => {
    fc.assert(fc.property(fc.array(step, { maxLength: 30, size: "max" }), play), runs(150));
  });

  it("takes its own of an item when somebody sees it, once, and of an ended one never", () => {
    const list = new Table<Item>();
    for (let name = 1; name <= 5000; name += 1) list.add({ name, marks: 0, ended: name % 2 === 0 });
    let copied = 0;
    const copy = list.copy((item) => {
      if (item.ended) return item;
      copied += 1;
      return { ...item };
    });
    expect(copied).toBe(0);
    const seen = copy.get(4999);
    expect([copied, copy.get(4999) === seen, seen === list.get(4999)]).toEqual([1, true, false]);
    expect([copy.get(5000) === list.get(5000), copied]).toEqual([true, 1]);
    expect([[...copy].length, copied]).toEqual([5000, 2500]);
    expect([copy.find(0), copy.find(5001)]).toEqual([undefined, undefined]);
  });

  it("shares its items for ever when nothing is to be copied", () => {
    const list = new Table<Item>();
    list.add({ name: 1, marks: 0, ended: false });
    const [one, two] = [list.copy(), list.copy()];
    for (const [copy, name] of [
      [one, 2],
      [two, 3],
    ] as const)
      copy.add({ name, marks: 0, ended: false });
    expect([list, one, two].map((each) => [...each].map(({ name }) => name))).toEqual([[1], [1, 2], [1, 3]]);
    expect(one.get(1)).toBe(list.get(1));
  });
});
