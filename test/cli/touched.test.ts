import { expect, it } from "vitest";
import type { ReplayedLine } from "../../src/history/journal-replay.ts";
import { Touched } from "../../src/history/mentions.ts";
import { openFloor } from "../support/exchange.ts";

/** The markets that an event touches, where alice has the only order. */
function touchedBy(event: object): number[] {
  const floor = openFloor();
  floor.fund("alice", { usdc: 100 });
  floor.send("alice BUY 10 YES @ 0.4");
  const touched = new Touched();
  const outcome = { kind: "accepted", events: [event] } as const;
  touched.take({ command: null, outcome } as unknown as ReplayedLine, floor.state);
  return [...touched.markets];
}

it("a market whose orders from before the opening are canceled is one that was touched", () => {
  expect(touchedBy({ kind: "orderCanceled", order: 1, reason: "USER" })).toEqual([1]);
});

it("a fault that is set for an order yet to come touches no market", () => {
  expect(touchedBy({ kind: "settlementFaultSet", number: 1, fault: "fail", order: 2 })).toEqual([]);
});
