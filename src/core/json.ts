import { codePointText } from "./format.ts";

/** Parses a file. @throws Error with the line and the column of the first mistake */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const { before = "", problem } = jsonProblem(text) ?? {};
    const lines = before.split("\n");
    throw new Error(`line ${lines.length}, column ${[...(lines.at(-1) ?? "")].length + 1}: ${problem}`);
  }
}

type Token = "{" | "}" | "[" | "]" | ":" | "," | "string" | "scalar" | "end" | "other";
type Place = "value" | "item" | "member" | "key" | "colon" | "after item" | "after member" | "end";

const VALUE = { "{": "member", "[": "item", string: "after", scalar: "after" } as const;

/** What is expected at each place of a JSON text, and the place after each token; `after` is where a value has ended. */
const PLACES: Readonly<
  Record<Place, { readonly expected: string } & { readonly [Name in Token]?: Place | "after" }>
> = {
  value: { expected: "a value", ...VALUE },
  item: { expected: 'a value or "]"', ...VALUE, "]": "after" },
  member: { expected: 'a key in double quotes or "}"', string: "colon", "}": "after" },
  key: { expected: "a key in double quotes", string: "colon" },
  colon: { expected: '":"', ":": "value" },
  "after item": { expected: '"," or "]"', ",": "value", "]": "after" },
  "after member": { expected: '"," or "}"', ",": "key", "}": "after" },
  end: { expected: "its end", end: "end" },
};

const SPACE = /[ \t\n\r]+/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const PART_OF_STRING = /[ !#-[\]-\uffff]+|\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;

/** Says where and why a text stops being JSON; null if it is JSON. The messages of `JSON.parse` differ between versions of Node. */
export function jsonProblem(text: string): JsonProblem | null {
  const open: string[] = [];
  let at = 0;
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const isFound = pattern.test(text);
    if (isFound) at = pattern.lastIndex;
    return isFound;
  };
  for (let place: Place = "value"; ; ) {
    take(SPACE);
    const character = text.charAt(at);
    const start = at;
    let token: Token = "other";
    if (character === "") token = "end";
    else if (character === '"') token = "string";
    else if ("{}[]:,".includes(character)) token = character as Token;
    else if (take(SCALAR)) token = "scalar";
    const next: Place | "after" | undefined = PLACES[place][token];
    if (next === undefined) return problemAt(text, start, PLACES[place].expected);
    if (token === "end") return null;
    if (token !== "scalar") at += 1;
    if (token === "string") {
      while (take(PART_OF_STRING));
      if (text[at] !== '"') return problemAt(text, at, "the rest of a string in double quotes");
      at += 1;
    }
    if (token === "{" || token === "[") open.push(token);
    if (token === "}" || token === "]") open.pop();
    const outer = open.at(-1);
    if (next !== "after") place = next;
    else if (outer === undefined) place = "end";
    else place = outer === "{" ? "after member" : "after item";
  }
}

const problemAt = (text: string, index: number, expected: string) => ({
  /** The valid beginning of the text. */
  before: text.slice(0, index),
  /** What is expected and found after it. */
  problem: `expected ${expected}, found ${foundAt(text, index)}`,
});
export type JsonProblem = ReturnType<typeof problemAt>;

/** Quotes a visible character of ASCII, and names any other one by its code. */
function foundAt(text: string, index: number): string {
  const code = text.codePointAt(index);
  if (code === undefined) return "its end";
  if (code > 0x20 && code < 0x7f) return JSON.stringify(String.fromCodePoint(code));
  const name = codePointText(code);
  return code === 0xfeff ? `the byte order mark ${name}` : name;
}
