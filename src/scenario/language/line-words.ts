import { shown } from "../../simulation/flow-error.ts";
import { type DecimalRule, ruleText, textNodeOf, unitsIn, wordIn } from "./fields.ts";
import { type Node, orOf, type Page, type TextNode } from "./page.ts";

/** A word of a line, with its offset in the file. */
export interface Word {
  readonly text: string;
  readonly at: number;
}

/** The words of a line, one after the other. What is not as expected is noted and thrown. */
export class LineWords {
  readonly page: Page;
  readonly #words: readonly Word[];
  /** Where the line ends. */
  readonly end: number;
  #next = 0;

  constructor(page: Page, line: TextNode) {
    this.page = page;
    this.#words = wordsOf(page.source.text, line);
    const last = this.#words.at(-1);
    this.end = last === undefined ? line.start : last.at + last.text.length;
  }

  /** The line that a text is. */
  static at(page: Page, node: Node, expected: string): LineWords {
    return new LineWords(page, textNodeOf(page, node, expected));
  }

  /** The next word, to be read. */
  peek(): Word | undefined {
    return this.#words[this.#next];
  }

  /** The words that are still to be read. */
  get left(): readonly Word[] {
    return this.#words.slice(this.#next);
  }

  /** The word behind the last of those given. */
  wordAfter(text: string): Word | undefined {
    const index = this.#words.findLastIndex((word) => word.text === text);
    return index < 0 ? undefined : this.#words[index + 1];
  }

  take(expected: string): Word {
    const word = this.#words[this.#next];
    if (word === undefined) throw this.ends(expected);
    this.#next += 1;
    return word;
  }

  /** Notes that the line ends too soon. */
  ends(expected: string): Error {
    return this.page.wrong(this.end, `expected ${expected}, found the end of the line`);
  }

  /** Takes the next word if it is one of those given. */
  takeIf<Text extends string>(...words: readonly Text[]): Text | null {
    const next = this.peek()?.text;
    const word = words.find((text) => text === next);
    if (word !== undefined) this.#next += 1;
    return word ?? null;
  }

  /** Takes a word that must be the one given. */
  require(text: string): void {
    const word = this.take(text);
    if (word.text === text) return;
    if (!word.text.startsWith(text)) throw this.page.unexpected(word.at, text, word.text, [text]);
    throw this.page.wrong(
      word.at,
      `expected ${text}, found ${shown(word.text)}`,
      `put a space after ${text}`,
    );
  }

  oneOf<Text extends string>(words: readonly Text[], expected = orOf(words)): Text {
    const { at, text } = this.take(expected);
    return wordIn(this.page, at, text, words, expected);
  }

  decimal<Units extends number>(rule: DecimalRule): Units {
    const { at, text } = this.take(ruleText(rule));
    return unitsIn(this.page, at, text, rule);
  }

  /** The market after `in`, where that is the next word. */
  market(): Word | null {
    return this.takeIf("in") === null ? null : this.take("a market after in");
  }

  /** A word more is a problem. */
  requireEnd(expected = "the end of the line", words: readonly string[] = []): void {
    const word = this.peek();
    if (word !== undefined) throw this.page.unexpected(word.at, expected, word.text, words);
  }

  /** What is left of the line. */
  rest(): string {
    const rest = this.left;
    this.#next = this.#words.length;
    return rest.map(({ text }) => text).join(" ");
  }
}

/** Each word at its place, also in a text that is quoted or goes over several lines; after an escape, at that word. */
function wordsOf(source: string, { value, start, end }: TextNode): readonly Word[] {
  const own = source.slice(start, end);
  const words: Word[] = [];
  let from = 0;
  let isFound = true;
  for (const text of value.split(/\s+/)) {
    if (text === "") continue;
    const index: number = isFound ? own.indexOf(text, from) : -1;
    isFound = index >= 0;
    words.push({ text, at: start + (isFound ? index : from) });
    if (isFound) from = index + text.length;
  }
  return words;
}
