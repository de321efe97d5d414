import { isUtf8 } from "node:buffer";

/** The same JSON value written in another style than the one that was sent. */
export interface RestyledBody {
  readonly text: string;
  /** What sets it apart, in words. */
  readonly style: string;
}

interface Style {
  readonly says: string;
  readonly comma: string;
  readonly colon: string;
  readonly indent: string;
  readonly sorted: boolean;
}

const STYLES: readonly Style[] = [false, true].flatMap((sorted) => {
  const keys = sorted ? ", keys sorted" : "";
  return [
    { says: `compact${keys}`, comma: ",", colon: ":", indent: "", sorted },
    { says: `spaces after ":" and ","${keys}`, comma: ", ", colon: ": ", indent: "", sorted },
    { says: `indented by two spaces${keys}`, comma: ",", colon: ": ", indent: "  ", sorted },
  ];
});

/** Larger or deeper bodies are not restyled: an order has some 200 bytes and one level. */
const MOST_BYTES = 4096;
const MOST_LEVELS = 16;

const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g;
const NOT_ASCII = /[\u0080-\uffff]/g;

/**
 * The styles in which common serialisers write the JSON of a body: compact, spaced as Python's json.dumps does,
 * indented by two, keys sorted, non-ASCII characters escaped; numbers as they were sent and as JavaScript prints
 * them. None for a body that is not JSON in UTF-8, has over 4 KiB or over 16 levels. Never throws.
 */
export function restyledBodies(body: Uint8Array): RestyledBody[] {
  const sent = textOf(body);
  if (sent === undefined) return [];
  const printed = printedAnew(sent);
  if (printed === undefined) return [];
  const styles = new Map<string, string>();
  for (const source of [sent, printed]) {
    const tokens = source.match(TOKEN) ?? [];
    for (const style of STYLES) {
      const text = restyle(tokens, style);
      if (!styles.has(text)) styles.set(text, style.says);
      const ascii = text.replace(NOT_ASCII, asEscape);
      if (!styles.has(ascii)) styles.set(ascii, `${style.says}, non-ASCII characters escaped`);
    }
  }
  styles.delete(sent);
  return [...styles].map(([text, style]) => ({ text, style }));
}

/**
 * The JSON object of a body with its keys in every other order, compact and spaced; each style is the order of its keys.
 * None where `restyledBodies` has none, for what is no object, or has fewer than two or more than `mostKeys` keys.
 */
export function* reorderedBodies(body: Uint8Array, mostKeys: number): Generator<RestyledBody> {
  const sent = textOf(body);
  if (sent === undefined || printedAnew(sent) === undefined) return;
  const tokens = sent.match(TOKEN) ?? [];
  if (tokens[0] !== "{") return;
  for (const style of STYLES.filter(({ indent, sorted }) => indent === "" && !sorted)) {
    const members = topMembers(tokens, style);
    if (members.length > mostKeys) return;
    for (const order of ordersOf(members)) {
      if (order.every((member, index) => member === members[index])) continue;
      const text = `{${order.map((member) => member.text).join(style.comma)}}`;
      yield { text, style: order.map(({ key }) => String(JSON.parse(key))).join(", ") };
    }
  }
}

/** Every order of some things, the one they stand in first. */
function* ordersOf<Thing>(things: readonly Thing[]): Generator<readonly Thing[]> {
  if (things.length === 0) yield [];
  for (const [index, first] of things.entries()) {
    for (const rest of ordersOf(things.toSpliced(index, 1))) yield [first, ...rest];
  }
}

/** The text of a body that is short enough and in UTF-8. */
const textOf = (body: Uint8Array): string | undefined =>
  body.length > MOST_BYTES || !isUtf8(body)
    ? undefined
    : Buffer.from(body.buffer, body.byteOffset, body.length).toString();

const asEscape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** The JSON text as JavaScript prints it; undefined when it is not JSON or too deep. */
function printedAnew(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return levelsOf(text) > MOST_LEVELS ? undefined : JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** How deep a valid JSON text is nested. */
function levelsOf(text: string): number {
  let [level, deepest] = [0, 0];
  for (const token of text.match(TOKEN) ?? []) {
    if (token === "{" || token === "[") level += 1;
    else if (token === "}" || token === "]") level -= 1;
    if (level > deepest) deepest = level;
  }
  return deepest;
}

interface Member {
  /** As a JSON string. */
  readonly key: string;
  /** Key and value. */
  readonly text: string;
}

/** Prints the tokens of a valid JSON text in a style, leaving strings and numbers as they are written. */
const restyle = (tokens: readonly string[], style: Style): string => printed(tokens, style).text;

/** The members of the object that the tokens of a valid JSON text are. */
const topMembers = (tokens: readonly string[], style: Style): readonly Member[] =>
  printed(tokens, style).members;

function printed(tokens: readonly string[], style: Style): { text: string; members: readonly Member[] } {
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

/** Orders two keys, given as JSON strings, as sorted() in Python and sort() in JavaScript do. */
function byCodeUnit(a: string, b: string): number {
  const [left, right] = [String(JSON.parse(a)), String(JSON.parse(b))];
  return left < right ? -1 : left > right ? 1 : 0;
}
