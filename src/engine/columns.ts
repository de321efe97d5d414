import type { RecordType } from "../core/schema.ts";
import { Table } from "../core/table.ts";

/** The values of one field of many records, as typed arrays where possible, so that they are read in bulk. */
type Column =
  | { readonly kind: "numbers"; readonly values: Int32Array | Float64Array }
  /** An index into a few distinct values for each record. */
  | { readonly kind: "few"; readonly values: unknown[]; readonly places: Uint8Array }
  | { readonly kind: "any"; readonly values: unknown[] };

/** Records with the same fields, as one column per field. */
export interface Columns {
  readonly size: number;
  readonly keys: readonly string[];
  readonly columns: readonly Column[];
}

const MAX_FEW = 256;

/** Declarations of the fields; those of moments have `shift`. */
type Fields = RecordType<unknown>["fields"];
type Row = Readonly<Record<string, unknown>>;

/** Converts records into columns, in the field order of the first one. */
export function columnsOf(records: Iterable<object>, fields: Fields): Columns {
  const rows = [...(records as Iterable<Row>)];
  const keys = Object.keys(rows[0] ?? {});
  return {
    size: rows.length,
    keys,
    columns: keys.map((key) =>
      columnOf(
        rows.map((row) => row[key]),
        fields[key]?.shift !== undefined,
      ),
    ),
  };
}

function columnOf(values: unknown[], areMoments: boolean): Column {
  if (values.every((value) => typeof value === "number")) {
    const isShort = !areMoments && values.every((value) => (value | 0) === value);
    return { kind: "numbers", values: isShort ? Int32Array.from(values) : Float64Array.from(values) };
  }
  const places = new Map<unknown, number>();
  for (const value of values) {
    if (places.size > MAX_FEW || (typeof value === "object" && value !== null))
      return { kind: "any", values };
    if (!places.has(value)) places.set(value, places.size);
  }
  if (places.size > MAX_FEW) return { kind: "any", values };
  return {
    kind: "few",
    values: [...places.keys()],
    places: Uint8Array.from(values, (value) => places.get(value) as number),
  };
}

/** Adds `by` milliseconds to every moment in the columns, in place. */
export function shiftMoments({ keys, columns }: Columns, fields: Fields, by: number): void {
  for (const [index, key] of keys.entries()) {
    const type = fields[key];
    const column = columns[index] as Column;
    if (type?.shift === undefined) continue;
    if (column.kind === "numbers") addTo(column.values, by);
    else
      column.values.forEach((value, at, values) => {
        values[at] = type.shift?.(value, by);
      });
  }
}

function addTo(moments: Int32Array | Float64Array, by: number): void {
  for (let at = 0; at < moments.length; at += 1) moments[at] = (moments[at] as number) + by;
}

/** Returns a reader of one field by the index of the record. */
export function fieldOf<Value>({ keys, columns }: Columns, key: string): (at: number) => Value {
  const column = columns[keys.indexOf(key)];
  if (column === undefined) throw new RangeError(`no column ${key}`);
  const { values } = column;
  if (column.kind !== "few") return (at) => values[at] as Value;
  return (at) => values[column.places[at] as number] as Value;
}

/** Replaces the values of a field. */
export function setField(columns: Columns, key: string, values: Int32Array): void {
  const index = columns.keys.indexOf(key);
  (columns.columns as Column[])[index] = { kind: "numbers", values };
}

/**
 * Converts columns back into records. The constructing code is compiled for their fields, so that V8 lays the objects
 * out like literals; that is many times faster than setting fields by name.
 */
export function recordsOf<Of>({ size, keys, columns }: Columns): Table<Of> {
  const fields = keys.map((key, index) => {
    const column = columns[index] as Column;
    const value = column.kind === "few" ? `v${index}[p${index}[at]]` : `v${index}[at]`;
    return `${JSON.stringify(key)}: ${value}`;
  });
  const names = keys.map((_, index) => `{ values: v${index}, places: p${index} }`);
  const source = `"use strict";
    const [${names.join(", ")}] = columns;
    return (from, to) => {
      const rows = [];
      for (let at = from; at < to; at += 1) rows.push({ ${fields.join(", ")} });
      return rows;
    };`;
  return Table.lazy(size, new Function("columns", source)(columns) as (from: number, to: number) => Of[]);
}
