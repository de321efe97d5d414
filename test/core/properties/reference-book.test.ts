import { describe, expect, it } from "vitest";
import { ASK, BID, type Book, type BookDirection } from "../../../src/core/book/book.ts";
import { bookFor, marketOfToken, outcomeOf } from "../../../src/core/market.ts";
import { type Stream, stream } from "../../../src/core/random.ts";
import type { Matching, OrderType, Outcome, SelfTradePolicy, Side } from "../../../src/core/terms.ts";
import { millis, price, size } from "../../../src/core/units.ts";
import { NaiveBook, type NaiveLevel, type NaiveTrade } from "../../../src/fuzz/reference/naive-book.ts";
import { addressOf } from "../../support/commands.ts";
import { openFloor, type TestExchange } from "../../support/exchange.ts";
import { atLevel } from "../../support/runs.ts";

const TRADERS = ["alice", "bob", "carol"] as const;
const POLICIES: readonly SelfTradePolicy[] = ["allow", "cancel-taker", "cancel-maker", "cancel-both"];
const TYPES: readonly OrderType[] = ["GTC", "GTC", "GTC", "GTD", "FOK", "FAK"];

/** What both books are told, in the terms of YES: the engine hears of it as YES or as mirrored NO. */
interface Told {
  readonly id: number;
  readonly owner: number;
  readonly side: Side;
  readonly tick: number;
  readonly size: number;
  readonly type: OrderType;
  readonly outcome: Outcome;
  readonly lifeMs: number;
}

const mirrored = (side: Side): Side => (side === "BUY" ? "SELL" : "BUY");

/** The engine and the naive book side by side, one market, one random history. */
class Duel {
  readonly #floor: TestExchange;
  readonly #naive = new NaiveBook();
  readonly #random: Stream;
  readonly #levels: number;
  readonly #policy: SelfTradePolicy;
  readonly #matching: Matching;
  readonly #trades: NaiveTrade[] = [];
  #compared = 0;

  constructor(random: Stream, matching: Matching) {
    this.#random = random;
    this.#matching = matching;
    this.#policy = random.pick(POLICIES);
    const tickSize = random.pick([0.1, 0.01]);
    this.#levels = Math.round(1 / tickSize) - 1;
    this.#floor = openFloor({ matching, tickSize, selfTrade: this.#policy, minOrderSize: 0.01 });
  }

  /** Does one thing to both, and compares them. @throws Error when they differ. */
  step(): void {
    const kind = this.#random.below(10);
    if (kind < 7) this.#place();
    else if (kind < 9) this.#cancel();
    else this.#wait();
    this.#compareTrades();
    this.#compareDepth("BUY", BID);
    this.#compareDepth("SELL", ASK);
  }

  #place(): void {
    const random = this.#random;
    const middle = (this.#levels + 1) >> 1;
    const tick = Math.min(this.#levels, Math.max(1, middle + random.between(-6, 6)));
    const told: Told = {
      id: this.#floor.state.orders.next,
      owner: random.below(TRADERS.length),
      side: random.pick(["BUY", "SELL"]),
      tick,
      size: random.between(1, 30),
      type: random.pick(TYPES),
      outcome: this.#matching === "complementary" ? random.pick(["YES", "NO"]) : "YES",
      lifeMs: random.between(1, 20),
    };
    const { type } = told;
    const placement = this.#naive.place(told, type === "GTD" ? "GTC" : type, this.#policy);
    this.#trades.push(...placement.trades);
    this.#submit(told);
    const order = this.#floor.state.orders.get(told.id);
    const rests = order.status === "LIVE" ? order.size - order.matched : 0;
    if (rests !== placement.rested)
      throw new Error(`#${told.id}: ${rests} rests, expected ${placement.rested}`);
    for (const id of placement.removed) {
      const { status, cancelReason } = this.#floor.state.orders.get(id);
      if (status !== "CANCELED" || cancelReason !== "SELF_TRADE") throw new Error(`#${id} is ${status}`);
    }
  }

  #submit({ owner, side, tick, size: units, type, outcome, lifeMs }: Told): void {
    const { exchange, state } = this.#floor;
    const isMirror = outcome === "NO";
    const at = tick * state.markets.get(1).tickSize;
    const decision = exchange.submit({
      kind: "placeOrder",
      address: addressOf(TRADERS[owner] as string),
      tokenId: this.#floor.tokenId(outcome),
      side: isMirror ? mirrored(side) : side,
      price: price(isMirror ? 10_000 - at : at),
      size: size(units),
      orderType: type,
      expiration: type === "GTD" ? millis(exchange.now + lifeMs) : null,
    });
    if (!decision.ok) throw new Error(JSON.stringify(decision.refusal));
  }

  #cancel(): void {
    const { orders } = this.#floor.state;
    if (orders.size === 0) return;
    const number = this.#random.between(Math.max(1, orders.size - 20), orders.size);
    const order = orders.get(number);
    const address = this.#floor.state.accounts.get(order.account).address;
    const orderId = this.#floor.orderId(number);
    const { ok } = this.#floor.exchange.submit({ kind: "cancelOrder", address, orderId });
    if (ok !== this.#naive.cancel(number)) throw new Error(`#${number}: cancel answers ${ok}`);
  }

  #wait(): void {
    const { exchange, state } = this.#floor;
    const until = millis(exchange.now + this.#random.between(1, 10));
    for (const { number, expiration } of state.orders) {
      if (expiration !== null && expiration <= until) this.#naive.cancel(number);
    }
    exchange.advanceTo(until);
  }

  #compareTrades(): void {
    const { trades, orders, markets } = this.#floor.state;
    for (; this.#compared < this.#trades.length || this.#compared < trades.size; this.#compared += 1) {
      const trade = trades.get(this.#compared + 1);
      const { token } = orders.get(trade.taker);
      const { tickSize } = markets.get(marketOfToken(token));
      const found: NaiveTrade = {
        taker: trade.taker,
        maker: trade.maker,
        tick: (outcomeOf(token) === "NO" ? 10_000 - trade.price : trade.price) / tickSize,
        quantity: trade.size,
      };
      const expected = this.#trades[this.#compared];
      if (JSON.stringify(found) !== JSON.stringify(expected)) {
        throw new Error(`trade ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`);
      }
    }
  }

  #compareDepth(side: Side, direction: BookDirection): void {
    const { book } = bookFor(this.#floor.state.markets.get(1), "YES");
    const found = JSON.stringify(depthOf(book, direction));
    const expected = JSON.stringify(this.#naive.depth(side));
    if (found !== expected)
      throw new Error(`${side}: ${found}, expected ${expected}\n${this.#floor.table()}`);
  }
}

function depthOf(book: Book | null, direction: BookDirection): NaiveLevel[] {
  const levels: NaiveLevel[] = [];
  book?.depth(direction, (tick, open, orders) => void levels.push({ tick, open, orders }));
  return levels;
}

const SEEDS = atLevel(3000);
const STEPS = 50;

describe("the engine and the naive reference book", () => {
  it.each(["complementary", "independent"] as const)(
    `trade alike and stand alike after every step of ${SEEDS} histories, %s`,
    (matching) => {
      for (let seed = 1; seed <= SEEDS; seed += 1) {
        const duel = new Duel(stream(`${seed}`, matching), matching);
        for (let step = 1; step <= STEPS; step += 1) {
          try {
            duel.step();
          } catch (error) {
            expect.fail(`seed ${seed}, step ${step}: ${error instanceof Error ? error.message : error}`);
          }
        }
      }
    },
  );
});
