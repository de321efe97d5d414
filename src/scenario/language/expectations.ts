import type { SettlementStatus } from "../../core/chain/settlement.ts";
import type { Outcome } from "../../core/terms.ts";
import { parseIso } from "../../core/time.ts";
import { FULL_PRICE, type Price, type Size } from "../../core/units.ts";
import { type Declarations, readTokenName } from "./declarations.ts";
import {
  corrected,
  type DecimalRule,
  decimalIn,
  described,
  entriesBy,
  isPartyName,
  itemsOf,
  LEVEL_SIZE,
  MOMENT_RULE,
  mappingOf,
  notThis,
  oneOf,
  PRICE,
  priceOf,
  ruleText,
  SHARES,
  sizeOf,
  textOf,
  USDC,
  unitsAt,
} from "./fields.ts";
import { LineWords } from "./line-words.ts";
import { orderStateAt, readLines, readTradeLine } from "./own-expectations.ts";
import { type Entry, isNothing, type Node, orOf, type Page, type TextNode } from "./page.ts";
import type {
  BalanceState,
  ChainExpectation,
  Expectation,
  HashExpectation,
  HistoryExpectation,
  LevelLine,
  QuoteState,
  SettledExpectation,
} from "./scenario.ts";
import type { OpenFile, ScenarioFiles } from "./scenario-files.ts";
import { OUTCOMES, SETTLEMENT_STATUSES } from "./vocabulary.ts";

type Reader = (source: ExpectationSource, entry: Entry) => void;

const READERS: ReadonlyMap<string, Reader> = new Map([
  ["book", readBooks],
  ["trades", readTrades],
  ["orders", readOrders],
  ["balances", readBalances],
  ["quote", readQuotes],
  ["history", readHistories],
  ["chain", readChain],
  ["stateHash", readStateHash],
  ["golden", readGolden],
]);

/** Reads the mapping of an `expect` step, or of a race's `after`. */
export function readExpectations(
  source: Omit<ExpectationSource, "into">,
  { value }: Pick<Entry, "value">,
): readonly Expectation[] {
  const { page } = source.file;
  const into: Expectation[] = [];
  for (const entry of saidEntries(page, value, "what must be true")) {
    const { key } = entry;
    const read = READERS.get(key.value);
    if (read !== undefined) read({ ...source, into }, entry);
    else page.unknown(key.start, "key", key.value, READERS.keys());
  }
  return into;
}

function readTrades({ file, declared, into }: ExpectationSource, { key, value }: Entry): void {
  const lines = readLines(file, value, (line) => readTradeLine(line, declared));
  if (lines !== null) into.push({ kind: "trades", place: file.page.placeOf(key), trades: lines.value });
}

function readOrders({ file, declared, into }: ExpectationSource, { value }: Entry): void {
  const { page } = file;
  for (const { key, value: said } of saidEntries(page, value, "orders by name")) {
    const state = orderStateAt(file, said);
    const name = declared.orderNamed(page, key.start, key.value);
    if (name === null || state === null) continue;
    into.push({ kind: "order", place: page.placeOf(key), name, state: state.value });
  }
}

/** Where expectations are read, and where they go. */
interface ExpectationSource {
  readonly file: OpenFile;
  readonly files: ScenarioFiles;
  readonly declared: Declarations;
  readonly into: Expectation[];
}

/** The entries of a mapping that says something; what is none, or empty, is a problem. */
function saidEntries(page: Page, node: Node, expected: string): readonly Entry[] {
  const mapping = mappingOf(page, node, `${expected}, a mapping`);
  if (mapping?.entries.length === 0) page.wrong(node.start, `expected ${expected}, found an empty mapping`);
  return mapping?.entries ?? [];
}

const LEVEL_RULE = "a level such as 0.55 x 60";
/** A level with another sign, or without blanks around it. */
const LIKE_A_LEVEL = /^(\S+?) ?[x×@:] ?(\S+?)( \(\d+\))?$/;
const COUNT = /^\((\d{1,9})\)$/;

/** Reads `book: { YES: { bids: [0.55 x 60 (2)], asks: [] } }`. */
function readBooks({ file, declared, into }: ExpectationSource, { value }: Entry): void {
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

const PARTS = ["balance", "available", "reserved", "onChain"] as const;

/** Reads `balances: { alice: { USDC: 945, YES: { available: 40, reserved: 0 } } }`. */
function readBalances({ file, declared, into }: ExpectationSource, { value }: Entry): void {
  const { page } = file;
  for (const { key, value: assets } of saidEntries(page, value, "balances by account")) {
    const isOfFlow = declared.hasFlow && isPartyName(key.value);
    const isKnown = isOfFlow || declared.demandAccount(page, key.start, key.value);
    for (const entry of saidEntries(page, assets, "amounts by USDC, YES or NO")) {
      const state = balanceOf(page, entry, declared);
      if (state === null || !isKnown) continue;
      into.push({ kind: "balance", place: page.placeOf(entry.key), account: key.value, state });
    }
  }
}

/** An asset, `USDC` or the name of a token; null with a problem. */
const readAsset = (page: Page, { key }: Entry, declared: Declarations): BalanceState["asset"] | null =>
  key.value === "USDC" ? "USDC" : readTokenName(page, key, declared, ["USDC"]);

function balanceOf(page: Page, entry: Entry, declared: Declarations): BalanceState | null {
  const asset = readAsset(page, entry, declared);
  if (asset === null) return null;
  const rule = asset === "USDC" ? USDC : SHARES;
  const state = { asset, amount: null, balance: null, available: null, reserved: null, onChain: null };
  if (entry.value.kind === "text") return { ...state, amount: unitsAt(page, entry.value, rule) };
  const parts = entriesBy(page, saidEntries(page, entry.value, orOf(PARTS)), PARTS);
  const unitsOf = (part: Entry | undefined): number | null =>
    part === undefined ? null : unitsAt(page, part.value, rule);
  return {
    asset,
    amount: null,
    balance: unitsOf(parts.balance),
    available: unitsOf(parts.available),
    reserved: unitsOf(parts.reserved),
    onChain: unitsOf(parts.onChain),
  };
}

const MID: DecimalRule = { what: "a mid", places: 5, least: 0, most: FULL_PRICE * 10 };
const SPREAD: DecimalRule = { ...PRICE, what: "a spread" };
const QUOTE_RULES = { bid: PRICE, ask: PRICE, mid: MID, spread: SPREAD, last: PRICE } as const;
const NAMES = ["bid", "ask", "mid", "spread", "last"] as const;
const POINT_RULE = "a time and a price such as 2026-01-01T00:00:30Z 0.55";
const SECOND = 1000;

type Point = HistoryExpectation["points"][number];

/** Reads `quote: { YES: { bid: 0.5, ask: 0.6, mid: 0.55, spread: 0.1, last: none } }`. */
function readQuotes({ file, declared, into }: ExpectationSource, { value }: Entry): void {
  const { page } = file;
  for (const { key, value: prices } of saidEntries(page, value, "prices by outcome")) {
    const token = readTokenName(page, key, declared);
    const fields = entriesBy(page, saidEntries(page, prices, "bid, ask, mid, spread or last"), NAMES);
    const state: Partial<Record<(typeof NAMES)[number], number | null>> = {};
    for (const name of NAMES) {
      const entry: Entry | undefined = fields[name];
      if (entry !== undefined) state[name] = priceAt(page, entry.value, QUOTE_RULES[name]);
    }
    if (token !== null)
      into.push({ kind: "quote", place: page.placeOf(key), token, state: state as QuoteState });
  }
}

/** A price in its units; null for none, or with a problem. */
function priceAt(page: Page, node: Node, rule: DecimalRule): number | null {
  const isNone = isNothing(node) || (node.kind === "text" && node.value === "none");
  return isNone ? null : unitsAt(page, node, { ...rule, what: `none or ${rule.what}` });
}

/** Reads `history: { YES: ["2026-01-01T00:00:30Z 0.55"] }`. */
function readHistories({ file, declared, into }: ExpectationSource, { value }: Entry): void {
  const { page } = file;
  for (const { key, value: list } of saidEntries(page, value, "histories by outcome")) {
    const token = readTokenName(page, key, declared);
    const items = itemsOf(page, list, "a list of times and prices") ?? [];
    const points = items.flatMap((item) => pointOf(page, item) ?? []);
    if (token !== null) into.push({ kind: "history", place: page.placeOf(key), token, points });
  }
}

function pointOf(page: Page, node: Node): Point | null {
  if (textOf(page, node, POINT_RULE) === null || node.kind !== "text") return null;
  const line = new LineWords(page, node);
  const time = line.take(POINT_RULE);
  const word = time && line.take(ruleText(PRICE));
  if (time === null || word === null || !line.isOver()) return null;
  const at = parseIso(time.text);
  if (at === null || at % SECOND !== 0)
    return page.unexpected(time.at, `${MOMENT_RULE}, a whole second`, time.text);
  const price: Price | null = priceOf(word.text);
  if (price === null) return page.unexpected(word.at, ruleText(PRICE), word.text);
  return { t: at / SECOND, price };
}

const COUNTS = ["head", "confirmed", "pending"] as const;
const CHAIN_RULES: Readonly<Record<ChainExpectation["part"], DecimalRule>> = {
  head: { what: "a block's number", places: 0, least: 0, most: 1_000_000_000 },
  confirmed: { what: "a block's number", places: 0, least: 0, most: 1_000_000_000 },
  pending: { what: "a number of transactions", places: 0, least: 0, most: 1_000_000_000 },
};

/** Reads `chain: { head: 3, confirmed: 1, pending: 0, supply: 100, settled: { bid: [MINED] } }`. */
function readChain(source: ExpectationSource, { value }: Entry): void {
  const { file, into } = source;
  const { page } = file;
  const parts = entriesBy(page, saidEntries(page, value, "what is true of the chain"), [
    ...COUNTS,
    "supply",
    "settled",
  ]);
  for (const part of COUNTS) {
    const entry: Entry | undefined = parts[part];
    const count = entry === undefined ? null : unitsAt(page, entry.value, CHAIN_RULES[part]);
    if (entry !== undefined && count !== null)
      into.push({ kind: "chain", place: page.placeOf(entry.key), part, count });
  }
  if (parts.supply !== undefined) readSupply(source, parts.supply);
  if (parts.settled !== undefined) readSettled(source, parts.settled);
}

/** Reads `100`, `{ rain: 100 }`, `{ YES: 60, NO: 100 }` or `{ rain YES: 60 }`. */
function readSupply({ file, declared, into }: ExpectationSource, { key, value }: Entry): void {
  const { page } = file;
  const push = (at: TextNode, node: Node, of: Issue | null): void => {
    const size = unitsAt(page, node, SHARES) as Size | null;
    if (of !== null && size !== null) into.push({ kind: "supply", place: page.placeOf(at), ...of, size });
  };
  if (value.kind === "text") {
    if (declared.hasMarket(null)) push(key, value, { market: null, outcome: null });
    else declared.noMarket(page, value.start, null);
    return;
  }
  for (const entry of saidEntries(page, value, "shares by market or outcome")) {
    push(entry.key, entry.value, issueOf(page, entry.key, declared));
  }
}

/** What a market has issued: of one outcome, or whole sets of both. */
interface Issue {
  readonly market: string | null;
  readonly outcome: Outcome | null;
}

/** Of `rain`, `YES` or `rain YES`; null with a problem. */
function issueOf(page: Page, key: TextNode, declared: Declarations): Issue | null {
  const name = key.value.trim();
  const isToken = name.includes(" ") || OUTCOMES.some((outcome) => outcome === name);
  if (isToken) return readTokenName(page, key, declared);
  if (declared.hasMarket(name)) return { market: declared.marketName(name), outcome: null };
  return page.unknown(key.start, "market or outcome", name, [...(declared.markets ?? []), ...OUTCOMES]);
}

/** Reads `{ bid: [MINED, CONFIRMED], ask: FAILED }`. */
function readSettled({ file, declared, into }: ExpectationSource, { value }: Entry): void {
  const { page } = file;
  for (const { key, value: said } of saidEntries(page, value, "statuses by order")) {
    const statuses = statusesAt(page, said);
    const name = declared.orderNamed(page, key.start, key.value);
    if (name === null || statuses === null) continue;
    into.push({ kind: "settled", place: page.placeOf(key), name, statuses });
  }
}

function statusesAt(page: Page, node: Node): SettledExpectation["statuses"] | null {
  if (node.kind === "text") return oneOf(page, node, SETTLEMENT_STATUSES);
  const items = itemsOf(page, node, "a status, or a list of them");
  if (items === null) return null;
  const statuses = items.map((item) => oneOf<SettlementStatus>(page, item, SETTLEMENT_STATUSES));
  return statuses.every((status) => status !== null) ? statuses : null;
}

const HASH = /^(?:v2:)?[\da-f]{64}$/;

/** Reads `stateHash: "..."`; nothing is to be written by `--update`. */
function readStateHash({ file, into }: ExpectationSource, { key, value }: Entry): void {
  const { page } = file;
  const isHash = value.kind === "text" && (isNothing(value) || value.value === "" || HASH.test(value.value));
  if (!isHash) {
    notThis(page, value, "v2: and 64 hex digits, or nothing for --update to write them");
    return;
  }
  const hash = isNothing(value) ? "" : value.value;
  into.push({ kind: "stateHash", place: page.placeOf(key), hash, ...gapOf(page, value) });
}

/** Where a new hash goes. */
function gapOf(
  { source }: Page,
  { start, end, isPlain }: TextNode,
): Pick<HashExpectation, "range" | "around"> {
  const inner = isPlain ? [start, end] : [start + 1, end - 1];
  const [from = 0, to = 0] = inner.map((offset) => source.originalOffset(offset));
  const touches = source.text[start - 1] === ":";
  return { range: [from, to], around: isPlain ? [touches ? ' "' : '"', '"'] : ["", ""] };
}

/** Reads `golden: goldens/auction.txt`, a file that `--update` writes. */
function readGolden({ file, files, into }: ExpectationSource, { key, value }: Entry): void {
  const path = files.pathAt(file, value, "may be missing");
  if (path !== null) into.push({ kind: "golden", place: file.page.placeOf(key), file: path });
}
