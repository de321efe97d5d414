import { packFill } from "./account.ts";
import { Book } from "./book/book.ts";
import { conditionIdOf, tokenIdOf } from "./chain/contracts.ts";
import { LOGS_OF_MATCH, newTransaction, type Transaction } from "./chain/transaction.ts";
import { check, DocumentError, type DocumentPath, within } from "./document-error.ts";
import { idOf } from "./ids.ts";
import { violations } from "./invariants.ts";
import {
  bookFor,
  levelsOf,
  type Market,
  type MarketBook,
  marketOfToken,
  outcomeOf,
  placeOf,
} from "./market.ts";
import { feeOf, Order, Trade } from "./order.ts";
import { addBlocks, checkContent, expectSame, rebuildChain } from "./rebuild-chain.ts";
import { indexMarket } from "./rules/markets.ts";
import { addToFillLists, putInBook, recordTrade } from "./rules/trading.ts";
import { addFill } from "./rules/transactions.ts";
import { createState, type State } from "./state.ts";
import { type Contents, type ParsedContents, parseContents, readContents } from "./state-document.ts";
import { Table } from "./table.ts";
import { complement, emptySum, type Millis, type Price } from "./units.ts";

export type ParsedDocument = ReturnType<typeof parsed>;

function parsed({ contents, others, lines }: ParsedContents) {
  try {
    return { state: rebuildState(contents), others };
  } catch (error) {
    const [, name = "", index] =
      /^(\w+)(?:\[(\d+)\])?/.exec((error as Partial<DocumentError>).path ?? "") ?? [];
    const line = lines.get(name);
    if (!(error instanceof DocumentError) || line === undefined) throw error;
    throw error.onLine(line + (index === undefined ? 0 : Number(index) + 1));
  }
}

/** Returns the state of a parsed JSON document. @throws DocumentError if it is invalid. */
export const readDocument = (document: unknown): ParsedDocument => parsed(readContents(document));

/** Returns the state of a document in bytes, see `parseContents`. @throws DocumentError that names the line if known. */
export const parseDocument = (...from: Parameters<typeof parseContents>): ParsedDocument =>
  parsed(parseContents(...from));

/**
 * Rebuilds the state from its records. References and values that follow from one other record are checked here, with
 * their path; sums over many records are checked by the invariants.
 * @throws DocumentError
 */
function rebuildState(contents: Contents): State {
  const state = emptyState(contents);
  rebuildMarkets(contents, state);
  const tapes = resetTapes(contents);
  rebuildAccounts(contents, state);
  const live = rebuildOrders(contents, state);
  rebuildTransactions(contents, state);
  checkOrders(contents, state);
  for (const [index, market] of contents.markets.entries()) {
    const found = tapeOf(market);
    expectSame(tapes[index]?.volume, found.volume, "markets", index, "volume");
    for (const [at, book] of found.books.entries())
      expectSame(tapes[index]?.books[at], book, "markets", index, "books", at);
  }
  rebuildChain(contents, state);
  const [violated] = violations(state, "document", live);
  if (violated === undefined) return state;
  // Records that are valid one by one break an invariant together.
  const { name, differences } = violated;
  const message = `the records contradict "${name}": ${differences[0]}`;
  throw Object.assign(new DocumentError(name, differences[0]), { message });
}

/** Creates a state with its configuration, without the accounts and the first block of a new one. */
function emptyState({ config, blocks, accounts, issued }: Contents): State {
  const [first] = blocks;
  if (first === undefined) throw new DocumentError("at least one block", [], "blocks");
  const fresh = createState(config, first.at);
  for (const { number, address } of fresh.accounts)
    expectSame(accounts[number - 1]?.address, address, "accounts", number - 1, "address");
  expectSame(first.digest, fresh.chain.digest.words, "blocks", 0, "digest");
  return {
    ...fresh,
    accounts: new Table(),
    accountByAddress: new Map(),
    chain: { ...fresh.chain, blocks: new Table(), heights: new Table() },
    issued,
  };
}

function rebuildMarkets({ events, markets }: Contents, state: State): void {
  const { idPrefixes, config } = state;
  const unique = (index: Map<string, number>, slug: string, ...path: DocumentPath): void =>
    check(!index.has(slug), "a unique slug", slug, ...path, "slug");
  const byEvent: number[][] = events.map(() => []);
  for (const [index, market] of markets.entries()) {
    const { number, slug, conditionId } = market;
    const own = byEvent[market.event - 1];
    check(own !== undefined, "the number of an event", market.event, "markets", index, "event");
    own.push(number);
    expectSame(market.id, idOf(idPrefixes.market, number), "markets", index, "id");
    expectSame(conditionId, conditionIdOf(config.seed, number), "markets", index, "conditionId");
    const tokenIds = [tokenIdOf(conditionId, "YES"), tokenIdOf(conditionId, "NO")];
    for (const at of [0, 1]) expectSame(market.tokenIds[at], tokenIds[at], "markets", index, "tokenIds", at);
    unique(state.marketBySlug, slug, "markets", index);
    state.markets.add(market);
    indexMarket(state, market);
  }
  for (const [index, event] of events.entries()) {
    expectSame(event.id, idOf(idPrefixes.event, event.number), "events", index, "id");
    expectSame(event.markets, byEvent[index], "events", index, "markets");
    unique(state.eventBySlug, event.slug, "events", index);
    state.eventBySlug.set(event.slug, state.events.add(event));
  }
}

/** Resets the tapes of markets, which are rebuilt from orders and trades, and returns the recorded ones. */
const resetTapes = ({ markets }: Contents) =>
  markets.map((market) => {
    const { volume, books, createdAt } = market;
    const recorded = tapeOf(market);
    Object.assign(volume, emptySum());
    for (const book of books) Object.assign(book, { sequence: 0, updatedAt: createdAt, last: null });
    return recorded;
  });

/** Returns the values of a market that follow from its orders and trades. */
const tapeOf = ({ volume, books }: Market) => ({
  volume: { ...volume },
  books: books.map(({ sequence, updatedAt, last }) => ({ sequence, updatedAt, last })),
});

function rebuildAccounts({ accounts, markets }: Contents, state: State): void {
  for (const [index, account] of accounts.entries()) {
    const { address, holdings, everyMarket } = account;
    const isNew = !state.accountByAddress.has(address);
    check(isNew, "a unique address", address, "accounts", index, "address");
    for (const [at, { market, granted }] of [...holdings.values()].entries()) {
      const path = ["accounts", index, "holdings", at] as const;
      check(market <= markets.length, "the number of a market", market, ...path, "market");
      check(granted <= everyMarket, `at most ${everyMarket}`, granted, ...path, "granted");
    }
    state.accountByAddress.set(address, state.accounts.add(account));
  }
}

/** Invalid field of a record and the expected value; null if valid. */
type WrongField<Of> = readonly [field: keyof Of & string, expected: string] | null;

function wrongFieldError<Of>(
  section: "orders" | "trades",
  number: number,
  record: Of,
  [field, expected]: NonNullable<WrongField<Of>>,
): Error {
  const { fields } = section === "orders" ? Order : Trade;
  return new DocumentError(expected, record[field], section, number - 1, fields[field]?.diskName ?? field);
}

/**
 * Adds all orders, rests the live ones in their books and returns them. Queues follow from the order of numbers, because an
 * order rests on arrival, if ever, and keeps its place until it leaves the book. All stay objects: packing the ended ones
 * would take a fifth of the reading.
 */
function rebuildOrders({ orders }: Contents, state: State): Order[] {
  const live: Order[] = [];
  let latest = 0;
  for (const order of orders) {
    const wrong = wrongOrderField(state, order, latest) ?? wrongEndField(order);
    if (wrong !== null) throw wrongFieldError("orders", order.number, order, wrong);
    latest = order.createdAt;
    state.orders.add(order);
    if (!order.rested) continue;
    const market = state.markets.get(marketOfToken(order.token));
    const place = placeOf(market, order);
    const { bookState } = place;
    bookState.book ??= new Book(state.pool, levelsOf(market));
    const isEnded = order.status === "CANCELED" || order.status === "EXPIRED";
    countBookChange(bookState, order.createdAt);
    if (isEnded) countBookChange(bookState, order.updatedAt);
    if (order.status !== "LIVE") continue;
    putInBook(state, market, order, place);
    live.push(order);
  }
  return live;
}

/** Counts one change of a book; changes are not in order of time here. */
function countBookChange(bookState: MarketBook, at: Millis): void {
  bookState.sequence += 1;
  bookState.updatedAt = Math.max(bookState.updatedAt, at) as Millis;
}

function wrongOrderField({ accounts, markets }: State, order: Order, latest: number): WrongField<Order> {
  const { number, size, orderType, expiration, createdAt } = order;
  const market = markets.find(marketOfToken(order.token));
  if (order.account > accounts.size) return ["account", "the number of an account"];
  if (market === undefined) return ["token", "a token, twice the number of a market, plus 1 for NO"];
  if (order.price % market.tickSize !== 0) return ["price", `a multiple of the tick size ${market.tickSize}`];
  if (size < market.minOrderSize) return ["size", `at least the minimum size ${market.minOrderSize}`];
  const since = Math.max(latest, market.createdAt);
  if (createdAt < since) return ["createdAt", `a moment from ${since}`];
  if (orderType === "GTD" ? expiration === null || expiration <= createdAt : expiration !== null)
    return ["expiration", orderType === "GTD" ? `a moment after ${createdAt}` : "null"];
  if (order.fillableSize > size) return ["fillableSize", `at most ${size}`];
  if (order.matched > size) return ["matched", `at most ${size}`];
  if (order.blockingOwnOrder >= number) return ["blockingOwnOrder", "the number of an earlier order, or 0"];
  if (order.ordersAhead >= number) return ["ordersAhead", `less than ${number}`];
  return null;
}

/** Checks the status of an order against its fills and cancel reason. */
function wrongEndField({ status, matched, size, rested, cancelReason, orderType }: Order): WrongField<Order> {
  const isFilled = matched === size;
  if (!rested && !isFilled && cancelReason === null)
    return ["status", "an order that rested, was filled or canceled"];
  const right = isFilled ? "MATCHED" : cancelReason !== null ? "CANCELED" : rested ? "LIVE" : "MATCHED";
  if (status === "CANCELED" && !isFilled && cancelReason !== null && (rested || matched === 0)) return null;
  if (status === "EXPIRED" && right === "LIVE" && orderType === "GTD") return null;
  const isPart = !rested && matched > 0;
  if (status === "MATCHED" && (isFilled ? cancelReason === null : isPart)) return null;
  if (status === "LIVE" && right === "LIVE") return null;
  return right === status ? ["cancelReason", "a reason that fits how it ended"] : ["status", right];
}

/** Checks when orders were last updated, and that orders rest only in active markets. */
function checkOrders({ orders }: Contents, { trades, markets }: State): void {
  for (const order of orders) {
    const { number, lastTrade, createdAt, updatedAt, status, matched, size, rested } = order;
    const lastAt = lastTrade === 0 ? createdAt : trades.get(lastTrade).at;
    const isExact = !rested || status === "LIVE" || matched === size;
    if (isExact ? updatedAt === lastAt : updatedAt >= lastAt) continue;
    const expected = isExact ? `${lastAt}, when it last changed` : `a moment from ${lastAt}`;
    throw wrongFieldError("orders", number, order, ["updatedAt", expected]);
  }
  for (const { number, status, books } of markets) {
    const isEmpty = books.every(
      ({ book }) => book === null || (book.bestBid === 0 && book.bestAsk > book.levels),
    );
    const path = ["markets", number - 1, "status"] as const;
    const isEnded = status === "CLOSED" || status === "RESOLVED";
    check(isEmpty || !isEnded, "ACTIVE, as orders rest there", status, ...path);
  }
}

/** Adds all trades, and in order of number the transactions that settle them and the recorded ones. */
function rebuildTransactions(contents: Contents, state: State): void {
  const { transactions: recorded, trades } = contents;
  const { transactions } = state.chain;
  const places = addBlocks(contents, state);
  let used = 0;
  const addRecorded = (): void => {
    const transaction = recorded[used] as Transaction;
    within("transactions", () => within(used, () => checkContent(state, transaction)));
    addTransaction(transaction, 0);
  };
  const addTransaction = (transaction: Transaction, firstTrade: number): Transaction => {
    const { number, block, place } = transaction;
    if (transaction === recorded[used]) {
      expectSame(block, places.blocks[number], "transactions", used, "block");
      expectSame(place, places.places[number], "transactions", used, "place");
      used += 1;
    }
    transaction.firstTrade = firstTrade;
    transactions.add(transaction);
    return transaction;
  };
  /** Adds all transactions up to the one that settles a trade, the first of its match, and returns that. */
  const matchOf = ({ number: firstTrade, transaction: number }: Trade): Transaction => {
    while (transactions.next < number && recorded[used]?.number === transactions.next) addRecorded();
    const record = recorded[used];
    if (transactions.next !== number) {
      if (record !== undefined && record.number < number)
        expectSame(record.number, transactions.next, "transactions", used, "number");
      const expected = `${transactions.next}, the next transaction`;
      throw new DocumentError(expected, number, "trades", firstTrade - 1, "transaction");
    }
    const match = record?.number === number ? record : newTransaction(number, null);
    check(match.content === null, "a match", number, "trades", firstTrade - 1, "transaction");
    if (match !== record) {
      match.block = places.blocks[number] as number;
      match.place = places.places[number] as number;
      if (match.block !== 0) match.status = "MINED";
    }
    match.logs = LOGS_OF_MATCH;
    return addTransaction(match, firstTrade);
  };
  addTrades(trades, state, matchOf);
  while (used < recorded.length) {
    expectSame(recorded[used]?.number, transactions.next, "transactions", used, "number");
    addRecorded();
  }
}

function addTrades(trades: readonly Trade[], state: State, matchOf: (trade: Trade) => Transaction): void {
  const { orders } = state;
  let match: Transaction | null = null;
  let matchTaker = 0;
  let feeTaker = 0;
  let latest = 0;
  for (const trade of trades) {
    const { number } = trade;
    const wrong = wrongTradeField(state, trade, latest);
    if (wrong !== null) throw wrongFieldError("trades", number, trade, wrong);
    latest = trade.at;
    const [taker, maker] = [orders.get(trade.taker), orders.get(trade.maker)];
    if (match?.number !== trade.transaction) {
      match = matchOf(trade);
      matchTaker = trade.taker;
    } else if (trade.taker !== matchTaker)
      throw wrongFieldError("trades", number, trade, ["transaction", "one that settles no other order"]);
    match.trades += 1;
    const isFirstFee = trade.fee > 0 && feeTaker !== taker.number;
    if (isFirstFee) feeTaker = taker.number;
    addFill(match, trade, taker, maker, isFirstFee);
    trade.takerPrevious = taker.lastTrade;
    trade.makerPrevious = maker.lastTrade;
    taker.lastTrade = number;
    maker.lastTrade = number;
    state.trades.addClosed(trade);
    addFillOf(state, maker, packFill(number, "MAKER"));
    addFillOf(state, taker, packFill(number, "TAKER"));
    const market = state.markets.get(marketOfToken(taker.token));
    const bookState = bookFor(market, outcomeOf(taker.token));
    countBookChange(bookState, trade.at);
    recordTrade(market, bookState, taker, trade, number, trade.at);
  }
}

function addFillOf({ accounts }: State, { number, account, token }: Order, fill: number): void {
  const record = accounts.get(account);
  const holding = record.holdings.get(marketOfToken(token));
  if (holding === undefined) {
    const expected = `a holding in market ${marketOfToken(token)}, as order ${number} traded`;
    throw new DocumentError(expected, undefined, "accounts", account - 1, "holdings");
  }
  addToFillLists(record, holding, outcomeOf(token), fill);
}

/** Returns the first field of a trade that contradicts its orders. */
function wrongTradeField({ orders, markets }: State, trade: Trade, latest: number): WrongField<Trade> {
  const taker = orders.find(trade.taker);
  const maker = orders.find(trade.maker);
  if (taker === undefined) return ["taker", "the number of an order"];
  if (maker === undefined || !maker.rested || maker.number >= taker.number)
    return ["maker", "the number of an order that rested when the taker arrived"];
  if (trade.at < latest || trade.at !== taker.createdAt)
    return ["at", `${taker.createdAt}, when the taker arrived`];
  const isSameToken = taker.token === maker.token;
  const market = markets.get(marketOfToken(taker.token));
  const isFacing = isSameToken
    ? taker.side !== maker.side
    : taker.side === maker.side &&
      marketOfToken(maker.token) === market.number &&
      market.matching === "complementary";
  if (!isFacing) return ["maker", "an order on the other side of the taker's book"];
  const price: Price = isSameToken ? maker.price : complement(maker.price);
  if (trade.price !== price) return ["price", `${price}, the maker's own`];
  const matchType = isSameToken ? "COMPLEMENTARY" : taker.side === "BUY" ? "MINT" : "MERGE";
  if (trade.matchType !== matchType) return ["matchType", matchType];
  const fee = feeOf(price, trade.size, market.feeRateBps);
  return trade.fee === fee ? null : ["fee", `${fee}`];
}
