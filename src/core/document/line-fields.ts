import type { ByteCursor } from "../bytes/byte-cursor.ts";
import { type FixedText, fixedText } from "../bytes/fixed-text.ts";

// Of some records there are millions. A line that is written exactly as documents are is read byte by byte, in a third
// of the time in which JSON is parsed; any other takes the long way.

/** One of a few values, with its text. */
export type Choices<Value> = readonly { readonly value: Value; readonly text: FixedText }[];

const NULL = fixedText("null");
const TRUE = fixedText("true");
const FALSE = fixedText("false");

/** What stands before each value of a record with these fields, in this order; the brace at its end is not looked at. */
export function fieldTexts<Key extends string>(keys: readonly Key[]): Readonly<Record<Key, FixedText>> {
  const texts = keys.map((key, index) => [key, fixedText(`${index === 0 ? "{" : ","}"${key}":`)] as const);
  return Object.fromEntries(texts) as Record<Key, FixedText>;
}

/** Texts as values: every record has the same one and no copy of it. */
export const choices = <Value extends string>(values: readonly Value[]): Choices<Value> =>
  values.map((value) => ({ value, text: fixedText(`"${value}"`) }));

export function integerAt(cursor: ByteCursor, name: FixedText): number {
  cursor.skip(name);
  return cursor.integer();
}

export function integerOrNullAt(cursor: ByteCursor, name: FixedText): number | null {
  cursor.skip(name);
  return cursor.takes(NULL) ? null : cursor.integer();
}

export function booleanAt(cursor: ByteCursor, name: FixedText): boolean {
  cursor.skip(name);
  const isTrue = cursor.takes(TRUE);
  if (!isTrue) cursor.skip(FALSE);
  return isTrue;
}

export function choiceAt<Value>(cursor: ByteCursor, name: FixedText, among: Choices<Value>): Value {
  cursor.skip(name);
  for (const { value, text } of among) if (cursor.takes(text)) return value;
  cursor.lose();
  return (among[0] as Choices<Value>[number]).value;
}

export function choiceOrNullAt<Value>(
  cursor: ByteCursor,
  name: FixedText,
  among: Choices<Value>,
): Value | null {
  cursor.skip(name);
  if (cursor.takes(NULL)) return null;
  for (const { value, text } of among) if (cursor.takes(text)) return value;
  cursor.lose();
  return null;
}

const [COMMA, MINUS, OPEN, CLOSE] = [44, 45, 91, 93];

export function signedIntegerAt(cursor: ByteCursor): number {
  const isNegative = cursor.takesByte(MINUS);
  const value = cursor.integer();
  // JSON has a zero below zero, and documents have not.
  if (isNegative && value === 0) cursor.lose();
  return isNegative ? -value : value;
}

export function listAt<Item>(cursor: ByteCursor, name: FixedText, read: () => Item): Item[] {
  cursor.skip(name);
  return itemsAt(cursor, read);
}

/** The items of a list that begins here. */
export function itemsAt<Item>(cursor: ByteCursor, read: () => Item): Item[] {
  const items: Item[] = [];
  if (!cursor.takesByte(OPEN)) cursor.lose();
  if (cursor.takesByte(CLOSE)) return items;
  do items.push(read());
  while (cursor.takesByte(COMMA));
  if (!cursor.takesByte(CLOSE)) cursor.lose();
  return items;
}
