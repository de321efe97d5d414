const ZERO = 48;
const NINE = 57;
const QUOTE = 34;
/** So many digits are an integer for certain. */
const MOST_DIGITS = 15;

/**
 * Reads a record that is written exactly as documents are, one value after the other, several times as fast as JSON is
 * parsed. Whatever is written in another way, it says no more than that.
 */
export class Scan {
  #text = "";
  #at = 0;
  #isRight = true;

  /** Begins with another record. */
  begin(text: string): void {
    this.#text = text;
    this.#at = 0;
    this.#isRight = true;
  }

  /** Whether all of the record was as expected, and nothing is left of it. */
  get isWhole(): boolean {
    return this.#isRight && this.#at === this.#text.length;
  }

  /** Whether this text comes next, which then is behind. */
  comes(text: string): boolean {
    const own = this.#text;
    const start = this.#at;
    const { length } = text;
    for (let index = 0; index < length; index += 1) {
      if (own.charCodeAt(start + index) !== text.charCodeAt(index)) return false;
    }
    this.#at = start + length;
    return true;
  }

  /** This text must come next. */
  expect(text: string): void {
    if (!this.comes(text)) this.#isRight = false;
  }

  /** An integer from 0 behind a text, between bounds. */
  integer(before: string, low: number, high: number): number {
    this.expect(before);
    const text = this.#text;
    const from = this.#at;
    let value = 0;
    let at = from;
    for (let code = text.charCodeAt(at); code >= ZERO && code <= NINE; code = text.charCodeAt(at)) {
      value = value * 10 + (code - ZERO);
      at += 1;
    }
    this.#at = at;
    const length = at - from;
    const isPlain = length === 1 || (length <= MOST_DIGITS && text.charCodeAt(from) !== ZERO);
    if (length === 0 || !isPlain || value < low || value > high) this.#isRight = false;
    return value;
  }

  /** The same, or null. */
  integerOrNull(before: string, low: number, high: number): number | null {
    this.expect(before);
    return this.comes("null") ? null : this.integer("", low, high);
  }

  /** An integer of either sign, between bounds. */
  signed(before: string, low: number, high: number): number {
    this.expect(before);
    if (!this.comes("-")) return this.integer("", 0, high);
    const value = this.integer("", 1, -low);
    return -value;
  }

  /** One of a few texts in quotes behind a text. */
  oneOf<Value extends string>(before: string, values: readonly Value[]): Value {
    this.expect(before);
    this.expect('"');
    for (const value of values) {
      const start = this.#at;
      if (this.comes(value) && this.#text.charCodeAt(this.#at) === QUOTE) {
        this.#at += 1;
        return value;
      }
      this.#at = start;
    }
    this.#isRight = false;
    return values[0] as Value;
  }

  /** The same, or null. */
  oneOfOrNull<Value extends string>(before: string, values: readonly Value[]): Value | null {
    this.expect(before);
    return this.comes("null") ? null : this.oneOf("", values);
  }

  boolean(before: string): boolean {
    this.expect(before);
    if (this.comes("true")) return true;
    this.expect("false");
    return false;
  }
}
