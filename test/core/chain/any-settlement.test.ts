import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apply } from "../../../src/core/apply.ts";
import { blockAt, headOf } from "../../../src/core/chain/chain.ts";
import { blockHash } from "../../../src/core/chain/chain-hashes.ts";
import { tradeStatus } from "../../../src/core/chain/settlement.ts";
import type { Stamped } from "../../../src/core/commands.ts";
import { decide } from "../../../src/core/decide.ts";
import { violations } from "../../../src/core/invariants/invariants.ts";
import { grantDue } from "../../../src/core/rules/ledger.ts";
import { createState, type ExchangeConfig } from "../../../src/core/state.ts";
import { millis } from "../../../src/core/units.ts";
import { Exchange } from "../../../src/engine/exchange.ts";
import { START } from "../../support/exchange.ts";
import { runs } from "../../support/runs.ts";
import { type Move, openArena } from "../properties/moves.ts";
import { portraitOf } from "../properties/portrait.ts";
import { anySettlement, anySteeredMove, arenaWith, type ChainMove, chainCommandOf } from "./chain-moves.ts";

type Moves = readonly (Move | ChainMove)[];
const histories = (maxLength: number): fc.Arbitrary<Moves> =>
  fc.array(anySteeredMove, { maxLength, size: "max" });
const open = (config: ExchangeConfig): Exchange => openArena(new Exchange(config, START));

/** Makes the moves; each wait in as many steps as `steps` says. */
function play(exchange: Exchange, moves: Moves, steps = 1): void {
  for (const move of moves) {
    const command = chainCommandOf(exchange.state, exchange.now, move);
    if (command !== null) exchange.submit(command);
    if (move.kind !== "wait") continue;
    const from = exchange.now;
    for (let step = 1; step <= steps; step += 1) {
      exchange.advanceTo(millis(from + Math.floor((move.ms * step) / steps)));
    }
  }
}

describe("whatever happens on the chain", () => {
  it("every invariant holds after every command, in every mode", () => {
    fc.assert(
      fc.property(anySettlement, histories(60), (config, moves) => {
        const exchange = open(config);
        for (const move of moves) {
          play(exchange, [move]);
          expect(violations(exchange.state)).toEqual([]);
        }
      }),
      runs(1500),
    );
  });

  it("nobody is granted anything more in a market where they have or had shares", () => {
    fc.assert(
      fc.property(anySettlement, histories(60), (config, moves) => {
        const exchange = open(config);
        play(exchange, moves);
        for (const account of exchange.state.accounts) {
          for (const market of account.holdings.keys()) expect(grantDue(account, market)).toBe(0);
        }
      }),
      runs(500),
    );
  });

  it("what was accepted gives the same bytes when it is decided anew, command by command", () => {
    fc.assert(
      fc.property(anySettlement, histories(80), (config, moves) => {
        const journal: Stamped[] = [];
        const live = openArena(new Exchange(config, START, { append: (entry) => void journal.push(entry) }));
        play(live, moves);
        const state = createState(config, START);
        for (const stamped of journal) {
          const decision = decide(state, stamped);
          if (!decision.ok) throw new Error(`accepted once, now ${decision.refusal.code}`);
          for (const event of decision.events) apply(state, event, stamped.at);
        }
        expect(portraitOf(state)).toEqual(portraitOf(live.state));
      }),
      runs(300),
    );
  });

  it("decide never writes, and decides alike a second time", () => {
    fc.assert(
      fc.property(anySettlement, histories(25), (config, moves) => {
        const exchange = open(config);
        for (const move of moves) {
          const command = chainCommandOf(exchange.state, exchange.now, move);
          if (command !== null) {
            const before = portraitOf(exchange.state);
            const decision = decide(exchange.state, { at: exchange.now, command });
            expect(portraitOf(exchange.state)).toEqual(before);
            expect(decide(exchange.state, { at: exchange.now, command })).toEqual(decision);
          }
          play(exchange, [move]);
        }
      }),
      runs(200),
    );
  });

  it("a snapshot brings back everything, the chain's head included, and what follows is the same", () => {
    fc.assert(
      fc.property(anySettlement, histories(40), histories(30), (config, before, after) => {
        const exchange = open(config);
        play(exchange, before);
        const snapshot = exchange.snapshot();
        const there = portraitOf(exchange.state);
        play(exchange, after);
        const onwards = portraitOf(exchange.state);
        exchange.restore(snapshot);
        expect(portraitOf(exchange.state)).toEqual(there);
        play(exchange, after);
        expect(portraitOf(exchange.state)).toEqual(onwards);
      }),
      runs(200),
    );
  });

  it("jumping through time equals creeping, block by block", () => {
    fc.assert(
      fc.property(histories(60), fc.integer({ min: 2, max: 9 }), (moves, steps) => {
        const [jumping, creeping] = [
          open(arenaWith("auto", "optimistic")),
          open(arenaWith("auto", "optimistic")),
        ];
        play(jumping, moves);
        play(creeping, moves, steps);
        expect(portraitOf(creeping.state)).toEqual(portraitOf(jumping.state));
      }),
      runs(200),
    );
  });

  it("a confirmed block and a confirmed or failed trade stay what they are", () => {
    fc.assert(
      fc.property(anySettlement, histories(60), (config, moves) => {
        const exchange = open(config);
        const final = new Map<string, string>();
        const keep = (key: string, value: string): void => {
          expect(final.get(key) ?? value).toBe(value);
          final.set(key, value);
        };
        for (const move of moves) {
          play(exchange, [move]);
          const { state } = exchange;
          const depth = config.settlement === "instant" ? 0 : 2;
          for (let height = 0; height <= headOf(state.chain) - depth; height += 1) {
            const block = blockAt(state.chain, height);
            if (block !== undefined) keep(`block ${height}`, blockHash(state, block));
          }
          for (const trade of state.trades) {
            const status = tradeStatus(state, trade);
            if (final.has(`trade ${trade.number}`) || status === "CONFIRMED" || status === "FAILED")
              keep(`trade ${trade.number}`, status);
          }
        }
      }),
      runs(200),
    );
  });

  it("when time passes without misfortune, all that can be settled is final, and nothing is due", () => {
    fc.assert(
      fc.property(histories(60), (moves) => {
        const exchange = open(arenaWith("auto", "optimistic"));
        play(exchange, moves);
        exchange.submit({ kind: "endSettlementFault", number: null });
        exchange.submit({ kind: "bumpFees" });
        exchange.submit({ kind: "setMining", mode: "auto", intervalMs: 2_000 });
        exchange.advanceTo(millis(exchange.now + 600_000));
        const { state } = exchange;
        const open_ = [...state.trades].filter(
          (trade) => !["CONFIRMED", "FAILED"].includes(tradeStatus(state, trade)),
        );
        const lost = new Set(state.chain.dropped);
        expect(open_.filter(({ transaction }) => !lost.has(transaction))).toEqual([]);
      }),
      runs(200),
    );
  });
});
