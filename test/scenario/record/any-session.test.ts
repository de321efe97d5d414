import fc from "fast-check";
import { expect, it } from "vitest";
import { millis } from "../../../src/core/units.ts";
import { Exchange } from "../../../src/runtime/exchange.ts";
import { SessionLog } from "../../../src/runtime/session-log.ts";
import { type RecordedScenario, recordScenario } from "../../../src/scenario/record/record-scenario.ts";
import { ARENA, anyMove, commandOf, type Move, openArena } from "../../core/properties/moves.ts";
import { START } from "../../support/exchange.ts";
import { failureOf } from "./run-text.ts";

const moves = (maxLength: number): fc.Arbitrary<Move[]> => fc.array(anyMove, { maxLength, size: "max" });

/** Makes the moves; those that are refused are tried all the same. */
function play(exchange: Exchange, some: readonly Move[]): void {
  for (const move of some) {
    const command = commandOf(exchange.state, exchange.now, move);
    if (command !== null) exchange.submit(command);
    else if (move.kind === "wait") exchange.advanceTo(millis(exchange.now + move.ms));
  }
}

/** What is written of a session that finds an exchange as `before` has left it. */
function recordOf(before: readonly Move[], session: readonly Move[]): RecordedScenario {
  const log = new SessionLog();
  const exchange = openArena(new Exchange(ARENA, START, log));
  play(exchange, before);
  log.begin();
  play(exchange, session);
  const open = (): Exchange => {
    const fresh = openArena();
    play(fresh, before);
    return fresh;
  };
  return recordScenario({ open, entries: log.entries ?? [], devAccounts: [], name: null });
}

it("whatever is done, on whatever exchange, what is written of it is a scenario that passes", async () => {
  let fills = 0;
  await fc.assert(
    fc.asyncProperty(moves(80), moves(80), async (before, session) => {
      const { scenario, trades } = recordOf(before, session);
      fills += trades;
      expect(await failureOf(scenario)).toBeNull();
    }),
    { seed: 42, numRuns: 100 },
  );
  expect(fills).toBeGreaterThan(200);
});

it("and passes over HTTP as well", async () => {
  await fc.assert(
    fc.asyncProperty(moves(30), moves(30), async (before, session) => {
      expect(await failureOf(recordOf(before, session).scenario, "http")).toBeNull();
    }),
    { seed: 42, numRuns: 8 },
  );
});
