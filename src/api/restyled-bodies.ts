import { Buffer, isUtf8 } from "node:buffer";
import { nestingOf } from "./request-body.ts";

/** The body's JSON value, serialised in another style than it was sent in. */
export interface RestyledBody {
  readonly text: string;
  /** Description of the style for a hint. */
  readonly style: string;
}

interface Style {
  readonly description: string;
  readonly comma: string;
  readonly colon: string;
  readonly indent: string;
  readonly sorted: boolean;
}

const STYLES: readonly Style[] = [false, true].flatMap((sorted) => {
  const keys = sorted ? ", keys sorted" : "";
  return [
    { description: `compact${keys}`, comma: ",", colon: ":", indent: "", sorted },
    { description: `spaces after ":" and ","${keys}`, comma: ", ", colon: ": ", indent: "", sorted },
    { description: `indented by two spaces${keys}`, comma: ",", colon: ": ", indent: "  ", sorted },
  ];
});

/** Larger or deeper bodies are not reserialised; an order has about 200 bytes and one level. */
const MAX_BYTES = 4096;
const MAX_LEVELS = 16;

const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g;
const NOT_ASCII = /[\u0080-\uffff]/g;

/**
 * Returns the body as common serialisers would write it: compact, spaced like Python's json.dumps, indented by two,
 * keys sorted, non-ASCII characters escaped; each with numbers as sent and as JavaScript prints them.
 * Returns none if the body is not JSON in UTF-8, is over 4 KiB or has over 16 levels. Never throws.
 */
export function restyledBodies(body: Uint8Array): RestyledBody[] {
  const sent = textOf(body);
  if (sent === undefined) return [];
  const reserialised = reserialise(sent);
  if (reserialised === undefined) return [];
  const styles = new Map<string, string>();
  for (const source of [sent, reserialised]) {
    const tokens = source.match(TOKEN) ?? [];
    for (const style of STYLES) {
      const { text } = restyle(tokens, style);
      if (!styles.has(text)) styles.set(text, style.description);
      const ascii = text.replace(NOT_ASCII, asEscape);
      if (!styles.has(ascii)) styles.set(ascii, `${style.description}, non-ASCII characters escaped`);
    }
  }
  styles.delete(sent);
  return [...styles].map(([text, style]) => ({ text, style }));
}

/**
 * Yields the body's JSON object with its keys in every other order, compact and spaced; `style` lists the keys.
 * Yields none if `restyledBodies` has none, or if the body is not an object of 2 to `maxKeys` keys.
 */
export function* reorderedBodies(body: Uint8Array, maxKeys: number): Generator<RestyledBody> {
  const sent = textOf(body);
  if (sent === undefined || reserialise(sent) === undefined) return;
  const tokens = sent.match(TOKEN) ?? [];
  if (tokens[0] !== "{") return;
  for (const style of STYLES.filter(({ indent, sorted }) => indent === "" && !sorted)) {
    const { members } = restyle(tokens, style);
    if (members.length > maxKeys) return;
    const named = members.map(({ key, text }) => ({ name: String(JSON.parse(key)), text }));
    for (const order of permutations(named)) {
      if (order.every((member, index) => member === named[index])) continue;
      const text = `{${order.map((member) => member.text).join(style.comma)}}`;
      yield { text, style: order.map(({ name }) => name).join(", ") };
    }
  }
}

/** Yields all permutations, the given order first. */
function* permutations<T>(items: readonly T[]): Generator<readonly T[]> {
  if (items.length === 0) yield [];
  for (const [index, first] of items.entries()) {
    for (const rest of permutations(items.toSpliced(index, 1))) yield [first, ...rest];
  }
}

/** Decodes a body; undefined if it is too long or not UTF-8. */
const textOf = (body: Uint8Array): string | undefined =>
  body.length > MAX_BYTES || !isUtf8(body)
    ? undefined
    : Buffer.from(body.buffer, body.byteOffset, body.length).toString();

const asEscape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Reserialises JSON with JSON.stringify; undefined if it is not JSON or too deep. */
function reserialise(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return nestingOf(value, MAX_LEVELS + 1) > MAX_LEVELS ? undefined : JSON.stringify(value);
  } catch {
    return undefined;
  }
}

interface Member {
  readonly key: string;
  readonly text: string;
}

/**
 * Prints the tokens of a valid JSON text in a style, with strings and numbers as written; `members` are those of the
 * top-level object.
 */
function restyle(tokens: readonly string[], style: Style): { text: string; members: readonly Member[] } {
  let at = 0;
  let top: readonly Member[] = [];
  const next = (): string => {
    at += 1;
    return tokens[at - 1] ?? "";
  };
  const print = (margin: string): string => {
    const open = next();
    if (open !== "{" && open !== "[") return open;
    const inner = margin + style.indent;
    const members: Member[] = [];
    for (let token = tokens[at]; token !== "}" && token !== "]"; token = tokens[at]) {
      if (token === ",") at += 1;
      const key = open === "{" ? next() : "";
      if (open === "{") at += 1;
      members.push({ key, text: (open === "{" ? key + style.colon : "") + print(inner) });
    }
    const close = next();
    if (members.length === 0) return open + close;
    if (style.sorted && open === "{") members.sort((a, b) => byCodeUnit(a.key, b.key));
    top = members;
    const texts = members.map((member) => member.text);
    if (style.indent === "") return open + texts.join(style.comma) + close;
    return `${open}\n${inner}${texts.join(`,\n${inner}`)}\n${margin}${close}`;
  };
  const text = print("");
  return { text, members: top };
}

/** Compares two keys, given as JSON strings, like sort() in JavaScript. */
function byCodeUnit(a: string, b: string): number {
  const [left, right] = [String(JSON.parse(a)), String(JSON.parse(b))];
  return left < right ? -1 : left > right ? 1 : 0;
}
