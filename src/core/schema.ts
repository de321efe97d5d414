import { type ByteCursor, type FixedText, fixedText } from "./byte-cursor.ts";
import { DocumentError, within } from "./document-error.ts";
import { FULL_PRICE, MAX_MILLIS, MAX_SIZE, type Millis, type Price, type Size } from "./units.ts";

/**
 * Type of a value on disk, declared once. Records, commands and journal lines are composed of the types below:
 *
 *   export const Trade = record({ number: id(), side: oneOf("BUY", "SELL"), price: price(), at: moment() });
 *   export type Trade = Infer<typeof Trade>;
 *
 * `Trade.write(trade)` returns canonical JSON, fields in declared order; `Trade.parse(value)` checks a result of
 * `JSON.parse` and returns a new record; `Trade.read(cursor)` reads canonical bytes without `JSON.parse`.
 */
export interface Type<Value> {
  /** Returns the checked value. @throws DocumentError whose path is relative to the value. */
  parse(value: unknown): Value;
  /** Returns canonical JSON. */
  write(value: Value): string;
  /** Reads canonical bytes. Calls `cursor.fail()` if they are not canonical or `parse` would throw. */
  read(cursor: ByteCursor): Value;
  /** Bounds of an integer type. Records read and write integers inline. */
  readonly range?: readonly [low: number, high: number];
  /** All values, of a type that has few. */
  readonly values?: readonly unknown[];
  /** Of a type with null besides: the type of the other values. */
  readonly nonNull?: Type<unknown>;
  /** Name of the field on disk, if it differs from the name in code. */
  readonly diskName?: string;
  /** Moves every moment by `by` milliseconds, records in place; returns the value. Undefined if the type has no moment. */
  shift?(value: Value, by: number): Value;
  /** Returns a writable copy. Undefined if values never change. */
  copy?(value: Value): Value;
  /** Returns the value in a new record. Undefined if there is no usual one. */
  initial?(): Value;
}

/** The type of the values that a declaration describes. */
export type Infer<Declared> = Declared extends Type<infer Value> ? Value : never;

// Simple values.

const MAX_INTEGER = Number.MAX_SAFE_INTEGER;
const NULL = fixedText("null");
const TRUE = fixedText("true");
const FALSE = fixedText("false");
const [COMMA, MINUS, OPEN, CLOSE, BRACE] = [44, 45, 91, 93, 125];

/** Type with its own parser, written by `JSON.stringify`. Lines that contain it are read by `JSON.parse`. */
export function custom<Value>(parse: (value: unknown) => Value): Type<Value> {
  const read = (cursor: ByteCursor): Value => {
    cursor.fail();
    return undefined as Value;
  };
  return { parse, write: (value) => JSON.stringify(value), read };
}

/** Values that `isValid` accepts; `expected` describes them in messages. */
const checked = <Value>(isValid: (value: unknown) => boolean, expected: string): Type<Value> =>
  custom((value) => {
    if (isValid(value)) return value as Value;
    throw new DocumentError(expected, value);
  });

/** Integer, both bounds included. */
export function integer<Value extends number = number>(low = 0, high = MAX_INTEGER): Type<Value> {
  const range = high === MAX_INTEGER ? `an integer from ${low}` : `an integer from ${low} to ${high}`;
  return {
    ...checked(
      (value) => Number.isInteger(value) && Number(value) >= low && Number(value) <= high,
      low === high ? `${low}` : range,
    ),
    write: (value) => `${value}`,
    read: (cursor) => {
      const isNegative = low < 0 && cursor.takesByte(MINUS);
      const magnitude = cursor.integer();
      const value = isNegative ? -magnitude : magnitude;
      // JSON allows -0, which is never canonical.
      if (value < low || value > high || (isNegative && magnitude === 0)) cursor.fail();
      return value as Value;
    },
    range: [low, high],
    ...(low <= 0 && { initial: () => 0 as Value }),
  };
}

/** Number of a record; records are numbered from 1. */
export const id = (): Type<number> => integer(1);
/** Number of an order, trade, account or token, which memory limits, in an order or a trade. */
export const reference = (low = 1): Type<number> => integer(low, 2_147_483_647);
export const price = (): Type<Price> => integer(1, FULL_PRICE - 1);
export const size = (low = 0): Type<Size> => integer(low, MAX_SIZE);
export const moment = (): Type<Millis> => {
  const { initial: _, ...at } = integer<Millis>(0, MAX_MILLIS);
  return { ...at, shift: (value, by) => (value + by) as Millis };
};

/** Finite number, both bounds included. */
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
  values: [false, true],
  initial: () => false,
});

export const text = (): Type<string> => checked((value) => typeof value === "string", "a text");

/** String that matches `form`. */
export const textLike = (form: RegExp, expected: string): Type<string> =>
  checked((value) => typeof value === "string" && form.test(value), expected);

export const address = (): Type<string> =>
  textLike(/^0x[0-9a-f]{40}$/, "an address, 0x and 40 lower-case hex digits");
/** 32 bytes. */
export const word = (): Type<string> => textLike(/^0x[0-9a-f]{64}$/, "0x and 64 lower-case hex digits");
export const hexBytes = (): Type<string> =>
  textLike(/^0x(?:[0-9a-f]{2})*$/, "0x and bytes in lower-case hex digits");
/** Unsigned integer of at most 78 digits (256 bits need no more), as decimal text. */
export const decimal = (): Type<string> => textLike(/^(?:0|[1-9][0-9]{0,77})$/, "an integer in quotes");

/** Large integer as decimal text; not negative unless `isSigned`. */
export const bigInteger = (isSigned = false): Type<bigint> => {
  const digits = isSigned ? textLike(/^(?:0|-?[1-9][0-9]{0,99})$/, "an integer in quotes") : decimal();
  const bigInteger = custom((value) => BigInt(digits.parse(value)));
  return { ...bigInteger, write: (value) => `"${value}"`, initial: () => 0n };
};

/** One of the given strings, the first in a new record. Values read share these strings. */
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
    initial: () => only as Value,
  };
}

export const anyObject = (): Type<object> => custom(fieldsOf);

/** Object all of whose values pass `isRight`; `expected` describes them in messages. */
export const fieldsLike = <Value>(isRight: (value: unknown) => boolean, expected: string) =>
  custom((value) => {
    const found = fieldsOf(value);
    if (Object.values(found).every(isRight)) return found as Readonly<Record<string, Value>>;
    throw new DocumentError(expected, value);
  });

// Types composed of types.

const copied = <Value>(type: Type<Value>, value: Value): Value =>
  type.copy === undefined || value === undefined ? value : type.copy(value);
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
  nonNull: type,
  initial: () => null,
  ...(type.values && { values: [null, ...type.values] }),
  ...(type.shift && { shift: (value, by) => (value === null ? null : shifted(type, value, by)) }),
  ...(type.copy && { copy: (value) => (value === null ? null : copied(type, value)) }),
});

/** Read-only list. */
export const list = <Item>(type: Type<Item>): Type<readonly Item[]> => ({
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

/** List that changes. */
export const array = <Item>(type: Type<Item>): Type<Item[]> => ({
  ...(list(type) as Type<Item[]>),
  copy: (items) => items.map((item) => copied(type, item)),
  initial: () => [],
});

/** List of fixed length with a type per item; `expected` describes it in messages. */
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

/** Records by their market; on disk a list that is ascending in `market`. */
export const byMarket = <Value extends { readonly market: number }>(
  type: Type<Value>,
): Type<Map<number, Value>> => ({
  ...custom((value) => {
    const found = new Map<number, Value>();
    let previous = 0;
    for (const [index, item] of array(type).parse(value).entries()) {
      if (item.market <= previous)
        throw new DocumentError(`more than ${previous}, the one before`, item.market, index, "market");
      previous = item.market;
      found.set(previous, item);
    }
    return found;
  }),
  write: (items) => array(type).write([...items.values()].sort((a, b) => a.market - b.market)),
  copy: (items) => {
    const copy = new Map<number, Value>();
    for (const [market, item] of items) copy.set(market, copied(type, item));
    return copy;
  },
  initial: () => new Map(),
});

/** Values by key; on disk a list of pairs, by ascending number or in insertion order. `expected` describes a pair. */
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
        if (found.has(name)) throw new DocumentError("a key that occurs once", name, index);
        found.set(name, item);
      }
      return found;
    }),
    write: (items) => pairs.write([...items].sort(order)),
    copy: (items) => new Map(items),
    initial: () => new Map(),
  };
};

/** Type with an additional rule: `rule` throws a DocumentError, relative to the value, if the rule is broken. */
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

/** Field that may be absent. */
export interface Optional<Value> extends Type<Value> {
  readonly isOptional: true;
}

/**
 * Declares a field added later. If it has its default, it is undefined and absent from the canonical form, so that old
 * files, hashes and journals stay valid. Must not be the first field of a record.
 */
export const optional = <Value>(type: Type<Value>): Optional<Value> => ({ ...type, isOptional: true });

/** Declares a field whose name on disk differs from its name in code; names on disk never change. */
export const onDisk = <Of extends Type<unknown>>(diskName: string, type: Of): Of => ({ ...type, diskName });

// Records.

type Fields = Readonly<Record<string, Type<unknown>>>;
type Derived = Readonly<Record<string, () => unknown>>;
type ValuesOf<Of> = {
  -readonly [Key in keyof Of as Of[Key] extends Optional<unknown> ? never : Key]: Infer<Of[Key]>;
} & {
  -readonly [Key in keyof Of as Of[Key] extends Optional<unknown> ? Key : never]?: Infer<Of[Key]>;
};
type Made<By> = { -readonly [Key in keyof By]: By[Key] extends () => infer Value ? Value : never };

/** The same type, displayed by the compiler as one object. */
type Flat<Value> = { [Key in keyof Value]: Value[Key] };

/** Object with the given fields in this order; those of `Fixed` do not change. */
export interface RecordType<Value, Fixed = unknown> extends Type<Value> {
  readonly fields: Fields;
  /** Names of the fields that are not persisted. */
  readonly derived: readonly string[];
  copy(value: Value): Value;
  /** Returns a new record, other fields with their initial values. @throws Error if one has none. */
  make(given: Fixed & Partial<Value>): Value;
}

interface RecordOptions<Changing, Made> {
  /** Mutable fields; they come after the others. */
  readonly changing?: Changing;
  /** Fields that are not persisted; each is initialized when a record is read. */
  readonly derived?: Made;
  /** Whether unknown fields, written by a later version, are ignored. */
  readonly isOpen?: boolean;
}

/** Declares a record of these fields. All are `readonly` except those in `changing` and `derived`. */
export function record<
  const Fixed extends Fields,
  const Changing extends Fields = Record<never, Type<unknown>>,
  const Makers extends Derived = Record<never, () => unknown>,
>(
  fixed: Fixed,
  { changing, derived, isOpen = false }: RecordOptions<Changing, Makers> = {},
): RecordType<Flat<Readonly<ValuesOf<Fixed>> & ValuesOf<Changing> & Made<Makers>>, ValuesOf<Fixed>> {
  const fields = { ...fixed, ...changing };
  const keys = Object.keys(fields);
  const types = Object.values(fields);
  const names = keys.map((key, index) => types[index]?.diskName ?? key);
  const layout: RecordLayout = {
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
    derived: Object.keys(layout.makers),
    ...(lazyMethods(layout) as Omit<RecordType<never, ValuesOf<Fixed>>, "fields" | "derived">),
    ...(moments.length > 0 && ({ shift } as object)),
  };
}

/** Declares a record to which later versions may add fields. */
export const openRecord = <const Fixed extends Fields>(fields: Fixed) => record(fields, { isOpen: true });

/** Declares a record all of whose fields are mutable. */
export const mutableRecord = <const Changing extends Fields>(changing: Changing) => record({}, { changing });

type Methods = Pick<RecordType<Values>, "parse" | "write" | "read" | "copy" | "make">;

/** Makes the methods of a record on the first call, because a starting program needs those of few records. */
function lazyMethods(layout: RecordLayout): Methods & Pick<RecordType<Values>, "initial"> {
  let made: Methods | null = null;
  const methods = (): Methods => {
    made ??= compiledMethods(layout) ?? interpretedMethods(layout);
    return made;
  };
  return {
    parse: (value) => methods().parse(value),
    write: (value) => methods().write(value),
    read: (cursor) => methods().read(cursor),
    copy: (value) => methods().copy(value),
    make: (given) => methods().make(given as Values),
    initial: () => methods().make({}),
  };
}

/** Fields of a record, one item each in every list. */
interface RecordLayout {
  readonly keys: readonly string[];
  readonly names: readonly string[];
  readonly types: readonly Type<unknown>[];
  /** JSON before each value: a brace or comma, then the quoted name and a colon. */
  readonly texts: readonly FixedText[];
  readonly makers: Derived;
  readonly isOpen: boolean;
}

type Values = Record<string, unknown>;

const isOptional = (type: Type<unknown>): boolean => "isOptional" in type;

/** Returns the value of a field that a new record is not given. */
function initialOf(type: Type<unknown>, key: string): unknown {
  if (type.initial === undefined && !isOptional(type)) throw new Error(`a new record needs ${key}`);
  return type.initial?.();
}

/** Returns the fields of an object. @throws DocumentError if it is not an object. */
export function fieldsOf(value: unknown): Values {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Values;
  throw new DocumentError("an object", value);
}

/** @throws DocumentError for the first unknown field. */
function checkNames({ names, isOpen }: RecordLayout, found: Values): void {
  if (isOpen) return;
  const stray = Object.keys(found).find((name) => !names.includes(name));
  if (stray !== undefined) throw new DocumentError(`only the fields ${names.join(", ")}`, stray);
}

/** Makes methods that loop over the fields, for where code cannot be compiled: a browser with a Content-Security-Policy. */
function interpretedMethods(layout: RecordLayout): Methods {
  const { keys, names, types, texts, makers } = layout;
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
      checkNames(layout, from);
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
    copy: (value) => {
      const copy = { ...value };
      for (const [index, key] of keys.entries()) copy[key] = copied(types[index] as Type<unknown>, copy[key]);
      return copy;
    },
    make: (given) => recordOf((type, i) => given[keys[i] as string] ?? initialOf(type, keys[i] as string)),
  };
}

/**
 * Compiles the methods from source generated for the fields of one record. They are twice as fast as the loops. Objects
 * are made by a literal, because V8 gives a spread its own hidden class and code that meets several is slower. Returns
 * null if code cannot be compiled.
 */
function compiledMethods(layout: RecordLayout): Methods | null {
  const { keys, names, types, makers } = layout;
  if (keys.length === 0) return null;
  const each = (code: (key: string, index: number, name: string) => string, between = ""): string =>
    keys.map((key, index) => code(JSON.stringify(key), index, JSON.stringify(names[index]))).join(between);
  const ifThere = (index: number, isThere: string, value: string): string =>
    isOptional(types[index] as Type<unknown>) ? `${isThere} ? ${value} : undefined` : value;
  const made = Object.keys(makers).map(
    (name) => `${JSON.stringify(name)}: makers[${JSON.stringify(name)}]()`,
  );
  const derived = Object.keys(makers).map((name) => `${JSON.stringify(name)}: v[${JSON.stringify(name)}]`);
  const copyOf = (key: string, i: number): string => {
    const value = `v[${JSON.stringify(key)}]`;
    const copy = ifThere(i, `${value} !== undefined`, `c${i}(${value})`);
    return `${JSON.stringify(key)}: ${types[i]?.copy === undefined ? value : copy}`;
  };
  const givenOf = (key: string, i: number): string => {
    const name = JSON.stringify(key);
    const initial = types[i]?.initial === undefined ? `initialOf(types[${i}], ${name})` : `i${i}()`;
    return `${name}: v[${name}] ?? ${initial}`;
  };
  const literal = `{ ${[each((key, i) => `${key}: v${i}`, ", "), ...made].join(", ")} }`;
  /** Bounds check of an integer, which is read without calling its type. */
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
    const { types, texts, makers } = layout;
    ${each((_, i) => `const { parse: p${i}, write: w${i}, read: r${i}, copy: c${i}, initial: i${i} } = types[${i}], n${i} = texts[${i}];`)}
    return {
      parse(value) {
        const from = fieldsOf(value);
        let at = "";
        try {
          ${each((_, i, name) => `at = ${name}; const v${i} = ${ifThere(i, `from[${name}] !== undefined`, `p${i}(from[${name}])`)};`)}
          at = "";
          checkNames(layout, from);
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
      copy: (v) => ({ ${[...keys.map(copyOf), ...derived].join(", ")} }),
      make: (v) => ({ ${[...keys.map(givenOf), ...made].join(", ")} }),
    };`;
  return compiled<Methods>(source, { layout, fieldsOf, checkNames, initialOf, DocumentError });
}

/** Returns what source returns, with these values by their names; null if code cannot be compiled. */
export function compiled<Made>(source: string, values: object): Made | null {
  try {
    return new Function(...Object.keys(values), source)(...Object.values(values)) as Made;
  } catch (error) {
    if (error instanceof EvalError) return null;
    throw error;
  }
}

/** One of several records, told apart by a field `kind` that each of them declares as `oneOf` its own name. */
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
