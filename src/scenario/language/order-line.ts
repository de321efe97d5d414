import { meantOrderType } from "../../api/order-request.ts";
import type { OrderType } from "../../core/terms.ts";
import { parseDuration, parseIso } from "../../core/time.ts";
import { shown } from "../../simulation/flow-error.ts";
import type { Declarations } from "./declarations.ts";
import {
  corrected,
  type DecimalRule,
  decimalIn,
  isName,
  NAME_RULE,
  PRICE,
  priceOf,
  ruleText,
  SIZE,
  sizeOf,
  wrongNumber,
} from "./fields.ts";
import type { LineWords, Word } from "./line-words.ts";
import { meantExpiry, meantWord } from "./near-misses.ts";
import { orOf } from "./page.ts";
import type { ExactOrder, Expiry, OrderWords } from "./scenario.ts";
import { ORDER_TYPES, OUTCOMES, SETS, SETTLEMENT_STATUSES, SIDES } from "./vocabulary.ts";

const SHAPE = "an order such as BUY 100 YES @ 0.55";

/** An order line, read. */
interface OrderLine {
  readonly words: OrderWords;
  /** Null when some word is wrong. */
  readonly exact: ExactOrder | null;
  /** The name given with `as`. */
  readonly name: string | null;
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
  const parts = !mayBeWrong && isRearranged(line) ? null : partsOf(line);
  if (parts === null) {
    // What speaks of the order later is not wrong because of this line.
    if (named !== null) declared.nameOrder(declared.rounds.named(named.text), null);
    return null;
  }
  const name = parts.name && freeName(line, declared, parts.name);
  const { exact, isRight, isTyped } = new OrderReader(line, declared, mayBeWrong).read(parts);
  if (name !== null) declared.nameOrder(name, exact?.orderType ?? null);
  // Behind a word that is no type it cannot be known what the next was meant to be.
  const isOver = (!isTyped && !mayBeWrong) || line.isOver(ORDER_ENDING, ["in", "as"]);
  if ((parts.name !== null && name === null) || !isOver || (!isRight && !mayBeWrong)) return null;
  return { words: orderWords(parts, declared), exact, name };
}

function partsOf(line: LineWords): OrderParts | null {
  const side = line.take(SHAPE);
  const size = side && line.take("a size");
  const outcome = size && line.take("YES or NO");
  const at = outcome && line.demand("@");
  const price = at && line.take("a price");
  if (price === null) return null;
  const type = optional(line);
  if (type?.text === "GTD" && isSaidToExpire(line)) return null;
  const expiry = type && mayExpire(type, line.peek()) ? optional(line) : null;
  const inMarket = line.takeIf("in");
  const market = inMarket && line.take("a market after in");
  const asName = line.takeIf("as");
  const name = asName && line.take("a name after as");
  if ((inMarket !== null && market === null) || (asName !== null && name === null)) return null;
  return { side, size, outcome, price, type, expiry, market, name } as OrderParts;
}

/** Whether a word behind a type is meant as when the order expires. */
const mayExpire = (type: Word, next: Word | undefined): boolean =>
  type.text === "GTD" || /^[+\d]/.test(next?.text ?? "");

/** Notes `in 60s` where `+60s` is meant, or another word before when an order expires. */
function isSaidToExpire(line: LineWords): boolean {
  const [before, when] = line.left;
  const meant =
    when === undefined || !/^(?:in|for|after|until|till|at)$/i.test(before?.text ?? "")
      ? null
      : expiryMeant(when.text);
  if (before === undefined || meant === null) return false;
  line.page.unexpected(before.at, EXPIRY_RULE, `${before.text} ${when?.text}`, [], meant);
  return true;
}

/** The next word, unless it begins what may follow a type. */
function optional(line: LineWords): Word | null {
  const next = line.peek();
  return next === undefined || next.text === "in" || next.text === "as" ? null : line.take("");
}

/** The name that an order is given, or null with a problem. */
function freeName({ page }: LineWords, declared: Declarations, { text, at }: Word): string | null {
  const name = declared.rounds.named(text);
  if (text.includes("#") && name === text) {
    return page.wrong(at, `# numbers the names in a repeat, found ${shown(text)} outside of any`);
  }
  if (!isName(name)) return page.unexpected(at, NAME_RULE, text);
  if (name === "all") {
    return page.wrong(at, "all cannot name an order, for `cancel all` cancels every order");
  }
  if (declared.isFree(name)) return name;
  return page.wrong(at, `another order is named ${name} already`, "give each a name of its own");
}

const EXPIRY_RULE = "when it expires, such as +60s or 2026-01-02T00:00:00Z";

/** What stands where the words of an order belong. */
interface OrderParts {
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
function orderWords(parts: OrderParts, declared: Declarations): OrderWords {
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
const expiryMeant = (text: string): string | null =>
  "text" in (expiryOf(text) ?? {}) ? meantExpiry(text) : text;

interface ReadWords {
  /** Null when some word is wrong. */
  readonly exact: ExactOrder | null;
  readonly isRight: boolean;
  /** Whether the type is one. */
  readonly isTyped: boolean;
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

/** Words that say nothing in an order. */
const NOISE = /^(?:a|an|order|place|limit|share|shares|contracts?|lots?|of|usdc?|x|×)$/i;
const NUMBER = /^\$?[.,]?\d[\d.,_]*(?:k|c|¢|%|x|×|\$)?$/i;
const JOINED = /(@)|(?<=^[\d.,]+)(?=(?:yes|no)$)/i;
const ORDER_ENDING = "in MARKET, then as NAME, or the end of the line";
/** What stands at each place of an order. */
const EXPECTED = [orOf(SIDES), ruleText(SIZE), orOf(OUTCOMES), "@", ruleText(PRICE)];
const TAILS: readonly string[] = [...ORDER_TYPES, ...SETS, ...SETTLEMENT_STATUSES];

const isRight = (text: string, rule: DecimalRule): boolean => decimalIn(text, rule) !== null;
const wordOf = (text: string, words: readonly string[]): string | undefined =>
  words.find((each) => each === text.toUpperCase()) ?? meantWord(text, words);

/**
 * Notes that the words of `BUY 10 YES @ 0.55` stand in another order, or that one lacks or is too many, where it is
 * clear what was meant. False where only single words are wrong, or nothing is clear.
 */
export function isRearranged(line: LineWords): boolean {
  const given = line.left;
  const meant = meantOrder(given.flatMap(({ text }) => text.split(JOINED).filter(Boolean)));
  if (meant === null) return false;
  const index = given.findIndex(({ text }, place) => !standsFor(text, meant[place]));
  const word = given[index];
  // What lacks at the end, and a sign joined to its price, have sentences of their own.
  const isSignJoined = word?.text === `@${meant[index + 1]}` && given.length === meant.length - 1;
  if (word === undefined || isSignJoined) return false;
  line.page.unexpected(word.at, EXPECTED[index] ?? ORDER_ENDING, word.text, [], meant.join(" "));
  return true;
}

/** Whether a word is the one that was meant, or so like it that its own problem says all. */
const standsFor = (given: string, meant: string | undefined): boolean =>
  meant !== undefined &&
  (given === meant ||
    wordOf(given, [meant]) === meant ||
    [PRICE, SIZE].some((rule) => corrected(given, rule) === meant));

/** The words of an order in their order; null when some word is of no use in one, or a side, an outcome or a size lacks. */
function meantOrder(words: readonly string[]): readonly string[] | null {
  const left = [...words];
  const clause = (name: string): string[] => {
    const at = left.indexOf(name);
    return at < 0 || left[at + 1] === undefined ? [] : left.splice(at, 2);
  };
  const taken = (possible: readonly string[]): string | undefined => {
    const at = left.findIndex((word) => wordOf(word, possible) !== undefined);
    return at < 0 ? undefined : wordOf(left.splice(at, 1)[0] as string, possible);
  };
  const [inMarket, asName, fromMaker] = [clause("in"), clause("as"), clause("from")];
  const [side, outcome] = [taken(SIDES), taken(OUTCOMES)];
  const numbers = left.filter((word) => NUMBER.test(word));
  const [first, second, third] = numbers;
  const isSign = (word: string, index: number): boolean =>
    wordOf(word, ["@"]) !== undefined && (word === "@" || NUMBER.test(left[index + 1] ?? ""));
  const rest = left.filter((word, index) => !NUMBER.test(word) && !isSign(word, index) && !NOISE.test(word));
  const isExpiry = (word: string): boolean => word.startsWith("+") || parseIso(word) !== null;
  const isKnown = rest.every(
    (word) => wordOf(word, TAILS) ?? meantOrderType(word) ?? meantExpiry(word) ?? isExpiry(word),
  );
  if (side === undefined || outcome === undefined || first === undefined || third !== undefined || !isKnown)
    return null;
  const isFirstPrice = second !== undefined && isRight(first, PRICE) && !isRight(second, PRICE);
  const [size, price] = isFirstPrice ? [second, first] : [first, second];
  const tail =
    fromMaker.length > 0 ? [...inMarket, ...fromMaker, ...rest] : [...rest, ...inMarket, ...asName];
  return [
    side,
    corrected(size, SIZE) ?? size,
    outcome,
    "@",
    price === undefined ? "PRICE" : (corrected(price, PRICE) ?? price),
    ...tail,
  ];
}
