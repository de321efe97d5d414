import { describe, expect, it } from "vitest";
import type { Command } from "../../../src/core/commands.ts";
import { millis } from "../../../src/core/units.ts";
import { addressOf, orderCommand } from "../../support/commands.ts";
import { openFundedExchange, START } from "../../support/exchange.ts";

/** Opens an exchange with an agent that acts once, `ms` after the start. */
function agentAt(ms: number, ...sentences: readonly string[]) {
  const testExchange = openFundedExchange();
  const { exchange } = testExchange;
  const at = millis(START + ms);
  const [tokenId] = testExchange.state.markets.get(1).tokenIds;
  exchange.agents = {
    nextAfter: (now) => (now < at ? at : null),
    *act(): Generator<Command> {
      for (const sentence of sentences) yield orderCommand(sentence, exchange.now, () => tokenId);
    },
  };
  return testExchange;
}

describe("agents", () => {
  it("act at their moment, between timed commands before and after it", () => {
    const testExchange = agentAt(1_500, "bob SELL 1 YES @ 0.5");
    testExchange.send("alice BUY 1 YES @ 0.5 GTD 1s", "alice BUY 1 YES @ 0.4 GTD 2s");
    const { sequence } = testExchange.exchange;
    const received: unknown[] = [];
    testExchange.exchange.watch(
      (number, at, [event]) => void received.push([number - sequence, at - START, event?.kind]),
    );
    testExchange.advance("5s");
    expect(received).toEqual([
      [1, 1_000, "orderExpired"],
      [2, 1_500, "orderPlaced"],
      [3, 2_000, "orderExpired"],
    ]);
  });

  it("act after the timed commands of the same moment: an order that expires then is not matched", () => {
    const testExchange = agentAt(1_000, "bob SELL 1 YES @ 0.5");
    testExchange.send("alice BUY 1 YES @ 0.5 GTD 1s");
    testExchange.advance("5s");
    expect([testExchange.order(1), testExchange.order(2)]).toEqual(["EXPIRED 0/1", "LIVE 0/1"]);
  });

  it("submit all commands of a moment in one step", () => {
    const testExchange = agentAt(
      1_000,
      "bob SELL 1 YES @ 0.5",
      "nobody SELL 1 YES @ 0.5",
      "bob SELL 1 YES @ 0.6",
    );
    const { sequence } = testExchange.exchange;
    const steps = testExchange.exchange.advanceInSteps(millis(START + 2_000));
    expect(steps.next().done).toBe(false);
    expect(testExchange.exchange).toMatchObject({ now: START + 1_000, sequence: sequence + 2 });
    expect(steps.next()).toEqual({ done: true, value: true });
    expect(testExchange.exchange).toMatchObject({ now: START + 2_000, sequence: sequence + 2 });
  });

  it("count for the moment that is due next", () => {
    const testExchange = agentAt(1_500, "bob SELL 1 YES @ 0.5");
    expect(testExchange.exchange.nextDueAt).toBe(START + 1_500);
    testExchange.send("alice BUY 1 YES @ 0.4 GTD 1s");
    expect(testExchange.exchange.nextDueAt).toBe(START + 1_000);
    testExchange.advance("1500ms");
    expect(testExchange.exchange.nextDueAt).toBeNull();
    expect(testExchange.state.accountByAddress.has(addressOf("nobody"))).toBe(false);
  });
});
