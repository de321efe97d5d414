import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { Command } from "../../../src/core/commands.ts";
import { millis, money } from "../../../src/core/units.ts";
import { Exchange } from "../../../src/engine/exchange.ts";
import { SessionLog } from "../../../src/engine/session-log.ts";
import {
  type History,
  HistoryNotExpressible,
  shrinkHistory,
} from "../../../src/history/shrink/shrink-history.ts";
import { NotRunInTime } from "../../../src/history/shrink/shrink-scenario.ts";
import { ARENA, anyMove, commandOf, type Move, openArena } from "../../core/properties/moves.ts";
import { addressOf } from "../../support/commands.ts";
import { START } from "../../support/exchange.ts";
import { atLevel, runs } from "../../support/runs.ts";
import { Floor } from "../record/floor.ts";
import { environmentIn, fingerprintIn, superfluous } from "./planted.ts";

/** A rule that is broken: sellers get a cent too much of each set that is minted, and no order of 7 shares can expire. */
vi.mock(import("../../../src/core/rules/apply-trading.ts"), async (load) => {
  const { tradingAppliers, ...others } = await load();
  const { orderTraded, orderExpired } = tradingAppliers;
  const broken: typeof tradingAppliers = {
    ...tradingAppliers,
    orderTraded: (state, event, at) => {
      orderTraded(state, event, at);
      if (event.matchType !== "MINT") return;
      const { collateral } = state.accounts.get(state.orders.get(event.maker).account);
      collateral.balance = money(collateral.balance + 10_000);
    },
    orderExpired: (state, event, at) => {
      if (event.kind === "orderExpired" && state.orders.get(event.order).size === 700)
        throw new Error(`order ${event.order} cannot expire at ${at}`);
      orderExpired(state, event, at);
    },
  };
  return { ...others, tradingAppliers: broken };
});

/** Keeps all that an exchange accepts, and what it was asked last when that throws. */
class Witness {
  readonly log = new SessionLog();
  readonly history = (exchange: Exchange, last?: { command: Command; at: number }): History => {
    const entries = [...(this.log.entries ?? [])];
    if (last !== undefined) {
      entries.push({ sequence: entries.length + 1, at: millis(last.at), command: last.command });
    }
    return { config: exchange.state.config, start: START, entries };
  };

  constructor() {
    this.log.begin();
  }
}

/** What is done on a floor as a history. */
function historyOf(act: (floor: Floor) => void): History {
  const witness = new Witness();
  const floor = new Floor(witness.log);
  act(floor);
  return witness.history(floor.exchange);
}

const environment = environmentIn(".");

describe("a history after which an invariant does not hold", () => {
  const busy = historyOf((floor) => {
    floor.market("rain");
    floor.market("snow", { tickSize: 0.001 });
    for (const name of ["ann", "ben", "cat"]) floor.derive(name);
    const orders: number[] = [];
    for (let round = 0; round < 300; round += 1) {
      const by = ["ann", "ben", "cat"][round % 3];
      orders.push(floor.send(`${by} BUY 1 YES @ 0.0${1 + (round % 5)}`, 1 + (round % 2)));
      if (round % 4 === 3)
        floor.cancel(["ann", "ben", "cat"][(round - 2) % 3] as string, orders[round - 2] as number);
      if (round === 140) floor.send("ben BUY 4 NO @ 0.6", 2);
      if (round === 150) floor.fund("cat", { usdc: 50, yes: 3 }, 2);
      if (round === 160) floor.send("cat BUY 3 YES @ 0.45", 2);
      if (round % 20 === 0) floor.advance("1s");
    }
  });

  it("is a scenario of a world of its own, in a few steps", async () => {
    const seen: number[] = [];
    const shrunk = await shrinkHistory(busy, { progress: (steps) => seen.push(steps) });
    expect(
      shrunk?.text,
    ).toBe(`# Of a history of ${busy.entries.length} commands, these are enough to fail: an invariant does not hold: USDC issued = balances + locked collateral.
scenario: "an invariant does not hold: USDC issued = balances + locked collateral"
accounts:
  alice: { USDC: 100 }
  bob: { USDC: 100 }
steps:
  - alice: BUY 4 NO @ 0.6
  - bob: BUY 3 YES @ 0.45
`);
    expect(seen[0]).toBe(busy.entries.length);
    expect(seen.at(-1)).toBe(2);
  });

  it("fails in the same way when it is run, and is the same each time", async () => {
    const [first, again] = [await shrinkHistory(busy), await shrinkHistory(busy)];
    expect(again?.text).toBe(first?.text);
    const fingerprint = await fingerprintIn(first?.text ?? "", environment);
    expect(fingerprint?.key).toBe("invariant USDC issued = balances + locked collateral");
  });
});

describe("a history of which there is little time to leave something out", () => {
  it("is what there is by then, and fails in the same way", async () => {
    const history = historyOf((floor) => {
      floor.market("rain");
      for (const name of ["ann", "ben"]) floor.derive(name);
      for (let round = 0; round < 40; round += 1) floor.send(`ann BUY 1 YES @ 0.0${1 + (round % 5)}`);
      floor.send("ben BUY 4 NO @ 0.6");
      floor.send("ann BUY 3 YES @ 0.45");
    });
    const steps = new Set<number>();
    for (let most = 1; most < 60; most += 3) {
      let asked = 0;
      const shrunk = await shrinkHistory(history, { isOver: () => ++asked > most }).catch(
        (error: unknown) => {
          if (!(error instanceof NotRunInTime)) throw error;
          return null;
        },
      );
      if (shrunk === null) continue;
      steps.add(shrunk.steps);
      expect((await fingerprintIn(shrunk.text, environment))?.key).toBe(shrunk.fingerprint.key);
    }
    expect(steps.size).toBeGreaterThan(2);
    expect(Math.max(...steps)).toBe(42);
  });
});

describe("a history at whose end something throws", () => {
  it("is that command with what it needs, in time alone if that is it", async () => {
    const history = historyOf((floor) => {
      floor.market("rain");
      floor.fund("ann", { usdc: 100, yes: 20 });
      floor.fund("ben", { usdc: 100 });
      floor.send("ann BUY 1 YES @ 0.2 GTD 5s");
      floor.send("ben BUY 7 YES @ 0.2 GTD 60s");
      floor.send("ann SELL 5 YES @ 0.4");
      expect(() => floor.advance("2m")).toThrow("cannot expire");
    });
    const shrunk = await shrinkHistory(history);
    expect(shrunk?.fingerprint.sentence).toMatch(/^a defect: order \d+ cannot expire at \d+$/);
    expect(shrunk?.text.slice(shrunk.text.indexOf("accounts:"))).toBe(`accounts:
  alice: { USDC: 100 }
steps:
  - alice: BUY 7 YES @ 0.2 GTD 2026-01-01T00:01:00Z
  - at: 2026-01-01T00:01:00Z
`);
  });

  it("does not fail when nothing does", async () => {
    expect(await shrinkHistory(historyOf((floor) => floor.market("rain")))).toBeNull();
  });
});

describe("what no scenario can tell", () => {
  it("is said plainly, with the commands that are enough", async () => {
    /** A wallet's gas money is a defect here. */
    class Touchy extends Exchange {
      override submit(command: Command) {
        if (command.kind === "setNativeBalance") throw new Error("no gas money");
        return super.submit(command);
      }
    }
    const history = historyOf((floor) => {
      floor.market("rain");
      floor.demand({ kind: "setNativeBalance", address: addressOf("ann"), wei: "5" });
      floor.derive("ann");
    });
    const told = shrinkHistory(history, { open: (config, start) => new Touchy(config, start) });
    await expect(told).rejects.toThrow(HistoryNotExpressible);
    await expect(told).rejects.toThrow(
      "1 command of 4 is enough to fail (a defect: no gas money; sequences 3), but no step can express setNativeBalance",
    );
  });
});

describe("whatever is done on any exchange", () => {
  it("what is left of it fails in the same way, and no step of it is superfluous", async () => {
    let failing = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anyMove, { minLength: 30, maxLength: 120, size: "max" }), async (moves) => {
        const history = playedHistory(moves);
        const shrunk = await shrinkHistory(history).catch((error: unknown) => {
          if (!(error instanceof HistoryNotExpressible)) throw error;
          return null;
        });
        fc.pre(shrunk !== null);
        if (shrunk === null) return;
        failing += 1;
        expect((await fingerprintIn(shrunk.text, environment))?.key).toBe(shrunk.fingerprint.key);
        expect(await superfluous(shrunk.text, shrunk.fingerprint, environment)).toEqual([]);
        expect(shrunk.steps).toBeLessThanOrEqual(6);
      }),
      runs(20),
    );
    expect(failing).toBeGreaterThan(atLevel(10));
  });
});

function playedHistory(moves: readonly Move[]): History {
  const witness = new Witness();
  const exchange = openArena(new Exchange(ARENA, START, witness.log));
  for (const move of moves) {
    const command = commandOf(exchange.state, exchange.now, move);
    try {
      if (command !== null) exchange.submit(command);
      else if (move.kind === "wait") exchange.advanceTo(millis(exchange.now + move.ms));
    } catch {
      return witness.history(exchange, command === null ? undefined : { command, at: exchange.now });
    }
  }
  return witness.history(exchange);
}
