import { type Account, type Holding, linkOpen } from "../core/account.ts";
import { Book } from "../core/book/book.ts";
import { NO_SLOT, type OrderPool } from "../core/book/order-pool.ts";
import { Block, digestFields } from "../core/chain/chain.ts";
import { Transaction } from "../core/chain/transaction.ts";
import type { CommandOf } from "../core/commands.ts";
import { EventRecord, levelsOf, Market, marketOfToken, placeOf, shiftedPoints } from "../core/market.ts";
import { ORDER_PACKING, type Order, remainingOf, TRADE_PACKING } from "../core/order.ts";
import { PackedTable, packingOf } from "../core/packed-table.ts";
import { mixBlock } from "../core/rules/blocks.ts";
import { indexMarket } from "../core/rules/markets.ts";
import { mixMined, mixOwn } from "../core/rules/transactions.ts";
import type { RecordType } from "../core/schema.ts";
import { createState, type ExchangeConfig, type State } from "../core/state.ts";
import { Table } from "../core/table.ts";
import type { Millis } from "../core/units.ts";

// A state as values that `v8.serialize` takes, without the indexes that follow from its records: read many times faster
// than a document, and not validated. Texts with dates are omitted, so that all times can be shifted.

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
        points: Float64Array.from(history),
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
    transactions: packedRecords(Transaction, transactions),
    blocks: packedRecords(Block, blocks),
    mined: Int32Array.from(mined),
    chain,
  };
}

/**
 * Returns the state of an image with all times shifted by `by` ms, a multiple of 1,000; `created` has the texts that
 * depend on the calendar. The image must not be used again.
 */
export function stateOf(image: StateImage, config: ExchangeConfig, by: number, created: Creations): State {
  const { events, markets, accounts, orders, trades, mined, chain, issued } = image;
  const transactions = readerOf(Transaction, image.transactions, by);
  const blocks = readerOf(Block, image.blocks, by);
  const fresh = createState(config, 0 as Millis);
  const ownMarkets = markets.map((market) => marketOf(market, fresh, by));
  const ownOrders = PackedTable.of(ORDER_PACKING, orders, by);
  fillBooks(ownOrders, ownMarkets, accounts, fresh.pool);
  setBlockDigests(blocks, transactions, mined, { chain: fresh.chain, markets: Table.of(ownMarkets) });
  const state: State = {
    ...fresh,
    events: Table.of(events),
    markets: Table.of(ownMarkets),
    accounts: Table.lazy(accounts.length, (index) => accountOf(accounts[index] as AccountImage)),
    orders: ownOrders,
    trades: PackedTable.of(TRADE_PACKING, trades, by),
    accountByAddress: new Map(accounts.map(({ address, number }) => [address, number])),
    chain: {
      ...chain,
      transactions: tableOf(transactions),
      blocks: tableOf(blocks),
      heights: Table.lazy(image.blocks.size, (index) => index + 1),
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
    books: image.books.map(({ points, hasBook, ...rest }) => ({
      ...rest,
      book: hasBook ? new Book(pool, levelsOf(image as unknown as Market)) : null,
      history: Table.of(shiftedPoints(points, by)),
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
  blocks: Reader<Block>,
  transactions: Reader<Transaction>,
  mined: Int32Array,
  state: Pick<State, "chain" | "markets">,
): void {
  const { chain } = state;
  const block = blocks.packing.part("parent", "first", "count", "height", "at", "baseFee");
  const digest = blocks.packing.part("digestA", "digestB", "digestC", "digestD");
  const transaction = transactions.packing.part("status", "content", "fillsA", "fillsB");
  for (let place = 0; place < blocks.figures.room; place += 1) {
    const header = block.unpack(blocks.figures, place, place + 1);
    const end = header.first + header.count;
    for (let index = header.first; index < end; index += 1) {
      const number = mined[index] as number;
      const executed = transaction.unpack(transactions.figures, number - 1, number);
      mixOwn(state, executed);
      mixMined(chain, executed);
    }
    if (header.parent !== 0) mixBlock(chain.digest, header);
    digest.pack(blocks.figures, place, digestFields(chain.digest));
  }
}

/** Packs the records of a table. `wide` has the fields with values of more than 32 bits. */
function packedRecords<Of extends object>(type: RecordType<Of>, records: Table<Of>) {
  const rows = [...records];
  const needsMore = (row: object, name: string): boolean => {
    const value = (row as Readonly<Record<string, unknown>>)[name];
    return (Number(value) | 0) !== value;
  };
  const wide = Object.keys(rows[0] ?? {}).filter((name) => rows.some((row) => needsMore(row, name)));
  const packing = packingOf(type, wide);
  const figures = packing.figures(rows.length);
  for (const [place, row] of rows.entries()) packing.pack(figures, place, row);
  return { wide, size: rows.length, bytes: figures.bytes, objects: figures.objects };
}

/** Figures of records, and how to unpack them. */
type Reader<Of> = ReturnType<typeof readerOf<Of>>;

function readerOf<Of>(
  type: RecordType<Of>,
  { wide, size, ...content }: ReturnType<typeof packedRecords>,
  by: number,
) {
  const packing = packingOf(type, wide);
  const figures = packing.figures(size, content);
  packing.shift(figures, by);
  return { packing, figures };
}

const tableOf = <Of>({ packing, figures }: Reader<Of>): Table<Of> =>
  Table.lazy(figures.room, (index) => packing.unpack(figures, index, index + 1));
