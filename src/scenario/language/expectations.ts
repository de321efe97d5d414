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
  MOMENT_RULE,
  notThis,
  oneOf,
  PRICE,
  ruleText,
  SHARES,
  textOf,
  USDC,
  unitsAt,
  unitsIn,
  valuesBy,
} from "./fields.ts";
import { LineWords } from "./line-words.ts";
import { linesAt, orderStateAt, readTradeLine } from "./own-expectations.ts";
import { all, attempt, type Entry, isNothing, type Node, orOf, type Page, type TextNode } from "./page.ts";
import type {
  BalanceState,
  Expectation,
  ExpectationOf,
  LevelLine,
  OwnExpectations,
  QuoteState,
  RequestStep,
} from "./scenario.ts";
import type { Source } from "./scenario-files.ts";
import { OUTCOMES, SETTLEMENT_STATUSES } from "./vocabulary.ts";

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
export const OWN_EXPECTATIONS: Readonly<
  Record<keyof OwnExpectations | Extract<keyof RequestStep, "answers">, ExpectationInfo>
> = {
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

const READERS: ReadonlyMap<string, (source: Source, entry: Entry) => Expectation[]> = new Map([
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
export function readExpectations(source: Source, node: Node): readonly Expectation[] {
  const { page } = source;
  return entriesOf(page, node, "what must be true").flatMap((entry) => {
    const { key } = entry;
    const read = READERS.get(key.value);
    if (read === undefined) page.unknown(key.start, "key", key.value, READERS.keys());
    return read === undefined ? [] : (attempt(() => read(source, entry)) ?? []);
  });
}

type Content<Of> = Of extends Expectation ? Omit<Of, "place"> : never;

/** An expectation for each entry of a mapping, at the place of its key. */
const forEach = (
  page: Page,
  node: Node,
  expected: string,
  read: (key: TextNode, value: Node) => Content<Expectation>,
): Expectation[] =>
  eachOf(entriesOf(page, node, expected), ({ key, value }) => ({
    ...read(key, value),
    place: page.placeOf(key),
  }));

function readTrades({ page, declared }: Source, { key, value }: Entry): Expectation[] {
  const { value: trades } = linesAt(page, value, (line) => readTradeLine(line, declared));
  return [{ kind: "trades", place: page.placeOf(key), trades }];
}

function readOrders({ page, declared }: Source, { value }: Entry): Expectation[] {
  return forEach(page, value, "orders by name", (key, said) => {
    const [state, name] = all(
      () => orderStateAt(page, said).value,
      () => declared.orderNamed(page, key.start, key.value),
    );
    return { kind: "order", name, state };
  });
}

const LEVEL_RULE = "a level such as 0.55 x 60";
/** A level with another sign, or without blanks around it. */
const LIKE_A_LEVEL = /^(\S+?) ?[x×@:] ?(\S+?)( \(\d+\))?$/;
const COUNT = /^\((\d{1,9})\)$/;
const COUNT_RULE = "a number of orders such as (2), or the end of the level";

function readBooks({ page, declared }: Source, { value }: Entry): Expectation[] {
  return forEach(page, value, "books by outcome", (key, sides) => {
    const [token, { bids = null, asks = null }] = all(
      () => declared.tokenName(page, key),
      () =>
        valuesBy(page, entriesOf(page, sides, "bids, asks or both"), {
          bids: (node) => levelsAt(page, node),
          asks: (node) => levelsAt(page, node),
        }),
    );
    return { kind: "book", token, bids, asks };
  });
}

/** A list of levels; for none the hint says how to write it. */
function levelsAt(page: Page, node: Node): readonly LevelLine[] {
  const expected = "a list of levels";
  if (isNone(node)) throw notThis(page, node, expected, "[] says that there are none");
  return eachOf(itemsOf(page, node, expected), (item) => levelAt(page, item));
}

const isNone = (node: Node): boolean => isNothing(node) || (node.kind === "text" && node.value === "none");

function levelAt(page: Page, node: Node): LevelLine {
  const text = textOf(page, node, LEVEL_RULE);
  const line = LineWords.at(page, node, LEVEL_RULE);
  const meant = meantLevel(text);
  if (meant !== null) throw page.unexpected(node.start, LEVEL_RULE, text, [], meant);
  const [first, sign] = line.left;
  const isJoined = first !== undefined && decimalIn(first.text, PRICE) === null && sign?.text !== "x";
  if (isJoined) throw page.unexpected(first.at, LEVEL_RULE, text);
  const price = line.decimal<Price>(PRICE);
  line.require("x");
  const size = line.decimal<Size>(LEVEL_SIZE);
  if (line.peek() === undefined) return { price, size, orders: null };
  const count = line.take(COUNT_RULE);
  const orders = Number(COUNT.exec(count.text)?.[1] ?? 0);
  if (orders === 0) throw page.unexpected(count.at, COUNT_RULE, count.text);
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

const BALANCE_PARTS = ["balance", "available", "reserved", "onChain"] as const;

function readBalances({ page, declared }: Source, { value }: Entry): Expectation[] {
  return eachOf(entriesOf(page, value, "balances by account"), ({ key, value: assets }) => {
    const isOfFlow = declared.hasFlow && isPartyName(key.value);
    const [account, states] = all(
      () => (isOfFlow ? key.value : declared.account(page, key.start, key.value)),
      () =>
        eachOf(entriesOf(page, assets, "amounts by USDC, YES or NO"), (entry) => ({
          place: page.placeOf(entry.key),
          state: balanceIn(page, entry, declared),
        })),
    );
    return states.map((each) => ({ kind: "balance" as const, account, ...each }));
  }).flat();
}

function balanceIn(page: Page, { key, value }: Entry, declared: Declarations): BalanceState {
  const asset = declared.asset(page, key);
  const units = (node: Node): number => unitsAt(page, node, asset === "USDC" ? USDC : SHARES);
  const none = { asset, amount: null, balance: null, available: null, reserved: null, onChain: null };
  if (value.kind === "text") return { ...none, amount: units(value) };
  const parts = valuesBy(page, entriesOf(page, value, orOf(BALANCE_PARTS)), {
    balance: units,
    available: units,
    reserved: units,
    onChain: units,
  });
  return { ...none, ...(parts as Partial<BalanceState>) };
}

const MID: DecimalRule = { what: "a mid", places: 5, least: 0, most: FULL_PRICE * 10 };
const POINT_RULE = "a time and a price such as 2026-01-01T00:00:30Z 0.55";
const SECOND = 1000;

function readQuotes({ page, declared }: Source, { value }: Entry): Expectation[] {
  const priceAt = (rule: DecimalRule) => (node: Node) =>
    isNone(node) ? null : unitsAt(page, node, { ...rule, what: `none or ${rule.what}` });
  const readers = {
    bid: priceAt(PRICE),
    ask: priceAt(PRICE),
    mid: priceAt(MID),
    spread: priceAt({ ...PRICE, what: "a spread" }),
    last: priceAt(PRICE),
  };
  return forEach(page, value, "prices by outcome", (key, prices) => {
    const [token, state] = all(
      () => declared.tokenName(page, key),
      () => valuesBy(page, entriesOf(page, prices, "bid, ask, mid, spread or last"), readers) as QuoteState,
    );
    return { kind: "quote", token, state };
  });
}

function readHistories({ page, declared }: Source, { value }: Entry): Expectation[] {
  return forEach(page, value, "histories by outcome", (key, list) => {
    const [token, points] = all(
      () => declared.tokenName(page, key),
      () => eachOf(itemsOf(page, list, "a list of times and prices"), (item) => pointAt(page, item)),
    );
    return { kind: "history", token, points };
  });
}

function pointAt(page: Page, node: Node): ExpectationOf<"history">["points"][number] {
  const line = LineWords.at(page, node, POINT_RULE);
  const time = line.take(POINT_RULE);
  const word = line.take(ruleText(PRICE));
  line.requireEnd();
  const at = parseIso(time.text);
  if (at === null || at % SECOND !== 0)
    throw page.unexpected(time.at, `${MOMENT_RULE}, a whole second`, time.text);
  return { t: at / SECOND, price: unitsIn<Price>(page, word.at, word.text, PRICE) };
}

const MAX_COUNT = 1_000_000_000;
const BLOCK_NUMBER = countOf("a block's number", 0, MAX_COUNT);
const TRANSACTIONS = countOf("a number of transactions", 0, MAX_COUNT);

/** Reads `chain: { head: 3, confirmed: 1, pending: 0, supply: 100, settled: { bid: [MINED] } }`. */
function readChain(source: Source, { value }: Entry): Expectation[] {
  const { page } = source;
  const counted =
    (part: ExpectationOf<"chain">["part"], rule: DecimalRule) => (node: Node, key: TextNode) => [
      { kind: "chain", place: page.placeOf(key), part, count: unitsAt(page, node, rule) } as const,
    ];
  const parts = valuesBy(page, entriesOf(page, value, "what is true of the chain"), {
    head: counted("head", BLOCK_NUMBER),
    confirmed: counted("confirmed", BLOCK_NUMBER),
    pending: counted("pending", TRANSACTIONS),
    supply: (node, key) => readSupply(source, key, node),
    settled: (node) => readSettled(source, node),
  });
  const { head = [], confirmed = [], pending = [], supply = [], settled = [] } = parts;
  return [...head, ...confirmed, ...pending, ...supply, ...settled];
}

/** Reads `100`, `{ rain: 100 }`, `{ YES: 60, NO: 100 }` or `{ rain YES: 60 }`. */
function readSupply({ page, declared }: Source, key: TextNode, value: Node): Expectation[] {
  const supply = (node: Node, of: () => Issue): Content<Expectation> => {
    const [size, issue] = all(() => unitsAt<Size>(page, node, SHARES), of);
    return { kind: "supply", ...issue, size };
  };
  if (value.kind !== "text") {
    return forEach(page, value, "shares by market or outcome", (at, node) =>
      supply(node, () => issueOf(page, at, declared)),
    );
  }
  const market = declared.market(page, value.start, null);
  return [{ place: page.placeOf(key), ...supply(value, () => ({ market, outcome: null })) }];
}

/** What a market has issued: of one outcome, or whole sets of both. */
type Issue = Pick<ExpectationOf<"supply">, "market" | "outcome">;

/** Of `rain`, `YES` or `rain YES`. */
function issueOf(page: Page, key: TextNode, declared: Declarations): Issue {
  const name = key.value.trim();
  const isToken = name.includes(" ") || OUTCOMES.some((outcome) => outcome === name);
  if (isToken) return declared.tokenName(page, key);
  if (declared.hasMarket(name)) return { market: declared.market(page, key.start, name), outcome: null };
  throw page.unknown(key.start, "market or outcome", name, [...(declared.markets ?? []), ...OUTCOMES]);
}

/** Reads `{ bid: [MINED, CONFIRMED], ask: FAILED }`. */
function readSettled({ page, declared }: Source, value: Node): Expectation[] {
  return forEach(page, value, "statuses by order", (key, said) => {
    const [statuses, name] = all(
      () =>
        said.kind === "text"
          ? oneOf(page, said, SETTLEMENT_STATUSES)
          : eachOf(itemsOf(page, said, "a status, or a list of them"), (item) =>
              oneOf(page, item, SETTLEMENT_STATUSES),
            ),
      () => declared.orderNamed(page, key.start, key.value),
    );
    return { kind: "settled", name, statuses };
  });
}

const HASH = /^(?:(?:v2:)?[\da-f]{64})?$/;

/** Reads `stateHash: "..."`; nothing is to be written by `--update`. */
function readStateHash({ page }: Source, { key, value }: Entry): Expectation[] {
  if (value.kind !== "text" || !(isNothing(value) || HASH.test(value.value)))
    throw notThis(page, value, "v2: and 64 hex digits, or nothing for --update to write them");
  const { source } = page;
  const { start, end, isPlain } = value;
  const quote = isPlain ? 0 : 1;
  const before = source.text[start - 1] === ":" ? ' "' : '"';
  return [
    {
      kind: "stateHash",
      place: page.placeOf(key),
      hash: isNothing(value) ? "" : value.value,
      range: [source.originalOffset(start + quote), source.originalOffset(end - quote)],
      around: isPlain ? [before, '"'] : ["", ""],
    },
  ];
}

/** Reads `golden: goldens/auction.txt`, a file that `--update` writes. */
function readGolden(source: Source, { key, value }: Entry): Expectation[] {
  const file = source.files.pathAt(source, value, "may be missing");
  return [{ kind: "golden", place: source.page.placeOf(key), file }];
}
