import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ExchangeConfig } from "../../../src/core/state.ts";
import { Exchange } from "../../../src/engine/exchange.ts";
import { SessionLog } from "../../../src/engine/session-log.ts";
import type { RecordedScenario } from "../../../src/history/record/record-session.ts";
import { anyChainMove, anySettlement, type ChainMove, openWith, play } from "../../core/chain/chain-moves.ts";
import { type Move, openArena } from "../../core/properties/moves.ts";
import { START } from "../../support/exchange.ts";
import { atLevel, runs } from "../../support/runs.ts";
import { refusedOr, writtenOf } from "./floor.ts";
import { failureOf } from "./run-text.ts";

type AnyMove = Move | ChainMove;

const moves = (maxLength: number): fc.Arbitrary<AnyMove[]> =>
  fc.array(anyChainMove, { maxLength, size: "max" });

/** What is written of a session that finds an exchange as `before` has left it; else why nothing is. */
function recordOf(
  config: ExchangeConfig,
  before: readonly AnyMove[],
  session: readonly AnyMove[],
): RecordedScenario | string {
  const log = new SessionLog();
  const exchange = openArena(new Exchange(config, START, log));
  play(exchange, before);
  log.begin();
  play(exchange, session);
  const open = (): Exchange => {
    const fresh = openWith(config);
    play(fresh, before);
    return fresh;
  };
  return refusedOr(() => writtenOf(log, open));
}

const TRANSFERS: ReadonlySet<string> = new Set(["transfer", "transferFrom", "shares"]);
const APPROVALS: ReadonlySet<string> = new Set(["approve", "operator"]);

/** The moves that steps can say: nothing is transferred, a spike holds up whoever pays for gas, wallets let settle at once. */
function sayable({ settlement }: ExchangeConfig, all: readonly AnyMove[]): AnyMove[] {
  return all.flatMap((move): AnyMove[] => {
    if (move.kind !== "call") return [move];
    const isForbidding = APPROVALS.has(move.call) && settlement === "instant";
    return TRANSFERS.has(move.call) || isForbidding ? [] : [{ ...move, gwei: 2 }];
  });
}

/** Of what a block carries out although it would have come to nothing when it was sent. */
const TRIED_IN_VAIN = /^no step can repeat sequence \d+ .* TRANSACTION_REVERTED: /;

describe("what is written of a session is a scenario that passes", () => {
  it("whatever is done, on whatever exchange, however it settles", async () => {
    let [fills, told] = [0, 0];
    await fc.assert(
      fc.asyncProperty(anySettlement, moves(80), moves(80), async (config, before, session) => {
        const recorded = recordOf(config, before, session);
        if (typeof recorded === "string") return;
        told += 1;
        fills += recorded.trades;
        expect(await failureOf(recorded.scenario)).toBeNull();
      }),
      runs(150),
    );
    expect(told).toBeGreaterThan(atLevel(100));
    expect(fills).toBeGreaterThan(atLevel(200));
  });

  it("and one is written of whatever steps can say, where nothing was pending before", async () => {
    const said = { faults: 0, mined: 0, calls: 0, failed: 0 };
    await fc.assert(
      fc.asyncProperty(anySettlement, moves(80), async (config, all) => {
        const recorded = recordOf(config, [], sayable(config, all));
        if (typeof recorded === "string") {
          expect(recorded).toMatch(TRIED_IN_VAIN);
          return;
        }
        const { scenario } = recorded;
        expect(await failureOf(scenario)).toBeNull();
        said.faults += scenario.match(/- (?:fail settlement|chain fault): /g)?.length ?? 0;
        said.mined += scenario.match(/- mine: /g)?.length ?? 0;
        said.calls += scenario.match(/: (?:split|merge|redeem)/g)?.length ?? 0;
        said.failed += scenario.match(/FAILED/g)?.length ?? 0;
      }),
      runs(150),
    );
    for (const count of Object.values(said)) expect(count).toBeGreaterThan(atLevel(20));
  });

  it("over HTTP as well", async () => {
    await fc.assert(
      fc.asyncProperty(anySettlement, moves(30), moves(40), async (config, before, session) => {
        const recorded = recordOf(config, before, session);
        if (typeof recorded === "string") return;
        expect(await failureOf(recorded.scenario, "http")).toBeNull();
      }),
      runs(16),
    );
  });
});
