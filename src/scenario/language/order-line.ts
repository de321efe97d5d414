import { ERROR_CODES } from "../../api/errors.ts";
import { NOT_CANCELED } from "../../api/order-request.ts";
import type { ClientCode } from "../../client/result.ts";
import { SETTLEMENT_STATUSES } from "../../core/chain/settlement.ts";
import { plainNumber } from "../../core/format.ts";
import { ORDER_STATUSES } from "../../core/order.ts";
import type { Scalar } from "../../core/refusals.ts";
import {
  anyOf,
  CANCEL_REASONS,
  ORDER_TYPES,
  type OrderType,
  OUTCOMES,
  type Outcome,
  SIDES,
} from "../../core/terms.ts";
import { parseDuration, parseIso, toIso } from "../../core/time.ts";
import { type Millis, millis, type Price, type Size } from "../../core/units.ts";
import { meantOrderType } from "../../nearest.ts";
import type { Declarations } from "./declarations.ts";
import {
  corrected,
  decimalIn,
  isPartyName,
  itemsOf,
  LineWords,
  MATCHED,
  meantDuration,
  oneOf,
  PRICE,
  readEach,
  ruleText,
  SIZE,
  units,
} from "./fields.ts";
import { attempt, meaning, meantWord, type Node, type Place, readAll, UNREADABLE, Word } from "./page.ts";

/** A value with its place, which a failure reports. */
export interface Placed<Value> {
  readonly value: Value;
  readonly place: Place;
}

/** Stands for the order that is placed next. No order can have this name, because it contains a space. */
export const NEXT_ORDER = "next order";

/** Expiration of an order: milliseconds after it is placed, a moment, or an invalid text. */
type Expiry = { readonly after: number } | { readonly at: Millis } | { readonly text: string };

/** The words of an order line as written. They may be invalid only in a step that expects a refusal. */
export interface OrderWords extends Readonly<Record<"side" | "size" | "outcome" | "price" | "type", string>> {
  readonly expiry: Expiry | null;
  readonly market: string | null;
}

const PLAIN_NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?$/;

/** Returns the body of POST /clob/order for the words of an order line, valid or not. */
export function orderBodyOf(words: OrderWords, tokenId: string, now: Millis): Record<string, unknown> {
  const decimal = (text: string): number | string => (PLAIN_NUMBER.test(text) ? Number(text) : text);
  return {
    tokenId,
    side: words.side,
    price: decimal(words.price),
    size: decimal(words.size),
    orderType: words.type,
    ...(words.expiry === null ? {} : { expiration: expirationText(words.expiry, now) }),
  };
}

const expirationText = (expiry: Expiry, now: Millis): string =>
  "text" in expiry ? expiry.text : toIso("after" in expiry ? millis(now + expiry.after) : expiry.at);

/** Returns the words that make such a body; a value that is neither text nor number becomes an empty word. */
export function wordsOfBody(
  { side, size, price, orderType = "GTC", expiration = "" }: Readonly<Record<string, Scalar>>,
  outcome: Outcome,
  market: string | null,
) {
  const expiry = expiration === "" ? null : { text: text(expiration) };
  const words = { side: text(side), size: text(size), price: text(price), type: text(orderType) };
  return { ...words, outcome, expiry, market };
}

const text = (value: Scalar | undefined): string =>
  typeof value === "number" ? plainNumber(value) : typeof value === "string" ? value : "";

const SHAPE = "an order such as BUY 100 YES @ 0.55";
const EXPIRY_RULE = "an expiration such as +60s or 2026-01-02T00:00:00Z";
const NOT_EXPIRING = "in MARKET, as NAME or the end of the line, because only GTD expires";
const ORDER_ENDING = "in MARKET, then as NAME, or the end of the line";

/** Reads `BUY 100 YES @ 0.55 GTD +60s in rain as bid`. With `mayBeWrong` only the form of the line must be valid. */
export function readOrderLine(line: LineWords, declared: Declarations, mayBeWrong: boolean) {
  const named = line.left.findLast((_word, index, words) => words[index - 1]?.text === "as");
  const parts = attempt(() => {
    if (!mayBeWrong) requireArrangement(line, declared);
    return partsOf(line);
  });
  if (parts === undefined) {
    // Later references to the order must not become problems because of this line.
    if (named !== undefined) declared.nameOrder(declared.rounds.numbered(named.text), null);
    throw UNREADABLE;
  }
  const { side, size, outcome, price, type, expiry, market } = parts;
  const { page } = side;
  const quietly = <Value>(read: () => Value): Value | null =>
    (mayBeWrong ? page.attemptSilently(read) : attempt(read)) ?? null;
  const name = parts.name === null ? null : attempt(() => freeName(declared, parts.name as Word));
  const orderType = type === null ? "GTC" : quietly(() => typeOf(type));
  const exact = quietly(() => exactOrder(parts, orderType));
  const marketName = market?.text ?? null;
  const isMarket = declared.hasMarket(marketName);
  // `mayBeWrong` allows an unknown market, not a missing one.
  if (!isMarket && market !== null) quietly(() => declared.market(market, marketName));
  else if (!isMarket && line.peek() === undefined) attempt(() => declared.market(side, null, "in MARKET"));
  if (name != null) declared.nameOrder(name, isMarket ? (exact?.orderType ?? null) : null);
  // After an invalid type the meaning of the next word is unknown.
  if (orderType !== null || mayBeWrong) line.requireEnd(ORDER_ENDING, ["in", "as"]);
  if (name === undefined || ((exact === null || !isMarket) && !mayBeWrong)) throw UNREADABLE;
  const chosen = market !== null && isMarket ? declared.market(market, marketName) : marketName;
  const words: OrderWords = {
    side: side.text,
    size: size.text,
    outcome: outcome.text,
    price: price.text,
    type: type?.text ?? "GTC",
    expiry: expiry === null ? null : expiryOf(expiry.text),
    market: chosen,
  };
  /** Whether it expires at a moment, not after a duration; false if a word is invalid. */
  const isDated = exact?.expiry != null && "at" in exact.expiry && isMarket;
  return { words, isDated, name };
}

function partsOf(line: LineWords) {
  const side = line.take(SHAPE);
  const size = line.take("a size");
  const outcome = line.take(anyOf(OUTCOMES));
  const isOutcome = wordOf(outcome.text, OUTCOMES) !== undefined;
  if (!isOutcome && line.peek()?.text !== "@") throw outcome.unexpected(anyOf(OUTCOMES));
  line.require("@");
  const price = line.take("a price");
  const type = optional(line);
  if (type?.text === "GTD") requireBareExpiry(line);
  const expiry = type !== null && mayExpire(type.text, line.peek()?.text ?? "") ? optional(line) : null;
  const market = line.market();
  const name = line.takeIf("as") === null ? null : line.take("a name after as");
  return { side, size, outcome, price, type, expiry, market, name };
}

/** Whether the next word after an order type is read as an expiration: any after GTD, else a number or a `+`. */
export const mayExpire = (type: string, next: string): boolean => type === "GTD" || /^[+\d]/.test(next);

/** Takes the next word, unless it is `in` or `as`. */
function optional(line: LineWords): Word | null {
  const next = line.peek();
  return next === undefined || next.text === "in" || next.text === "as" ? null : line.take("");
}

/** Reports `in 60s` if `+60s` is meant. */
function requireBareExpiry({ left: [before, when] }: LineWords): void {
  if (before === undefined || when === undefined) return;
  const meant = /^(?:in|for|after|until|till|at)$/i.test(before.text) ? expiryMeant(when.text) : null;
  const both = new Word(before.page, before.at, `${before.text} ${when.text}`);
  if (meant !== null) throw both.unexpected(EXPIRY_RULE, [], meaning(meant));
}

/** Parses an expiration; an invalid text is kept. */
export function expiryOf(text: string): Expiry {
  const after = text.startsWith("+") ? parseDuration(text.slice(1)) : null;
  if (after !== null) return { after };
  const at = parseIso(text);
  return at === null ? { text } : { at };
}

/** Returns the expiration that was meant by `60s`, `1hour` or `2026-01-02`; null if there is none. */
function meantExpiry(text: string): string | null {
  const duration = parseDuration(text) === null ? meantDuration(text) : text;
  if (duration !== null) return `+${duration}`;
  return [`${text}Z`, `${text}T00:00:00Z`].find((each) => parseIso(each) !== null) ?? null;
}

/** Returns the expiration that a text is, or probably means; null if there is none. */
const expiryMeant = (text: string): string | null => ("text" in expiryOf(text) ? meantExpiry(text) : text);

/** Validates the words of an order, except its market. Reports each invalid word. */
function exactOrder(parts: ReturnType<typeof partsOf>, orderType: OrderType | null) {
  const [expiry] = readAll(
    () => (orderType === null ? null : exactExpiry(orderType, parts.type, parts.expiry)),
    () => oneOf(SIDES)(parts.side),
    () => units(SIZE)(parts.size),
    () => oneOf(OUTCOMES)(parts.outcome),
    () => units(PRICE)(parts.price),
  );
  if (orderType === null) throw UNREADABLE;
  return { expiry, orderType };
}

function typeOf(word: Word): OrderType {
  const expiry = expiryMeant(word.text);
  const meant = expiry === null ? meantOrderType(word.text) : `GTD ${expiry}`;
  return oneOf(ORDER_TYPES, anyOf(ORDER_TYPES), meaning(meant))(word);
}

function exactExpiry(orderType: OrderType, type: Word | null, word: Word | null) {
  if (word === null) {
    if (orderType !== "GTD" || type === null) return null;
    throw type.page.wrong(type.at + type.text.length, `expected ${EXPIRY_RULE}, found nothing after GTD`);
  }
  if (orderType !== "GTD") throw word.unexpected(NOT_EXPIRING, ["in", "as"]);
  const expiry = expiryOf(word.text);
  if ("text" in expiry) throw word.unexpected(EXPIRY_RULE, [], meaning(meantExpiry(word.text)));
  return expiry;
}

function freeName(declared: Declarations, word: Word): string {
  const name = declared.rounds.nameIn(word);
  if (name === "all") throw word.wrong("all cannot name an order, because `cancel all` cancels every order");
  if (!declared.orders.has(name) || declared.rounds.mayRedeclare(`order ${name}`)) return name;
  throw word.wrong(`another order is named ${name} already`, "use another name");
}

/** Match types that change the number of sets. */
const SETS = ["MINT", "MERGE"] as const;

const NOISE = /^(?:a|an|order|place|limit|share|shares|contracts?|lots?|of|usdc?|x|×)$/i;
const NUMBER = /^\$?[.,]?\d[\d.,_]*(?:k|c|¢|%|x|×|\$)?$/i;
const JOINED = /(@)|(?<=^[\d.,]+)(?=(?:yes|no)$)/i;
/** What is expected at each position of an order line. */
const EXPECTED = [anyOf(SIDES), ruleText(SIZE), anyOf(OUTCOMES), "@", ruleText(PRICE)];
const TAILS: readonly string[] = [...ORDER_TYPES, ...SETS, ...SETTLEMENT_STATUSES];

const isPrice = (text: string): boolean => decimalIn(text, PRICE) !== null;
const wordOf = (text: string, words: readonly string[]): string | undefined =>
  words.find((each) => each === text.toUpperCase()) ?? meantWord(text, words);

/** Reports words of an order that are misplaced, missing or superfluous, if it is clear what was meant. */
function requireArrangement(line: LineWords, { markets }: Declarations): void {
  const given = line.left;
  const words = given.flatMap(({ text }) => text.split(JOINED).filter(Boolean));
  const meant = meantOrder(words, (name) => markets?.has(name) === true);
  if (meant === null) return;
  const index = given.findIndex(({ text }, place) => !standsFor(text, meant[place]));
  const word = given[index];
  // Missing words at the end, and an `@` joined to its price, have their own messages.
  const isSignJoined = word?.text === `@${meant[index + 1]}` && given.length === meant.length - 1;
  if (word === undefined || isSignJoined) return;
  throw word.unexpected(EXPECTED[index] ?? ORDER_ENDING, [], meaning(meant.join(" ")));
}

/** Whether a word is the one that was meant, or so similar that the problem of that word is enough. */
const standsFor = (given: string, meant: string | undefined): boolean =>
  meant !== undefined &&
  (given === meant ||
    wordOf(given, [meant]) === meant ||
    [PRICE, SIZE].some((rule) => corrected(given, rule) === meant));

/** Returns a number without its `+`, unless it may be an expiration, which follows a type. */
const unsigned = (word: string, before: string | undefined): string =>
  /^\+[.,]?\d/.test(word) && NUMBER.test(word.slice(1)) && wordOf(before ?? "", ORDER_TYPES) === undefined
    ? word.slice(1)
    : word;

/** Returns the words of an order in the right order; null if a word is unknown, or side, outcome or size is missing. */
function meantOrder(words: readonly string[], isMarket: (name: string) => boolean): readonly string[] | null {
  const left = words.map((word, index) => unsigned(word, words[index - 1]));
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
  const [first, second, third] = left.filter((word) => NUMBER.test(word));
  const isSign = (word: string, index: number): boolean =>
    wordOf(word, ["@"]) !== undefined && (word === "@" || NUMBER.test(left[index + 1] ?? ""));
  const others = left.filter(
    (word, index) => !NUMBER.test(word) && !isSign(word, index) && !NOISE.test(word),
  );
  const isKnown = (word: string): boolean =>
    word.startsWith("+") || (wordOf(word, TAILS) ?? meantOrderType(word) ?? expiryMeant(word)) != null;
  const bareMarket = others.find((word) => inMarket.length === 0 && !isKnown(word) && isMarket(word));
  if (bareMarket !== undefined) inMarket.push("in", bareMarket);
  const rest = others.filter((word) => word !== bareMarket);
  if (side === undefined || outcome === undefined || first === undefined || third !== undefined) return null;
  if (!rest.every(isKnown)) return null;
  const isFirstPrice = second !== undefined && isPrice(first) && !isPrice(second);
  const [size, price = "PRICE"] = isFirstPrice ? [second, first] : [first, second];
  const tail =
    fromMaker.length > 0 ? [...inMarket, ...fromMaker, ...rest] : [...rest, ...inMarket, ...asName];
  return [side, corrected(size, SIZE) ?? size, outcome, "@", corrected(price, PRICE) ?? price, ...tail];
}

const CLIENT_CODES: readonly ClientCode[] = ["CONNECTION_LOST", "INVALID_REPLY", "NOT_DERIVED", "NO_WALLET"];
/** Why an order could not be canceled. */
export const NOT_LIVE = Object.values(NOT_CANCELED);
/** Every code of a refusal, and every reason why an order could not be canceled. */
export const REFUSAL_CODES: readonly string[] = [...ERROR_CODES, ...CLIENT_CODES, ...NOT_LIVE];
export const BARE_STATUS = /^HTTP \d{3}$/;
const CODE_RULE = "an error code such as INVALID_TICK_SIZE";

export function rejectsAt(node: Node): Placed<string> {
  const value = node.textFor(CODE_RULE);
  if (REFUSAL_CODES.includes(value) || BARE_STATUS.test(value)) return { value, place: node.place };
  throw node.unexpected(CODE_RULE, REFUSAL_CODES);
}

export const orderStateAt = (node: Node) => ({
  value: readOrderState(new LineWords(node, "an order's state such as LIVE 40/100")),
  place: node.place,
});

const FILL_LINE = "a line such as SELL 40 YES @ 0.55 from alice";

export function linesAt<Value>(node: Node, read: (line: LineWords) => Value) {
  const lineAt = (item: Node) => ({ value: read(new LineWords(item, FILL_LINE)), place: item.place });
  return { value: readEach(itemsOf(node, "a list"), lineAt), place: node.place };
}

const SHARE = /^(\d[\d.]*)\/(\d[\d.]*)$/;
const SPELLED_SHARE = /^([\d.]+) ?(?:\/|of|out of|:|,) ?([\d.]+)(?= |$)/i;
const SHARE_RULE = "the matched size and the size, such as 40/100";

/** State of an order: `LIVE 40/100`, `CANCELED 0/10 FOK_UNFILLED`. The reason is compared only if given. */
export type OrderState = Readonly<ReturnType<typeof readOrderState>>;

function readOrderState(line: LineWords) {
  requireStatusFirst(line);
  const status = line.oneOf(ORDER_STATUSES);
  const share = line.take(SHARE_RULE);
  const [, matchedText, sizeText] = SHARE.exec(share.text) ?? [];
  if (matchedText === undefined || sizeText === undefined) {
    const meant = SPELLED_SHARE.exec([share, ...line.left].map(({ text }) => text).join(" "));
    throw share.unexpected(SHARE_RULE, [], meaning(meant && `${meant[1]}/${meant[2]}`));
  }
  const [matched, size] = readAll(
    () => units<Size>(MATCHED)(new Word(share.page, share.at, matchedText)),
    () => units<Size>(SIZE)(new Word(share.page, share.at + matchedText.length + 1, sizeText)),
  );
  if (matched > size) throw share.wrong(`the matched size ${matchedText} is above the size ${sizeText}`);
  const reason = line.peek() === undefined ? null : line.oneOf(CANCEL_REASONS);
  line.requireEnd();
  return { status, matched, size, reason };
}

/** Reports `40/100 LIVE`, and a status of refused orders, which have no state. */
function requireStatusFirst({ left: [first, second] }: LineWords): void {
  if (first === undefined) return;
  const expected = anyOf(ORDER_STATUSES);
  if (/^(?:REJECTED|REFUSED|DENIED|FAILED|INVALID)$/i.test(first.text))
    throw first.unexpected(expected, [], "add `rejects: CODE` to an order that must be refused");
  if (second === undefined || !/^[\d.]+\/[\d.]+$/.test(first.text)) return;
  const status = wordOf(second.text, ORDER_STATUSES);
  throw first.unexpected(expected, [], meaning(status && `${status} ${first.text}`));
}

const PARTY_RULE = "the name of an account";
const MAKER_RULE = "the name of an account or of an order";

/** Reads `bob SELL 40 YES @ 0.55 in rain from alice MINT CONFIRMED`. */
export function readTradeLine(line: LineWords, declared: Declarations) {
  const taker = line.take(PARTY_RULE);
  if (SIDES.some((side) => side === taker.text)) throw taker.unexpected("the taker before the side");
  if (!isPartyName(taker.text)) throw taker.unexpected(PARTY_RULE);
  return { taker: declared.party(taker), ...readFillLine(line, declared) };
}

export type TradeLine = Readonly<ReturnType<typeof readTradeLine>>;

/** A fill of the step's order, as its taker sees it. The status is compared only if given. */
export type FillLine = Readonly<ReturnType<typeof readFillLine>>;

/** Reads the same without the taker: `SELL 40 YES @ 0.55 from alice`. */
export function readFillLine(line: LineWords, declared: Declarations) {
  const [first, second] = line.left;
  if (first !== undefined && SIDES.some((side) => side === second?.text) && isPartyName(first.text))
    throw first.unexpected(anyOf(SIDES), [], `leave out ${first.text}: fills are those of the step's order`);
  requireArrangement(line, declared);
  const side = line.oneOf(SIDES);
  const size = line.units<Size>(SIZE);
  const outcome = line.oneOf(OUTCOMES);
  line.require("@");
  const price = line.units<Price>(PRICE);
  const market = declared.marketOf(line);
  line.require("from");
  const maker = makerOf(line.take(MAKER_RULE), declared);
  const matchType = line.takeIf(...SETS) ?? "COMPLEMENTARY";
  const status = line.takeIf(...SETTLEMENT_STATUSES);
  if (status !== null) line.requireEnd();
  else line.requireEnd("MINT, MERGE, a status or the end of the line", [...SETS, ...SETTLEMENT_STATUSES]);
  return { side, size, outcome, price, market, ...maker, matchType, status };
}

/** Reads the maker: an account or a named order, but not a name that is both. */
function makerOf(word: Word, declared: Declarations) {
  const maker = declared.rounds.numbered(word.text);
  if (!isPartyName(maker)) throw word.unexpected(MAKER_RULE);
  const isMakerOrder = declared.orders.has(maker);
  if (isMakerOrder && declared.accounts?.has(maker) === true)
    throw word.wrong(`${maker} is an account and an order`, "give the order another name");
  if (!isMakerOrder) declared.makerAccount(word, maker);
  return { maker, isMakerOrder };
}
