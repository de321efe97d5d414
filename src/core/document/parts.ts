import type { ByteCursor } from "../bytes/byte-cursor.ts";
import { DocumentError } from "./document-error.ts";
import { jsonIn } from "./json-in.ts";

/** Who is told what a JSON object holds, in the order in which it stands there. */
export interface PartReader {
  /** A field that is no list. */
  field(name: string, value: unknown, line: number | null): void;
  /** A field that is a list begins; its items follow. */
  list(name: string, line: number | null): void;
  /**
   * An item that stands on a line of its own, as bytes, without the brace at its end: false when it must be parsed first.
   */
  quick(name: string, index: number, at: ByteCursor, line: number): boolean;
  item(name: string, index: number, value: unknown, line: number | null): void;
}

/** What must come next. */
type Expected = "object" | "name" | "colon" | "value" | "item" | "behind item" | "behind field" | "nothing";

const WHAT: Readonly<Record<Expected, string>> = {
  object: "a JSON object",
  name: "the name of a field in quotes",
  colon: "a colon",
  value: "a value",
  item: "a value",
  "behind item": "a comma or ]",
  "behind field": "a comma or }",
  nothing: "nothing more",
};

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;
const [OPEN_BRACE, CLOSE_BRACE] = [123, 125];
const [OPEN_BRACKET, CLOSE_BRACKET] = [91, 93];

/**
 * Takes a JSON object apart that comes a line at a time, however it is printed: its fields, and the items of those
 * that are lists, one after the other, so that never more than one of them is held as text. Braces around all of it
 * may be missing. A record on a line of its own is handed over as it stands there.
 */
export class Parts {
  readonly #reader: PartReader;
  #expected: Expected = "object";
  #isBare = false;
  /** Whether a comma stands before what is expected, which then must come. */
  #isOwed = false;
  #line = 0;
  #name = "";
  #index = 0;
  /** What of a value has been read, and where it stands: how deep in brackets, and whether in a text. */
  #text = "";
  #begun = 0;
  #depth = 0;
  #isInText = false;
  #isReading = false;

  constructor(reader: PartReader) {
    this.#reader = reader;
  }

  /** Takes the next line, without its line feed. @throws DocumentError when it is no JSON there. */
  take(line: string): void {
    this.#line += 1;
    if (this.#expected === "item" && !this.#isReading && this.#takeRecord(line)) return;
    let at = 0;
    while (at < line.length) at = this.#isReading ? this.#readOn(line, at) : this.#step(line, at);
    if (this.#isReading) this.#text += "\n";
  }

  /** Takes the next line, if it is a record of which there are millions; else it must be taken as text. */
  takeBytes(cursor: ByteCursor, start: number, end: number): boolean {
    if (this.#expected !== "item" || this.#isReading) return false;
    const { bytes } = cursor;
    const isOwed = bytes[end - 1] === COMMA;
    const brace = isOwed ? end - 2 : end - 1;
    if (brace < start || bytes[brace] !== CLOSE_BRACE) return false;
    cursor.begin(start, brace);
    if (!this.#reader.quick(this.#name, this.#index, cursor, this.#line + 1)) return false;
    this.#line += 1;
    this.#goBehindRecord(isOwed);
    return true;
  }

  /** Ends the document. @throws DocumentError when it is not whole. */
  end(): void {
    if (this.#isReading && this.#depth === 0 && !this.#isInText) this.#endValue();
    const isWhole = this.#expected === (this.#isBare ? "behind field" : "nothing") && !this.#isReading;
    if (!isWhole) throw this.#wrong(undefined);
  }

  /** A record on a line of its own; false when the line is something else, and nothing has been done. */
  #takeRecord(line: string): boolean {
    if (line.charCodeAt(0) !== OPEN_BRACE) return false;
    const last = line.charCodeAt(line.length - 1);
    if (last !== COMMA && last !== CLOSE_BRACE) return false;
    const value = jsonIn(last === COMMA ? line.slice(0, -1) : line);
    if (value === undefined) return false;
    this.#reader.item(this.#name, this.#index, value, this.#line);
    this.#goBehindRecord(last === COMMA);
    return true;
  }

  #goBehindRecord(isOwed: boolean): void {
    this.#index += 1;
    this.#expected = isOwed ? "item" : "behind item";
    this.#isOwed = isOwed;
  }

  /** Looks at one character outside of values, and answers where to go on. */
  #step(line: string, at: number): number {
    const code = line.charCodeAt(at);
    if (code === 32 || code === 9 || code === 13 || code === 10 || (code === 0xfeff && this.#line === 1))
      return at + 1;
    const isOwed = this.#isOwed;
    this.#isOwed = false;
    switch (this.#expected) {
      case "object":
        this.#expected = "name";
        if (code === OPEN_BRACE) return at + 1;
        this.#isBare = true;
        return at;
      case "name":
        if (code === CLOSE_BRACE && !isOwed && !this.#isBare) return this.#go("nothing", at);
        if (code !== QUOTE) throw this.#wrong(line.slice(at));
        return this.#begin(at);
      case "colon":
        if (code !== COLON) throw this.#wrong(line.slice(at));
        return this.#go("value", at);
      case "value":
        if (code !== OPEN_BRACKET) return this.#begin(at);
        this.#index = 0;
        this.#reader.list(this.#name, this.#line);
        return this.#go("item", at);
      case "item":
        if (code === CLOSE_BRACKET && !isOwed) return this.#go("behind field", at);
        return this.#begin(at);
      case "behind item":
        if (code === CLOSE_BRACKET) return this.#go("behind field", at);
        if (code !== COMMA) throw this.#wrong(line.slice(at));
        this.#isOwed = true;
        return this.#go("item", at);
      case "behind field":
        if (code === CLOSE_BRACE && !this.#isBare) return this.#go("nothing", at);
        if (code !== COMMA) throw this.#wrong(line.slice(at));
        this.#isOwed = true;
        return this.#go("name", at);
      default:
        throw this.#wrong(line.slice(at));
    }
  }

  #go(expected: Expected, at: number): number {
    this.#expected = expected;
    return at + 1;
  }

  #begin(at: number): number {
    this.#isReading = true;
    this.#text = "";
    this.#begun = this.#line;
    this.#depth = 0;
    return at;
  }

  /** Reads a value as far as it goes on this line, and answers where it ends. */
  #readOn(line: string, from: number): number {
    for (let at = from; at < line.length; at += 1) {
      const code = line.charCodeAt(at);
      if (this.#isInText) {
        if (code === BACKSLASH) at += 1;
        else if (code === QUOTE) {
          this.#isInText = false;
          if (this.#depth === 0) return this.#endAt(line, from, at + 1);
        }
      } else if (code === QUOTE) {
        this.#isInText = true;
      } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        this.#depth += 1;
      } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
        if (this.#depth === 0) return this.#endAt(line, from, at);
        this.#depth -= 1;
        if (this.#depth === 0) return this.#endAt(line, from, at + 1);
      } else if (code === COMMA && this.#depth === 0) {
        return this.#endAt(line, from, at);
      }
    }
    this.#text += line.slice(from);
    return line.length;
  }

  #endAt(line: string, from: number, to: number): number {
    this.#text += line.slice(from, to);
    this.#endValue();
    return to;
  }

  #endValue(): void {
    this.#isReading = false;
    const value = this.#parsed();
    switch (this.#expected) {
      case "name":
        this.#name = String(value);
        this.#expected = "colon";
        break;
      case "value":
        this.#reader.field(this.#name, value, this.#begun);
        this.#expected = "behind field";
        break;
      default:
        this.#reader.item(this.#name, this.#index, value, this.#begun);
        this.#index += 1;
        this.#expected = "behind item";
    }
  }

  #parsed(): unknown {
    const value = jsonIn(this.#text);
    if (value === undefined) throw this.#wrong(this.#text.trim(), "JSON");
    return value;
  }

  #wrong(found: unknown, expected = WHAT[this.#expected]): DocumentError {
    const isListed = this.#expected === "item" || this.#expected === "behind item";
    const section = isListed || this.#expected === "value" ? this.#name : "";
    const where = {
      section,
      index: isListed ? this.#index : null,
      line: this.#isReading ? this.#begun : this.#line,
    };
    return new DocumentError(where, "", expected, found);
  }
}
