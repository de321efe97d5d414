import fc from "fast-check";
import { expect, it, vi } from "vitest";
import type { Command } from "../../../src/core/commands.ts";
import { millis, money } from "../../../src/core/units.ts";
import { Exchange } from "../../../src/engine/exchange.ts";
import { SessionLog } from "../../../src/engine/journal.ts";
import { HistoryNotExpressible } from "../../../src/history/shrink/history-failure.ts";
import { type FailingCommands, shrinkHistory } from "../../../src/history/shrink/shrink-history.ts";
import { NotRunInTime } from "../../../src/history/shrink/shrink-scenario.ts";
import { ARENA, anyMove, commandOf, type Move, openArena } from "../../core/properties/moves.ts";
import { addressOf } from "../../support/commands.ts";
import { START } from "../../support/exchange.ts";
import { atLevel, forAllAsync, runs } from "../../support/runs.ts";
import { SessionExchange } from "../record/session-exchange.ts";
import { environmentIn, fingerprintIn, superfluous } from "./planted.ts";

/**
 * Defects: the maker of a MINT trade gets a cent too much, expiring an order of 7 shares throws, and an order of 9 shares
 * is canceled instead of resting.
 */
vi.mock(import("../../../src/core/rules/trading.ts"), async (load) => {
  const { tradingAppliers, tradingDeciders, ...others } = await load();
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
  const wrong: typeof tradingDeciders = {
    ...tradingDeciders,
    placeOrder: (state, command, rules, at) => {
      const decision = tradingDeciders.placeOrder(state, command, rules, at);
      if (!decision.ok || command.size !== 900) return decision;
      const events = decision.events.map((event) =>
        event.kind === "orderRested"
          ? ({ kind: "orderCanceled", order: event.order, reason: "FAK_UNFILLED" } as const)
          : event,
      );
      return { ...decision, events };
    },
  };
  return { ...others, tradingAppliers: broken, tradingDeciders: wrong };
});

/** Returns the history of `act`. */
function historyOf(act: (testExchange: SessionExchange) => void): FailingCommands {
  const log = new SessionLog();
  log.begin();
  const testExchange = new SessionExchange(log);
  act(testExchange);
  return historyIn(log, testExchange.exchange);
}

/** Returns the history of the commands in a log, and of a last one that throws. */
function historyIn(
  { entries }: SessionLog,
  exchange: Exchange,
  last: Command | null = null,
): FailingCommands {
  const accepted = entries ?? [];
  const thrown = last === null ? [] : [{ sequence: accepted.length + 1, at: exchange.now, command: last }];
  return { config: exchange.state.config, start: START, entries: [...accepted, ...thrown] };
}

const environment = environmentIn(".");

it("a history that breaks an invariant becomes a scenario with its own markets and a few steps", async () => {
  const names = ["ann", "ben", "cat"];
  const busy = historyOf((exchange) => {
    exchange.act("market rain; market snow tickSize=0.001; derive ann ben cat");
    const orders: number[] = [];
    for (let round = 0; round < 300; round += 1) {
      const price = `0.0${1 + (round % 5)}`;
      orders.push(exchange.act(`${names[round % 3]} BUY 1 YES @ ${price} in ${1 + (round % 2)}`));
      if (round % 4 === 3) exchange.act(`${names[(round - 2) % 3]} cancel ${orders[round - 2]}`);
      if (round === 140) exchange.act("ben BUY 4 NO @ 0.6 in 2");
      if (round === 150) exchange.act("fund cat usdc=50 yes=3 in 2");
      if (round === 160) exchange.act("cat BUY 3 YES @ 0.45 in 2");
      if (round % 20 === 0) exchange.act("advance 1s");
    }
  });
  const seen: number[] = [];
  const shrunk = await shrinkHistory(busy, { progress: (steps) => seen.push(steps) });
  const broken = "an invariant does not hold: USDC issued = balances + locked collateral";
  expect(
    shrunk?.text,
  ).toBe(`# Of a history of ${busy.entries.length} commands, these are enough to fail: ${broken}.
scenario: "${broken}"
accounts:
  alice: { USDC: 100 }
  bob: { USDC: 100 }
steps:
  - alice: BUY 4 NO @ 0.6
  - bob: BUY 3 YES @ 0.45
`);
  expect([seen[0], seen.at(-1)]).toEqual([busy.entries.length, 2]);
});

/** Shrinks a history; null if that is impossible for a reason that is expected. */
async function shrunkUnless(
  expected: new (...args: never[]) => Error,
  ...of: Parameters<typeof shrinkHistory>
) {
  try {
    return await shrinkHistory(...of);
  } catch (error) {
    if (error instanceof expected) return null;
    throw error;
  }
}

it("a history becomes a scenario that fails in the same way, whenever the time is up", async () => {
  const bids = Array.from({ length: 40 }, (_, round) => `ann BUY 1 YES @ 0.0${1 + (round % 5)}`).join("; ");
  const words = `market rain; derive ann ben; ${bids}; ben BUY 4 NO @ 0.6; ann BUY 3 YES @ 0.45`;
  const history = historyOf((exchange) => void exchange.act(words));
  const steps = new Set<number>();
  for (let most = 1; most < 60; most += 3) {
    let asked = 0;
    const shrunk = await shrunkUnless(NotRunInTime, history, { isOver: () => ++asked > most });
    if (shrunk === null) continue;
    steps.add(shrunk.steps);
    expect((await fingerprintIn(shrunk.text, environment))?.key).toBe(shrunk.fingerprint.key);
  }
  expect(steps.size).toBeGreaterThan(2);
  expect(Math.max(...steps)).toBe(42);
});

it("a history that ends in a defect becomes its last command with what it needs, or a step that advances time", async () => {
  const history = historyOf((exchange) => {
    exchange.act("market rain; fund ann usdc=100 yes=20; fund ben usdc=100; ann BUY 1 YES @ 0.2 GTD 5s");
    exchange.act("ben BUY 7 YES @ 0.2 GTD 60s; ann SELL 5 YES @ 0.4");
    expect(() => exchange.advance("2m")).toThrow("cannot expire");
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

it("a history that breaks a rule of matching becomes the steps that break it", async () => {
  const words = "market rain; derive ann ben; ann SELL 2 YES @ 0.5; ben BUY 9 YES @ 0.6; ben BUY 1 YES @ 0.3";
  const shrunk = await shrinkHistory(historyOf((exchange) => void exchange.act(words)));
  expect(
    shrunk?.text.slice(shrunk.text.indexOf("scenario:")),
  ).toBe(`scenario: "an invariant does not hold: an order rests or ends as its type says"
accounts:
  alice: { USDC: 100 }
steps:
  - alice: BUY 9 YES @ 0.6
`);
});

it("a history in which nothing fails is not reduced", async () => {
  expect(await shrinkHistory(historyOf((exchange) => void exchange.act("market rain")))).toBeNull();
});

it("a failure that no scenario can express is an error that names the commands that are enough", async () => {
  /** Throws at `setNonce`. */
  class FailingExchange extends Exchange {
    override submit(command: Command) {
      if (command.kind === "setNonce") throw new Error("no nonce");
      return super.submit(command);
    }
  }
  const history = historyOf((exchange) => {
    exchange.act("market rain");
    exchange.mustSubmit({ kind: "setNonce", address: addressOf("ann"), nonce: 5 });
    exchange.act("derive ann");
  });
  const shrinking = shrinkHistory(history, { open: (config, start) => new FailingExchange(config, start) });
  await expect(shrinking).rejects.toThrow(
    new HistoryNotExpressible(
      "1 command of 4 is enough to fail (a defect: no nonce; sequences 3), but no scenario can express setNonce",
    ),
  );
});

function playedHistory(moves: readonly Move[]): FailingCommands {
  const log = new SessionLog();
  log.begin();
  const exchange = openArena(new Exchange(ARENA, START, log));
  for (const move of moves) {
    const command = commandOf(exchange.state, exchange.now, move);
    try {
      if (command !== null) exchange.submit(command);
      else if (move.kind === "wait") exchange.advanceTo(millis(exchange.now + move.ms));
    } catch {
      return historyIn(log, exchange, command);
    }
  }
  return historyIn(log, exchange);
}

it("any failing history becomes a scenario that fails in the same way, in which every step is needed", async () => {
  let failing = 0;
  const moves = fc.array(anyMove, { minLength: 30, maxLength: 120, size: "max" });
  await forAllAsync(runs(10), [moves.map(playedHistory)], async (history) => {
    const shrunk = await shrunkUnless(HistoryNotExpressible, history);
    fc.pre(shrunk !== null);
    if (shrunk === null) return;
    failing += 1;
    expect((await fingerprintIn(shrunk.text, environment))?.key).toBe(shrunk.fingerprint.key);
    expect(await superfluous(shrunk.text, shrunk.fingerprint, environment)).toEqual([]);
    expect(shrunk.steps).toBeLessThanOrEqual(6);
    expect((await shrinkHistory(history))?.text).toBe(shrunk.text);
  });
  expect(failing).toBeGreaterThan(atLevel(5));
});
