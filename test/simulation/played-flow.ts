import type { Command } from "../../src/core/commands.ts";
import { idOf } from "../../src/core/ids.ts";
import { violations } from "../../src/core/invariants.ts";
import { tokenIdIn } from "../../src/core/market.ts";
import type { Outcome } from "../../src/core/terms.ts";
import { complement, millis, money, type Price, size } from "../../src/core/units.ts";
import type { Exchange } from "../../src/engine/exchange.ts";
import type { FlowRow } from "../../src/simulation/flow.ts";
import { addressOf, type MarketTerms } from "../support/commands.ts";
import { START, TestExchange } from "../support/exchange.ts";

/** Plays a flow in the first market of a new exchange. */
export function play(flow: Iterable<FlowRow>, terms: MarketTerms = {}) {
  const testExchange = new TestExchange();
  testExchange.market(terms);
  const { exchange } = testExchange;
  const player = playerIn(exchange);
  const rows = [...flow];
  let mostResting = 0;
  const refused = rows.flatMap((row, index) => {
    const code = player(row);
    mostResting = Math.max(mostResting, restingIn(exchange));
    return code === null ? [] : [`${index + 1}: ${code}`];
  });
  const orders = rows.filter((row) => row.op === "place");
  const played = [...exchange.state.orders];
  const sameMoment = rows.filter((row, index) => row.op !== "fund" && row.at === rows[index - 1]?.at);
  const buysYes = orders.filter(({ side, outcome }) => side === "BUY" && outcome === "YES");
  return {
    /** Rows that were refused, each as `row number: code`. */
    refused,
    /** Invariants that do not hold at the end. */
    broken: violations(exchange.state),
    rows,
    orders,
    // Shares of the orders.
    tradedShare: played.filter(({ matched }) => matched > 0).length / orders.length,
    canceledShare: played.filter(({ cancelReason }) => cancelReason === "USER").length / orders.length,
    buysYesShare: buysYes.length / orders.length,
    /** Share of the rows with the time of the row before. */
    sameMomentShare: sameMoment.length / rows.length,
    /** Maximum number of resting orders. */
    mostResting,
    /** Price difference between the last and the first tenth of the trades, in USDC per YES. */
    drift: driftOf(exchange),
  };
}
export type PlayedFlow = ReturnType<typeof play>;

/** Returns a function that plays rows in the first market of an exchange, and returns the code of a refusal, or null. */
export function playerIn(exchange: Exchange) {
  const { state } = exchange;
  const tokenId = (outcome: Outcome): string => tokenIdIn(state.markets.get(1), outcome);
  const orders = new Map<string, string>();
  const commandOf = (row: FlowRow, address: string): Command => {
    switch (row.op) {
      case "place": {
        const { side, outcome, price, size, type: orderType, expiresIn } = row;
        const expiration = expiresIn === null ? null : millis(exchange.now + expiresIn);
        const terms = { tokenId: tokenId(outcome), side, price, size, orderType, expiration };
        return { kind: "placeOrder", address, ...terms };
      }
      case "cancel":
        return { kind: "cancelOrder", address, orderId: orders.get(row.ref) ?? row.ref };
      case "cancel-all":
        return { kind: "cancelAllOrders", address };
      case "fund": {
        const collateral = row.asset === "USDC" ? row.amount : money(0);
        const tokens = row.asset === "USDC" ? [] : [{ tokenId: tokenId(row.asset), size: row.amount }];
        return { kind: "fundAccount", address, collateral, tokens, everyMarket: size(0) };
      }
    }
  };
  return (row: FlowRow): string | null => {
    exchange.advanceTo(millis(START + row.at));
    const order = state.orders.next;
    const decision = exchange.submit(commandOf(row, addressOf(row.account)));
    if (!decision.ok) return decision.refusal.code;
    if (row.op === "place") orders.set(row.ref, idOf(state.idPrefixes.order, order));
    return null;
  };
}

function restingIn({ state }: Exchange): number {
  let resting = 0;
  for (const { openCount } of state.accounts) resting += openCount;
  return resting;
}

function driftOf({ state }: Exchange): number {
  const prices = [...state.trades].map(({ taker, price }): Price => {
    const isYes = (state.orders.get(taker).token & 1) === 0;
    return isYes ? price : complement(price);
  });
  const tenth = Math.max(1, Math.floor(prices.length / 10));
  const mean = (of: readonly number[]): number => of.reduce((sum, each) => sum + each, 0) / of.length;
  return (mean(prices.slice(-tenth)) - mean(prices.slice(0, tenth))) / 10_000;
}
