import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apply } from "../../../src/core/apply.ts";
import type { Stamped } from "../../../src/core/commands.ts";
import { decide } from "../../../src/core/decide.ts";
import { violations } from "../../../src/core/invariants/invariants.ts";
import { createState, type State } from "../../../src/core/state.ts";
import { millis } from "../../../src/core/units.ts";
import { Exchange } from "../../../src/engine/exchange.ts";
import { START } from "../../support/exchange.ts";
import { runs } from "../../support/runs.ts";
import { ARENA, anyMove, commandOf, type Move, openArena } from "./moves.ts";
import { portraitOf } from "./portrait.ts";

const histories = (maxLength: number): fc.Arbitrary<Move[]> => fc.array(anyMove, { maxLength, size: "max" });
/** What an exchange does from now on, one line an event. */
function recordOf(exchange: Exchange): string[] {
  const lines: string[] = [];
  exchange.watch((sequence, at, events) => {
    for (const event of events) lines.push(JSON.stringify([sequence, at, event]));
  });
  return lines;
}

/** Makes the moves; each wait in as many steps as `steps` says. */
function play(exchange: Exchange, moves: readonly Move[], steps = 1): void {
  for (const move of moves) {
    const command = commandOf(exchange.state, exchange.now, move);
    if (command !== null) exchange.submit(command);
    if (move.kind !== "wait") continue;
    const from = exchange.now;
    for (let step = 1; step <= steps; step += 1) {
      exchange.advanceTo(millis(from + Math.floor((move.ms * step) / steps)));
    }
  }
}

/** All USDC there is: what accounts hold, and one for each full set. */
function wealthOf(state: State): number {
  let wealth = 0;
  for (const { collateral } of state.accounts) wealth += collateral.balance;
  for (const { number } of state.markets) {
    for (const { holdings } of state.accounts) wealth += (holdings.get(number)?.yes.balance ?? 0) * 10_000;
  }
  return wealth;
}

describe("whatever happens", () => {
  it("the same commands give the same bytes, in state and events", () => {
    fc.assert(
      fc.property(histories(80), (moves) => {
        const [one, two] = [openArena(), openArena()];
        const [told, retold] = [recordOf(one), recordOf(two)];
        play(one, moves);
        play(two, moves);
        expect(retold).toEqual(told);
        expect(portraitOf(two.state)).toEqual(portraitOf(one.state));
      }),
      runs(300),
    );
  });

  it("what was accepted gives the same bytes when it is decided anew, without what was refused", () => {
    fc.assert(
      fc.property(histories(80), (moves) => {
        const journal: Stamped[] = [];
        const live = new Exchange(ARENA, START, { append: (entry) => void journal.push(entry) });
        openArena(live);
        play(live, moves);
        const state = createState(ARENA, START);
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
      fc.property(histories(25), (moves) => {
        const exchange = openArena();
        for (const move of moves) {
          const command = commandOf(exchange.state, exchange.now, move);
          if (command !== null) {
            const before = portraitOf(exchange.state);
            const decision = decide(exchange.state, { at: exchange.now, command });
            expect(portraitOf(exchange.state)).toEqual(before);
            expect(decide(exchange.state, { at: exchange.now, command })).toEqual(decision);
          }
          play(exchange, [move]);
        }
      }),
      runs(180),
    );
  });

  it("a refused command leaves no trace", () => {
    fc.assert(
      fc.property(histories(40), (moves) => {
        const exchange = openArena();
        for (const move of moves) {
          const command = commandOf(exchange.state, exchange.now, move);
          const before = [exchange.sequence, portraitOf(exchange.state)];
          if (command === null) play(exchange, [move]);
          else if (!exchange.submit(command).ok) {
            expect([exchange.sequence, portraitOf(exchange.state)]).toEqual(before);
          }
        }
      }),
      runs(120),
    );
  });

  it("every invariant holds after every command", () => {
    fc.assert(
      fc.property(histories(60), (moves) => {
        const exchange = openArena();
        for (const move of moves) {
          play(exchange, [move]);
          expect(violations(exchange.state)).toEqual([]);
        }
      }),
      runs(750),
    );
  });

  it("no USDC appears but what is issued, and none is lost", () => {
    fc.assert(
      fc.property(histories(80), (moves) => {
        const exchange = openArena();
        let issued = wealthOf(exchange.state);
        exchange.watch((_sequence, _at, events) => {
          for (const event of events) {
            if (event.kind === "collateralIssued") issued += event.amount;
            if (event.kind === "setsIssued" || event.kind === "grantMinted") issued += event.size * 10_000;
          }
        });
        play(exchange, moves);
        expect(wealthOf(exchange.state)).toBe(issued);
      }),
      runs(450),
    );
  });

  it("the highest bid stays below the lowest ask", () => {
    fc.assert(
      fc.property(histories(60), (moves) => {
        const exchange = openArena();
        for (const move of moves) {
          play(exchange, [move]);
          for (const { books } of exchange.state.markets) {
            for (const { book } of books) {
              if (book !== null) expect(book.bestBid).toBeLessThan(book.bestAsk);
            }
          }
        }
      }),
      runs(450),
    );
  });

  it("jumping through time equals creeping", () => {
    fc.assert(
      fc.property(histories(60), fc.integer({ min: 2, max: 9 }), (moves, steps) => {
        const [jumping, creeping] = [openArena(), openArena()];
        const [told, retold] = [recordOf(jumping), recordOf(creeping)];
        play(jumping, moves);
        play(creeping, moves, steps);
        expect(retold).toEqual(told);
        expect(portraitOf(creeping.state)).toEqual(portraitOf(jumping.state));
      }),
      runs(300),
    );
  });

  it("when everybody cancels all, nothing is reserved, nothing rests and nothing is due", () => {
    fc.assert(
      fc.property(histories(80), (moves) => {
        const exchange = openArena();
        play(exchange, moves);
        for (const { address } of exchange.state.accounts) {
          exchange.submit({ kind: "cancelAllOrders", address });
        }
        const { accounts, markets } = exchange.state;
        exchange.advanceTo(millis(exchange.now + 60_000));
        expect(exchange.nextDueAt).toBe(null);
        expect([...markets].filter(({ liquidity: { usdc, micro } }) => usdc !== 0 || micro !== 0)).toEqual(
          [],
        );
        for (const { collateral, holdings } of accounts) {
          const balances = [collateral, ...[...holdings.values()].flatMap(({ yes, no }) => [yes, no])];
          expect(balances.filter(({ reserved }) => reserved !== 0)).toEqual([]);
        }
      }),
      runs(450),
    );
  });
});
