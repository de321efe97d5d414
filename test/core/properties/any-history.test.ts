import { deepStrictEqual } from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blockAt, headOf, miningOf } from "../../../src/core/chain/chain.ts";
import { blockHash } from "../../../src/core/chain/chain-hashes.ts";
import { settledAt, tradeStatus } from "../../../src/core/chain/settlement.ts";
import type { Stamped } from "../../../src/core/commands.ts";
import { violations } from "../../../src/core/invariants.ts";
import { grantDue } from "../../../src/core/rules/ledger.ts";
import { decide } from "../../../src/core/rules/rules.ts";
import { millis } from "../../../src/core/units.ts";
import { Exchange } from "../../../src/engine/exchange.ts";
import { START } from "../../support/exchange.ts";
import { forAll, runs } from "../../support/runs.ts";
import {
  anySettlement,
  arenaWith,
  chainCommandOf,
  openWith,
  play,
  replayed,
  tradingOrAny,
} from "../chain/chain-moves.ts";
import { anyMove, openArena } from "./moves.ts";
import { stateLines } from "./state-lines.ts";

const AUTO = arenaWith("auto", "optimistic");

/** Plays any histories; after each move, calls what `watch` returns for the exchange. */
function afterEachMove(
  cases: number,
  watch: (exchange: Exchange) => () => void,
  configs = anySettlement,
): void {
  forAll(runs(cases), [configs, tradingOrAny(60)], (config, moves) => {
    const exchange = openWith(config);
    const check = watch(exchange);
    for (const move of moves) {
      play(exchange, [move]);
      check();
    }
  });
}

describe("for any history, in every settlement mode,", () => {
  it("the same commands, and a replay of the accepted ones, give the same bytes, in state and events", () => {
    forAll(runs(300), [anySettlement, tradingOrAny(80)], (config, moves) => {
      const journal: Stamped[] = [];
      const live = openArena(new Exchange(config, START, { append: (entry) => void journal.push(entry) }));
      const again = openWith(config);
      deepStrictEqual(play(again, moves), play(live, moves));
      const bytes = stateLines(live.state);
      deepStrictEqual(stateLines(again.state), bytes);
      deepStrictEqual(stateLines(replayed(config, journal)), bytes);
    });
  });

  it("decide never writes and is repeatable; a refused command changes nothing", () => {
    forAll(runs(200), [anySettlement, tradingOrAny(25)], (config, moves) => {
      const exchange = openWith(config);
      for (const move of moves) {
        const command = chainCommandOf(exchange.state, exchange.now, move);
        if (command === null) {
          play(exchange, [move]);
          continue;
        }
        const { sequence } = exchange;
        const before = stateLines(exchange.state);
        const decision = decide(exchange.state, { at: exchange.now, command });
        deepStrictEqual(stateLines(exchange.state), before);
        deepStrictEqual(decide(exchange.state, { at: exchange.now, command }), decision);
        deepStrictEqual(exchange.submit(command).ok, decision.ok);
        if (!decision.ok)
          deepStrictEqual([exchange.sequence, stateLines(exchange.state)], [sequence, before]);
      }
    });
  });

  it("every invariant holds after every command, and no grant is due where the account has a holding", () => {
    afterEachMove(1000, (exchange) => () => {
      deepStrictEqual(violations(exchange.state), []);
      for (const account of exchange.state.accounts)
        for (const market of account.holdings.keys()) deepStrictEqual(grantDue(account, market), 0);
    });
  });

  it("advancing time in one step equals advancing in many", () => {
    forAll(runs(200), [tradingOrAny(60), fc.integer({ min: 2, max: 9 })], (moves, steps) => {
      const [oneStep, manySteps] = [openWith(AUTO), openWith(AUTO)];
      deepStrictEqual(play(manySteps, moves, steps), play(oneStep, moves));
      deepStrictEqual(stateLines(manySteps.state), stateLines(oneStep.state));
    });
  });

  it("a final block and a confirmed or failed trade never change", () => {
    afterEachMove(100, (exchange) => {
      const final = new Map<string, string>();
      const keep = (key: string, value: string): void => {
        deepStrictEqual(final.get(key) ?? value, value);
        final.set(key, value);
      };
      return () => {
        const { state } = exchange;
        const depth = state.config.settlement === "instant" ? 0 : 2;
        for (let height = 0; height <= headOf(state.chain) - depth; height += 1) {
          const block = blockAt(state.chain, height);
          if (block !== undefined) keep(`block ${height}`, blockHash(state, block));
        }
        for (const trade of state.trades) {
          const status = tradeStatus(state, trade);
          if (final.has(`trade ${trade.number}`) || status === "CONFIRMED" || status === "FAILED")
            keep(`trade ${trade.number}`, status);
        }
      };
    });
  });

  it("the time of a trade goes back only if it is delayed or lost after a reorganization", () => {
    afterEachMove(100, (exchange) => {
      const times = new Map<number, number>();
      return () => {
        const { state } = exchange;
        for (const trade of state.trades) {
          const { status, exception } = state.chain.transactions.get(trade.transaction);
          const isUnknown = status === "LOST" || exception?.hold === "DELAYED";
          const time = settledAt(state, trade);
          if (!isUnknown) expect(time).toBeGreaterThanOrEqual(times.get(trade.number) ?? 0);
          times.set(trade.number, time);
        }
      };
    });
  });

  it("without faults, all trades except lost ones become confirmed or failed", () => {
    forAll(runs(100), [tradingOrAny(60)], (moves) => {
      const exchange = openWith(AUTO);
      play(exchange, moves);
      exchange.submit({ kind: "endSettlementFault", number: null });
      exchange.submit({ kind: "bumpFees" });
      exchange.submit({ kind: "setMining", mode: "auto", intervalMs: 2_000 });
      exchange.advanceTo(millis(exchange.now + 600_000));
      const { state } = exchange;
      const open = [...state.trades].filter(
        (trade) => !["CONFIRMED", "FAILED"].includes(tradeStatus(state, trade)),
      );
      const lost = new Set(state.chain.lost);
      expect(open.filter(({ transaction }) => !lost.has(transaction))).toEqual([]);
    });
  });

  it("with automatic mining, while no block is due, an additional one mines nothing that is pending", () => {
    const mineMore = (exchange: Exchange) => (): void => {
      const { chain, config } = exchange.state;
      const { nextBlockAt, pending } = chain;
      if (nextBlockAt !== null || miningOf(chain, config).mode !== "auto") return;
      const snapshot = exchange.snapshot();
      exchange.submit({ kind: "mineBlocks", count: 1 });
      expect(exchange.state.chain.pending).toBe(pending);
      exchange.restore(snapshot);
    };
    afterEachMove(150, mineMore, fc.constant(AUTO));
  });

  it("after all orders are canceled, nothing is reserved, rests or is due", () => {
    forAll(runs(225), [fc.array(anyMove, { maxLength: 80, size: "max" })], (moves) => {
      const exchange = openWith(AUTO);
      play(exchange, moves);
      for (const { address } of exchange.state.accounts) {
        exchange.submit({ kind: "cancelAllOrders", address });
      }
      const { accounts, markets } = exchange.state;
      exchange.advanceTo(millis(exchange.now + 60_000));
      expect(exchange.nextDueAt).toBe(null);
      expect([...markets].filter(({ liquidity: { usdc, micro } }) => usdc !== 0 || micro !== 0)).toEqual([]);
      for (const { collateral, holdings } of accounts) {
        const balances = [collateral, ...[...holdings.values()].flatMap(({ yes, no }) => [yes, no])];
        expect(balances.filter(({ reserved }) => reserved !== 0)).toEqual([]);
      }
    });
  });
});
