import fc from "fast-check";
import { expect, it } from "vitest";
import { millis } from "../../../src/core/units.ts";
import { Exchange, type Snapshot } from "../../../src/engine/exchange.ts";
import { FillWatcher } from "../../../src/scenario/watch/fill-watcher.ts";
import { anyChainMove, anySettlement, chainCommandOf } from "../../core/chain/chain-moves.ts";
import { openArena } from "../../core/properties/moves.ts";
import { START } from "../../support/exchange.ts";
import { atLevel, forAll, runs } from "../../support/runs.ts";

/** Chain moves, and sometimes a snapshot or its restore. */
const anyStep = fc.oneof(
  { weight: 40, arbitrary: anyChainMove },
  { weight: 1, arbitrary: fc.constant({ kind: "snapshot" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "restore" as const }) },
);

it("an exchange without defects breaks no matching rule, under every policy and settlement mode", () => {
  let trades = 0;
  const anySteps = fc.array(anyStep, { maxLength: 120, size: "max" });
  forAll(runs(500), [anySettlement, anySteps, fc.nat({ max: 40 })], (config, steps, watchedFrom) => {
    const exchange = openArena(new Exchange(config, START));
    let watcher: FillWatcher | null = null;
    let snapshot: Snapshot | null = null;
    for (const [index, step] of steps.entries()) {
      if (index === watchedFrom) watcher = new FillWatcher(exchange, (account) => `account ${account}`);
      if (step.kind === "snapshot") snapshot = exchange.snapshot();
      else if (step.kind === "restore") {
        if (snapshot !== null) exchange.restore(snapshot);
      } else if (step.kind === "wait") exchange.advanceTo(millis(exchange.now + step.ms));
      else {
        const command = chainCommandOf(exchange.state, exchange.now, step);
        if (command !== null) exchange.submit(command);
      }
      expect(watcher?.broken ?? null).toBeNull();
    }
    trades += exchange.state.trades.size;
  });
  expect(trades).toBeGreaterThan(atLevel(750));
});
