import { MID_PLACES } from "../../api/order-book.ts";
import { SETTLEMENT_STATUSES, type SettlementStatus } from "../../core/chain/settlement.ts";
import { anyOf, OUTCOMES, type Outcome } from "../../core/terms.ts";
import { parseIso } from "../../core/time.ts";
import { FULL_PRICE, type Price, type Size } from "../../core/units.ts";
import type { Declarations, TokenName } from "./declarations.ts";
import {
  corrected,
  type DecimalRule,
  decimal,
  decimalIn,
  entriesOf,
  itemsOf,
  LEVEL_SIZE,
  LineWords,
  MOMENT_RULE,
  oneOf,
  PRICE,
  readEach,
  ruleText,
  SHARES,
  USDC,
  units,
  valuesBy,
} from "./fields.ts";
import { linesAt, orderStateAt, readTradeLine } from "./order-line.ts";
import { isNothing, type MappingEntry, meaning, type Node, type Place, readAll } from "./page.ts";
import { isScenarioFile, type Source } from "./scenario-files.ts";

const CHAIN_PARTS = ["head", "confirmed", "pending"] as const;

/** Declaration of one kind of expectation; `Content` is the fields of such an expectation. */
export interface ExpectationInfo<Content extends object = object> {
  /** Its key in a file, if different from its kind. */
  readonly key?: string;
  /** Its keys within `chain`, if that is its key. */
  readonly parts?: readonly string[];
  /** Set if it needs the control plane. */
  readonly isControl?: true;
  readonly read: Read<Content>;
}

/** Reads the expectations at a key, each with its place. */
type Read<Content> = (
  value: Node,
  key: Node,
  source: Source,
) => readonly (Readonly<Content> & { readonly place: Place })[];

/** Reads one expectation from each entry of a mapping, placed at the entry's key. */
const eachBy =
  <Name extends object, Value extends object>(
    expected: string,
    ofKey: (key: Node, source: Source) => Name,
    ofValue: (value: Node, source: Source) => Value,
  ): Read<Name & Value> =>
  (node, _key, source) =>
    readEach(entriesOf(node, expected), ({ key, value }) => {
      const [content, name] = readAll(
        () => ofValue(value, source),
        () => ofKey(key, source),
      );
      return { place: key.place, ...name, ...content };
    });

const tokenOf = (key: Node, { declared }: Source) => ({ token: declared.tokenName(key) });
const orderOf = (key: Node, { declared }: Source) => ({ name: declared.orderNamed(key) });

/** Every kind of expectation: its reader and its needs. docs/reference/scenario-language.md describes each. */
export const EXPECTATIONS = {
  /** Price levels of a token's book, best first; a side that is null is not compared. */
  book: { read: eachBy("books by outcome", tokenOf, sidesAt) },
  trades: {
    read: (value, { place }, { declared }) => [
      { place, trades: linesAt(value, (line) => readTradeLine(line, declared)).value },
    ],
  },
  order: {
    key: "orders",
    read: eachBy("orders by name", orderOf, (node) => ({ state: orderStateAt(node).value })),
  },
  balance: {
    key: "balances",
    isControl: true,
    read: (value, _key, { declared }) => readBalances(value, declared),
  },
  quote: {
    read: eachBy("prices by outcome", tokenOf, (prices) => ({
      state: valuesBy(entriesOf(prices, anyOf(Object.keys(QUOTE_READERS))), QUOTE_READERS),
    })),
  },
  /** Times in Unix seconds. */
  history: {
    read: eachBy("histories by outcome", tokenOf, (list) => ({
      points: readEach(itemsOf(list, "a list of times and prices"), pointAt),
    })),
  },
  chain: {
    parts: CHAIN_PARTS,
    isControl: true,
    read: (value, { place, text }) => {
      const count = units(text === "pending" ? TRANSACTIONS : BLOCK_NUMBER)(value);
      return [{ place, part: text as (typeof CHAIN_PARTS)[number], count }];
    },
  },
  /** Number of shares of an outcome on the chain; of sets if the outcome is null. */
  supply: {
    key: "chain",
    parts: ["supply"],
    isControl: true,
    read: readSupply,
  },
  /** Settlement status of an order's fills: one for all of them, or one for each in order. */
  settled: {
    key: "chain",
    parts: ["settled"],
    isControl: true,
    read: eachBy("statuses by order", orderOf, (node) => ({ statuses: statusesAt(node) })),
  },
  stateHash: { isControl: true, read: readStateHash },
  /** An absolute path. */
  golden: {
    read: (value, { place }, { files }) => {
      const file = files.pathAt(value, "may be missing");
      // `--update` would overwrite the scenario.
      if (isScenarioFile(file)) throw value.unexpected("a text file such as auction.txt");
      return [{ place, file }];
    },
  },
} satisfies Readonly<Record<string, ExpectationInfo>>;

type Rows = typeof EXPECTATIONS;
export type ExpectationKind = keyof Rows;
export const expectationInfo = (kind: ExpectationKind): ExpectationInfo => EXPECTATIONS[kind];
export type ExpectationOf<Kind extends ExpectationKind> = { readonly kind: Kind } & ReturnType<
  Rows[Kind]["read"]
>[number];
export type Expectation = { [Kind in ExpectationKind]: ExpectationOf<Kind> }[ExpectationKind];

/** Keys beside a step that expect something of it. */
export const OWN_EXPECTATIONS = ["status", "fills", "rejects", "answers"] as const;

export function readExpectations(source: Source, node: Node): readonly Expectation[] {
  const readers: Record<string, Reader> = {};
  const chain: Record<string, Reader> = {};
  for (const [kind, { key = kind, parts, read }] of Object.entries<ExpectationInfo>(EXPECTATIONS)) {
    const reader: Reader = (value, at) =>
      read(value, at, source).map((content) => ({ kind, ...content }) as Expectation);
    for (const part of parts ?? []) chain[part] = reader;
    readers[key] = parts === undefined ? reader : (value) => allBy(value, "expectations of the chain", chain);
  }
  return allBy(node, "expectations by kind", readers);
}

type Reader = (node: Node, key: Node) => readonly Expectation[];

const allBy = (
  node: Node,
  expected: string,
  readers: Readonly<Record<string, Reader>>,
): readonly Expectation[] =>
  Object.values(valuesBy(entriesOf(node, expected), readers)).flatMap((each) => each ?? []);

const LEVEL_RULE = "a level such as 0.55 x 60";
/** A level with another sign, or without spaces around it. */
const LIKE_A_LEVEL = /^(\S+?) ?[x×@:] ?(\S+?)( \(\d+\))?$/;
const COUNT = /^\((\d{1,9})\)$/;
const COUNT_RULE = "a number of orders such as (2), or the end of the level";

function sidesAt(node: Node) {
  const readers = { bids: levelsAt, asks: levelsAt };
  const { bids = null, asks = null } = valuesBy(entriesOf(node, "bids, asks or both"), readers);
  return { bids, asks };
}

/** Reads a list of levels; for `none`, the hint is `[]`. */
function levelsAt(node: Node) {
  const expected = "a list of levels";
  if (isNone(node)) throw node.unexpected(expected, [], "[] is an empty list");
  return readEach(itemsOf(node, expected), levelAt);
}

const isNone = (node: Node): boolean => isNothing(node) || node.text === "none";

/** A price level; `orders` is null if the file does not give the count. */
export type LevelLine = Readonly<ReturnType<typeof levelAt>>;

function levelAt(node: Node) {
  const line = new LineWords(node, LEVEL_RULE);
  const meant = meantLevel(node.text);
  if (meant !== null) throw node.unexpected(LEVEL_RULE, [], meaning(meant));
  const [first, sign] = line.left;
  const isJoined = first !== undefined && decimalIn(first.text, PRICE) === null && sign?.text !== "x";
  if (isJoined) throw node.unexpected(LEVEL_RULE);
  const price = line.units<Price>(PRICE);
  line.require("x");
  const size = line.units<Size>(LEVEL_SIZE);
  if (line.peek() === undefined) return { price, size, orders: null };
  const count = line.take(COUNT_RULE);
  const orders = Number(COUNT.exec(count.text)?.[1] ?? 0);
  if (orders === 0) throw count.unexpected(COUNT_RULE);
  line.requireEnd();
  return { price, size, orders };
}

/** Returns the level that was meant by `0.55x60` or `60 @ 0.55`; null if the text is valid, or like no level. */
function meantLevel(text: string): string | null {
  const given = text.trim().replace(/\s+/g, " ");
  const [, first = "", second = "", count = ""] = LIKE_A_LEVEL.exec(given) ?? [];
  const isSwapped = decimalIn(first, PRICE) === null && decimalIn(second, PRICE) !== null;
  const price = corrected(isSwapped ? second : first, PRICE);
  const size = corrected(isSwapped ? first : second, LEVEL_SIZE);
  const meant = `${price} x ${size}${count}`;
  return price === null || size === null || meant === given ? null : meant;
}

function readBalances(node: Node, declared: Declarations) {
  return readEach(entriesOf(node, "balances by account"), ({ key, value }) => {
    const stateIn = (entry: MappingEntry) => ({ place: entry.key.place, state: balanceIn(entry, declared) });
    const [account, states] = readAll(
      () => declared.accountOrStranger(key),
      () => readEach(entriesOf(value, "amounts by USDC, YES or NO"), stateIn),
    );
    return states.map((each) => ({ account, ...each }));
  }).flat();
}

/** Expected balance of one asset, in its own units; undefined fields are not compared. */
interface BalanceState
  extends Readonly<Partial<Record<"balance" | "available" | "reserved" | "onChain", number | undefined>>> {
  readonly asset: "USDC" | TokenName;
  /** A single amount: it must equal the whole balance or the available balance. */
  readonly amount?: number;
}

function balanceIn({ key, value }: MappingEntry, declared: Declarations): BalanceState {
  const asset = declared.asset(key);
  const amount = units(asset === "USDC" ? USDC : SHARES);
  if (value.kind === "text") return { asset, amount: amount(value) };
  const readers = { balance: amount, available: amount, reserved: amount, onChain: amount };
  return { asset, ...valuesBy(entriesOf(value, anyOf(Object.keys(readers))), readers) };
}

const MID = decimal("a mid", 0, FULL_PRICE * 10, MID_PLACES);

const priceOrNone = (rule: DecimalRule) => (node: Node) =>
  isNone(node) ? null : units({ ...rule, what: `none or ${rule.what}` })(node);

/** Undefined is not compared; null means that there is none. The mid is in units of 0.00001 USDC. */
const QUOTE_READERS = {
  bid: priceOrNone(PRICE),
  ask: priceOrNone(PRICE),
  mid: priceOrNone(MID),
  spread: priceOrNone({ ...PRICE, what: "a spread" }),
  last: priceOrNone(PRICE),
};

const POINT_RULE = "a time and a price such as 2026-01-01T00:00:30Z 0.55";
const SECOND = 1000;

function pointAt(node: Node) {
  const line = new LineWords(node, POINT_RULE);
  const time = line.take(POINT_RULE);
  const word = line.take(ruleText(PRICE));
  line.requireEnd();
  const at = parseIso(time.text);
  if (at === null || at % SECOND !== 0) throw time.unexpected(`${MOMENT_RULE}, a whole second`);
  return { t: at / SECOND, price: units<Price>(PRICE)(word) };
}

const MAX_COUNT = 1_000_000_000;
const BLOCK_NUMBER = decimal("a block's number", 0, MAX_COUNT);
const TRANSACTIONS = decimal("a number of transactions", 0, MAX_COUNT);

/** Reads `100`, `{ rain: 100 }`, `{ YES: 60, NO: 100 }` or `{ rain YES: 60 }`. */
function readSupply(node: Node, key: Node, source: Source): ReturnType<typeof supplyBy> {
  if (node.kind !== "text") return supplyBy(node, key, source);
  const market = source.declared.market(node, null);
  return [{ place: key.place, market, outcome: null, ...sharesAt(node) }];
}

const sharesAt = (node: Node) => ({ size: units<Size>(SHARES)(node) });
const supplyBy = eachBy("shares by market or outcome", issuedOf, sharesAt);

/** Reads `rain` as sets of both outcomes, `YES` or `rain YES` as one outcome. */
function issuedOf(key: Node, { declared }: Source): { market: string | null; outcome: Outcome | null } {
  const name = key.text.trim();
  const isToken = name.includes(" ") || OUTCOMES.some((outcome) => outcome === name);
  if (isToken) return declared.tokenName(key);
  if (declared.hasMarket(name)) return { market: declared.market(key, name), outcome: null };
  throw key.unknown("market or outcome", [...(declared.markets ?? []), ...OUTCOMES], null, name);
}

function statusesAt(node: Node): SettlementStatus | readonly SettlementStatus[] {
  const status = oneOf(SETTLEMENT_STATUSES);
  return node.kind === "text" ? status(node) : readEach(itemsOf(node, "a status, or a list of them"), status);
}

const HASH = /^(?:(?:v2:)?[\da-f]{64})?$/;

/** Reads `stateHash: "..."`; an empty one is filled in by `--update`. */
function readStateHash(value: Node, { place }: Node) {
  if (value.kind !== "text" || !(isNothing(value) || HASH.test(value.text)))
    throw value.unexpected("v2: and 64 hex digits, or nothing for --update to write them");
  const { page, at, end, isPlain } = value;
  const start = page.place(at);
  const [first, last] = [at - start.column + 1, isPlain ? at : at + 1];
  /** Its line up to its end, which `--update` replaces. */
  const before = page.text.slice(first, end);
  /** The same with a new hash in between: in quotes, after a space if it would touch the colon. */
  const opening = page.text[at - 1] === ":" ? ' "' : '"';
  const head = page.text.slice(first, last);
  const around = isPlain ? [head + opening, '"'] : [head, page.text.slice(end - 1, end)];
  return [{ place, hash: isNothing(value) ? "" : value.text, start, before, around }];
}
