import { fillOf } from "../account.ts";
import { setsOf } from "../chain/moves.ts";
import type { Transaction } from "../chain/transaction.ts";
import { isMirrored, marketOfToken, outcomeOf, priceIn } from "../market.ts";
import type { Order } from "../order.ts";
import { feeOf } from "../order.ts";
import { listFill } from "../rules/apply-trading.ts";
import { changeSupply } from "../rules/ledger.ts";
import { noteFill } from "../rules/transactions.ts";
import { FEES, type State } from "../state.ts";
import { add, complement, notional, type Price } from "../units.ts";
import type { Chronicle } from "./chronicle.ts";
import type { LooseTrade } from "./order-record.ts";
import type { Records } from "./records.ts";
import type { AccountTally, MarketTally, Tallies } from "./tallies.ts";

/** Lists all trades wherever they belong, and makes the transactions that settle them, with those between. */
export function rebuildTrades(records: Records, state: State, tallies: Tallies, chronicle: Chronicle): void {
  const { orders, trades } = state;
  const sums = new FillSums(records, state);
  let transaction: Transaction | null = null;
  let latest = 0;
  for (const trade of records.trades) {
    const taker = orders.find(trade.taker);
    const maker = orders.find(trade.maker);
    if (
      taker === undefined ||
      maker === undefined ||
      trade.at < latest ||
      !isPossible(trade, taker, maker, tallies)
    ) {
      throw wrongTrade(records, trade, taker, maker, tallies, latest);
    }
    latest = trade.at;
    if (transaction?.number !== trade.transaction)
      transaction = chronicle.matchOf(trade.number, trade.transaction);
    else if (trade.taker !== records.trades[transaction.firstTrade - 1]?.taker)
      throw records.wrong(
        "trades",
        trade.number - 1,
        ".transaction",
        "one that settles no other order",
        trade.transaction,
      );
    transaction.trades += 1;
    noteFill(transaction, trade, taker, maker, trade.fee > 0 && sums.feeOf(taker) === 0);
    trade.takerPrevious = taker.lastTrade;
    trade.makerPrevious = maker.lastTrade;
    taker.lastTrade = trade.number;
    maker.lastTrade = trade.number;
    trades.add(trade);
    sums.take(trade, taker, maker);
    noteTape(trade, taker, marketOf(taker, tallies));
    settle(trade, taker, maker, tallies, transaction);
  }
  chronicle.end();
  sums.check();
}

const marketOf = ({ token }: Order, { markets }: Tallies): MarketTally =>
  markets[marketOfToken(token) - 1] as MarketTally;

/** The price in terms of the taker's token. */
const priceOf = (taker: Order, maker: Order): Price =>
  taker.token === maker.token ? maker.price : complement(maker.price);

const matchTypeOf = (taker: Order, maker: Order): LooseTrade["matchType"] =>
  taker.token === maker.token ? "COMPLEMENTARY" : taker.side === "BUY" ? "MINT" : "MERGE";

/** Whether two orders can have traded so. */
function isPossible(trade: LooseTrade, taker: Order, maker: Order, tallies: Tallies): boolean {
  const { market } = marketOf(taker, tallies);
  const isSameToken = taker.token === maker.token;
  const isFacing = isSameToken
    ? taker.side !== maker.side
    : taker.side === maker.side &&
      marketOfToken(maker.token) === market.number &&
      market.matching === "complementary";
  return (
    isFacing &&
    maker.rested &&
    maker.number < taker.number &&
    trade.at === taker.createdAt &&
    trade.price === priceOf(taker, maker) &&
    trade.matchType === matchTypeOf(taker, maker) &&
    trade.fee === feeOf(trade.price, trade.size, market.feeRateBps)
  );
}

function wrongTrade(
  records: Records,
  trade: LooseTrade,
  taker: Order | undefined,
  maker: Order | undefined,
  tallies: Tallies,
  latest: number,
): Error {
  const wrong = (path: keyof LooseTrade, expected: string): Error =>
    records.wrong("trades", trade.number - 1, `.${path}`, expected, trade[path]);
  if (taker === undefined) return wrong("taker", "the number of an order");
  if (maker === undefined || !maker.rested || maker.number >= taker.number)
    return wrong("maker", "the number of an order that rested when the taker came");
  if (trade.at < latest || trade.at !== taker.createdAt)
    return wrong("at", `${taker.createdAt}, when the taker came`);
  if (trade.price !== priceOf(taker, maker))
    return wrong("price", `${priceOf(taker, maker)}, the maker's own`);
  if (trade.matchType !== matchTypeOf(taker, maker)) return wrong("matchType", matchTypeOf(taker, maker));
  const fee = feeOf(trade.price, trade.size, marketOf(taker, tallies).market.feeRateBps);
  if (trade.fee !== fee) return wrong("fee", `${fee}`);
  return wrong("maker", "an order on the other side of the taker's book");
}

/** What the fills of each order come to. */
class FillSums {
  readonly #records: Records;
  readonly #matched: Float64Array;
  readonly #notional: Float64Array;
  readonly #fees: Float64Array;

  constructor(records: Records, { orders }: State) {
    this.#records = records;
    this.#matched = new Float64Array(orders.size + 1);
    this.#notional = new Float64Array(orders.size + 1);
    this.#fees = new Float64Array(orders.size + 1);
  }

  feeOf({ number }: Order): number {
    return this.#fees[number] as number;
  }

  take({ price, size, fee }: LooseTrade, taker: Order, maker: Order): void {
    this.#fees[taker.number] = this.feeOf(taker) + fee;
    this.#add(taker, size, price * size);
    this.#add(maker, size, maker.price * size);
  }

  /** Whether orders say the same. @throws DocumentError for the first that does not. */
  check(): void {
    for (const { number, matched, notional, fee } of this.#records.orders) {
      const demand = (found: number, path: string, expected: number | undefined): void => {
        if (found === expected) return;
        const what = `${expected}, what its fills come to`;
        throw this.#records.wrong("orders", number - 1, path, what, found);
      };
      demand(matched, ".matched", this.#matched[number]);
      demand(notional, ".notional", this.#notional[number]);
      demand(fee, ".fee", this.#fees[number]);
    }
  }

  #add({ number }: Order, size: number, value: number): void {
    this.#matched[number] = (this.#matched[number] as number) + size;
    this.#notional[number] = (this.#notional[number] as number) + value;
  }
}

/** Notes a trade on its market's tape: last price, history, volume, lists of trades. */
function noteTape(trade: LooseTrade, taker: Order, { market, lanes, volume }: MarketTally): void {
  const outcome = outcomeOf(taker.token);
  const mirrored = isMirrored(market, outcome);
  const index = outcome === "NO" && lanes.length > 1 ? 1 : 0;
  const lane = lanes[index];
  if (lane === undefined) throw new Error(`market ${market.number} has no book ${index}`);
  const price = priceIn(mirrored, trade.price);
  lane.sequence += 1;
  if (trade.at > lane.updatedAt) lane.updatedAt = trade.at;
  lane.lastPrice = price;
  lane.lastSide = (taker.side === "BUY") === mirrored ? "SELL" : "BUY";
  lane.lastAt = trade.at;
  (market.books[index] ?? market.books[0]).history.add(trade.at, price);
  add(volume, notional(trade.price, trade.size));
  market.trades.add(trade.number);
  if (outcome === "YES") market.yesTrades.add(trade.number);
}

/** Lists a fill with both parties, and takes in what it moves unless its settlement has failed. */
function settle(
  trade: LooseTrade,
  taker: Order,
  maker: Order,
  tallies: Tallies,
  { status }: Transaction,
): void {
  const isMined = status === "MINED";
  const isCounted = isMined || status === "PENDING" || status === "LOST";
  settleParty(trade, maker, maker.price, 0, tallies, isCounted, isMined);
  settleParty(trade, taker, trade.price, trade.fee, tallies, isCounted, isMined);
  if (!isCounted) return;
  if (trade.fee > 0) (tallies.accounts[FEES - 1] as AccountTally).collateral.move(trade.fee, isMined);
  if (trade.matchType === "COMPLEMENTARY") return;
  const { market, supply, onChain } = marketOf(taker, tallies);
  const change = setsOf(market.number, trade.matchType === "MINT" ? trade.size : -trade.size);
  changeSupply(supply, change);
  if (isMined) changeSupply(onChain, change);
}

function settleParty(
  trade: LooseTrade,
  order: Order,
  price: Price,
  fee: number,
  tallies: Tallies,
  isCounted: boolean,
  isMined: boolean,
): void {
  const account = tallies.accounts[order.account - 1] as AccountTally;
  const { holding, yes, no } = tallies.holding(account, marketOfToken(order.token));
  const outcome = outcomeOf(order.token);
  const isTaker = order.number === trade.taker;
  listFill(account.account, holding, outcome, fillOf(trade.number, isTaker ? "TAKER" : "MAKER"));
  if (!isCounted) return;
  const bought = order.side === "BUY" ? 1 : -1;
  account.collateral.move(-bought * notional(price, trade.size) - fee, isMined);
  (outcome === "YES" ? yes : no).move(bought * trade.size, isMined);
}
