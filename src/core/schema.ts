import { type ByteCursor, type FixedText, fixedText } from "./byte-cursor.ts";
import { FULL_PRICE, MAX_MILLIS, MAX_SIZE, type Millis, type Price, type Size } from "./units.ts";

/**
 * What a value on disk is, declared once. Records, commands and journal lines are put together from the types below:
 *
 *   export const Trade = record({ number: id(), side: oneOf("BUY", "SELL"), price: price(), at: moment() });
 *   export type Trade = Infer<typeof Trade>;
 *
 * `Trade.write(trade)` is its canonical JSON, fields in the order of the declaration; `Trade.parse(value)` checks what
 * `JSON.parse` has found and answers a record of its own; `Trade.read(cursor)` reads canonical bytes without `JSON.parse`.
 */
export interface Type<Value> {
  /** The value, checked. @throws DocumentError whose path is relative to the value. */
  parse(value: unknown): Value;
  /** Canonical JSON. */
  write(value: Value): string;
  /** The value of canonical bytes. Calls `cursor.fail()` where they are written otherwise, or `parse` would throw. */
  read(cursor: ByteCursor): Value;
  /** Of an integer, its bounds: records read and write it without a call. */
  readonly range?: readonly [low: number, high: number];
  /** Of one of a few texts, those. */
  readonly values?: readonly string[];
  /** What a field of this type is called on disk, where that is not its name. */
  readonly diskName?: string;
  /** The value with every moment in it so many milliseconds later; records are changed in place. Left out where there is none. */
  shift?(value: Value, by: number): Value;
}

/** The type of the values that a declaration describes. */
export type Infer<Declared> = Declared extends Type<infer Value> ? Value : never;

/** A value of a document that is not what it must be. `message` is `line 7, orders[3].price: expected ..., found ...`. */
export class DocumentError extends Error {
  override readonly name = "DocumentError";
  readonly expected: string;
  readonly found: unknown;
  /** Such as `orders[3].price`; items of lists count from 0. Empty for the whole document. */
  path = "";
  /** Counted from 1; null when it is not known. */
  line: number | null = null;

  constructor(expected: string, found: unknown, ...path: readonly (string | number)[]) {
    super();
    this.expected = expected;
    this.found = found;
    this.within(...path);
  }

  /** The same error told from further out: in a field, or in an item of a list. */
  within(...path: readonly (string | number)[]): this {
    for (const step of path.toReversed()) {
      const text = typeof step === "number" ? `[${step}]` : step;
      this.path = this.path === "" || this.path.startsWith("[") ? text + this.path : `${text}.${this.path}`;
    }
    const places = [this.line === null ? "" : `line ${this.line}`, this.path].filter((place) => place !== "");
    const place = places.length === 0 ? "" : `${places.join(", ")}: `;
    this.message = `${place}expected ${this.expected}, found ${shown(this.found)}`;
    return this;
  }

  onLine(line: number): this {
    this.line = line;
    return this.within();
  }
}

/** Tells a DocumentError that `run` throws from further out. */
export function within<Value>(step: string | number, run: () => Value): Value {
  try {
    return run();
  } catch (error) {
    throw error instanceof DocumentError ? error.within(step) : error;
  }
}

const MAX_SHOWN = 60;
/** Control characters, and those that change the direction of the text after them, which JSON leaves as they are. */
const INVISIBLE = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** A value as a message shows it, whatever it is: on one line, and not all of a long one. */
export function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "number") return String(value);
  const text = jsonOf(value).replace(INVISIBLE, "\ufffd");
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}...`;
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Nothing else that was read from JSON cannot be written as JSON.
    return "something too deeply nested";
  }
}

// Simple values.

const MAX_INTEGER = Number.MAX_SAFE_INTEGER;
const NULL = fixedText("null");
const TRUE = fixedText("true");
const FALSE = fixedText("false");
const [COMMA, MINUS, OPEN, CLOSE, BRACE] = [44, 45, 91, 93, 125];

/** A type with a parser of its own, written as `JSON.stringify` writes it. Where it stands, lines are read by `JSON.parse`. */
export function custom<Value>(parse: (value: unknown) => Value): Type<Value> {
  const read = (cursor: ByteCursor): Value => {
    cursor.fail();
    return undefined as Value;
  };
  return { parse, write: (value) => JSON.stringify(value), read };
}

/** What `isRight` says; `expected` is how messages call it. */
const checked = <Value>(isRight: (value: unknown) => boolean, expected: string): Type<Value> =>
  custom((value) => {
    if (isRight(value)) return value as Value;
    throw new DocumentError(expected, value);
  });

/** An integer, both bounds included. */
export function integer<Value extends number = number>(low = 0, high = MAX_INTEGER): Type<Value> {
  const range = high === MAX_INTEGER ? `an integer from ${low}` : `an integer from ${low} to ${high}`;
  return {
    ...checked(
      (value) => Number.isInteger(value) && Number(value) >= low && Number(value) <= high,
      low === high ? `${low}` : range,
    ),
    write: (value) => `${value}`,
    read: (cursor) => {
      if (low >= 0) return cursor.integerIn(low, high) as Value;
      const isNegative = cursor.takesByte(MINUS);
      const size = cursor.integer();
      const value = isNegative ? -size : size;
      // JSON has a zero below zero, which nobody writes.
      if (value < low || value > high || (isNegative && size === 0)) cursor.fail();
      return value as Value;
    },
    range: [low, high],
  };
}

/** The number of a record: records count from 1. */
export const id = (): Type<number> => integer(1);
export const price = (): Type<Price> => integer(1, FULL_PRICE - 1);
export const size = (low = 0): Type<Size> => integer(low, MAX_SIZE);
export const moment = (): Type<Millis> => ({
  ...integer<Millis>(0, MAX_MILLIS),
  shift: (at, by) => (at + by) as Millis,
});

/** A finite number, both bounds included. */
export const numberIn = (low: number, high: number): Type<number> =>
  checked(
    (value) => typeof value === "number" && value >= low && value <= high,
    `a number from ${low} to ${high}`,
  );

export const boolean = (): Type<boolean> => ({
  ...checked((value) => typeof value === "boolean", "true or false"),
  read: (cursor) => {
    const isTrue = cursor.takes(TRUE);
    if (!isTrue) cursor.skip(FALSE);
    return isTrue;
  },
});

export const text = (): Type<string> => checked((value) => typeof value === "string", "a text");

/** A text of a certain form. */
export const textLike = (form: RegExp, expected: string): Type<string> =>
  checked((value) => typeof value === "string" && form.test(value), expected);

export const address = (): Type<string> =>
  textLike(/^0x[0-9a-f]{40}$/, "an address, 0x and 40 lower-case hex digits");
/** 32 bytes. */
export const word = (): Type<string> => textLike(/^0x[0-9a-f]{64}$/, "0x and 64 lower-case hex digits");
export const hexBytes = (): Type<string> =>
  textLike(/^0x(?:[0-9a-f]{2})*$/, "0x and bytes in lower-case hex digits");
/** An integer from 0 of up to 256 bits, as decimal text. */
export const decimal = (): Type<string> => textLike(/^(?:0|[1-9][0-9]{0,77})$/, "an integer in quotes");

/** An integer of any size, as decimal text; from 0 unless it has a sign. */
export const bigInteger = (isSigned = false): Type<bigint> => {
  const digits = isSigned ? textLike(/^(?:0|-?[1-9][0-9]{0,99})$/, "an integer in quotes") : decimal();
  return { ...custom((value) => BigInt(digits.parse(value))), write: (value) => `"${value}"` };
};

/** One of a few texts. All values share these, none has a copy. */
export function oneOf<const Value extends string>(...values: readonly Value[]): Type<Value> {
  const [only] = values;
  const expected = values.length === 1 ? `${only}` : `one of ${values.join(", ")}`;
  const texts = values.map((value) => fixedText(`"${value}"`));
  return {
    ...checked((value) => (values as readonly unknown[]).includes(value), expected),
    write: (value) => `"${value}"`,
    read: (cursor) => {
      for (let index = 0; index < texts.length; index += 1) {
        if (cursor.takes(texts[index] as FixedText)) return values[index] as Value;
      }
      cursor.fail();
      return only as Value;
    },
    values,
  };
}

/** An object of any fields. */
export const anyObject = (): Type<object> =>
  checked((value) => typeof value === "object" && value !== null && !Array.isArray(value), "an object");

// Types of types.

const shifted = <Value>(type: Type<Value>, value: Value, by: number): Value =>
  type.shift === undefined ? value : type.shift(value, by);

export const orNull = <Value>(type: Type<Value>): Type<Value | null> => ({
  parse: (value) => {
    if (value === null) return null;
    try {
      return type.parse(value);
    } catch (error) {
      if (!(error instanceof DocumentError) || error.path !== "") throw error;
      throw new DocumentError(`null or ${error.expected}`, value);
    }
  },
  write: (value) => (value === null ? "null" : type.write(value)),
  read: (cursor) => (cursor.takes(NULL) ? null : type.read(cursor)),
  ...(type.shift && { shift: (value, by) => (value === null ? null : shifted(type, value, by)) }),
});

/** A list that nobody writes to. */
export const list = <Item>(type: Type<Item>): Type<readonly Item[]> => array(type);

/** A list. */
export const array = <Item>(type: Type<Item>): Type<Item[]> => ({
  parse: (value) => {
    if (!Array.isArray(value)) throw new DocumentError("a list", value);
    return value.map((item, index) => within(index, () => type.parse(item)));
  },
  write: (items) => `[${items.map(type.write).join(",")}]`,
  read: (cursor) => {
    const items: Item[] = [];
    cursor.skipByte(OPEN);
    if (cursor.takesByte(CLOSE)) return items;
    do items.push(type.read(cursor));
    while (cursor.takesByte(COMMA));
    cursor.skipByte(CLOSE);
    return items;
  },
  ...(type.shift && { shift: (items, by) => items.map((item) => shifted(type, item, by)) }),
});

/** A list of so many items, each of a type of its own; `expected` is how messages call it. */
export function tuple<const Items extends readonly unknown[]>(
  expected: string,
  ...types: { readonly [Index in keyof Items]: Type<Items[Index]> }
): Type<Items> {
  const all = types as readonly Type<unknown>[];
  return {
    parse: (value) => {
      if (!Array.isArray(value) || value.length !== all.length) throw new DocumentError(expected, value);
      return all.map((type, index) => within(index, () => type.parse(value[index]))) as unknown as Items;
    },
    write: (items) => `[${all.map((type, index) => type.write(items[index])).join(",")}]`,
    read: (cursor) => {
      const items = all.map((type, index) => {
        cursor.skipByte(index === 0 ? OPEN : COMMA);
        return type.read(cursor);
      });
      cursor.skipByte(CLOSE);
      return items as unknown as Items;
    },
  };
}

/** Records by one of their fields, which ascends; on disk a list. */
export const keyed = <Key extends string, Value extends Readonly<Record<Key, number>>>(
  key: Key,
  type: Type<Value>,
): Type<Map<number, Value>> => ({
  ...custom((value) => {
    const found = new Map<number, Value>();
    let previous = 0;
    for (const [index, item] of array(type).parse(value).entries()) {
      if (item[key] <= previous)
        throw new DocumentError(`more than ${previous}, as before it`, item[key], index, key);
      previous = item[key];
      found.set(previous, item);
    }
    return found;
  }),
  write: (items) => array(type).write([...items.values()].sort((a, b) => a[key] - b[key])),
});

/** Values by keys; on disk a list of pairs, by ascending numbers or in order of insertion. `expected` is how messages call a pair. */
export const mapOf = <Key extends string | number, Value>(
  expected: string,
  key: Type<Key>,
  value: Type<Value>,
): Type<Map<Key, Value>> => {
  const pairs = array(tuple<readonly [Key, Value]>(expected, key, value));
  const order = ([a]: readonly [Key, Value], [b]: readonly [Key, Value]): number =>
    typeof a === "number" && typeof b === "number" ? a - b : 0;
  return {
    ...custom((value) => {
      const found = new Map<Key, Value>();
      for (const [index, [name, item]] of pairs.parse(value).entries()) {
        if (found.has(name)) throw new DocumentError("what none before has", name, index);
        found.set(name, item);
      }
      return found;
    }),
    write: (items) => pairs.write([...items].sort(order)),
  };
};

/** A type with a rule of its own: `rule` throws a DocumentError, relative to the value, where it does not hold. */
export const refined = <Value, Of extends Type<Value>>(
  type: Of & Type<Value>,
  rule: (value: Value) => void,
): Of => ({
  ...type,
  parse: (value) => {
    const parsed = type.parse(value);
    rule(parsed);
    return parsed;
  },
  read: (cursor) => {
    const value = type.read(cursor);
    try {
      if (!cursor.hasFailed) rule(value);
    } catch {
      cursor.fail();
    }
    return value;
  },
});

/** A field that may be left out. */
export interface Optional<Value> extends Type<Value> {
  readonly isOptional: true;
}

/**
 * The way in for a new field: it is left out of the canonical form, and undefined, where it has its default. So old
 * files, hashes and journals stay as they are. Never the first field of a record.
 */
export const optional = <Value>(type: Type<Value>): Optional<Value> => ({ ...type, isOptional: true });

/** A field that is called otherwise on disk than in code: names on disk never change. */
export const onDisk = <Of extends Type<unknown>>(diskName: string, type: Of): Of => ({ ...type, diskName });

// Records.

type Fields = Readonly<Record<string, Type<unknown>>>;
type Derived = Readonly<Record<string, () => unknown>>;
type ValueOf<Of> = Of extends Type<infer Value> ? Value : never;
type ValuesOf<Of> = {
  -readonly [Key in keyof Of as Of[Key] extends Optional<unknown> ? never : Key]: ValueOf<Of[Key]>;
} & {
  -readonly [Key in keyof Of as Of[Key] extends Optional<unknown> ? Key : never]?: ValueOf<Of[Key]>;
};
type Made<By> = { -readonly [Key in keyof By]: By[Key] extends () => infer Value ? Value : never };

/** The same type, shown by the compiler as one object. */
type Flat<Value> = { [Key in keyof Value]: Value[Key] };

/** An object of certain fields, in this order. */
export interface RecordType<Value> extends Type<Value> {
  readonly fields: Fields;
  /** A record of its own with the same values, which are shared. */
  copy(value: Value): Value;
}

/** What a record is besides its fields. */
interface RecordTerms<Changing, Made> {
  /** Fields that change while the record lives; they come after the others. */
  readonly changing?: Changing;
  /** Fields that no document has; each is made anew when a record is read. */
  readonly derived?: Made;
  /** Other fields may be there, which a later version has written; nobody reads them. */
  readonly isOpen?: boolean;
}

/** Declares a record of these fields and no others. All are `readonly` but those that are `changing` or `derived`. */
export function record<
  const Fixed extends Fields,
  const Changing extends Fields = Record<never, Type<unknown>>,
  const Makers extends Derived = Record<never, () => unknown>,
>(
  fixed: Fixed,
  { changing, derived, isOpen = false }: RecordTerms<Changing, Makers> = {},
): RecordType<Flat<Readonly<ValuesOf<Fixed>> & ValuesOf<Changing> & Made<Makers>>> {
  const fields = { ...fixed, ...changing };
  const keys = Object.keys(fields);
  const types = Object.values(fields);
  const names = keys.map((key, index) => types[index]?.diskName ?? key);
  const plan: Plan = {
    keys,
    names,
    types,
    texts: names.map((name, index) => fixedText(`${index === 0 ? "{" : ","}"${name}":`)),
    makers: derived ?? {},
    isOpen,
  };
  const moments = keys.filter((_, index) => types[index]?.shift !== undefined);
  const shift = (value: Values, by: number): Values => {
    for (const key of moments) value[key] = shifted(fields[key] as Type<unknown>, value[key], by);
    return value;
  };
  return {
    fields,
    ...(whenCalled(plan) as Omit<RecordType<never>, "fields">),
    ...(moments.length > 0 && ({ shift } as object)),
  };
}

type Methods = Omit<RecordType<Values>, "fields" | "shift">;

/** The methods of a record, made when one of them is first called: a program that starts needs those of few records. */
function whenCalled(plan: Plan): Methods {
  let made: Methods | null = null;
  const methods = (): Methods => {
    made ??= compiled(plan) ?? looped(plan);
    return made;
  };
  return {
    parse: (value) => methods().parse(value),
    write: (value) => methods().write(value),
    read: (cursor) => methods().read(cursor),
    copy: (value) => methods().copy(value),
  };
}

interface Plan {
  /** What the fields are called in code, and on disk. */
  readonly keys: readonly string[];
  readonly names: readonly string[];
  readonly types: readonly Type<unknown>[];
  /** What stands before each value. */
  readonly texts: readonly FixedText[];
  readonly makers: Derived;
  readonly isOpen: boolean;
}

type Values = Record<string, unknown>;

const isOptional = (type: Type<unknown>): boolean => "isOptional" in type;

/** The fields of an object. @throws DocumentError where it is none. */
export function fieldsOf(value: unknown): Values {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Values;
  throw new DocumentError("an object", value);
}

/** @throws DocumentError for the first field that is none of a record's. */
function checkNames({ names, isOpen }: Plan, found: Values): void {
  if (isOpen) return;
  const stray = Object.keys(found).find((name) => !names.includes(name));
  if (stray !== undefined) throw new DocumentError(`only the fields ${names.join(", ")}`, stray);
}

/** Field by field: where code cannot be compiled, as in a browser with a Content-Security-Policy. */
function looped(plan: Plan): Methods {
  const { keys, names, types, texts, makers } = plan;
  const made = Object.entries(makers);
  const recordOf = (partOf: (type: Type<unknown>, index: number) => unknown): Values => {
    const found: Values = {};
    for (const [index, type] of types.entries()) found[keys[index] as string] = partOf(type, index);
    for (const [name, make] of made) found[name] = make();
    return found;
  };
  return {
    parse: (value) => {
      const from = fieldsOf(value);
      const found = recordOf((type, index) => {
        const name = names[index] as string;
        const part = from[name];
        return part === undefined && isOptional(type) ? undefined : within(name, () => type.parse(part));
      });
      checkNames(plan, from);
      return found;
    },
    write: (value) => {
      const parts = types.map((type, index) => {
        const part = value[keys[index] as string];
        if (isOptional(type) && part === undefined) return "";
        return `${index === 0 ? "{" : ","}"${names[index]}":${type.write(part)}`;
      });
      return parts.length === 0 ? "{}" : `${parts.join("")}}`;
    },
    read: (cursor) => {
      const found = recordOf((type, index) => {
        const isThere = cursor.takes(texts[index] as FixedText);
        if (!isThere && isOptional(type)) return undefined;
        if (!isThere) cursor.fail();
        return type.read(cursor);
      });
      cursor.skipByte(BRACE);
      return found;
    },
    copy: (value) => ({ ...value }),
  };
}

/**
 * The same, written out for the fields of one record and compiled: twice as fast, and objects are laid out as those of
 * a literal are: V8 gives a spread a hidden class of its own, and code that meets several is slower. Null where code
 * cannot be compiled.
 */
function compiled(plan: Plan): Methods | null {
  const { keys, names, types, makers } = plan;
  if (keys.length === 0) return null;
  const each = (code: (key: string, index: number, name: string) => string, between = ""): string =>
    keys.map((key, index) => code(JSON.stringify(key), index, JSON.stringify(names[index]))).join(between);
  const ifThere = (index: number, isThere: string, value: string): string =>
    isOptional(types[index] as Type<unknown>) ? `${isThere} ? ${value} : undefined` : value;
  const made = Object.keys(makers).map(
    (name) => `${JSON.stringify(name)}: makers[${JSON.stringify(name)}]()`,
  );
  const literal = `{ ${[each((key, i) => `${key}: v${i}`, ", "), ...made].join(", ")} }`;
  /** An integer is read without a call of its type. */
  const check = (i: number): string => {
    const { range: [low, high] = [-1, 0] } = types[i] as Type<unknown>;
    const bounds = [low > 0 ? `v${i} < ${low}` : "", high < MAX_INTEGER ? `v${i} > ${high}` : ""];
    const wrong = bounds.filter((bound) => bound !== "").join(" || ");
    return low < 0 || wrong === "" || isOptional(types[i] as Type<unknown>) ? "" : `if (${wrong}) c.fail();`;
  };
  const readOf = (i: number): string => {
    const type = types[i] as Type<unknown>;
    return (type.range?.[0] ?? -1) < 0 || isOptional(type) ? `r${i}(c)` : "c.integer()";
  };
  const skip = (i: number): string => (isOptional(types[i] as Type<unknown>) ? "" : `c.skip(n${i});`);
  const source = `"use strict";
    const { types, texts, makers } = plan;
    ${each((_, i) => `const { parse: p${i}, write: w${i}, read: r${i} } = types[${i}], n${i} = texts[${i}];`)}
    return {
      parse(value) {
        const from = fieldsOf(value);
        let at = "";
        try {
          ${each((_, i, name) => `at = ${name}; const v${i} = ${ifThere(i, `from[${name}] !== undefined`, `p${i}(from[${name}])`)};`)}
          at = "";
          checkNames(plan, from);
          return ${literal};
        } catch (error) {
          throw error instanceof DocumentError && at !== "" ? error.within(at) : error;
        }
      },
      write(v) {
        return ${each((key, i, name) => {
          const text = JSON.stringify(`${i === 0 ? "{" : ","}${name}:`);
          const { range } = types[i] as Type<unknown>;
          const written = range === undefined ? `${text} + w${i}(v[${key}])` : `${text} + v[${key}]`;
          return isOptional(types[i] as Type<unknown>)
            ? `(v[${key}] === undefined ? "" : ${written})`
            : written;
        }, " + ")} + "}";
      },
      read(c) {
        ${each((_, i) => `${skip(i)} const v${i} = ${ifThere(i, `c.takes(n${i})`, readOf(i))}; ${check(i)}`)}
        c.skipByte(${BRACE});
        return ${literal};
      },
      copy: (v) => ({ ${[...keys, ...Object.keys(makers)].map((name) => `${JSON.stringify(name)}: v[${JSON.stringify(name)}]`).join(", ")} }),
    };`;
  try {
    const make = new Function("plan", "fieldsOf", "checkNames", "DocumentError", source);
    return make(plan, fieldsOf, checkNames, DocumentError) as Methods;
  } catch (error) {
    if (error instanceof EvalError) return null;
    throw error;
  }
}

/** One of several records, told by a field `kind` that each of them declares as `oneOf` its own name. */
export function union<Kinds extends Readonly<Record<string, RecordType<unknown>>>>(
  kinds: Kinds,
): Type<{ [Kind in keyof Kinds]: Infer<Kinds[Kind]> }[keyof Kinds]> {
  const typeOf = (value: unknown): RecordType<unknown> => {
    const { kind } = fieldsOf(value);
    if (typeof kind === "string" && Object.hasOwn(kinds, kind)) return kinds[kind] as RecordType<unknown>;
    throw new DocumentError(`one of ${Object.keys(kinds).join(", ")}`, kind, "kind");
  };
  return {
    ...custom((value) => typeOf(value).parse(value) as never),
    write: (value) => typeOf(value).write(value),
    shift: (value, by) => shifted(typeOf(value), value, by) as never,
  };
}
