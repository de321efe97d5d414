import { expect, it } from "vitest";
import type { ReplayedLine } from "../../src/history/journal-replay.ts";
import { Touched } from "../../src/history/mentions.ts";
import { openFloor } from "../support/exchange.ts";

it("a market whose orders from before the opening are canceled is one that was touched", () => {
  const floor = openFloor();
  floor.fund("alice", { usdc: 100 });
  floor.send("alice BUY 10 YES @ 0.4");
  const touched = new Touched();
  const outcome = {
    kind: "accepted",
    events: [{ kind: "orderCanceled", order: 1, reason: "USER" }],
  } as const;
  touched.take({ command: null, outcome } as unknown as ReplayedLine, floor.state);
  expect([...touched.markets]).toEqual([1]);
});
