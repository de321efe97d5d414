import { Composer, CST, Lexer, type ParsedNode, Parser } from "yaml";
import { OpenBrackets } from "./open-brackets.ts";
import type { Page } from "./page.ts";
import { MOST_PROBLEMS } from "./problem-list.ts";
import { orderedFaults, type YamlFault, yamlFault } from "./yaml-fault.ts";
import { MOST_LEVELS } from "./yaml-tree.ts";

/** A file of the largest size has so many words and signs, unless it is meant to do harm. */
const MOST_LEXEMES = 800_000;
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
    if (levels > MOST_LEVELS) this.#fault(at, `nested deeper than ${MOST_LEVELS} levels`);
    else if (lexemes > MOST_LEXEMES) this.#fault(at, `more than ${MOST_LEXEMES} words and signs`);
    else return this.faults.length >= MOST_PROBLEMS;
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
    if (this.faults.length >= MOST_PROBLEMS) throw new TooManyFaults();
    const at = typeof source === "number" ? source : "offset" in source ? source.offset : source[0];
    this.faults.push(yamlFault(at, code, message));
  };
}
