import type { OrderType, Outcome, Side } from "../../core/commands.ts";
import { parseDuration, parseIso } from "../../core/time.ts";
import { PRICE, priceOf, SIZE, sizeOf } from "./amounts.ts";
import type { Declarations } from "./declarations.ts";
import type { LineWords, Word } from "./line-words.ts";
import { isName, NAME_RULE } from "./names.ts";
import { orOf } from "./page.ts";
import type { ExactOrder, Expiry, OrderWords } from "./scenario.ts";
import { ruleText } from "./values.ts";

export const SIDES: readonly Side[] = ["BUY", "SELL"];
export const OUTCOMES: readonly Outcome[] = ["YES", "NO"];
const TYPES: readonly OrderType[] = ["GTC", "FOK", "FAK", "GTD"];
const EXPIRY_RULE = "when it expires, such as +60s or 2026-01-02T00:00:00Z";
const SHAPE = "an order such as BUY 100 YES @ 0.55";

/** An order line, read. */
export interface OrderLine {
  readonly words: OrderWords;
  /** Null when some word is wrong. */
  readonly exact: ExactOrder | null;
  /** The name given with `as`. */
  readonly name: string | null;
}

/** What stands where the words of an order belong. */
interface Parts {
  readonly side: Word;
  readonly size: Word;
  readonly outcome: Word;
  readonly price: Word;
  readonly type: Word | null;
  readonly expiry: Word | null;
  readonly market: Word | null;
  readonly name: Word | null;
}

/**
 * Reads `BUY 100 YES @ 0.55 GTD +60s in rain as bid`. With `mayBeWrong` a word that is wrong in its place is no
 * problem. Null when the line has not the shape of an order.
 */
export function readOrderLine(
  line: LineWords,
  declared: Declarations,
  mayBeWrong: boolean,
): OrderLine | null {
  const named = line.wordAfter("as");
  const parts = partsOf(line);
  if (parts === null) {
    // What speaks of the order later is not wrong because of this line.
    if (named !== null) declared.orders.set(named.text, null);
    return null;
  }
  const isNamed = parts.name === null || isFreeName(line, declared, parts.name);
  const { exact, isRight } = new OrderReader(line, declared, mayBeWrong).read(parts);
  const name = parts.name?.text ?? null;
  if (name !== null) declared.orders.set(name, exact?.orderType ?? null);
  if (!isNamed || (!isRight && !mayBeWrong)) return null;
  return { words: orderWords(parts, declared), exact, name };
}

function partsOf(line: LineWords): Parts | null {
  const side = line.take(SHAPE);
  const size = side && line.take("a size");
  const outcome = size && line.take("YES or NO");
  const at = outcome && line.demand("@");
  const price = at && line.take("a price");
  if (price === null) return null;
  const type = optional(line);
  const expiry = type && optional(line);
  const inMarket = line.takeIf("in");
  const market = inMarket && line.take("a market after in");
  const asName = line.takeIf("as");
  const name = asName && line.take("a name after as");
  if ((inMarket !== null && market === null) || (asName !== null && name === null)) return null;
  if (!line.isOver("in MARKET, then as NAME, or the end of the line", ["in", "as"])) return null;
  return { side, size, outcome, price, type, expiry, market, name } as Parts;
}

/** The next word, unless it begins what may follow a type. */
function optional(line: LineWords): Word | null {
  const next = line.peek();
  return next === undefined || next.text === "in" || next.text === "as" ? null : line.take("");
}

function isFreeName({ page }: LineWords, { orders }: Declarations, { text, at }: Word): boolean {
  if (!isName(text)) page.unexpected(at, NAME_RULE, text);
  else if (text === "all") page.wrong(at, "all cannot name an order, for `cancel all` cancels every order");
  else if (orders.has(text))
    page.wrong(at, `an order before is named ${text} already`, "give each a name of its own");
  else return true;
  return false;
}

function orderWords(parts: Parts, declared: Declarations): OrderWords {
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

function expiryOf(text: string): Expiry {
  const after = text.startsWith("+") ? parseDuration(text.slice(1)) : null;
  if (after !== null) return { after };
  const at = parseIso(text);
  return at === null ? { text } : { at };
}

/** Reads each word of an order in its place and notes what is wrong, where that is a problem. */
class OrderReader {
  readonly #line: LineWords;
  readonly #declared: Declarations;
  readonly #mayBeWrong: boolean;
  #isRight = true;

  constructor(line: LineWords, declared: Declarations, mayBeWrong: boolean) {
    this.#line = line;
    this.#declared = declared;
    this.#mayBeWrong = mayBeWrong;
  }

  read(parts: Parts): { readonly exact: ExactOrder | null; readonly isRight: boolean } {
    const side = this.#word(parts.side, SIDES);
    const size = sizeOf(parts.size.text) ?? this.#wrong(parts.size, ruleText(SIZE));
    const outcome = this.#word(parts.outcome, OUTCOMES);
    const price = priceOf(parts.price.text) ?? this.#wrong(parts.price, ruleText(PRICE));
    const orderType = parts.type === null ? "GTC" : this.#word(parts.type, TYPES);
    const expiry = this.#expiry(orderType, parts);
    const isKnown = this.#hasMarket(parts);
    if (side === null || size === null || outcome === null || price === null || orderType === null) {
      return { exact: null, isRight: this.#isRight };
    }
    const market = this.#declared.marketName(parts.market?.text ?? null);
    const exact = { side, size, outcome, price, orderType, expiry, market };
    return { exact: this.#isRight && isKnown ? exact : null, isRight: this.#isRight };
  }

  #word<Text extends string>(word: Word, words: readonly Text[]): Text | null {
    return words.find((text) => text === word.text) ?? this.#wrong(word, orOf(words), words);
  }

  #expiry(type: OrderType | null, { type: typeWord, expiry: word }: Parts): ExactOrder["expiry"] {
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
    return "text" in expiry ? this.#wrong(word, EXPIRY_RULE) : expiry;
  }

  /** A market must be known, and named where there are several; only what is named may be wrong. */
  #hasMarket({ market, side }: Parts): boolean {
    if (this.#declared.hasMarket(market?.text ?? null)) return true;
    this.#isRight = false;
    if (market === null || !this.#mayBeWrong) {
      this.#declared.noMarket(this.#line.page, market?.at ?? side.at, market?.text ?? null);
    }
    return false;
  }

  #missing({ text, at }: Word): void {
    this.#isRight = false;
    if (!this.#mayBeWrong)
      this.#line.page.wrong(at + text.length, `expected ${EXPIRY_RULE}, found nothing after GTD`);
  }

  #wrong(word: Word, expected: string, words: readonly string[] = []): null {
    this.#isRight = false;
    return this.#mayBeWrong ? null : this.#line.page.unexpected(word.at, expected, word.text, words);
  }
}
