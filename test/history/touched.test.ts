import { expect, it } from "vitest";
import type { ReplayedLine } from "../../src/history/journal-replay.ts";
import { Touched } from "../../src/history/replayed-lines.ts";
import { openFundedExchange } from "../support/exchange.ts";

/** Returns the markets that an event touches. Alice has the only order. */
function touchedBy(event: object): number[] {
  const exchange = openFundedExchange();
  exchange.fund("alice", { usdc: 100 });
  exchange.send("alice BUY 10 YES @ 0.4");
  const touched = new Touched();
  const result = { kind: "accepted", events: [event] } as const;
  touched.take({ command: null, result } as unknown as ReplayedLine, exchange.state);
  return [...touched.markets];
}

it("canceling an order from before the opening touches its market", () => {
  expect(touchedBy({ kind: "orderCanceled", order: 1, reason: "USER" })).toEqual([1]);
});

it("a fault for an order that does not exist yet touches no market", () => {
  expect(touchedBy({ kind: "settlementFaultSet", number: 1, fault: "fail", order: 2 })).toEqual([]);
});
