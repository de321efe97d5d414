import { meantOrderType } from "../../api/order-request.ts";
import type { OrderType } from "../../core/terms.ts";
import { parseDuration, parseIso } from "../../core/time.ts";
import { PRICE, priceOf, SIZE, sizeOf } from "./amounts.ts";
import type { Declarations } from "./declarations.ts";
import type { LineWords, Word } from "./line-words.ts";
import { meantExpiry } from "./near-misses.ts";
import { orOf } from "./page.ts";
import type { ExactOrder, Expiry, OrderWords } from "./scenario.ts";
import { type DecimalRule, wrongNumber } from "./values.ts";
import { ORDER_TYPES, OUTCOMES, SIDES } from "./vocabulary.ts";

export const EXPIRY_RULE = "when it expires, such as +60s or 2026-01-02T00:00:00Z";

/** What stands where the words of an order belong. */
export interface OrderParts {
  readonly side: Word;
  readonly size: Word;
  readonly outcome: Word;
  readonly price: Word;
  readonly type: Word | null;
  readonly expiry: Word | null;
  readonly market: Word | null;
  readonly name: Word | null;
}

/** The words of an order as they stand; the market as steps keep it. */
export function orderWords(parts: OrderParts, declared: Declarations): OrderWords {
  const { side, size, outcome, price, type, expiry, market } = parts;
  return {
    side: side.text,
    size: size.text,
    outcome: outcome.text,
    price: price.text,
    type: type?.text ?? "GTC",
    expiry: expiry === null ? null : expiryOf(expiry.text),
    market:
      market !== null && declared.hasMarket(market.text)
        ? declared.marketName(market.text)
        : (market?.text ?? null),
  };
}

/** When an order expires; a text that says no such thing stays what it is. */
function expiryOf(text: string): Expiry {
  const after = text.startsWith("+") ? parseDuration(text.slice(1)) : null;
  if (after !== null) return { after };
  const at = parseIso(text);
  return at === null ? { text } : { at };
}

/** When an order expires as the language says it, by a text that says so or almost does; null by any other. */
export const expiryMeant = (text: string): string | null =>
  "text" in (expiryOf(text) ?? {}) ? meantExpiry(text) : text;

interface ReadWords {
  /** Null when some word is wrong. */
  readonly exact: ExactOrder | null;
  readonly isRight: boolean;
  /** Whether the type is one. */
  readonly isTyped: boolean;
}

/** Reads each word of an order in its place and notes what is wrong, where that is a problem. */
export class OrderReader {
  readonly #line: LineWords;
  readonly #declared: Declarations;
  readonly #mayBeWrong: boolean;
  #isRight = true;

  constructor(line: LineWords, declared: Declarations, mayBeWrong: boolean) {
    this.#line = line;
    this.#declared = declared;
    this.#mayBeWrong = mayBeWrong;
  }

  read(parts: OrderParts): ReadWords {
    const side = this.#word(parts.side, SIDES);
    const size = sizeOf(parts.size.text) ?? this.#wrongNumber(parts.size, SIZE);
    const outcome = this.#word(parts.outcome, OUTCOMES);
    const price = priceOf(parts.price.text) ?? this.#wrongNumber(parts.price, PRICE);
    const orderType = parts.type === null ? "GTC" : this.#type(parts.type);
    const expiry = this.#expiry(orderType, parts);
    this.#demandMarket(parts);
    const isTyped = orderType !== null;
    if (side === null || size === null || outcome === null || price === null || !isTyped || !this.#isRight) {
      return { exact: null, isRight: this.#isRight, isTyped };
    }
    const market = this.#declared.marketName(parts.market?.text ?? null);
    return { exact: { side, size, outcome, price, orderType, expiry, market }, isRight: true, isTyped };
  }

  #word<Text extends string>(word: Word, words: readonly Text[]): Text | null {
    return words.find((text) => text === word.text) ?? this.#wrong(word, orOf(words), words);
  }

  #type(word: Word): OrderType | null {
    const type = ORDER_TYPES.find((each) => each === word.text);
    if (type !== undefined) return type;
    const { text } = word;
    const expiry = expiryMeant(text);
    const meant = expiry === null ? meantOrderType(text) : `GTD ${expiry}`;
    return this.#wrong(word, orOf(ORDER_TYPES), ORDER_TYPES, meant ?? null);
  }

  #expiry(type: OrderType | null, { type: typeWord, expiry: word }: OrderParts): ExactOrder["expiry"] {
    if (word === null) {
      if (type === "GTD" && typeWord !== null) this.#missing(typeWord);
      return null;
    }
    if (type === null) return null;
    if (type !== "GTD") {
      return this.#wrong(word, "in MARKET, as NAME or the end of the line, for only GTD expires", [
        "in",
        "as",
      ]);
    }
    const expiry = expiryOf(word.text);
    return "text" in expiry ? this.#wrong(word, EXPIRY_RULE, [], meantExpiry(word.text)) : expiry;
  }

  /** A market must be known, and named where there are several; only what is named may be wrong. */
  #demandMarket({ market, side }: OrderParts): void {
    if (this.#declared.hasMarket(market?.text ?? null)) return;
    this.#isRight = false;
    const { page } = this.#line;
    if (market !== null) {
      if (!this.#mayBeWrong) this.#declared.noMarket(page, market.at, market.text);
    } else if (this.#line.peek() === undefined) this.#declared.noMarket(page, side.at, null);
  }

  #missing({ text, at }: Word): void {
    this.#isRight = false;
    if (!this.#mayBeWrong)
      this.#line.page.wrong(at + text.length, `expected ${EXPIRY_RULE}, found nothing after GTD`);
  }

  #wrongNumber({ text, at }: Word, rule: DecimalRule): null {
    this.#isRight = false;
    return this.#mayBeWrong ? null : wrongNumber(this.#line.page, at, rule, text);
  }

  #wrong(word: Word, expected: string, words: readonly string[] = [], meant: string | null = null): null {
    this.#isRight = false;
    return this.#mayBeWrong ? null : this.#line.page.unexpected(word.at, expected, word.text, words, meant);
  }
}
