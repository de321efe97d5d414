import { type Account, type Holding, linkOpen } from "../core/account.ts";
import { Book } from "../core/book/book.ts";
import { NO_SLOT, type OrderPool } from "../core/book/order-pool.ts";
import { type Block, digestFields } from "../core/chain/chain.ts";
import { Transaction } from "../core/chain/transaction.ts";
import type { CommandOf } from "../core/commands.ts";
import { Digest } from "../core/hash.ts";
import { EventRecord, levelsOf, Market, marketOfToken, PriceHistory, placeOf } from "../core/market.ts";
import { ORDER_PACKING, type Order, remainingOf, TRADE_PACKING } from "../core/order.ts";
import { PackedTable } from "../core/packed-table.ts";
import { mixBlock } from "../core/rules/blocks.ts";
import { indexMarket } from "../core/rules/markets.ts";
import { mixMined, mixOwn } from "../core/rules/transactions.ts";
import { compiled, moment, type RecordType } from "../core/schema.ts";
import { createState, type ExchangeConfig, type State } from "../core/state.ts";
import { Table } from "../core/table.ts";
import type { Millis } from "../core/units.ts";

// A state as values that `v8.serialize` takes, without the indexes that follow from its records: read many times faster
// than a document, and not validated. Texts with dates are omitted, so that all times can be shifted.

/** The moments in a block. */
const BLOCK = { at: moment() };

export type StateImage = NonNullable<ReturnType<typeof imageOf>>;
type MarketImage = StateImage["markets"][number];
type AccountImage = StateImage["accounts"][number];

/** The commands that created a world's events and markets, in order. */
interface Creations {
  readonly events: readonly CommandOf<"createEvent">[];
  readonly markets: readonly CommandOf<"createMarket">[];
}

/**
 * Returns the image of a state; null if it has something that no opening leaves: an unfinished block, a wallet's call,
 * a reorganization, an order that will expire.
 */
export function imageOf(state: State) {
  const { transactions, blocks, heights, mined, digest, ...chain } = state.chain;
  const isQuiet = chain.building === null && chain.reorganizations === 0 && state.expiries.first() === 0;
  if (!isQuiet || [...transactions].some(({ content }) => content?.kind === "call")) return null;
  return {
    issued: state.issued,
    events: [...state.events],
    markets: Array.from(state.markets, (market) => ({
      ...market,
      books: market.books.map(({ book, history, ...rest }) => ({
        ...rest,
        points: history.points,
        /** Whether an order ever rested there; the resting orders follow from their records. */
        hasBook: book !== null,
      })),
      trades: Int32Array.from(market.trades),
      yesTrades: Int32Array.from(market.yesTrades),
    })),
    accounts: Array.from(state.accounts, (account) => ({
      ...account,
      ...NO_OPEN_ORDERS,
      holdings: packed(account.holdings),
      fills: Int32Array.from(account.fills),
    })),
    orders: state.orders.image(),
    trades: state.trades.image(),
    transactions: columnsOf(transactions, Transaction.fields),
    blocks: columnsOf(blocks, BLOCK),
    mined: Int32Array.from(mined),
    chain,
  };
}

/**
 * Returns the state of an image with all times shifted by `by` ms, a multiple of 1,000; `created` has the texts that
 * depend on the calendar. The image must not be used again.
 */
export function stateOf(image: StateImage, config: ExchangeConfig, by: number, created: Creations): State {
  const { events, markets, accounts, orders, trades, transactions, blocks, mined, chain, issued } = image;
  shiftMoments(transactions, Transaction.fields, by);
  shiftMoments(blocks, BLOCK, by);
  const fresh = createState(config, 0 as Millis);
  const ownMarkets = markets.map((market) => marketOf(market, fresh, by));
  const ownOrders = PackedTable.of(ORDER_PACKING, orders, by);
  fillBooks(ownOrders, ownMarkets, accounts, fresh.pool);
  setBlockDigests(image, { chain: fresh.chain, markets: Table.of(ownMarkets) });
  const state: State = {
    ...fresh,
    events: Table.of(events),
    markets: Table.of(ownMarkets),
    accounts: Table.lazy(accounts.length, (from, to) => accounts.slice(from, to).map(accountOf)),
    orders: ownOrders,
    trades: PackedTable.of(TRADE_PACKING, trades, by),
    accountByAddress: new Map(accounts.map(({ address, number }) => [address, number])),
    chain: {
      ...chain,
      transactions: recordsOf<Transaction>(transactions),
      blocks: recordsOf<Block>(blocks),
      heights: Table.of(Array.from({ length: blocks.size }, (_, index) => index + 1)),
      mined: Table.of(mined),
      digest: fresh.chain.digest,
      nextBlockAt: chain.nextBlockAt === null ? null : ((chain.nextBlockAt + by) as Millis),
    },
    issued,
  };
  setTextsAndEnds(state, created, by);
  return state;
}

/** What an image says of an account's open orders; they rest again in the state of the image. */
const NO_OPEN_ORDERS = { oldestOpen: NO_SLOT, newestOpen: NO_SLOT, openCount: 0 };

const DIGEST_FIELDS = Object.keys(digestFields(new Digest([0, 0, 0, 0])));

/** Encodes all holdings of an account as figures, in the order in which `holdingsOf` reads them. */
function packed(holdings: Account["holdings"]): Float64Array {
  const figures: number[] = [];
  for (const { market, granted, yes, no, yesFills, noFills } of holdings.values()) {
    figures.push(market, granted);
    for (const { balance, reserved, incoming, outgoing } of [yes, no])
      figures.push(balance, reserved, incoming, outgoing);
    for (const fills of [yesFills, noFills]) {
      figures.push(fills?.size ?? -1);
      for (const fill of fills ?? []) figures.push(fill);
    }
  }
  return Float64Array.from(figures);
}

function holdingsOf(figures: Float64Array): Account["holdings"] {
  const holdings: Account["holdings"] = new Map();
  let read = 0;
  const next = (): number => {
    read += 1;
    return figures[read - 1] as number;
  };
  const balance = () =>
    ({ balance: next(), reserved: next(), incoming: next(), outgoing: next() }) as Holding["yes"];
  const fills = (): Holding["yesFills"] => {
    const count = next();
    if (count < 0) return null;
    read += count;
    return Table.of(figures.subarray(read - count, read));
  };
  while (read < figures.length) {
    const [market, granted] = [next(), next() as Holding["granted"]];
    const [yes, no] = [balance(), balance()];
    holdings.set(market, { market, yes, no, granted, yesFills: fills(), noFills: fills() });
  }
  return holdings;
}

const accountOf = (account: AccountImage): Account => ({
  ...account,
  holdings: holdingsOf(account.holdings),
  fills: Table.of(account.fills),
});

function marketOf(image: MarketImage, { pool }: State, by: number): Market {
  const market = {
    ...image,
    books: image.books.map(({ points: { seconds, prices }, hasBook, ...rest }) => ({
      ...rest,
      book: hasBook ? new Book(pool, levelsOf(image as unknown as Market)) : null,
      history: PriceHistory.of({ seconds: seconds.map((second) => second + by / 1_000), prices }),
    })),
    trades: Table.of(image.trades),
    yesTrades: Table.of(image.yesTrades),
  } as unknown as Market;
  return Market.shift?.(market, by) ?? market;
}

/** Sets texts and end dates of events and markets, and indexes them. */
function setTextsAndEnds(state: State, created: Creations, by: number): void {
  for (const event of state.events) {
    const { title, description, endDate } = created.events[event.number - 1] as CommandOf<"createEvent">;
    Object.assign(EventRecord.shift?.(event, by) ?? event, { title, description, endDate });
    state.eventBySlug.set(event.slug, event.number);
  }
  for (const market of state.markets) {
    const { question, description, endDate } = created.markets[
      market.number - 1
    ] as CommandOf<"createMarket">;
    Object.assign(market, { question, description, endDate });
    indexMarket(state, market);
  }
}

/** Rests the live orders by number, because an order keeps its place in the queue until it leaves the book. */
function fillBooks(
  orders: PackedTable<Order>,
  markets: readonly Market[],
  accounts: readonly AccountImage[],
  pool: OrderPool,
): void {
  for (const order of orders.open()) {
    if (order.status !== "LIVE") continue;
    const market = markets[marketOfToken(order.token) - 1] as Market;
    const { bookState, direction, tick } = placeOf(market, order);
    const book = bookState.book as Book;
    order.slot = book.rest(direction, tick, remainingOf(order), order.number, order.account);
    linkOpen(pool, accounts[order.account - 1] as AccountImage, order.slot);
  }
}

/** Computes the digests of the blocks, which include their times; leaves the chain's digest at the last one. */
function setBlockDigests(
  { blocks, transactions, mined }: StateImage,
  state: Pick<State, "chain" | "markets">,
): void {
  const { chain } = state;
  const figure = (key: keyof Block) => fieldOf<number>(blocks, key);
  const [parent, first, count] = [figure("parent"), figure("first"), figure("count")];
  const [height, at, baseFee] = [figure("height"), figure("at"), figure("baseFee")];
  const part = <Key extends keyof Transaction>(key: Key) => fieldOf<Transaction[Key]>(transactions, key);
  const [status, content, fillsA, fillsB] = [part("status"), part("content"), part("fillsA"), part("fillsB")];
  const words = [0, 1, 2, 3].map(() => new Int32Array(blocks.size));
  for (let block = 0; block < blocks.size; block += 1) {
    const end = first(block) + count(block);
    for (let index = first(block); index < end; index += 1) {
      const number = mined[index] as number;
      const row = number - 1;
      mixOwn(state, { content: content(row), fillsA: fillsA(row), fillsB: fillsB(row) });
      mixMined(chain, { number, status: status(row) });
    }
    if (parent(block) !== 0)
      mixBlock(chain.digest, { height: height(block), at: at(block) as Millis, baseFee: baseFee(block) });
    const digest = chain.digest.words;
    for (let word = 0; word < words.length; word += 1)
      (words[word] as Int32Array)[block] = digest[word] as number;
  }
  for (const [word, key] of DIGEST_FIELDS.entries()) {
    const values = words[word] as Int32Array;
    (blocks.columns as Column[])[blocks.keys.indexOf(key)] = { kind: "numbers", values };
  }
}

/** The values of one field of many records, as typed arrays where possible, so that they are read in bulk. */
type Column =
  | { readonly kind: "numbers"; readonly values: Int32Array | Float64Array }
  /** An index into a few distinct values for each record. */
  | { readonly kind: "few"; readonly values: unknown[]; readonly places: Uint8Array }
  | { readonly kind: "any"; readonly values: unknown[] };

/** Records with the same fields, as one column per field. */
interface Columns {
  readonly size: number;
  readonly keys: readonly string[];
  readonly columns: readonly Column[];
}

const MAX_FEW = 256;

/** Declarations of the fields; those of moments have `shift`. */
type Fields = RecordType<unknown>["fields"];
type Row = Readonly<Record<string, unknown>>;

/** Converts records into columns, in the field order of the first one. */
function columnsOf(records: Iterable<object>, fields: Fields): Columns {
  const rows = [...(records as Iterable<Row>)];
  const keys = Object.keys(rows[0] ?? {});
  return {
    size: rows.length,
    keys,
    columns: keys.map((key) => {
      const values = rows.map((row) => row[key]);
      return columnOf(values, fields[key]?.shift !== undefined);
    }),
  };
}

function columnOf(values: unknown[], areMoments: boolean): Column {
  if (values.every((value) => typeof value === "number")) {
    const isShort = !areMoments && values.every((value) => (value | 0) === value);
    return { kind: "numbers", values: isShort ? Int32Array.from(values) : Float64Array.from(values) };
  }
  const places = new Map<unknown, number>();
  for (const value of values) {
    if (!places.has(value)) places.set(value, places.size);
    if (places.size > MAX_FEW || (typeof value === "object" && value !== null))
      return { kind: "any", values };
  }
  return {
    kind: "few",
    values: [...places.keys()],
    places: Uint8Array.from(values, (value) => places.get(value) as number),
  };
}

/** Adds `by` milliseconds to every moment in the columns, in place. */
function shiftMoments({ keys, columns }: Columns, fields: Fields, by: number): void {
  for (const [index, key] of keys.entries()) {
    const type = fields[key];
    const column = columns[index] as Column;
    if (type?.shift === undefined) continue;
    if (column.kind === "numbers") addTo(column.values, by);
    else
      column.values.forEach((value, at, values) => {
        values[at] = type.shift?.(value, by);
      });
  }
}

function addTo(moments: Int32Array | Float64Array, by: number): void {
  for (let at = 0; at < moments.length; at += 1) moments[at] = (moments[at] as number) + by;
}

/** Returns a reader of one field by the index of the record. */
function fieldOf<Value>({ keys, columns }: Columns, key: string): (at: number) => Value {
  const column = columns[keys.indexOf(key)];
  if (column === undefined) throw new RangeError(`no column ${key}`);
  const { values } = column;
  if (column.kind !== "few") return (at) => values[at] as Value;
  return (at) => values[column.places[at] as number] as Value;
}

/**
 * Converts columns back into records. The constructing code is compiled for their fields, so that V8 lays the objects
 * out like literals; that is many times faster than setting fields by name, which is done where code cannot be compiled.
 */
function recordsOf<Of>(all: Columns): Table<Of> {
  const { size, keys, columns } = all;
  const fields = keys.map((key, index) => {
    const column = columns[index] as Column;
    const value = column.kind === "few" ? `v${index}[p${index}[at]]` : `v${index}[at]`;
    return `${JSON.stringify(key)}: ${value}`;
  });
  const names = keys.map((_, index) => `{ values: v${index}, places: p${index} }`);
  const source = `"use strict";
    const [${names.join(", ")}] = columns;
    return (from, to) => {
      const rows = [];
      for (let at = from; at < to; at += 1) rows.push({ ${fields.join(", ")} });
      return rows;
    };`;
  const read = keys.map((key) => [key, fieldOf(all, key)] as const);
  const record = (at: number) => Object.fromEntries(read.map(([key, value]) => [key, value(at)])) as Of;
  const rows = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => record(from + at));
  return Table.lazy(size, compiled<typeof rows>(source, { columns }) ?? rows);
}
