import { SETTLEMENT_STATUSES } from "../../core/chain/settlement.ts";
import { anyOf, OUTCOMES } from "../../core/terms.ts";
import { parseIso } from "../../core/time.ts";
import { FULL_PRICE, type Price, type Size } from "../../core/units.ts";
import type { Declarations } from "./declarations.ts";
import {
  corrected,
  countOf,
  type DecimalRule,
  decimalIn,
  eachOf,
  entriesOf,
  isPartyName,
  itemsOf,
  LEVEL_SIZE,
  LineWords,
  MOMENT_RULE,
  oneOf,
  PRICE,
  ruleText,
  SHARES,
  USDC,
  units,
  valuesBy,
} from "./fields.ts";
import { linesAt, orderStateAt, readTradeLine } from "./order-line.ts";
import { all, type Entry, isNothing, meaning, type Node, type TextNode } from "./page.ts";
import type {
  BalanceState,
  Expectation,
  ExpectationKind,
  ExpectationOf,
  LevelLine,
  QuoteState,
} from "./parts.ts";
import type { Source } from "./scenario-files.ts";

/** What one kind of expectation is called, and what the reference page says of it. */
export interface ExpectationInfo {
  readonly key: string;
  /** What coverage calls it, where that is not its key. */
  readonly name?: string;
  /** How it is written, in backquotes, and what it is of. */
  readonly form: string;
  readonly of: string;
  /** Whether only the control plane can answer it. */
  readonly isControl?: true;
}

/** Every kind of expectation. */
export const EXPECTATIONS: Readonly<Record<Expectation["kind"], ExpectationInfo>> = {
  book: {
    key: "book",
    form: "`book: { YES: { bids: [0.55 x 60 (2)], asks: [] } }`",
    of: "levels, best first",
  },
  trades: {
    key: "trades",
    form: "`trades: [bob SELL 40 YES @ 0.55 from alice MERGE CONFIRMED]`",
    of: "all since the last `trades`",
  },
  order: { key: "orders", form: "`orders: { bid: CANCELED 0/10 USER }`", of: "named orders" },
  balance: {
    key: "balances",
    form: "`balances: { alice: { USDC: 945, YES: { balance: 40, available: 40, reserved: 0, onChain: 40 } } }`",
    of: "accounts, and their wallets",
    isControl: true,
  },
  quote: {
    key: "quote",
    form: "`quote: { YES: { bid: 0.5, ask: none, mid: none, spread: none, last: 0.55 } }`",
    of: "best prices, and the last",
  },
  history: {
    key: "history",
    form: "`history: { YES: [2026-01-01T00:00:00Z 0.55] }`",
    of: "prices over time",
  },
  chain: {
    key: "chain",
    name: "chain: head, confirmed, pending",
    form: "`chain: { head: 3, confirmed: 1, pending: 0 }`",
    of: "the latest block, the latest that is final, how many transactions wait",
    isControl: true,
  },
  supply: {
    key: "chain",
    name: "chain: supply",
    form: "`chain: { supply: 100 }`",
    of: "sets on the chain; by market `{ rain: 100 }`, by outcome `{ YES: 60, NO: 100 }`",
    isControl: true,
  },
  settled: {
    key: "chain",
    name: "chain: settled",
    form: "`chain: { settled: { bid: [MINED, FAILED] } }`",
    of: "how far each fill of an order is settled; `MINED` alone: all of them",
    isControl: true,
  },
  stateHash: { key: "stateHash", form: '`stateHash: ""`', of: "everything", isControl: true },
  golden: { key: "golden", form: "`golden: auction.txt`", of: "all trades and books" },
};

/** What a step may say of its own outcome. */
export const OWN_EXPECTATIONS: Readonly<Record<"status" | "fills" | "rejects" | "answers", ExpectationInfo>> =
  {
    status: {
      key: "status",
      form: "beside an order: `status: MATCHED 40/50 FAK_REMAINDER`",
      of: "the order; also beside a cancel",
    },
    fills: {
      key: "fills",
      form: "beside an order: `fills: [BUY 40 YES @ 0.60 from bob MINT CONFIRMED]`",
      of: "what it met, an account or a named order; `in MARKET` before `from`; `MINT` or `MERGE`; how far settled",
    },
    rejects: {
      key: "rejects",
      form: "beside an order: `rejects: INVALID_TICK_SIZE`",
      of: "its refusal; also beside a cancel",
    },
    answers: {
      key: "answers",
      form: "beside a request: `answers: { total: 1, data: [{ price: 0.5 }] }`",
      of: "what the answer must hold, at least",
    },
  };

/** Reads the mapping of an `expect` step, or of a race's `after`. */
export function readExpectations({ files, declared }: Source, node: Node): readonly Expectation[] {
  const tokenOf = (key: TextNode) => ({ token: declared.tokenName(key) });
  const nameOf = (key: TextNode) => ({ name: declared.orderNamed(key) });
  return allBy(node, "what must be true", {
    book: eachBy("book", "books by outcome", tokenOf, sidesAt),
    trades: (value, key) => [{ kind: "trades", place: key.place, trades: tradesAt(value, declared) }],
    orders: eachBy("order", "orders by name", nameOf, (said) => ({ state: orderStateAt(said).value })),
    balances: (value) => readBalances(value, declared),
    quote: eachBy("quote", "prices by outcome", tokenOf, (prices) => ({
      state: valuesBy(entriesOf(prices, anyOf(Object.keys(QUOTE_READERS))), QUOTE_READERS) as QuoteState,
    })),
    history: eachBy("history", "histories by outcome", tokenOf, (list) => ({
      points: eachOf(itemsOf(list, "a list of times and prices"), pointAt),
    })),
    chain: (value) =>
      allBy(value, "what is true of the chain", {
        head: counted("head", BLOCK_NUMBER),
        confirmed: counted("confirmed", BLOCK_NUMBER),
        pending: counted("pending", TRANSACTIONS),
        supply: (said, key) => readSupply(said, key, declared),
        settled: eachBy("settled", "statuses by order", nameOf, (said) => ({ statuses: statusesAt(said) })),
      }),
    stateHash: readStateHash,
    golden: (value, key) => [
      { kind: "golden", place: key.place, file: files.pathAt(value, "may be missing") },
    ],
  });
}

type Read = (node: Node, key: TextNode) => readonly Expectation[];

/** The expectations of all entries of a mapping, in their order. */
const allBy = (
  node: Node,
  expected: string,
  readers: Readonly<Record<string, Read>>,
): readonly Expectation[] =>
  Object.values(valuesBy(entriesOf(node, expected), readers)).flatMap((each) => each ?? []);

/** Reads one for each entry of a mapping, at the place of its key: what the key names, and what is said of it. */
const eachBy =
  <Kind extends ExpectationKind, Name extends object>(
    kind: Kind,
    expected: string,
    ofKey: (key: TextNode) => Name,
    ofValue: (value: Node) => Omit<ExpectationOf<Kind>, "kind" | "place" | keyof Name>,
  ): Read =>
  (node) =>
    eachOf(entriesOf(node, expected), ({ key, value }) => {
      const [said, name] = all(
        () => ofValue(value),
        () => ofKey(key),
      );
      return { kind, place: key.place, ...name, ...said } as unknown as Expectation;
    });

const tradesAt = (node: Node, declared: Declarations): ExpectationOf<"trades">["trades"] =>
  linesAt(node, (line) => readTradeLine(line, declared)).value;

const LEVEL_RULE = "a level such as 0.55 x 60";
/** A level with another sign, or without blanks around it. */
const LIKE_A_LEVEL = /^(\S+?) ?[x×@:] ?(\S+?)( \(\d+\))?$/;
const COUNT = /^\((\d{1,9})\)$/;
const COUNT_RULE = "a number of orders such as (2), or the end of the level";

function sidesAt(node: Node): Pick<ExpectationOf<"book">, "bids" | "asks"> {
  const readers = { bids: levelsAt, asks: levelsAt };
  const { bids = null, asks = null } = valuesBy(entriesOf(node, "bids, asks or both"), readers);
  return { bids, asks };
}

/** A list of levels; for none the hint says how to write it. */
function levelsAt(node: Node): readonly LevelLine[] {
  const expected = "a list of levels";
  if (isNone(node)) throw node.unexpected(expected, [], "[] says that there are none");
  return eachOf(itemsOf(node, expected), levelAt);
}

const isNone = (node: Node): boolean => isNothing(node) || node.text === "none";

function levelAt(node: Node): LevelLine {
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

function readBalances(node: Node, declared: Declarations): readonly Expectation[] {
  return eachOf(entriesOf(node, "balances by account"), ({ key, value }) => {
    const isOfFlow = declared.hasFlow && isPartyName(key.text);
    const [account, states] = all(
      () => (isOfFlow ? key.text : declared.account(key)),
      () =>
        eachOf(entriesOf(value, "amounts by USDC, YES or NO"), (entry) => ({
          place: entry.key.place,
          state: balanceIn(entry, declared),
        })),
    );
    return states.map((each) => ({ kind: "balance" as const, account, ...each }));
  }).flat();
}

function balanceIn({ key, value }: Entry, declared: Declarations): BalanceState {
  const asset = declared.asset(key);
  const amount = units(asset === "USDC" ? USDC : SHARES);
  const none = { asset, amount: null, balance: null, available: null, reserved: null, onChain: null };
  if (value.kind === "text") return { ...none, amount: amount(value) };
  const readers = { balance: amount, available: amount, reserved: amount, onChain: amount };
  const parts = valuesBy(entriesOf(value, anyOf(Object.keys(readers))), readers);
  return { ...none, ...(parts as Partial<BalanceState>) };
}

const MID: DecimalRule = { what: "a mid", places: 5, least: 0, most: FULL_PRICE * 10 };

const priceOrNone = (rule: DecimalRule) => (node: Node) =>
  isNone(node) ? null : units({ ...rule, what: `none or ${rule.what}` })(node);

const QUOTE_READERS = {
  bid: priceOrNone(PRICE),
  ask: priceOrNone(PRICE),
  mid: priceOrNone(MID),
  spread: priceOrNone({ ...PRICE, what: "a spread" }),
  last: priceOrNone(PRICE),
};

const POINT_RULE = "a time and a price such as 2026-01-01T00:00:30Z 0.55";
const SECOND = 1000;

function pointAt(node: Node): ExpectationOf<"history">["points"][number] {
  const line = new LineWords(node, POINT_RULE);
  const time = line.take(POINT_RULE);
  const word = line.take(ruleText(PRICE));
  line.requireEnd();
  const at = parseIso(time.text);
  if (at === null || at % SECOND !== 0) throw time.unexpected(`${MOMENT_RULE}, a whole second`);
  return { t: at / SECOND, price: units<Price>(PRICE)(word) };
}

const MAX_COUNT = 1_000_000_000;
const BLOCK_NUMBER = countOf("a block's number", 0, MAX_COUNT);
const TRANSACTIONS = countOf("a number of transactions", 0, MAX_COUNT);

const counted =
  (part: ExpectationOf<"chain">["part"], rule: DecimalRule): Read =>
  (node, key) => [{ kind: "chain", place: key.place, part, count: units(rule)(node) }];

/** Reads `100`, `{ rain: 100 }`, `{ YES: 60, NO: 100 }` or `{ rain YES: 60 }`. */
function readSupply(node: Node, key: TextNode, declared: Declarations): readonly Expectation[] {
  const sizeAt = units<Size>(SHARES);
  if (node.kind === "text") {
    const market = declared.market(node, null);
    return [{ kind: "supply", place: key.place, market, outcome: null, size: sizeAt(node) }];
  }
  const issued = (of: TextNode) => issuedOf(of, declared);
  return eachBy("supply", "shares by market or outcome", issued, (said) => ({ size: sizeAt(said) }))(
    node,
    key,
  );
}

/** Of `rain`, whole sets of both outcomes; of `YES` or `rain YES`, one outcome. */
function issuedOf(
  key: TextNode,
  declared: Declarations,
): Pick<ExpectationOf<"supply">, "market" | "outcome"> {
  const name = key.text.trim();
  const isToken = name.includes(" ") || OUTCOMES.some((outcome) => outcome === name);
  if (isToken) return declared.tokenName(key);
  if (declared.hasMarket(name)) return { market: declared.market(key, name), outcome: null };
  throw key.unknown("market or outcome", [...(declared.markets ?? []), ...OUTCOMES], null, name);
}

function statusesAt(said: Node): ExpectationOf<"settled">["statuses"] {
  const status = oneOf(SETTLEMENT_STATUSES);
  return said.kind === "text" ? status(said) : eachOf(itemsOf(said, "a status, or a list of them"), status);
}

const HASH = /^(?:(?:v2:)?[\da-f]{64})?$/;

/** Reads `stateHash: "..."`; nothing is to be written by `--update`. */
function readStateHash(value: Node, key: TextNode): readonly Expectation[] {
  if (value.kind !== "text" || !(isNothing(value) || HASH.test(value.text)))
    throw value.unexpected("v2: and 64 hex digits, or nothing for --update to write them");
  const { page, at, end, isPlain } = value;
  const quote = isPlain ? 0 : 1;
  const before = page.text[at - 1] === ":" ? ' "' : '"';
  return [
    {
      kind: "stateHash",
      place: key.place,
      hash: isNothing(value) ? "" : value.text,
      range: [page.originalOffset(at + quote), page.originalOffset(end - quote)],
      around: isPlain ? [before, '"'] : ["", ""],
    },
  ];
}
