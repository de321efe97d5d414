import { meantOrderType } from "../../api/order-request.ts";
import type { OrderType } from "../../core/terms.ts";
import { parseDuration, parseIso } from "../../core/time.ts";
import type { Price, Size } from "../../core/units.ts";
import { shown } from "../../simulation/flow-error.ts";
import type { Declarations } from "./declarations.ts";
import {
  corrected,
  type DecimalRule,
  decimalIn,
  isName,
  NAME_RULE,
  PRICE,
  ruleText,
  SIZE,
  unitsIn,
  wordIn,
} from "./fields.ts";
import type { LineWords, Word } from "./line-words.ts";
import { meantExpiry, meantWord } from "./near-misses.ts";
import { attempt, orOf, type Page, UNREADABLE } from "./page.ts";
import type { ExactOrder, Expiry, OrderStep } from "./scenario.ts";
import { ORDER_TYPES, OUTCOMES, SETS, SETTLEMENT_STATUSES, SIDES } from "./vocabulary.ts";

const SHAPE = "an order such as BUY 100 YES @ 0.55";
const EXPIRY_RULE = "when it expires, such as +60s or 2026-01-02T00:00:00Z";
const NOT_EXPIRING = "in MARKET, as NAME or the end of the line, for only GTD expires";
const ORDER_ENDING = "in MARKET, then as NAME, or the end of the line";

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

/**
 * Reads `BUY 100 YES @ 0.55 GTD +60s in rain as bid`. With `mayBeWrong` a word that is wrong in its place is no
 * problem, but the line must have the shape of an order.
 */
export function readOrderLine(
  line: LineWords,
  declared: Declarations,
  mayBeWrong: boolean,
): Pick<OrderStep, "words" | "exact" | "name"> {
  const named = line.wordAfter("as");
  const parts = attempt(() => {
    if (!mayBeWrong) requireArrangement(line);
    return partsOf(line);
  });
  if (parts === undefined) {
    // What speaks of the order later is not wrong because of this line.
    if (named !== undefined) declared.nameOrder(declared.rounds.named(named.text), null);
    throw UNREADABLE;
  }
  const { side, size, outcome, price, type, expiry, market } = parts;
  const name = parts.name === null ? null : attempt(() => freeName(line.page, declared, parts.name as Word));
  const page = mayBeWrong ? line.page.silent() : line.page;
  const orderType = type === null ? "GTC" : (attempt(() => typeIn(page, type)) ?? null);
  const exact = exactOrder(page, parts, orderType);
  const isMarket = isMarketRight(line, page, declared, parts);
  if (name != null) declared.nameOrder(name, isMarket ? (exact?.orderType ?? null) : null);
  // Behind a word that is no type it cannot be known what the next was meant to be.
  if (orderType !== null || mayBeWrong) line.requireEnd(ORDER_ENDING, ["in", "as"]);
  if (name === undefined || ((exact === null || !isMarket) && !mayBeWrong)) throw UNREADABLE;
  const kept =
    market !== null && declared.hasMarket(market.text)
      ? declared.market(page, market.at, market.text)
      : (market?.text ?? null);
  const words = {
    side: side.text,
    size: size.text,
    outcome: outcome.text,
    price: price.text,
    type: type?.text ?? "GTC",
    expiry: expiry === null ? null : expiryOf(expiry.text),
    market: kept,
  };
  return { words, exact: exact === null || !isMarket ? null : { ...exact, market: kept }, name };
}

function partsOf(line: LineWords): OrderParts {
  const side = line.take(SHAPE);
  const size = line.take("a size");
  const outcome = line.take("YES or NO");
  line.require("@");
  const price = line.take("a price");
  const type = optional(line);
  if (type?.text === "GTD") requireBareExpiry(line);
  // A word behind a type is meant as when the order expires.
  const mayExpire = type !== null && (type.text === "GTD" || /^[+\d]/.test(line.peek()?.text ?? ""));
  const expiry = mayExpire ? optional(line) : null;
  const market = line.market();
  const name = line.takeIf("as") === null ? null : line.take("a name after as");
  return { side, size, outcome, price, type, expiry, market, name };
}

/** The next word, unless it begins what may follow a type. */
function optional(line: LineWords): Word | null {
  const next = line.peek();
  return next === undefined || next.text === "in" || next.text === "as" ? null : line.take("");
}

/** Notes `in 60s` where `+60s` is meant, or another word before when an order expires. */
function requireBareExpiry({ page, left: [before, when] }: LineWords): void {
  if (before === undefined || when === undefined) return;
  const meant = /^(?:in|for|after|until|till|at)$/i.test(before.text) ? expiryMeant(when.text) : null;
  if (meant !== null) throw page.unexpected(before.at, EXPIRY_RULE, `${before.text} ${when.text}`, [], meant);
}

/** When an order expires; a text that says no such thing stays what it is. */
function expiryOf(text: string): Expiry {
  const after = text.startsWith("+") ? parseDuration(text.slice(1)) : null;
  if (after !== null) return { after };
  const at = parseIso(text);
  return at === null ? { text } : { at };
}

/** When an order expires as the language says it, by a text that says so or almost does; null by any other. */
const expiryMeant = (text: string): string | null => ("text" in expiryOf(text) ? meantExpiry(text) : text);

/** What the words of an order say, but for its market; each word that is wrong is noted, and the answer is null. */
function exactOrder(
  page: Page,
  { side, size, outcome, price, type, expiry }: OrderParts,
  orderType: OrderType | null,
): Omit<ExactOrder, "market"> | null {
  const read = {
    side: attempt(() => wordIn(page, side.at, side.text, SIDES)),
    size: attempt(() => unitsIn<Size>(page, size.at, size.text, SIZE)),
    outcome: attempt(() => wordIn(page, outcome.at, outcome.text, OUTCOMES)),
    price: attempt(() => unitsIn<Price>(page, price.at, price.text, PRICE)),
    expiry: orderType === null ? null : attempt(() => expiryIn(page, orderType, type, expiry)),
  };
  const isExact = orderType !== null && Object.values(read).every((value) => value !== undefined);
  return isExact ? { ...(read as Omit<ExactOrder, "market">), orderType } : null;
}

function typeIn(page: Page, { at, text }: Word): OrderType {
  const expiry = expiryMeant(text);
  const meant = expiry === null ? meantOrderType(text) : `GTD ${expiry}`;
  return wordIn(page, at, text, ORDER_TYPES, orOf(ORDER_TYPES), meant ?? null);
}

function expiryIn(
  page: Page,
  orderType: OrderType,
  type: Word | null,
  word: Word | null,
): ExactOrder["expiry"] {
  if (word === null) {
    if (orderType !== "GTD" || type === null) return null;
    throw page.wrong(type.at + type.text.length, `expected ${EXPIRY_RULE}, found nothing after GTD`);
  }
  if (orderType !== "GTD") throw page.unexpected(word.at, NOT_EXPIRING, word.text, ["in", "as"]);
  const expiry = expiryOf(word.text);
  if ("text" in expiry) throw page.unexpected(word.at, EXPIRY_RULE, word.text, [], meantExpiry(word.text));
  return expiry;
}

/** Whether the market is known, and named where there are several; only one that is named may be wrong. */
function isMarketRight(
  line: LineWords,
  page: Page,
  declared: Declarations,
  { market, side }: OrderParts,
): boolean {
  if (declared.hasMarket(market?.text ?? null)) return true;
  if (market !== null) attempt(() => declared.market(page, market.at, market.text));
  else if (line.peek() === undefined) attempt(() => declared.market(line.page, side.at, null));
  return false;
}

/** The name that an order is given. */
function freeName(page: Page, declared: Declarations, { text, at }: Word): string {
  const name = declared.rounds.named(text);
  if (text.includes("#") && name === text) {
    throw page.wrong(at, `# numbers the names in a repeat, found ${shown(text)} outside of any`);
  }
  if (!isName(name)) throw page.unexpected(at, NAME_RULE, text);
  if (name === "all") throw page.wrong(at, "all cannot name an order, for `cancel all` cancels every order");
  if (declared.isFree(name)) return name;
  throw page.wrong(at, `another order is named ${name} already`, "give each a name of its own");
}

/** Words that say nothing in an order. */
const NOISE = /^(?:a|an|order|place|limit|share|shares|contracts?|lots?|of|usdc?|x|×)$/i;
const NUMBER = /^\$?[.,]?\d[\d.,_]*(?:k|c|¢|%|x|×|\$)?$/i;
const JOINED = /(@)|(?<=^[\d.,]+)(?=(?:yes|no)$)/i;
/** What stands at each place of an order. */
const EXPECTED = [orOf(SIDES), ruleText(SIZE), orOf(OUTCOMES), "@", ruleText(PRICE)];
const TAILS: readonly string[] = [...ORDER_TYPES, ...SETS, ...SETTLEMENT_STATUSES];

const isRight = (text: string, rule: DecimalRule): boolean => decimalIn(text, rule) !== null;
const wordOf = (text: string, words: readonly string[]): string | undefined =>
  words.find((each) => each === text.toUpperCase()) ?? meantWord(text, words);

/**
 * The words of `BUY 10 YES @ 0.55` must stand in their order, and none may lack or be too many. Notes that only where it is
 * clear what was meant, and not where only single words are wrong.
 */
export function requireArrangement(line: LineWords): void {
  const given = line.left;
  const meant = meantOrder(given.flatMap(({ text }) => text.split(JOINED).filter(Boolean)));
  if (meant === null) return;
  const index = given.findIndex(({ text }, place) => !standsFor(text, meant[place]));
  const word = given[index];
  // What lacks at the end, and a sign joined to its price, have sentences of their own.
  const isSignJoined = word?.text === `@${meant[index + 1]}` && given.length === meant.length - 1;
  if (word === undefined || isSignJoined) return;
  throw line.page.unexpected(word.at, EXPECTED[index] ?? ORDER_ENDING, word.text, [], meant.join(" "));
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
