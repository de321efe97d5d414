import { describe, expect, it } from "vitest";
import { commonFlow, steadyFlow } from "./flow.ts";
import {
  assertInvariants,
  FlowCommands,
  mustSubmit,
  openFundedExchange,
  tallyOf,
} from "./funded-exchange.ts";

const OPERATIONS = 10_000;
const BATCH = 3000;

describe("a flow as commands", () => {
  it.each([
    { words: "in terms of YES", typed: false, bothOutcomes: false },
    { words: "in terms of YES, of all types", typed: true, bothOutcomes: false },
    { words: "in terms of both outcomes", typed: false, bothOutcomes: true },
  ])("makes the flow's trades $words", ({ typed, bothOutcomes }) => {
    const flow = commonFlow({ levels: 99, typed, operations: OPERATIONS });
    const exchange = openFundedExchange({ levels: 99 });
    for (const command of new FlowCommands(flow, exchange.state, { bothOutcomes }).take(OPERATIONS)) {
      mustSubmit(exchange, command);
    }
    expect(tallyOf(exchange.state, 99)).toEqual(flow.expected);
    assertInvariants(exchange.state);
  });

  it("keeps the number of orders in every book of several markets", () => {
    const flow = steadyFlow({ live: 40, operations: OPERATIONS });
    const exchange = openFundedExchange({ markets: 3, levels: flow.levels });
    const commands = new FlowCommands(flow, exchange.state);
    for (const command of commands.opening()) mustSubmit(exchange, command);
    expect(exchange.state.trades.size).toBe(0);
    for (const command of commands.take(BATCH)) mustSubmit(exchange, command);
    for (const { books, trades } of exchange.state.markets) {
      expect(trades.size).toBeGreaterThan(0);
      let live = 0;
      for (const { book } of books) {
        for (const direction of [0, 1] as const)
          book?.depth(direction, (_tick, _open, orders) => (live += orders));
      }
      // An unfinished turn of the flow has removed orders that it will replace.
      expect(Math.abs(live - 40)).toBeLessThanOrEqual(17);
    }
    assertInvariants(exchange.state);
  });
});
