import { compiled, type RecordType, type Type } from "./schema.ts";
import { Table } from "./table.ts";

// Records that change for a while and then never again: objects first, then figures in typed arrays, which take half the
// memory and which the garbage collector neither visits nor moves (decision 0159).

const PAGE_BITS = 9;
const PAGE_SIZE = 1 << PAGE_BITS;
const IN_PAGE = PAGE_SIZE - 1;
/** Room for figures in the first page at first; it doubles. */
const FIRST_ROOM = 32;

/** Figures of records, one record after the other, and the values that are none. The typed arrays share one buffer. */
export interface Figures {
  readonly doubles: Float64Array;
  readonly ints: Int32Array;
  readonly bytes: Uint8Array;
  readonly objects: unknown[];
  /** Number of records for which there is room. */
  readonly room: number;
  /** Number of records that a table has written. Each next one is written by the first table that has it. */
  used: number;
}

/** An open record, or the position of a closed one among the closed ones. */
type Row<Value> = Value | number;

/** Figures as values that `v8.serialize` takes. */
type FiguresImage = Pick<Figures, "bytes" | "objects">;

/** Table as values that `v8.serialize` takes. */
export interface PackedImage {
  readonly size: number;
  /** Figures of all records by number, also of the open ones. */
  readonly pages: readonly FiguresImage[];
  /** Numbers of the open records. */
  readonly open: readonly number[];
}

/**
 * Append-only list of records, numbered from 1, in copy-on-write pages. An open record is an object that may be written to.
 * A closed one is kept as figures: each `get` makes a new object of them, and writing to that has no effect.
 */
export class PackedTable<Value extends { readonly number: number }> {
  readonly #packing: Packing<Value>;
  #rows = new Table<Row<Value>>();
  /** Pages of figures, which copies share, in the order in which records were closed: only the last one is written to. */
  #figures: Figures[] = [];
  /** Number of closed records. */
  #closed = 0;

  constructor(packing: Packing<Value>) {
    this.#packing = packing;
  }

  /** Returns the table of an image with all moments shifted by `by` ms. */
  static of<Value extends { readonly number: number }>(
    packing: Packing<Value>,
    { size, pages, open }: PackedImage,
    by: number,
  ): PackedTable<Value> {
    const table = new PackedTable(packing);
    table.#figures = pages.map((page) => packing.figures(PAGE_SIZE, page, PAGE_SIZE));
    for (const figures of table.#figures) packing.shift(figures, by);
    table.#closed = size;
    table.#rows = Table.lazy<Row<Value>>(size, (index) => index);
    for (const number of open) table.#rows.replace(number, table.get(number));
    return table;
  }

  image(): PackedImage {
    const pages: Figures[] = [];
    for (const record of this) {
      const at = record.number - 1;
      pages[at >> PAGE_BITS] ??= this.#packing.figures(PAGE_SIZE);
      this.#packing.pack(pages[at >> PAGE_BITS] as Figures, at & IN_PAGE, record);
    }
    const open = Array.from(this.open(), ({ number }) => number);
    return { size: this.size, pages: pages.map(({ bytes, objects }) => ({ bytes, objects })), open };
  }

  /** Number of records, which is also the number of the latest. */
  get size(): number {
    return this.#rows.size;
  }

  get next(): number {
    return this.#rows.next;
  }

  /** Appends an open record. @throws Error if its number is not the next. */
  add(record: Value): void {
    this.#rows.addAs(record.number, record);
  }

  /** Appends a closed record. @throws Error if its number is not the next. */
  addClosed(record: Value): void {
    this.#rows.addAs(record.number, this.#pack(record));
  }

  /** Closes an open record, which must not be written to again. */
  close(record: Value): void {
    this.#rows.replace(record.number, this.#pack(record));
  }

  /** Returns the record of a number. @throws RangeError if the number does not exist. */
  get(number: number): Value {
    return this.#record(number, this.#rows.get(number));
  }

  /** Returns the record of a number; undefined if it does not exist. */
  find(number: number): Value | undefined {
    const row = this.#rows.find(number);
    return row === undefined ? undefined : this.#record(number, row);
  }

  #record(number: number, row: Row<Value>): Value {
    if (typeof row !== "number") return row;
    return this.#packing.unpack(this.#figures[row >> PAGE_BITS] as Figures, row & IN_PAGE, number);
  }

  /**
   * Returns some fields of a record for reading, without making an object of all fields of a closed one.
   * @throws RangeError if the number does not exist.
   */
  part<Part>(number: number, { unpack }: Conversion<Part>): Readonly<Part> {
    const row = this.#rows.peek(number);
    if (typeof row !== "number") return row as never;
    return unpack(this.#figures[row >> PAGE_BITS] as Figures, row & IN_PAGE, number);
  }

  isOpen(number: number): boolean {
    return number >= 1 && number <= this.size && typeof this.#rows.peek(number) !== "number";
  }

  *[Symbol.iterator](): Generator<Value> {
    for (let number = 1; number <= this.size; number += 1) yield this.get(number);
  }

  /** Yields the open records by number, not copied, for reading before the next command. */
  *open(): Generator<Value> {
    for (let number = 1; number <= this.size; number += 1) {
      const row = this.#rows.peek(number) as Row<Value>;
      if (typeof row !== "number") yield row;
    }
  }

  /**
   * Returns a writable copy. After that neither this table nor its records may be written to. The copy shares all rows and
   * open records, and copies each when it first reads it.
   */
  copy(): PackedTable<Value> {
    const { copy: copyOf } = this.#packing;
    const copy = new PackedTable(this.#packing);
    copy.#rows = this.#rows.copy((row) => (typeof row === "number" ? row : copyOf(row)));
    copy.#figures = this.#figures.slice();
    copy.#closed = this.#closed;
    return copy;
  }

  /** Writes the figures of a record and returns their position. */
  #pack(record: Value): number {
    const position = this.#closed;
    const place = position & IN_PAGE;
    let figures = this.#figures[position >> PAGE_BITS];
    if (figures === undefined || figures.used !== place || figures.room === place) {
      const room = position < PAGE_SIZE ? Math.max(FIRST_ROOM, figures?.room ?? 0) : PAGE_SIZE;
      figures = this.#packing.figures(place === room ? 2 * room : room, figures, place);
      this.#figures[position >> PAGE_BITS] = figures;
    }
    this.#packing.pack(figures, place, record);
    figures.used = place + 1;
    this.#closed = position + 1;
    return position;
  }
}

/** Converts all fields of records to figures and back, or some of them. */
interface Conversion<Value> {
  pack(figures: Figures, place: number, record: Value): void;
  unpack(figures: Figures, place: number, number: number): Value;
}

/** Converts records of one kind. */
export interface Packing<Value> extends Conversion<Value> {
  /** Makes room for records, and copies earlier figures, of which a number is used. */
  figures(room: number, from?: FiguresImage, used?: number): Figures;
  part<Name extends keyof Value & string>(
    ...names: Name[]
  ): Conversion<Pick<Value, Name | ("number" & keyof Value)>>;
  copy(record: Value): Value;
  /** Adds `by` milliseconds to all moments of all records. */
  shift(figures: Figures, by: number): void;
}

type Kind = "doubles" | "ints" | "bytes" | "objects";

/** Where the figure of a field is: `at` is its index among the items of a record. */
interface Item {
  readonly name: string;
  readonly kind: Kind;
  readonly at: number;
  /** Values by their figure; null if the figure is the value, or -1 for null. */
  readonly values: readonly unknown[] | null;
  readonly isNullable: boolean;
  readonly shift: Type<unknown>["shift"];
}

/**
 * Returns how to pack records whose first field is the number of their position. Integers and few values become figures;
 * derived fields must be integers. `wide` has the fields that need more than 32 bits, if not all that may.
 */
export function packingOf<Value>(type: RecordType<Value>, wide?: readonly string[]): Packing<Value> {
  const layout = layoutOf(type, wide);
  const { items, widths } = layout;
  const convert = (some: readonly Item[]): Conversion<never> =>
    compiledConversion({ ...layout, items: some }) ?? interpreted({ ...layout, items: some });
  const packing: Packing<Value> = {
    ...convert(items),
    part: (...names) => convert(items.filter(({ name }) => names.includes(name as never))),
    copy: type.copy,
    figures(room, from, used = 0) {
      const buffer = new ArrayBuffer(widths.bytes * room);
      const bytes = new Uint8Array(buffer);
      if (from !== undefined) bytes.set(from.bytes);
      const [doubles, ints] = [new Float64Array(buffer), new Int32Array(buffer)];
      return { doubles, ints, bytes, objects: from?.objects.slice() ?? [], room, used };
    },
    shift({ doubles, objects }, by) {
      for (const { kind, at, shift } of items) {
        if (shift === undefined) continue;
        if (kind === "doubles") addToEach(doubles, at, widths.doubles, by);
        else
          for (let index = at; index < objects.length; index += widths.objects)
            objects[index] = shift(objects[index], by);
      }
    },
  };
  // The first record decides how V8 represents each field in all of them. In one made of figures, wide integers are doubles;
  // if a record with small ones were first, each later one would be converted by the runtime when it is first read.
  packing.unpack(packing.figures(1), 0, 1);
  return packing;
}

/** Adds to the moments at every `width`-th place; -1 stands for null. */
function addToEach(moments: Float64Array, from: number, width: number, by: number): void {
  for (let index = from; index < moments.length; index += width) {
    const moment = moments[index] as number;
    if (moment >= 0) moments[index] = moment + by;
  }
}

const MAX_INT32 = 2_147_483_647;

type Layout = ReturnType<typeof layoutOf>;

function layoutOf({ fields, derived }: RecordType<unknown>, wide?: readonly string[]) {
  const counts = { doubles: 0, ints: 0, bytes: 0, objects: 0 };
  const itemOf = (name: string, type: Partial<Type<unknown>>): Item => {
    const { values, shift, nonNull, range = nonNull?.range } = type;
    const isWide = shift !== undefined || (wide?.includes(name) ?? (range?.[1] ?? 0) > MAX_INT32);
    const kind = values ? "bytes" : range === undefined ? "objects" : isWide ? "doubles" : "ints";
    const at = counts[kind];
    counts[kind] += 1;
    const isNullable = range !== undefined && nonNull !== undefined;
    return { name, kind, at, values: values ?? null, isNullable, shift };
  };
  const [key = "", ...names] = Object.keys(fields);
  const items = names.map((name) => itemOf(name, fields[name] as Type<unknown>));
  items.push(...derived.map((name) => itemOf(name, { range: [0, MAX_INT32] })));
  // A record has its doubles first, then its integers and bytes, so that each is aligned.
  const { doubles, ints, bytes, objects } = counts;
  const before = { doubles: 0, ints: 2 * doubles, bytes: 8 * doubles + 4 * ints, objects: 0 };
  const size = Math.ceil((before.bytes + bytes) / 8) * 8;
  const placed = items.map((item) => ({ ...item, at: item.at + before[item.kind] }));
  /** Length of a record in the items of each array. */
  const widths = { doubles: size / 8, ints: size / 4, bytes: size, objects };
  return { key, items: placed as readonly Item[], widths };
}

type Values = Record<string, unknown>;

/** Compiles the conversion from source generated for the fields of one record; null if code cannot be compiled. */
function compiledConversion({ key, items, widths }: Layout): Conversion<never> | null {
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
  const arrays = `{ ${[...new Set(items.map(({ kind }) => kind))].join(", ")} }`;
  const source = `"use strict";
    return {
      pack(${arrays}, place, v) {
        ${items.map((item) => `${figure(item)} = ${packed(item)};`).join("\n")}
      },
      unpack(${arrays}, place, ${key}) {
        return { ${key}, ${items.map((item, index) => `${item.name}: ${unpacked(item, index)}`).join(", ")} };
      },
    };`;
  return compiled(source, { items });
}

/** Converts in a loop over the fields, for where code cannot be compiled: a browser with a Content-Security-Policy. */
const interpreted = ({ key, items, widths }: Layout): Conversion<never> => ({
  pack(figures, place, record: Values) {
    for (const { name, kind, at, values, isNullable } of items) {
      const value = record[name];
      const figure = values === null ? (isNullable ? (value ?? -1) : value) : values.indexOf(value);
      figures[kind][place * widths[kind] + at] = figure as number;
    }
  },
  unpack(figures, place, number) {
    const record: Values = { [key]: number };
    for (const { name, kind, at, values, isNullable } of items) {
      const figure = figures[kind][place * widths[kind] + at];
      if (values !== null) record[name] = values[figure as number];
      else record[name] = isNullable && (figure as number) < 0 ? null : figure;
    }
    return record as never;
  },
});
