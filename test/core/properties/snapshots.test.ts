import { deepStrictEqual } from "node:assert/strict";
import fc from "fast-check";
import { it } from "vitest";
import { violations } from "../../../src/core/invariants.ts";
import type { State } from "../../../src/core/state.ts";
import { Exchange, type Snapshot } from "../../../src/engine/exchange.ts";
import { SessionLog } from "../../../src/engine/journal.ts";
import { START } from "../../support/exchange.ts";
import { forAll, ofKind, runs } from "../../support/runs.ts";
import { anySettlement, type Moves, openWith, play, replayed, tradingOrAny } from "../chain/chain-moves.ts";
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

/** Buffer of one decision, which states share. */
const SHARED = "plan";

/** Freezes every record of a state, so that a write throws. Typed arrays and private fields cannot be frozen. */
function freezeRecords(state: State): void {
  const seen = new Set<unknown>();
  const freeze = (value: unknown): void => {
    if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || seen.has(value)) return;
    seen.add(value);
    Object.freeze(value);
    if (Symbol.iterator in value) for (const item of value as Iterable<unknown>) freeze(item);
    for (const [key, part] of Object.entries(value)) if (key !== SHARED) freeze(part);
  };
  freeze(state);
}

/** Takes a snapshot and freezes its records. */
function frozenSnapshot(exchange: Exchange): Snapshot {
  const snapshot = exchange.snapshot();
  freezeRecords(snapshot.state);
  return snapshot;
}

const turn = fc.oneof(
  ofKind(4, "moves", { moves: tradingOrAny(12) }),
  ofKind(2, "keep"),
  ofKind(2, "return", { pick: fc.nat() }),
);

it("any sequence of commands, snapshots and restores continues like a new exchange with the history that remains, and changes no snapshot", () => {
  forAll(
    runs(150),
    [anySettlement, fc.array(turn, { maxLength: 25, size: "max" }), tradingOrAny(40)],
    (config, turns, after) => {
      const log = new SessionLog();
      log.begin();
      const exchange = openArena(new Exchange(config, START, log));
      let played: Moves = [];
      const saved: { snapshot: Snapshot; properties: unknown[]; played: Moves }[] = [];
      for (const each of turns) {
        if (each.kind === "moves") {
          play(exchange, each.moves);
          played = [...played, ...each.moves];
        } else if (each.kind === "keep") {
          const properties = propertiesOf(exchange);
          saved.push({ snapshot: frozenSnapshot(exchange), properties, played });
          deepStrictEqual(propertiesOf(exchange), properties);
        } else if (saved.length > 0) {
          const kept = saved[each.pick % saved.length] as (typeof saved)[number];
          exchange.restore(kept.snapshot);
          played = kept.played;
          deepStrictEqual(propertiesOf(exchange), kept.properties);
        }
      }
      const fresh = openWith(config);
      play(fresh, played);
      deepStrictEqual(play(exchange, after), play(fresh, after));
      deepStrictEqual(propertiesOf(exchange), propertiesOf(fresh));
      deepStrictEqual(wholeOf(exchange.state), wholeOf(replayed(config, log.entries ?? [])));
      for (const { snapshot, properties } of saved) {
        deepStrictEqual(wholeOf(snapshot.state), properties.at(-1));
        deepStrictEqual(violations(snapshot.state), []);
      }
    },
  );
});
