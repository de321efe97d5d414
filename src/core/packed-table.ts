import type { RecordType, Type } from "./schema.ts";

// Records that change for a while and then never again: objects first, then figures in typed arrays, which take half the
// memory and which the garbage collector neither visits nor moves (decision 0159).

const PAGE_BITS = 9;
const PAGE_SIZE = 1 << PAGE_BITS;
const IN_PAGE = PAGE_SIZE - 1;
/** Room for figures in the first page at first; it doubles. */
const FIRST_ROOM = 32;

/** Figures of the closed records of a page; a record has a fixed number of items in each array. */
interface Figures {
  readonly doubles: Float64Array;
  readonly ints: Int32Array;
  readonly bytes: Uint8Array;
  /** 1 for each place that has figures. */
  readonly isTaken: Uint8Array;
}

interface Page<Value> {
  /** The table that may write to the page; others copy it first. */
  readonly owner: object;
  /** Open records by their place. */
  readonly open: (Value | undefined)[];
  /** Those of the page that this is a copy of; each is copied when it is first read. Null if it is no copy. */
  readonly inherited: readonly (Value | undefined)[] | null;
  /** Figures of the others, null if there are none. Shared with copies: each writes only to places that are not taken. */
  figures: Figures | null;
}

/** Table as values that `v8.serialize` takes. */
export interface PackedImage {
  readonly size: number;
  readonly figures: readonly Figures[];
  /** Numbers of the open records. */
  readonly open: readonly number[];
}

/**
 * Append-only list of records, numbered from 1, in copy-on-write pages. An open record is an object that may be written to.
 * A closed one is kept as figures: each `get` makes a new object of them, and writing to that has no effect.
 */
export class PackedTable<Value extends { readonly number: number }> {
  readonly #packing: Packing<Value>;
  #pages: Page<Value>[] = [];
  #size = 0;

  constructor(packing: Packing<Value>) {
    this.#packing = packing;
  }

  /** Returns the table of an image with all moments shifted by `by` ms. The image must not be used again. */
  static of<Value extends { readonly number: number }>(
    packing: Packing<Value>,
    { size, figures, open }: PackedImage,
    by: number,
  ): PackedTable<Value> {
    const table = new PackedTable(packing);
    table.#size = size;
    table.#pages = figures.map((each) => ({ owner: table, open: [], inherited: null, figures: each }));
    for (const each of figures) packing.shift(each, by);
    for (const number of open) {
      const page = table.#pages[(number - 1) >> PAGE_BITS] as Page<Value>;
      const place = (number - 1) & IN_PAGE;
      page.open[place] = packing.unpack(page.figures as Figures, place, number);
      (page.figures as Figures).isTaken[place] = 0;
    }
    return table;
  }

  image(): PackedImage {
    const figures = this.#pages.map((page) => {
      const all = this.#packing.figures(PAGE_SIZE, page.figures);
      for (const record of page.open) {
        if (record === undefined) continue;
        this.#packing.pack(all, placeOf(record), record);
        all.isTaken[placeOf(record)] = 1;
      }
      return all;
    });
    return { size: this.#size, figures, open: Array.from(this.open(), ({ number }) => number) };
  }

  /** Number of records, which is also the number of the latest. */
  get size(): number {
    return this.#size;
  }

  get next(): number {
    return this.#size + 1;
  }

  /** Appends an open record. @throws Error if its number is not the next. */
  add(record: Value): void {
    this.#pageOfNext(record).open[placeOf(record)] = record;
  }

  /** Appends a closed record. @throws Error if its number is not the next. */
  addClosed(record: Value): void {
    this.#pack(this.#pageOfNext(record), record);
  }

  /** Closes an open record, which must not be written to again. */
  close(record: Value): void {
    const page = this.#ownPage((record.number - 1) >> PAGE_BITS);
    this.#pack(page, record);
    page.open[placeOf(record)] = undefined;
  }

  /** Returns the record of a number. @throws RangeError if the number does not exist. */
  get(number: number): Value {
    const record = this.find(number);
    if (record === undefined) throw new RangeError(`no number ${number} in a list of ${this.#size}`);
    return record;
  }

  /** Returns the record of a number; undefined if it does not exist. */
  find(number: number): Value | undefined {
    if (!(number >= 1 && number <= this.#size)) return undefined;
    const at = (number - 1) >> PAGE_BITS;
    const page = this.#pages[at] as Page<Value>;
    const place = (number - 1) & IN_PAGE;
    const record = page.open[place];
    if (record === undefined) return this.#packing.unpack(page.figures as Figures, place, number);
    return page.owner === this && page.inherited === null ? record : this.#ownRecord(at, place);
  }

  *[Symbol.iterator](): Generator<Value> {
    for (let number = 1; number <= this.#size; number += 1) yield this.get(number);
  }

  /** Yields the open records by number, not copied, for reading before the next command. */
  *open(): Generator<Value> {
    for (const { open } of this.#pages) {
      for (const record of open) if (record !== undefined) yield record;
    }
  }

  /**
   * Returns a writable copy. After that neither this table nor its records may be written to. The copy shares all pages and
   * open records, and copies each when it first reads it.
   */
  copy(): PackedTable<Value> {
    const copy = new PackedTable(this.#packing);
    copy.#pages = this.#pages.slice();
    copy.#size = this.#size;
    return copy;
  }

  #pageOfNext({ number }: Value): Page<Value> {
    if (number !== this.next) throw new Error(`expected number ${this.next}, found ${number}`);
    if ((this.#size & IN_PAGE) === 0)
      this.#pages.push({ owner: this, open: [], inherited: null, figures: null });
    this.#size += 1;
    return this.#ownPage((number - 1) >> PAGE_BITS);
  }

  #ownPage(at: number): Page<Value> {
    const page = this.#pages[at] as Page<Value>;
    if (page.owner === this) return page;
    const { open, figures } = page;
    const own = { owner: this, open: open.slice(), inherited: open, figures };
    this.#pages[at] = own;
    return own;
  }

  #ownRecord(at: number, place: number): Value {
    const { open, inherited } = this.#ownPage(at);
    const record = open[place] as Value;
    if (inherited?.[place] !== record) return record;
    const own = this.#packing.copy(record);
    open[place] = own;
    return own;
  }

  #pack(page: Page<Value>, record: Value): void {
    const place = placeOf(record);
    let figures = page.figures;
    // A copy of this table, or its original, may have closed another record of this number.
    if (figures === null || place >= figures.isTaken.length || figures.isTaken[place] !== 0) {
      figures = this.#packing.figures(this.#roomFor(page, place), figures);
      for (const open of page.open) if (open !== undefined) figures.isTaken[placeOf(open)] = 0;
      if (page === this.#pages.at(-1)) figures.isTaken.fill(0, ((this.#size - 1) & IN_PAGE) + 1);
      page.figures = figures;
    }
    this.#packing.pack(figures, place, record);
    figures.isTaken[place] = 1;
  }

  #roomFor(page: Page<Value>, place: number): number {
    if (page !== this.#pages[0]) return PAGE_SIZE;
    let room = Math.max(FIRST_ROOM, page.figures?.isTaken.length ?? 0);
    while (room <= place) room *= 2;
    return room;
  }
}

const placeOf = ({ number }: { readonly number: number }): number => (number - 1) & IN_PAGE;

/** Converts records of one kind to figures and back. */
export interface Packing<Value> {
  /** Makes room for records, with the figures of `from`. */
  figures(room: number, from: Figures | null): Figures;
  pack(figures: Figures, place: number, record: Value): void;
  unpack(figures: Figures, place: number, number: number): Value;
  copy(record: Value): Value;
  /** Adds `by` milliseconds to all moments. */
  shift(figures: Figures, by: number): void;
}

type Kind = "doubles" | "ints" | "bytes";

/** Where the figure of a field is: `at` is its index among the items of a record. */
interface Item {
  readonly name: string;
  readonly kind: Kind;
  readonly at: number;
  /** Values by their figure; null if the figure is the value, or -1 for null. */
  readonly values: readonly unknown[] | null;
  readonly isNullable: boolean;
  readonly isMoment: boolean;
}

interface Layout {
  readonly items: readonly Item[];
  /** Number of items of a record in each array. */
  readonly widths: Readonly<Record<Kind, number>>;
}

/**
 * Returns how to pack records whose `number` is their position. The other fields are integers, few values, or null; derived
 * ones are integers of 32 bits.
 */
export function packingOf<Value extends { readonly number: number }>(
  type: RecordType<Value>,
): Packing<Value> {
  const layout = layoutOf(type);
  const { items, widths } = layout;
  return {
    ...((compiled(layout) ?? interpreted(layout)) as Pick<Packing<Value>, "pack" | "unpack">),
    copy: type.copy,
    figures(room, from) {
      const made = {
        doubles: new Float64Array(widths.doubles * room),
        ints: new Int32Array(widths.ints * room),
        bytes: new Uint8Array(widths.bytes * room),
        isTaken: new Uint8Array(room),
      };
      for (const kind of ["doubles", "ints", "bytes", "isTaken"] as const) made[kind].set(from?.[kind] ?? []);
      return made;
    },
    shift({ doubles, isTaken }, by) {
      for (const { at } of items.filter(({ isMoment }) => isMoment)) {
        for (let place = 0; place < isTaken.length; place += 1) {
          const index = place * widths.doubles + at;
          const figure = doubles[index] as number;
          if (isTaken[place] === 1 && figure >= 0) doubles[index] = figure + by;
        }
      }
    },
  };
}

const MAX_INT32 = 2_147_483_647;

function layoutOf({ fields, derived }: RecordType<unknown>): Layout {
  const widths = { doubles: 0, ints: 0, bytes: 0 };
  const itemOf = (name: string, type: Type<unknown> | null): Item => {
    const { values = null, shift, nonNull } = type ?? {};
    const [low, high] = (type === null ? [0, MAX_INT32] : (nonNull ?? type).range) ?? [-1, 0];
    if (values === null && low < 0) throw new Error(`field ${name} cannot be packed`);
    const isWide = high > MAX_INT32;
    const kind = values === null ? (isWide ? "doubles" : "ints") : "bytes";
    const at = widths[kind];
    widths[kind] += 1;
    return { name, kind, at, values, isNullable: nonNull !== undefined, isMoment: shift !== undefined };
  };
  const persisted = Object.entries(fields).filter(([name]) => name !== "number");
  const items = persisted.map(([name, type]) => itemOf(name, type));
  return { items: [...items, ...derived.map((name) => itemOf(name, null))], widths };
}

type Values = Record<string, unknown>;

/** Compiles the conversion from source generated for the fields of one record; null if code cannot be compiled. */
function compiled({ items, widths }: Layout): Pick<Packing<Values>, "pack" | "unpack"> | null {
  const figure = ({ kind, at }: Item): string => `${kind}[place * ${widths[kind]} + ${at}]`;
  const packed = (item: Item): string => {
    const { name, values, isNullable } = item;
    const figures = values?.map((value, index) => `v.${name} === ${JSON.stringify(value)} ? ${index}`);
    if (figures !== undefined) return `${figures.slice(0, -1).join(" : ")} : ${figures.length - 1}`;
    return isNullable ? `v.${name} === null ? -1 : v.${name}` : `v.${name}`;
  };
  const unpacked = (item: Item, index: number): string => {
    if (item.values !== null) return `items[${index}].values[${figure(item)}]`;
    return item.isNullable ? `${figure(item)} < 0 ? null : ${figure(item)}` : figure(item);
  };
  const source = `"use strict";
    return {
      pack({ doubles, ints, bytes }, place, v) {
        ${items.map((item) => `${figure(item)} = ${packed(item)};`).join("\n")}
      },
      unpack({ doubles, ints, bytes }, place, number) {
        return { number, ${items.map((item, index) => `${item.name}: ${unpacked(item, index)}`).join(", ")} };
      },
    };`;
  try {
    return new Function("items", source)(items);
  } catch (error) {
    if (error instanceof EvalError) return null;
    throw error;
  }
}

/** Converts in a loop over the fields, for where code cannot be compiled: a browser with a Content-Security-Policy. */
const interpreted = ({ items, widths }: Layout): Pick<Packing<Values>, "pack" | "unpack"> => ({
  pack(figures, place, record) {
    for (const { name, kind, at, values } of items) {
      const value = record[name];
      const figure = values === null ? ((value ?? -1) as number) : values.indexOf(value);
      figures[kind][place * widths[kind] + at] = figure;
    }
  },
  unpack(figures, place, number) {
    const record: Values = { number };
    for (const { name, kind, at, values, isNullable } of items) {
      const figure = figures[kind][place * widths[kind] + at] as number;
      if (values !== null) record[name] = values[figure];
      else record[name] = isNullable && figure < 0 ? null : figure;
    }
    return record;
  },
});
