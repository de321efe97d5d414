import type { Address } from "../terms.ts";
import type { Millis } from "../units.ts";
import { DocumentError, type Where } from "./document-error.ts";
import { Fields } from "./fields.ts";

/** Reads one field of an object. @throws DocumentError where it holds something else. */
export interface FieldReader<Value> {
  (fields: Fields<string>, key: string): Value;
  /** Whether the field may be left out. */
  readonly isOptional?: true;
}

/** What the fields of an object hold, all of them. */
export type Shape<Data> = { readonly [Key in keyof Data]-?: FieldReader<Data[Key]> };

/** A value that has all fields of a shape and no others. @throws DocumentError */
export function shaped<Data>(shape: Shape<Data>, value: unknown, where: Where, path = ""): Data {
  const all = Object.keys(shape) as (keyof Data & string)[];
  const keys = all.filter(
    (key) => shape[key].isOptional !== true || (isObject(value) && Object.hasOwn(value, key)),
  );
  const fields = new Fields(value, where, path, keys);
  for (const key of keys) shape[key](fields, key);
  return value as Data;
}

/** The same of a value that may have other fields, which nobody reads. @throws DocumentError */
export function shapedAtLeast<Data>(shape: Shape<Data>, value: unknown, where: Where, path = ""): Data {
  shaped(shape, onlyFields(value, Object.keys(shape)), where, path);
  return value as Data;
}

/** An object with those of its fields that have these names; what is no object stays what it is. */
export function onlyFields(value: unknown, names: readonly string[]): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name)));
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const anyText: FieldReader<string> = (fields, key) => fields.text(key);
export const texts: FieldReader<string[]> = (fields, key) => fields.texts(key);
export const anyBoolean: FieldReader<boolean> = (fields, key) => fields.boolean(key);
export const address: FieldReader<Address> = (fields, key) => fields.address(key);
export const moment: FieldReader<Millis> = (fields, key) => fields.millis(key);

/** An integer, both bounds included. */
export const integer =
  <Value extends number = number>(low = 0, high?: number): FieldReader<Value> =>
  (fields, key) =>
    fields.integer(key, low, high) as Value;

/** A finite number, both bounds included. */
export const numberIn =
  (low: number, high: number): FieldReader<number> =>
  (fields, key) => {
    const value = fields.value(key);
    if (typeof value === "number" && value >= low && value <= high) return value;
    throw fields.wrong(key, `a number from ${low} to ${high}`);
  };

export const textLike =
  (form: RegExp, what: string): FieldReader<string> =>
  (fields, key) =>
    fields.textLike(key, form, what);

export const oneOf =
  <Value extends string>(...values: readonly Value[]): FieldReader<Value> =>
  (fields, key) =>
    fields.oneOf(key, values);

export const orNull =
  <Value>(read: FieldReader<Value>): FieldReader<Value | null> =>
  (fields, key) =>
    fields.isNull(key) ? null : read(fields, key);

/** A field that is left out where it says nothing. */
export const optional = <Value>(read: FieldReader<Value>): FieldReader<Value | undefined> =>
  Object.assign((fields: Fields<string>, key: string) => read(fields, key), { isOptional: true } as const);

/** A list of objects. */
export const listOf =
  <Item>(shape: Shape<Item>): FieldReader<Item[]> =>
  (fields, key) =>
    fields.list(key, (item, path) => shaped(shape, item, fields.where, path));

/** An object of any fields. */
export const anyObject: FieldReader<object> = (fields, key) => {
  const value = fields.value(key);
  if (isObject(value)) return value;
  throw fields.wrong(key, "an object");
};

/** An object with other readers for what is in it. */
export const objectOf =
  <Data>(shape: Shape<Data>): FieldReader<Data> =>
  (fields, key) =>
    shapedAtLeast(shape, fields.value(key), fields.where, `${fields.path}.${key}`);

/** Where a field stands, for a reader that begins anew there. */
export const placeOf = ({ where, path }: Fields<string>, key: string): Where => ({
  ...where,
  section: `${where.section}${path}.${key}`,
});

/** What is wrong with a value that is to be read, as one sentence; null when nothing is. */
export function faultIn(read: () => unknown): string | null {
  try {
    read();
    return null;
  } catch (error) {
    if (error instanceof DocumentError) return error.message;
    throw error;
  }
}
