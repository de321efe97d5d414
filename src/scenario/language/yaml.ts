import {
  type Alias,
  Composer,
  CST,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type ParsedNode,
  Parser,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { shown } from "../../simulation/flow-error.ts";
import { type Entry, MAX_LEVELS, type Node, type Page, type TextNode } from "./page.ts";
import { MAX_PROBLEMS } from "./problem.ts";
import type { SourceText } from "./source-text.ts";

/** A file of the largest size has so many words and signs, unless it is meant to do harm. */
const MAX_LEXEMES = 800_000;
const SCALAR_FOLLOWS = "\u001f";
/** Every scalar stays the text that it is; equal keys are found when the tree is built, in one pass. */
const OPTIONS = { schema: "failsafe", uniqueKeys: false } as const;

/**
 * The nodes of YAML, of which JSON is a part, read in time and memory that grow with the text. Null where there is nothing;
 * undefined with problems where the text is no YAML.
 */
export function parseYaml(page: Page): ParsedNode | null | undefined {
  const reading = new Reading();
  reading.read(page.source.text);
  const root = reading.faults.length === 0 ? reading.compose() : null;
  page.comments = reading.comments;
  for (const { at, message, hint } of orderedFaults(page.source, reading.faults))
    page.wrong(at, message, hint);
  return reading.faults.length === 0 ? root : undefined;
}

/** Ends the composing of a text with too many faults. */
class TooManyFaults extends Error {}

class Reading {
  readonly faults: YamlFault[] = [];
  readonly comments: number[] = [];
  readonly #parser = new Parser();
  readonly #brackets = new OpenBrackets();
  readonly #documents: CST.Token[] = [];

  /** Takes the text apart, and stops where nobody could mean what it says. */
  read(text: string): void {
    let lexemes = 0;
    let isScalar = false;
    for (const lexeme of new Lexer().lex(text)) {
      const at = this.#parser.offset;
      if (isScalar) isScalar = false;
      else if (lexeme === SCALAR_FOLLOWS) isScalar = true;
      else this.#note(lexeme, at);
      for (const token of this.#parser.next(lexeme)) this.#take(token);
      lexemes += 1;
      if (this.#isTooMuch(lexemes, at)) return;
    }
    for (const token of this.#parser.end()) this.#take(token);
    this.#bracket(this.#brackets.end());
  }

  /** The nodes of the document. */
  compose(): ParsedNode | null {
    const composer = new Composer<ParsedNode>(OPTIONS);
    // The composer's own handler makes an error with a stack of calls for each of what may be a million faults.
    Object.assign(composer, { onError: this.#onError });
    let root: ParsedNode | null = null;
    try {
      for (const { contents, errors } of composer.compose(this.#documents)) {
        root ??= contents;
        for (const { pos, code, message } of errors) this.faults.push(yamlFault(pos[0], code, message));
      }
    } catch (error) {
      if (!(error instanceof TooManyFaults)) throw error;
    }
    return root;
  }

  #note(lexeme: string, at: number): void {
    this.#bracket(this.#brackets.take(lexeme, at));
    if (lexeme.startsWith("#")) this.comments.push(at, at + lexeme.length);
    else if (lexeme.startsWith("!")) {
      this.#fault(
        at,
        "tags such as !!str are not part of the language",
        "leave it out, and quote what is a text",
      );
    }
  }

  #bracket(fault: YamlFault | null): void {
    if (fault !== null) this.faults.push(fault);
  }

  #take(token: CST.Token): void {
    const { type, offset } = token;
    if (type === "error") this.faults.push(yamlFault(offset, "UNEXPECTED_TOKEN", token.message));
    else if (type === "directive")
      this.#fault(offset, "directives such as %YAML are not part of the language");
    else if (type === "document" && this.#documents.length > 0) {
      this.#fault(
        offset,
        "expected one document, found another one",
        "put each scenario in a file of its own",
      );
    } else if (type === "document" || type === "doc-end") this.#documents.push(token);
  }

  #isTooMuch(lexemes: number, at: number): boolean {
    const { stack } = this.#parser;
    // Below the collections the stack holds the document, above them perhaps a scalar.
    const levels = stack.length - (CST.isCollection(stack.at(-1)) ? 1 : 2);
    if (levels > MAX_LEVELS) this.#fault(at, `nested deeper than ${MAX_LEVELS} levels`);
    else if (lexemes > MAX_LEXEMES) this.#fault(at, `more than ${MAX_LEXEMES} words and signs`);
    else return this.faults.length >= MAX_PROBLEMS;
    return true;
  }

  #fault(at: number, message: string, hint: string | null = null): void {
    this.faults.push({ at, message, hint });
  }

  readonly #onError = (
    source: number | readonly [number, ...number[]] | { readonly offset: number },
    code: string,
    message: string,
    isWarning = false,
  ): void => {
    if (isWarning) return;
    if (this.faults.length >= MAX_PROBLEMS) throw new TooManyFaults();
    const at = typeof source === "number" ? source : "offset" in source ? source.offset : source[0];
    this.faults.push(yamlFault(at, code, message));
  };
}

/** What makes a text no YAML, or more YAML than the language takes. */
interface YamlFault {
  readonly at: number;
  readonly message: string;
  readonly hint: string | null;
}

/** What to do about the faults that people make most, by the parser's codes. */
const HINTS: ReadonlyMap<string, string> = new Map([
  ["TAB_AS_INDENT", "indent with spaces"],
  ["BAD_INDENT", "line it up with what belongs together"],
  ["BLOCK_AS_IMPLICIT_KEY", "quote a text that contains a colon and a space"],
  ["MULTILINE_IMPLICIT_KEY", "write `key: value`, with a colon and a space"],
  ["BAD_SCALAR_START", "quote it"],
  ["BAD_DQ_ESCAPE", "write a backslash twice, or use single quotes"],
]);

const KEY_WITHOUT_VALUE = "Implicit map keys need to be followed by map values";

/** A fault in the parser's own words. */
function yamlFault(at: number, code: string, message: string): YamlFault {
  const words = message.charAt(0).toLowerCase() + message.slice(1);
  return { at, message: `not YAML: ${words}`, hint: hintOf(code, message) };
}

function hintOf(code: string, message: string): string | null {
  return HINTS.get(message === KEY_WITHOUT_VALUE ? "MULTILINE_IMPLICIT_KEY" : code) ?? null;
}

/** The first fault of each line, in order: what follows on the line is mostly its consequence. */
function orderedFaults(source: SourceText, faults: readonly YamlFault[]): YamlFault[] {
  let line = 0;
  const inOrder = [...faults].sort((a, b) => a.at - b.at);
  return withMisplacedKeys(source, inOrder).filter(({ at }) => {
    const before = line;
    line = source.placeOf(at).line;
    return line !== before;
  });
}

/** Deeper than this nobody writes. */
const MAX_INDENT = 200;
const UNALIGNED = /all mapping items must start at the same column|sequence item without - indicator/;
const LIST_AS_KEY = /implicit (?:map )?keys?\b/;

/** Faults in order, with those of keys that are not indented under their steps told so, and without what follows from them. */
function withMisplacedKeys({ text }: SourceText, faults: readonly YamlFault[]): readonly YamlFault[] {
  let isMisplaced = false;
  const told: YamlFault[] = [];
  for (const fault of faults) {
    const at = UNALIGNED.test(fault.message) ? misplacedKey(text, fault.at) : null;
    if (at !== null) {
      isMisplaced = true;
      told.push({ ...fault, at, hint: "indent it under the step" });
    } else if (!isMisplaced || !isOfRest(text, fault)) told.push(fault);
  }
  return told;
}

/** Whether a fault is that of the items behind a misplaced key, which then are taken for a key themselves. */
const isOfRest = (text: string, { at, message }: YamlFault): boolean =>
  LIST_AS_KEY.test(message) && /^ *-/.test(text.slice(at, at + MAX_INDENT));

/** Where the key of a line stands that belongs to the list item above it, by its indentation; null when it belongs to none. */
function misplacedKey(text: string, at: number): number | null {
  const skipped = /(?: *(?:#.*)?\n)*/y;
  skipped.lastIndex = at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
  let start = skipped.test(text) ? skipped.lastIndex : at;
  const indent = indentAt(text, start);
  const key = start + indent;
  while (start > 0) {
    start = start < 2 ? 0 : text.lastIndexOf("\n", start - 2) + 1;
    const above = indentAt(text, start);
    const sign = text[start + above];
    if (above > indent || sign === "\n" || sign === "#") continue;
    if (sign === "-" && /\s/.test(text[start + above + 1] ?? "")) return key;
    if (above < indent) return null;
  }
  return null;
}

function indentAt(text: string, start: number): number {
  let end = start;
  while (text[end] === " ") end += 1;
  return end - start;
}

const PARTNERS: ReadonlyMap<string, string> = new Map([
  ["}", "{"],
  ["]", "["],
]);

/** The brackets that are open, as the signs of a text come one after the other. */
class OpenBrackets {
  readonly #open: { readonly sign: string; readonly at: number }[] = [];

  /** Takes the next sign; a fault when some bracket is not closed where it should be. */
  take(sign: string, at: number): YamlFault | null {
    if (sign === "{" || sign === "[") this.#open.push({ sign, at });
    else if (sign === CST.FLOW_END) return this.end();
    else {
      const partner = PARTNERS.get(sign);
      if (partner !== undefined) return this.#close(partner);
    }
    return null;
  }

  /** Closes the last bracket of a kind, and with it those within, of which the innermost is at fault. */
  #close(sign: string): YamlFault | null {
    const last = this.#open.at(-1);
    const index = this.#open.findLastIndex((bracket) => bracket.sign === sign);
    this.#open.length = index < 0 ? Math.max(0, this.#open.length - 1) : index;
    return last === undefined || last.sign === sign ? null : neverClosed(last);
  }

  /** A fault when some bracket is still open where none can be: of several the innermost. */
  end(): YamlFault | null {
    const last = this.#open.at(-1);
    this.#open.length = 0;
    return last === undefined ? null : neverClosed(last);
  }
}

const neverClosed = ({ sign, at }: { readonly sign: string; readonly at: number }): YamlFault => ({
  at,
  message: `this ${sign} is never closed`,
  hint: null,
});

/** Aliases may stand for so many nodes together. */
const MAX_BORROWED = 50_000;
const MAX_DIGITS = 15;
const INTEGER = /^[-+]?\d+$/;
const FEW_KEYS = 8;

/** The tree of a file's nodes, each alias in it replaced by what it stands for; null with a problem when that is too much. */
export function treeOf(page: Page, root: unknown): Node | null {
  const builder = new TreeBuilder(page);
  const tree = builder.node(root, 1, 0);
  return builder.isTooMuch ? null : tree;
}

/** What an anchor names, and how much that is. */
interface Anchored {
  readonly node: Node;
  readonly nodes: number;
  readonly levels: number;
}

/** An alias shares the parts of the node that it stands for; only its size is counted, so that no bomb ever goes off. */
class TreeBuilder {
  readonly #page: Page;
  readonly #anchors = new Map<string, Anchored>();
  isTooMuch = false;
  #nodes = 0;
  #deepest = 0;
  #borrowed = 0;

  constructor(page: Page) {
    this.#page = page;
  }

  /** `after`: where the node would stand, were it there. */
  node(of: unknown, level: number, after: number): Node {
    this.#nodes += 1;
    if (level > this.#deepest) this.#deepest = level;
    if (isAlias(of)) return this.#aliased(of, level);
    const anchor = isScalar(of) || isMap(of) || isSeq(of) ? of.anchor : undefined;
    if (anchor === undefined) return this.#content(of, level, after);
    const [nodes, deepest] = [this.#nodes, this.#deepest];
    this.#deepest = level;
    const node = this.#content(of, level, after);
    this.#anchors.set(anchor, { node, nodes: this.#nodes - nodes + 1, levels: this.#deepest - level });
    this.#deepest = Math.max(deepest, this.#deepest);
    return node;
  }

  #content(of: unknown, level: number, after: number): Node {
    if (isMap(of)) return this.#mapping(of, level);
    if (isSeq(of)) return this.#list(of, level);
    return isScalar(of) ? this.#text(of) : nothing(after);
  }

  #list(of: YAMLSeq, level: number): Node {
    const [start, end] = rangeOf(of);
    return { kind: "list", start, end, items: of.items.map((item) => this.node(item, level + 1, end)) };
  }

  #mapping(of: YAMLMap, level: number): Node {
    const [start, end] = rangeOf(of);
    const entries: Entry[] = [];
    const keys = of.items.length > FEW_KEYS ? new Set<string>() : null;
    for (const { key: keyNode, value: valueNode } of of.items) {
      const key = this.#key(keyNode, start);
      const value = this.node(valueNode, level + 1, key?.end ?? start);
      if (key === null) continue;
      const isTaken = keys?.has(key.value) ?? entries.some((entry) => entry.key.value === key.value);
      if (isTaken) this.#duplicate(key, entries);
      else entries.push({ key, value });
      keys?.add(key.value);
    }
    return { kind: "mapping", start, end, entries };
  }

  #key(of: unknown, after: number): TextNode | null {
    const key = this.node(of, 0, after);
    if (key.kind !== "text") {
      return this.#page.wrong(key.start, `expected a name before the colon, found a ${key.kind}`);
    }
    if (!key.isPlain || key.value !== "<<") return key;
    return this.#page.wrong(key.start, "merge keys (<<) are not part of the language", "write the keys out");
  }

  #duplicate(key: TextNode, entries: readonly Entry[]): void {
    if (!this.#page.isListening) return;
    const first = entries.find((entry) => entry.key.value === key.value)?.key ?? key;
    const { line } = this.#page.place(first.start);
    this.#page.wrong(key.start, `duplicate key ${shown(key.value)}`, `it stands in line ${line} already`);
  }

  #text(of: Scalar): Node {
    const [start, end] = rangeOf(of);
    const value = String(of.value);
    const isPlain = of.type === undefined || of.type === "PLAIN";
    if (isPlain && value.length > MAX_DIGITS && INTEGER.test(value)) {
      this.#page.wrong(start, `expected at most ${MAX_DIGITS} digits, found ${value.length}`, "quote it");
    }
    return { kind: "text", start, end, value, isPlain };
  }

  #aliased(of: Alias, level: number): Node {
    const [start] = rangeOf(of);
    const anchored = this.#anchors.get(of.source);
    if (anchored === undefined) {
      this.#page.unknown(start, "anchor", of.source, this.#anchors.keys());
      return nothing(start);
    }
    const { node, nodes, levels } = anchored;
    this.#nodes += nodes;
    this.#borrowed += nodes;
    this.#deepest = Math.max(this.#deepest, level + levels);
    if (level + levels > MAX_LEVELS + 1)
      return this.#tooMuch(start, `nested deeper than ${MAX_LEVELS} levels`);
    if (this.#borrowed <= MAX_BORROWED) return { ...node, aliasAt: start };
    return this.#tooMuch(start, `aliases stand for more than ${MAX_BORROWED} nodes`);
  }

  /** Told once: whatever follows is no better. */
  #tooMuch(at: number, message: string): Node {
    if (!this.isTooMuch) this.#page.wrong(at, message);
    this.isTooMuch = true;
    return nothing(at);
  }
}

const nothing = (at: number): TextNode => ({ kind: "text", start: at, end: at, value: "", isPlain: true });

/** Of a parsed node, which always has one. */
function rangeOf({ range }: { range?: readonly number[] | null }): readonly [start: number, end: number] {
  const [start = 0, end = start] = range ?? [];
  return [start, end];
}
