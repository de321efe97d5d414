import { LEVEL_SIZE, PRICE, priceOf, sizeOf } from "./amounts.ts";
import { type ExpectationSource, saidEntries } from "./expectation-source.ts";
import { described, entriesBy, itemsOf } from "./fields.ts";
import { LineWords } from "./line-words.ts";
import type { LevelLine } from "./looks.ts";
import type { Page } from "./page.ts";
import { readTokenName } from "./token-name.ts";
import { corrected, decimalIn, ruleText, textOf } from "./values.ts";
import { type Entry, isNothing, type Node } from "./yaml-tree.ts";

const LEVEL_RULE = "a level such as 0.55 x 60";
/** A level with another sign, or without blanks around it. */
const LIKE_A_LEVEL = /^(\S+?) ?[x×@:] ?(\S+?)( \(\d+\))?$/;
const COUNT = /^\((\d{1,9})\)$/;

/** Reads `book: { YES: { bids: [0.55 x 60 (2)], asks: [] } }`. */
export function readBooks({ file, declared, into }: ExpectationSource, { value }: Entry): void {
  const { page } = file;
  for (const { key, value: sides } of saidEntries(page, value, "books by outcome")) {
    const token = readTokenName(page, key, declared);
    const { bids, asks } = entriesBy(page, saidEntries(page, sides, "bids, asks or both"), ["bids", "asks"]);
    const book = { bids: levelsOf(page, bids), asks: levelsOf(page, asks) };
    if (token !== null) into.push({ kind: "book", place: page.placeOf(key), token, ...book });
  }
}

function levelsOf(page: Page, entry: Entry | undefined): readonly LevelLine[] | null {
  const items = entry === undefined ? null : listOf(page, entry.value);
  return items === null ? null : items.flatMap((item) => levelOf(page, item) ?? []);
}

/** The items of a list of levels, or null with a problem; who means none is told how to say so. */
function listOf(page: Page, node: Node): readonly Node[] | null {
  const expected = "a list of levels";
  const isNone = isNothing(node) || (node.kind === "text" && node.value === "none");
  if (!isNone) return itemsOf(page, node, expected);
  return page.wrong(
    node.start,
    `expected ${expected}, found ${described(node)}`,
    "[] says that there are none",
  );
}

function levelOf(page: Page, node: Node): LevelLine | null {
  if (textOf(page, node, LEVEL_RULE) === null || node.kind !== "text") return null;
  const line = new LineWords(page, node);
  const meant = meantLevel(node.value);
  if (meant !== null) return page.unexpected(node.start, LEVEL_RULE, node.value, [], meant);
  const priceWord = line.take(LEVEL_RULE);
  const isJoined = priceWord !== null && priceOf(priceWord.text) === null && line.peek()?.text !== "x";
  if (isJoined) return page.unexpected(priceWord.at, LEVEL_RULE, node.value);
  const sign = priceWord && line.demand("x");
  const sizeWord = sign && line.take(ruleText(LEVEL_SIZE));
  if (priceWord === null || sizeWord === null) return null;
  const price = priceOf(priceWord.text);
  const size = sizeOf(sizeWord.text, LEVEL_SIZE);
  if (price === null) return page.unexpected(priceWord.at, ruleText(PRICE), priceWord.text);
  if (size === null) return page.unexpected(sizeWord.at, ruleText(LEVEL_SIZE), sizeWord.text);
  const orders = ordersOf(line);
  return orders === undefined || !line.isOver() ? null : { price, size, orders };
}

/** A level that is written as others write it: `0.55x60`, `60 @ 0.55`; null for one that is right, or like none. */
function meantLevel(text: string): string | null {
  const said = text.trim().replace(/\s+/g, " ");
  const [, first = "", second = "", count = ""] = LIKE_A_LEVEL.exec(said) ?? [];
  const isSwapped = decimalIn(first, PRICE) === null && decimalIn(second, PRICE) !== null;
  const price = corrected(isSwapped ? second : first, PRICE);
  const size = corrected(isSwapped ? first : second, LEVEL_SIZE);
  const meant = `${price} x ${size}${count}`;
  return price === null || size === null || meant === said ? null : meant;
}

/** How many orders, where it is said; undefined with a problem when it is no number in brackets. */
function ordersOf(line: LineWords): number | null | undefined {
  if (line.peek() === undefined) return null;
  const expected = "a number of orders such as (2), or the end of the level";
  const word = line.take(expected);
  const count = Number(COUNT.exec(word?.text ?? "")?.[1] ?? 0);
  if (word === null || count > 0) return count;
  line.page.unexpected(word.at, expected, word.text);
  return undefined;
}
