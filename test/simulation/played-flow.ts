import { idOf } from "../../src/core/ids.ts";
import { violations } from "../../src/core/invariants.ts";
import { tokenIdIn } from "../../src/core/market.ts";
import { FULL_PRICE, millis, money, type Price, size } from "../../src/core/units.ts";
import type { Exchange } from "../../src/engine/exchange.ts";
import type { FlowRow, PlaceRow } from "../../src/simulation/flow.ts";
import { addressOf, type MarketTerms } from "../support/commands.ts";
import { START, TestExchange } from "../support/exchange.ts";

/** Result of a flow in a new market. */
export interface PlayedFlow {
  /** Rows that were refused, each as `row number: code`. */
  readonly refused: readonly string[];
  /** Invariants that do not hold at the end. */
  readonly broken: readonly unknown[];
  readonly rows: readonly FlowRow[];
  readonly orders: readonly PlaceRow[];
  /** Share of the orders that traded. */
  readonly tradedShare: number;
  /** Share of the rows that cancel. */
  readonly cancelShare: number;
  /** Share of the orders that their accounts canceled. */
  readonly canceledShare: number;
  /** Share of the orders that buy YES. */
  readonly buysYesShare: number;
  /** Share of the rows with the time of the row before. */
  readonly sameMomentShare: number;
  /** Maximum number of resting orders. */
  readonly mostResting: number;
  /** Price difference between the last and the first tenth of the trades, in USDC per YES. */
  readonly drift: number;
}

/** Plays a flow in the first market of a new exchange. */
export function play(flow: Iterable<FlowRow>, terms: MarketTerms = {}): PlayedFlow {
  const testExchange = new TestExchange();
  testExchange.market(terms);
  const { exchange } = testExchange;
  const player = new Player(exchange);
  const rows = [...flow];
  let mostResting = 0;
  const refused = rows.flatMap((row, index) => {
    const codes = player.play(row);
    mostResting = Math.max(mostResting, restingIn(exchange));
    return codes.map((code) => `${index + 1}: ${code}`);
  });
  const orders = rows.filter((row) => row.op === "place");
  const share = (count: number, of: number): number => count / Math.max(1, of);
  const played = [...exchange.state.orders];
  const sameMoment = rows.filter((row, index) => row.op !== "fund" && row.at === rows[index - 1]?.at);
  return {
    refused,
    broken: violations(exchange.state),
    rows,
    orders,
    tradedShare: share(played.filter(({ matched }) => matched > 0).length, orders.length),
    cancelShare: share(rows.filter(({ op }) => op === "cancel").length, rows.length),
    canceledShare: share(played.filter(({ cancelReason }) => cancelReason === "USER").length, orders.length),
    buysYesShare: share(
      orders.filter(({ side, outcome }) => side === "BUY" && outcome === "YES").length,
      orders.length,
    ),
    sameMomentShare: share(sameMoment.length, rows.length),
    mostResting,
    drift: driftOf(exchange),
  };
}

/** Plays rows in the first market of an exchange. */
export class Player {
  readonly #exchange: Exchange;
  readonly #orders = new Map<string, string>();

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /** Plays a row; returns the code of its refusal, if any. */
  play(row: FlowRow): string[] {
    const exchange = this.#exchange;
    const { state } = exchange;
    exchange.advanceTo(millis(START + row.at));
    const address = addressOf(row.account);
    const tokenId = (outcome: "YES" | "NO"): string => tokenIdIn(state.markets.get(1), outcome);
    const order = state.orders.next;
    const decision = ((): ReturnType<Exchange["submit"]> => {
      switch (row.op) {
        case "place":
          return exchange.submit({
            kind: "placeOrder",
            address,
            tokenId: tokenId(row.outcome),
            side: row.side,
            price: row.price,
            size: row.size,
            orderType: row.type,
            expiration: row.expiresIn === null ? null : millis(exchange.now + row.expiresIn),
          });
        case "cancel":
          return exchange.submit({
            kind: "cancelOrder",
            address,
            orderId: this.#orders.get(row.ref) ?? row.ref,
          });
        case "cancel-all":
          return exchange.submit({ kind: "cancelAllOrders", address });
        case "fund":
          return exchange.submit({
            kind: "fundAccount",
            address,
            collateral: row.asset === "USDC" ? row.amount : money(0),
            tokens: row.asset === "USDC" ? [] : [{ tokenId: tokenId(row.asset), size: row.amount }],
            everyMarket: size(0),
          });
      }
    })();
    if (!decision.ok) return [decision.refusal.code];
    if (row.op === "place") this.#orders.set(row.ref, idOf(state.idPrefixes.order, order));
    return [];
  }
}

function restingIn({ state }: Exchange): number {
  let resting = 0;
  for (const { openCount } of state.accounts) resting += openCount;
  return resting;
}

function driftOf({ state }: Exchange): number {
  const prices = [...state.trades].map(({ taker, price }): Price => {
    const isYes = (state.orders.get(taker).token & 1) === 0;
    return isYes ? price : ((FULL_PRICE - price) as Price);
  });
  const tenth = Math.max(1, Math.floor(prices.length / 10));
  const mean = (of: readonly number[]): number => of.reduce((sum, each) => sum + each, 0) / of.length;
  return (mean(prices.slice(-tenth)) - mean(prices.slice(0, tenth))) / FULL_PRICE;
}
