import { describe, expect, it } from "vitest";
import type { Balance } from "../../src/core/account.ts";
import { remainingOf } from "../../src/core/order.ts";
import { price, type Size, size } from "../../src/core/units.ts";
import { type FlowRow, PROFILES } from "../../src/simulation/flow.ts";
import { generateFlow, orderSource } from "../../src/simulation/generate-flow.ts";
import { MAX_FEE_BPS, SimulatedMarket, type SimulatedOrder } from "../../src/simulation/simulator.ts";
import { addressOf } from "../support/commands.ts";
import { TestExchange } from "../support/exchange.ts";
import { playerIn } from "./played-flow.ts";

const TICK = price(100);

const orderOf = (order: Partial<SimulatedOrder> = {}): SimulatedOrder => ({
  number: 1,
  account: 0,
  side: "BUY",
  outcome: "YES",
  price: price(5000),
  size: size(1000),
  type: "GTC",
  expiresAt: null,
  ...order,
});

/** Executes a row of a generated flow on a simulated market. */
function simulate(market: SimulatedMarket, row: FlowRow): void {
  const number = (ref: string): number => Number(ref.slice(1));
  market.advanceTo(row.at);
  if (row.op === "place") {
    const expiresAt = row.expiresIn === null ? null : row.at + row.expiresIn;
    const account = Number(row.account.slice("trader-".length)) - 1;
    market.place({ ...row, number: number(row.ref), account, expiresAt });
  }
  if (row.op !== "cancel") return;
  const resting = market.find(number(row.ref));
  if (resting === undefined) throw new Error(`${row.ref} does not rest`);
  market.cancel(resting);
}

describe("a simulated market", () => {
  it("ends with the orders and balances of the exchange", () => {
    const rows = [...generateFlow({ seed: "1", orders: 3000, accounts: 3, profile: PROFILES.balanced })];
    const [first] = rows;
    if (first?.op !== "fund") throw new Error("a flow begins with what funds it");
    const testExchange = new TestExchange();
    testExchange.market({ feeRateBps: MAX_FEE_BPS });
    const { exchange } = testExchange;
    const play = playerIn(exchange);
    const shares = (first.amount / 10_000) as Size;
    const market = new SimulatedMarket(3, shares, TICK);
    for (const row of rows) {
      play(row);
      simulate(market, row);
    }
    const live = [...exchange.state.orders].filter(({ status }) => status === "LIVE");
    expect(live.length).toBeGreaterThan(100);
    const { pool } = market.book;
    const resting = market.resting.map(({ order, slot }) => ({
      number: order.number,
      open: pool.openIn(slot),
    }));
    expect(resting.sort((a, b) => a.number - b.number)).toEqual(
      live.map((order) => ({ number: order.number, open: remainingOf(order) })),
    );
    for (const [account, name] of ["trader-1", "trader-2", "trader-3"].entries()) {
      const number = exchange.state.accountByAddress.get(addressOf(name)) as number;
      const { collateral, holdings } = exchange.state.accounts.get(number);
      const free = ({ balance, reserved }: Balance<number>): number => balance - reserved;
      const canSell = (outcome: "YES" | "NO", shares: number): boolean =>
        market.canPay(orderOf({ account, side: "SELL", outcome, size: size(shares) }));
      const yes = free(holdings.get(1)?.yes as Balance<number>);
      const no = free(holdings.get(1)?.no as Balance<number>);
      expect([canSell("YES", yes), canSell("YES", yes + 1)]).toEqual([true, false]);
      expect([canSell("NO", no), canSell("NO", no + 1)]).toEqual([true, false]);
      // At 0.5 and with its fee, 0.01 share costs 5100 micro-USDC.
      const most = Math.floor(free(collateral) / 5100);
      const canBuy = (shares: number): boolean => market.canPay(orderOf({ account, size: size(shares) }));
      expect([canBuy(most), canBuy(most + 1)]).toEqual([true, false]);
    }
  });

  it("expires an order at its time, not before", () => {
    const market = new SimulatedMarket(1, size(10_000), TICK);
    market.place(orderOf({ type: "GTD", expiresAt: 60_000 }));
    market.advanceTo(59_999);
    expect(market.resting).toHaveLength(1);
    market.advanceTo(60_000);
    expect(market.resting).toHaveLength(0);
  });
});

it("drawn orders are for an account that can pay, in either outcome, until none can", () => {
  const market = new SimulatedMarket(3, size(30_000), TICK);
  const profile = { ...PROFILES.balanced, upPercent: 100, yesPercent: 100 };
  const grid = { tickSize: TICK, minOrderSize: size(100) };
  const draw = orderSource({ seed: "1", profile, orders: 1000, accounts: 3, ...grid }, market);
  const orders: SimulatedOrder[] = [];
  const drawAll = (): void => {
    for (;;) {
      const order = draw(orders.length + 1, 0);
      expect(market.canPay(order)).toBe(true);
      market.place(order);
      orders.push(order);
    }
  };
  expect(drawAll).toThrow("no account can pay for an order of this flow");
  // This profile draws only buyers of YES: an account without USDC sells NO instead.
  const kinds = new Set(orders.map(({ side, outcome }) => `${side} ${outcome}`));
  expect(kinds).toEqual(new Set(["BUY YES", "SELL NO"]));
});
