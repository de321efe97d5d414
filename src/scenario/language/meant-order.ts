import { meantOrderType } from "../../api/order-request.ts";
import { parseIso } from "../../core/time.ts";
import { PRICE, SIZE } from "./amounts.ts";
import type { LineWords } from "./line-words.ts";
import { meantExpiry, meantWord } from "./near-misses.ts";
import { orOf } from "./page.ts";
import { corrected, type DecimalRule, decimalIn, ruleText } from "./values.ts";
import { ORDER_TYPES, OUTCOMES, SETS, SETTLEMENT_STATUSES, SIDES } from "./vocabulary.ts";

/** Words that say nothing in an order. */
const NOISE = /^(?:a|an|order|place|limit|share|shares|contracts?|lots?|of|usdc?|x|×)$/i;
const NUMBER = /^\$?[.,]?\d[\d.,_]*(?:k|c|¢|%|x|×|\$)?$/i;
const JOINED = /(@)|(?<=^[\d.,]+)(?=(?:yes|no)$)/i;
export const ORDER_ENDING = "in MARKET, then as NAME, or the end of the line";
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
