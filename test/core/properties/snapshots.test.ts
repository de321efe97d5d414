import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apply } from "../../../src/core/apply.ts";
import { decide } from "../../../src/core/decide.ts";
import { violations } from "../../../src/core/invariants/invariants.ts";
import { createState, type State } from "../../../src/core/state.ts";
import { Exchange, type Snapshot } from "../../../src/engine/exchange.ts";
import type { Entry, Journal } from "../../../src/engine/journal.ts";
import { START } from "../../support/exchange.ts";
import { runs } from "../../support/runs.ts";
import { anySettlement, type Moves, openWith, play, tradingOrAny } from "../chain/chain-moves.ts";
import { freezeRecords } from "./frozen.ts";
import { openArena } from "./moves.ts";
import { indexesOf, portraitOf } from "./portrait.ts";

const wholeOf = (state: State): unknown[] => [portraitOf(state), indexesOf(state)];

/** All that can be seen of an exchange. */
const stateHashes = (exchange: Exchange): unknown[] => [
  exchange.now,
  exchange.sequence,
  exchange.nextDueAt,
  exchange.hash,
  wholeOf(exchange.state),
];

/** A snapshot that throws where anything writes to a record of it. */
function guarded(exchange: Exchange): Snapshot {
  const snapshot = exchange.snapshot();
  freezeRecords(snapshot.state);
  return snapshot;
}

describe("a snapshot", () => {
  it("is not changed by what follows, not by a byte", () => {
    fc.assert(
      fc.property(
        anySettlement,
        tradingOrAny(60),
        tradingOrAny(60),
        tradingOrAny(60),
        (config, before, after, again) => {
          const exchange = openWith(config);
          play(exchange, before);
          const snapshot = guarded(exchange);
          const kept = wholeOf(snapshot.state);
          play(exchange, after);
          expect(wholeOf(snapshot.state)).toEqual(kept);
          exchange.restore(snapshot);
          play(exchange, again);
          expect(wholeOf(snapshot.state)).toEqual(kept);
          expect(violations(snapshot.state)).toEqual([]);
        },
      ),
      runs(150),
    );
  });

  it("changes nothing where it is taken", () => {
    fc.assert(
      fc.property(anySettlement, tradingOrAny(60), tradingOrAny(60), (config, before, after) => {
        const [with_, without] = [openWith(config), openWith(config)];
        for (const exchange of [with_, without]) play(exchange, before);
        guarded(with_);
        expect(stateHashes(with_)).toEqual(stateHashes(without));
        expect(play(with_, after)).toEqual(play(without, after));
        expect(stateHashes(with_)).toEqual(stateHashes(without));
      }),
      runs(150),
    );
  });

  it("brings state, time and counters back when it is restored, each time again", () => {
    fc.assert(
      fc.property(
        anySettlement,
        tradingOrAny(60),
        fc.array(tradingOrAny(30), { minLength: 1, maxLength: 3 }),
        (config, before, futures) => {
          const exchange = openWith(config);
          play(exchange, before);
          const sight = stateHashes(exchange);
          const snapshot = guarded(exchange);
          for (const after of futures) {
            play(exchange, after);
            exchange.restore(snapshot);
            expect(stateHashes(exchange)).toEqual(sight);
          }
        },
      ),
      runs(150),
    );
  });

  it("is gone on from as a fresh exchange of the same history goes on", () => {
    fc.assert(
      fc.property(
        anySettlement,
        tradingOrAny(60),
        tradingOrAny(40),
        tradingOrAny(60),
        (config, before, lost, after) => {
          const [restored, fresh] = [openWith(config), openWith(config)];
          play(restored, before);
          const snapshot = guarded(restored);
          play(restored, lost);
          restored.restore(snapshot);
          play(fresh, before);
          expect(play(restored, after)).toEqual(play(fresh, after));
          expect(stateHashes(restored)).toEqual(stateHashes(fresh));
        },
      ),
      runs(200),
    );
  });

  it("may be of an exchange that was restored from another, and each holds its own", () => {
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
            stages.push([guarded(exchange), stateHashes(exchange)]);
          }
          for (const order of [0, 2, 1, 1, 2, 0]) {
            const [snapshot, sight] = stages[order] as (typeof stages)[number];
            exchange.restore(snapshot);
            expect(stateHashes(exchange)).toEqual(sight);
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

/** A journal that keeps its entries, and can go back and forth among what it ever held. */
class KeptEntries implements Journal {
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

describe("any tree of snapshots", () => {
  it("leaves a journal that, decided anew, gives the same bytes", () => {
    fc.assert(
      fc.property(anySettlement, fc.array(turn, { maxLength: 25, size: "max" }), (config, turns) => {
        const journal = new KeptEntries();
        const exchange = openArena(new Exchange(config, START, journal));
        const kept: Snapshot[] = [];
        for (const each of turns) {
          if (each.kind === "moves") play(exchange, each.moves);
          else if (each.kind === "keep") kept.push(guarded(exchange));
          else if (kept.length > 0) exchange.restore(kept[each.pick % kept.length] as Snapshot);
        }
        const state = createState(config, START);
        for (const stamped of journal.entries) {
          const decision = decide(state, stamped);
          if (!decision.ok) throw new Error(`accepted once, now ${decision.refusal.code}`);
          for (const event of decision.events) apply(state, event, stamped.at);
        }
        expect(wholeOf(exchange.state)).toEqual(wholeOf(state));
        expect(violations(exchange.state)).toEqual([]);
      }),
      runs(150),
    );
  });
});
