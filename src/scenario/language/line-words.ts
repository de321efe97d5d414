import { shown } from "../../simulation/flow-error.ts";
import type { Page, TextNode } from "./page.ts";

/** A word of a line, with its offset in the file. */
export interface Word {
  readonly text: string;
  readonly at: number;
}

/** The words of a line, one after the other. */
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

  /** The next word, to be read. */
  peek(): Word | undefined {
    return this.#words[this.#next];
  }

  /** The words that are still to be read. */
  get left(): readonly Word[] {
    return this.#words.slice(this.#next);
  }

  /** Whether some word is the one given. */
  has(text: string): boolean {
    return this.#words.some((word) => word.text === text);
  }

  /** The word behind the last of those given. */
  wordAfter(text: string): Word | null {
    const index = this.#words.findLastIndex((word) => word.text === text);
    return (index < 0 ? undefined : this.#words[index + 1]) ?? null;
  }

  /** Takes the next word, or null with a problem where the line ends. */
  take(expected: string): Word | null {
    const word = this.#words[this.#next];
    if (word === undefined) return this.ends(expected);
    this.#next += 1;
    return word;
  }

  /** Notes that the line ends too soon. */
  ends(expected: string): null {
    return this.page.wrong(this.end, `expected ${expected}, found the end of the line`);
  }

  /** Takes the next word if it is the one given. */
  takeIf(text: string): Word | null {
    const word = this.peek();
    if (word?.text !== text) return null;
    this.#next += 1;
    return word;
  }

  /** Takes a word that must be the one given. */
  demand(text: string): Word | null {
    const word = this.take(text);
    if (word === null || word.text === text) return word;
    if (!word.text.startsWith(text)) return this.page.unexpected(word.at, text, word.text, [text]);
    return this.page.wrong(
      word.at,
      `expected ${text}, found ${shown(word.text)}`,
      `put a space after ${text}`,
    );
  }

  /** Takes one of a few words, or null with a problem that names the nearest. */
  oneOf<Text extends string>(words: readonly Text[], expected: string): Text | null {
    const word = this.take(expected);
    if (word === null) return null;
    return (
      words.find((text) => text === word.text) ?? this.page.unexpected(word.at, expected, word.text, words)
    );
  }

  /** Whether the line ends here; a word more is a problem. */
  isOver(expected = "the end of the line", words: readonly string[] = []): boolean {
    const word = this.peek();
    if (word === undefined) return true;
    this.page.unexpected(word.at, expected, word.text, words);
    return false;
  }

  /** What is left of the line. */
  rest(): string {
    const rest = this.#words.slice(this.#next);
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
