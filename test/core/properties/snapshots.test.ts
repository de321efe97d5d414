import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { violations } from "../../../src/core/invariants/invariants.ts";
import type { State } from "../../../src/core/state.ts";
import { Exchange, type Snapshot } from "../../../src/engine/exchange.ts";
import type { Entry, Journal } from "../../../src/engine/journal.ts";
import { START } from "../../support/exchange.ts";
import { runs } from "../../support/runs.ts";
import { anySettlement, type Moves, openWith, play, replayed, tradingOrAny } from "../chain/chain-moves.ts";
import { freezeRecords } from "./frozen.ts";
import { openArena } from "./moves.ts";
import { indexesOf, stateLines } from "./state-lines.ts";

const wholeOf = (state: State): unknown[] => [stateLines(state), indexesOf(state)];

/** Returns the observable properties of an exchange. */
const propertiesOf = (exchange: Exchange): unknown[] => [
  exchange.now,
  exchange.sequence,
  exchange.nextDueAt,
  exchange.hash,
  wholeOf(exchange.state),
];

/** Takes a snapshot and freezes its records. */
function frozenSnapshot(exchange: Exchange): Snapshot {
  const snapshot = exchange.snapshot();
  freezeRecords(snapshot.state);
  return snapshot;
}

describe("a snapshot", () => {
  it("is not changed by later commands", () => {
    fc.assert(
      fc.property(
        anySettlement,
        tradingOrAny(60),
        tradingOrAny(60),
        tradingOrAny(60),
        (config, before, after, again) => {
          const exchange = openWith(config);
          play(exchange, before);
          const snapshot = frozenSnapshot(exchange);
          const saved = wholeOf(snapshot.state);
          play(exchange, after);
          expect(wholeOf(snapshot.state)).toEqual(saved);
          exchange.restore(snapshot);
          play(exchange, again);
          expect(wholeOf(snapshot.state)).toEqual(saved);
          expect(violations(snapshot.state)).toEqual([]);
        },
      ),
      runs(150),
    );
  });

  it("does not change the exchange", () => {
    fc.assert(
      fc.property(anySettlement, tradingOrAny(60), tradingOrAny(60), (config, before, after) => {
        const [with_, without] = [openWith(config), openWith(config)];
        for (const exchange of [with_, without]) play(exchange, before);
        frozenSnapshot(with_);
        expect(propertiesOf(with_)).toEqual(propertiesOf(without));
        expect(play(with_, after)).toEqual(play(without, after));
        expect(propertiesOf(with_)).toEqual(propertiesOf(without));
      }),
      runs(150),
    );
  });

  it("restores state, time and counters, any number of times", () => {
    fc.assert(
      fc.property(
        anySettlement,
        tradingOrAny(60),
        fc.array(tradingOrAny(30), { minLength: 1, maxLength: 3 }),
        (config, before, futures) => {
          const exchange = openWith(config);
          play(exchange, before);
          const properties = propertiesOf(exchange);
          const snapshot = frozenSnapshot(exchange);
          for (const after of futures) {
            play(exchange, after);
            exchange.restore(snapshot);
            expect(propertiesOf(exchange)).toEqual(properties);
          }
        },
      ),
      runs(150),
    );
  });

  it("continues like a new exchange with the same history", () => {
    fc.assert(
      fc.property(
        anySettlement,
        tradingOrAny(60),
        tradingOrAny(40),
        tradingOrAny(60),
        (config, before, lost, after) => {
          const [restored, fresh] = [openWith(config), openWith(config)];
          play(restored, before);
          const snapshot = frozenSnapshot(restored);
          play(restored, lost);
          restored.restore(snapshot);
          play(fresh, before);
          expect(play(restored, after)).toEqual(play(fresh, after));
          expect(propertiesOf(restored)).toEqual(propertiesOf(fresh));
        },
      ),
      runs(200),
    );
  });

  it("is independent of snapshots taken before or after it", () => {
    fc.assert(
      fc.property(
        anySettlement,
        tradingOrAny(40),
        tradingOrAny(40),
        tradingOrAny(40),
        (config, first, second, third) => {
          const exchange = openWith(config);
          const stages: [Snapshot, unknown[]][] = [];
          for (const some of [first, second, third]) {
            play(exchange, some);
            stages.push([frozenSnapshot(exchange), propertiesOf(exchange)]);
          }
          for (const order of [0, 2, 1, 1, 2, 0]) {
            const [snapshot, properties] = stages[order] as (typeof stages)[number];
            exchange.restore(snapshot);
            expect(propertiesOf(exchange)).toEqual(properties);
            play(exchange, first);
          }
        },
      ),
      runs(100),
    );
  });
});

type Turn = { readonly kind: "moves"; readonly moves: Moves } | { readonly kind: "keep" } | Return;
interface Return {
  readonly kind: "return";
  readonly pick: number;
}

const turn: fc.Arbitrary<Turn> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("moves"), moves: tradingOrAny(12) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("keep") }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("return"), pick: fc.nat() }) },
);

/** Journal in memory that can be rewound to any earlier mark. */
class MemoryJournal implements Journal {
  entries: readonly Entry[] = [];

  append(entry: Entry): void {
    this.entries = [...this.entries, entry];
  }

  mark(): readonly Entry[] {
    return this.entries;
  }

  rewind(sequence: number, mark: unknown = []): void {
    this.entries = mark as readonly Entry[];
    expect(this.entries.length).toBe(sequence);
  }
}

describe("any sequence of snapshots and restores", () => {
  it("leaves a journal whose replay gives the same state", () => {
    fc.assert(
      fc.property(anySettlement, fc.array(turn, { maxLength: 25, size: "max" }), (config, turns) => {
        const journal = new MemoryJournal();
        const exchange = openArena(new Exchange(config, START, journal));
        const saved: Snapshot[] = [];
        for (const each of turns) {
          if (each.kind === "moves") play(exchange, each.moves);
          else if (each.kind === "keep") saved.push(frozenSnapshot(exchange));
          else if (saved.length > 0) exchange.restore(saved[each.pick % saved.length] as Snapshot);
        }
        expect(wholeOf(exchange.state)).toEqual(wholeOf(replayed(config, journal.entries)));
        expect(violations(exchange.state)).toEqual([]);
      }),
      runs(150),
    );
  });
});
