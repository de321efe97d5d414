// Of some records there are millions. A line that is written exactly as documents are is recognized by a regular
// expression and read from its groups, in half the time in which JSON is parsed; any other takes the long way.

/** An integer that is exact as a number for certain. */
export const INTEGER = "(0|[1-9]\\d{0,14})";
export const INTEGER_OR_NULL = "(null|0|[1-9]\\d{0,14})";
export const BOOLEAN = "(true|false)";

/** One of a few texts. */
export const oneOf = (values: readonly string[]): string => `"(${values.join("|")})"`;
/** One of a few texts, with its quotes, or null. */
export const oneOfOrNull = (values: readonly string[]): string => `(null|"(?:${values.join("|")})")`;

/** What a line looks like whose fields, in this order, look like this; each has a group. */
export function lineForm<Key extends string>(
  keys: readonly Key[],
  forms: Readonly<Record<Key, string>>,
): RegExp {
  return new RegExp(`^\\{${keys.map((key) => `"${key}":${forms[key]}`).join(",")}\\}$`);
}

/** Values by what a group of theirs holds: every record has the same text and no copy of it. */
export const byText = <Value extends string>(values: readonly Value[]): ReadonlyMap<string, Value> =>
  new Map(
    values.flatMap((value): [string, Value][] => [
      [value, value],
      [`"${value}"`, value],
    ]),
  );

/** The integer of a group. */
export const integerIn = (group: string | undefined): number => Number(group);
/** The integer of a group, or null. */
export const integerOrNullIn = (group: string | undefined): number | null =>
  group === "null" ? null : Number(group);
