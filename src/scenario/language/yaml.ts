import {
  type Alias,
  Composer,
  CST,
  isAlias,
  isMap,
  isSeq,
  Lexer,
  type ParsedNode,
  Parser,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { attempt, MAX_PROBLEMS, type MappingEntry, Node, type Page, UNREADABLE, Word } from "./page.ts";

/** Maximum nesting of collections. */
const MAX_LEVELS = 32;
/** More than an honest file of the maximum size has. */
const MAX_LEXEMES = 800_000;
/** Scalars stay texts; duplicate keys are found by `TreeBuilder`. */
const OPTIONS = { schema: "failsafe", uniqueKeys: false, keepSourceTokens: true } as const;

/**
 * Parses the YAML or JSON of a page, in time and memory linear in its text. Aliases are replaced by the nodes that they
 * refer to.
 */
export function readTree(page: Page): Node {
  const parse = new YamlParse();
  parse.read(page.text);
  const { problems } = parse;
  const root = problems.length === 0 ? parse.compose() : null;
  page.comments = parse.comments;
  if (problems.length === 0) return new TreeBuilder(page).node(root, 1, 0);
  problems.sort((a, b) => a.at - b.at);
  let line = 0;
  let isLost = false;
  for (const problem of problems) {
    const { at, message, hint } = withPlaceOfKey(page.text, problem);
    // Later problems of a line, and those that the parser has after it has lost the structure, mostly follow from the first.
    const isFollowing = page.place(at).line === line || (isLost && problem.code !== null);
    if (!isFollowing) page.wrong(at, message, hint);
    line = page.place(at).line;
    isLost ||= problem.code === null || !OF_A_SCALAR.has(problem.code);
  }
  throw UNREADABLE;
}

/** A syntax error, or YAML that the language does not allow. */
interface YamlProblem {
  readonly at: number;
  /** The parser's code; null if the problem is not the parser's. */
  readonly code: string | null;
  readonly message: string;
  readonly hint: string | null;
}

/** Codes of problems within a scalar, after which the parser goes on as if there were none. */
const OF_A_SCALAR: ReadonlySet<string> = new Set(["BAD_DQ_ESCAPE", "BAD_SCALAR_START"]);
const KEY_HINT = "write `key: value`, with a colon and a space";
/** Hints for common problems, by the parser's message or its code. */
const HINTS: ReadonlyMap<string, string> = new Map([
  ["TAB_AS_INDENT", "indent with spaces"],
  ["BAD_INDENT", "align it with the lines of its level"],
  ["A block sequence may not be used as an implicit map key", "align its dash with those of its list"],
  ["BLOCK_AS_IMPLICIT_KEY", "quote a text that contains a colon and a space, or indent the next line less"],
  ["BLOCK_IN_FLOW", "put a comma between the entries"],
  ["Unexpected scalar at node end", "quote the whole text, and write a single quote in it twice"],
  ["Unexpected block-seq-ind on same line with key", "quote it, or begin the list on the next line"],
  ["Implicit map keys need to be followed by map values", KEY_HINT],
  ["MULTILINE_IMPLICIT_KEY", KEY_HINT],
  ["BAD_SCALAR_START", "quote it"],
  ["BAD_DQ_ESCAPE", "write a backslash twice, or use single quotes"],
]);
const OPEN_QUOTE = /^(["'])(?!.*\1$)/s;
const PARTNERS: Readonly<Record<string, string>> = { "}": "{", "]": "[" };

/** Returns a problem with the parser's message. */
function notYaml(at: number, code: string, message: string): YamlProblem {
  const hint = HINTS.get(message) ?? HINTS.get(code) ?? null;
  return { at, code, message: `not YAML: ${message.charAt(0).toLowerCase()}${message.slice(1)}`, hint };
}

/**
 * Returns a composer that adds its errors to a list, without a stack trace for each of possibly a million. It must not refer
 * to the tokens, which would then stay in memory until the next full garbage collection.
 */
function composerInto(problems: YamlProblem[]): Composer<ParsedNode> {
  const onError = (
    source: number | readonly [number, ...number[]] | { readonly offset: number },
    code: string,
    message: string,
    isWarning = false,
  ): void => {
    if (isWarning) return;
    if (problems.length >= MAX_PROBLEMS) throw UNREADABLE;
    const at = typeof source === "number" ? source : "offset" in source ? source.offset : source[0];
    problems.push(notYaml(at, code, message));
  };
  return Object.assign(new Composer<ParsedNode>(OPTIONS), { onError });
}

class YamlParse {
  readonly problems: YamlProblem[] = [];
  readonly comments: number[] = [];
  readonly #parser = new Parser();
  /** Open brackets. */
  readonly #open: { readonly sign: string; readonly at: number }[] = [];
  readonly #documents: CST.Token[] = [];

  /** Parses the text; stops if it has too many problems, levels or lexemes. */
  read(text: string): void {
    let lexemes = 0;
    let isScalar = false;
    for (const lexeme of new Lexer().lex(text)) {
      const at = this.#parser.offset;
      if (isScalar) isScalar = false;
      else if (lexeme === CST.SCALAR) isScalar = true;
      else this.#trackSign(lexeme, at);
      for (const token of this.#parser.next(lexeme)) this.#take(token);
      lexemes += 1;
      if (this.#isTooMuch(lexemes, at)) return;
    }
    for (const token of this.#parser.end()) this.#take(token);
    this.#close(0);
  }

  /** Returns the nodes of the document. */
  compose(): ParsedNode | null {
    const [document] = attempt(() => [...composerInto(this.problems).compose(this.#documents)]) ?? [];
    return document?.contents ?? null;
  }

  #add(at: number, message: string, hint: string | null = null): void {
    this.problems.push({ at, code: null, message, hint });
  }

  #trackSign(lexeme: string, at: number): void {
    const partner = PARTNERS[lexeme];
    if (lexeme === "{" || lexeme === "[") this.#open.push({ sign: lexeme, at });
    else if (lexeme === CST.FLOW_END) this.#close(0);
    else if (partner !== undefined) {
      const index = this.#open.findLastIndex(({ sign }) => sign === partner);
      if (this.#open.length === 0)
        this.#add(at, `this ${lexeme} closes nothing`, `remove it, or open it with ${partner}`);
      else if (index === this.#open.length - 1) this.#open.pop();
      else this.#close(index < 0 ? Math.max(0, this.#open.length - 1) : index);
    } else if (lexeme.startsWith("#")) this.comments.push(at, at + lexeme.length);
    else if (OPEN_QUOTE.test(lexeme)) {
      // The rest of the file is in the quotes, with what closes the open brackets.
      this.#open.length = 0;
      this.#add(at, `this ${lexeme.charAt(0)} is never closed`);
    } else if (lexeme.startsWith("!")) {
      const message = "tags such as !!str are not part of the language";
      this.#add(at, message, "remove it, and quote texts");
    }
  }

  /** Drops brackets until `left` are open, and reports the innermost as not closed. */
  #close(left: number): void {
    const last = this.#open.at(-1);
    if (last !== undefined) this.#add(last.at, `this ${last.sign} is never closed`);
    this.#open.length = left;
  }

  #take(token: CST.Token): void {
    const { type, offset } = token;
    if (type === "error") this.problems.push(notYaml(offset, "UNEXPECTED_TOKEN", token.message));
    else if (type === "directive") this.#add(offset, "directives such as %YAML are not part of the language");
    else if (type === "document" && this.#documents.length > 0) {
      const message = "expected one document, found a second one";
      this.#add(offset, message, "put each scenario in its own file");
    } else if (type === "document" || type === "doc-end") this.#documents.push(token);
  }

  #isTooMuch(lexemes: number, at: number): boolean {
    const { stack } = this.#parser;
    // The stack also has the document at the bottom, and perhaps a scalar at the top.
    const levels = stack.length - (CST.isCollection(stack.at(-1)) ? 1 : 2);
    if (levels > MAX_LEVELS) this.#add(at, `nested deeper than ${MAX_LEVELS} levels`);
    else if (lexemes > MAX_LEXEMES) this.#add(at, `more than ${MAX_LEXEMES} words and signs`);
    return this.problems.length >= MAX_PROBLEMS || levels > MAX_LEVELS || lexemes > MAX_LEXEMES;
  }
}

const UNALIGNED = /all mapping items must start at the same column|sequence item without - indicator/;

/** Points to a key that is not indented under its step, if that is the problem. */
function withPlaceOfKey(text: string, problem: YamlProblem): YamlProblem {
  const at = UNALIGNED.test(problem.message) ? misplacedKey(text, problem.at) : null;
  if (at === null) return problem;
  const hint = text.startsWith("-", at) ? "put a space after the dash" : "indent it under the step";
  return { ...problem, at, hint };
}

const isEmptyLine = (line: string): boolean => /^ *(?:#|$)/.test(line);
const isItemLine = (line: string): boolean => /^ *-(?:\s|$)/.test(line);
const indentOf = (line: string): number => line.search(/[^ ]|$/);

/** Returns the offset of a line's key that, by its indentation, belongs to the list item above it; null if there is none. */
function misplacedKey(text: string, at: number): number | null {
  const lines = text.split("\n");
  let index = text.slice(0, at).split("\n").length - 1;
  while (index < lines.length - 1 && isEmptyLine(lines[index] as string)) index += 1;
  const indent = indentOf(lines[index] as string);
  const above = lines.slice(0, index).findLast((line) => {
    const isOuter = isItemLine(line) ? indentOf(line) <= indent : indentOf(line) < indent;
    return isOuter && !isEmptyLine(line);
  });
  if (above === undefined || !isItemLine(above)) return null;
  return lines.slice(0, index).join("\n").length + 1 + indent;
}

/** Maximum number of nodes that all aliases refer to. */
const MAX_ALIASED_NODES = 50_000;
const MAX_DIGITS = 15;
const INTEGER = /^[-+]?\d+$/;

/** Builds the tree. An alias shares the node that it refers to; counting its nodes prevents exponential expansion. */
class TreeBuilder {
  readonly #page: Page;
  readonly #anchors = new Map<string, Node>();
  #aliasedNodes = 0;

  constructor(page: Page) {
    this.#page = page;
  }

  /** `after`: offset of the node if it is missing. */
  node(of: ParsedNode | null, level: number, after: number): Node {
    if (isAlias(of)) return this.#aliased(of, level);
    if (of === null) return this.#nothing(after);
    const node = isMap(of) ? this.#mapping(of, level) : isSeq(of) ? this.#list(of, level) : this.#text(of);
    if (of.anchor !== undefined) this.#anchors.set(of.anchor, node);
    return node;
  }

  #nothing(at: number): Node {
    return new Node(this.#page, at, at, "text", { isPlain: true });
  }

  #list(of: YAMLSeq.Parsed, level: number): Node {
    const [start, end] = of.range;
    const items = of.items.map((item) => this.node(item, level + 1, end));
    return new Node(this.#page, start, end, "list", { items, source: of });
  }

  #mapping(of: YAMLMap.Parsed, level: number): Node {
    const [start, end] = of.range;
    const entries = new Map<string, MappingEntry>();
    for (const { key: keyNode, value: valueNode } of of.items) {
      const key = this.#key(keyNode, start);
      const value = this.node(valueNode, level + 1, key?.end ?? start);
      const first = key === null ? undefined : entries.get(key.text)?.key;
      if (first !== undefined)
        key?.wrong(`duplicate key ${key.description}`, `it is on line ${first.place.line}, too`);
      else if (key !== null) entries.set(key.text, { key, value });
    }
    return new Node(this.#page, start, end, "mapping", { entries: [...entries.values()], source: of });
  }

  #key(of: ParsedNode | null, after: number): Node | null {
    const key = this.node(of, 0, after);
    if (key.kind !== "text") key.wrong(`expected a name before the colon, found ${key.description}`);
    else if (key.isPlain && key.text === "<<")
      key.wrong("merge keys (<<) are not part of the language", "write the keys out");
    else return key;
    return null;
  }

  #text(of: Scalar.Parsed): Node {
    const [start, end] = of.range;
    const isPlain = of.type === undefined || of.type === "PLAIN";
    const node = new Node(this.#page, start, end, "text", { text: String(of.value), isPlain });
    const { length } = node.text;
    if (isPlain && length > MAX_DIGITS && INTEGER.test(node.text))
      node.wrong(`expected at most ${MAX_DIGITS} digits, found ${length}`, "quote it");
    return node;
  }

  #aliased(of: Alias.Parsed, level: number): Node {
    const [start] = of.range;
    const node = this.#anchors.get(of.source);
    if (node === undefined) {
      const hint = `write &${of.source} at its value before, or quote a text`;
      new Word(this.#page, start, of.source).unknown("anchor", this.#anchors.keys(), hint);
      return this.#nothing(start);
    }
    this.#aliasedNodes += node.nodes;
    if (level + node.levels > MAX_LEVELS + 1)
      throw this.#page.wrong(start, `nested deeper than ${MAX_LEVELS} levels`);
    if (this.#aliasedNodes <= MAX_ALIASED_NODES) return node.viaAlias(start);
    throw this.#page.wrong(start, `aliases refer to more than ${MAX_ALIASED_NODES} nodes`);
  }
}
