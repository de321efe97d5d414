import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ExchangeConfig } from "../../../src/core/state.ts";
import { Exchange } from "../../../src/engine/exchange.ts";
import { SessionLog } from "../../../src/engine/journal.ts";
import type { RecordedScenario } from "../../../src/history/record/record-session.ts";
import {
  anySettlement,
  anySteeredMove,
  type ChainMove,
  openWith,
  play,
} from "../../core/chain/chain-moves.ts";
import { openArena } from "../../core/properties/moves.ts";
import { START } from "../../support/exchange.ts";
import { atLevel, forAllAsync, runs } from "../../support/runs.ts";
import { failureOf } from "./run-text.ts";
import { recordLog, refusedOr } from "./session-exchange.ts";

const moves = (maxLength: number): fc.Arbitrary<ChainMove[]> =>
  fc.array(anySteeredMove, { maxLength, size: "max" });

/** Records `session`, which begins after `before`; returns the reason if that is impossible. */
function recordOf(
  config: ExchangeConfig,
  before: readonly ChainMove[],
  session: readonly ChainMove[],
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
  return refusedOr(() => recordLog(log, open));
}

const TRANSFERS: ReadonlySet<string> = new Set(["transfer", "transferFrom", "shares"]);
const APPROVALS: ReadonlySet<string> = new Set(["approve", "operator"]);

/** Moves by which a test controls wallets and fees. */
const CONTROLS: ReadonlySet<string> = new Set(["nonce", "ether", "drop", "fee"]);

/**
 * Returns the moves that steps can express: without transfers, with enough gas and new nonces, and if settlement is
 * instant, without approvals and other mining.
 */
function expressible({ settlement }: ExchangeConfig, all: readonly ChainMove[]): ChainMove[] {
  return all.flatMap((move): ChainMove[] => {
    if (CONTROLS.has(move.kind) || (move.kind === "mining" && settlement === "instant")) return [];
    if (move.kind !== "call") return [move];
    const isApproval = APPROVALS.has(move.call) && settlement === "instant";
    return TRANSFERS.has(move.call) || isApproval
      ? []
      : [{ ...move, gwei: 2, nonce: move.nonce === "pending" ? null : move.nonce }];
  });
}

/** A transaction that a block executes although its simulation failed when it was sent. */
const SIMULATION_FAILED = /^no step can repeat sequence \d+ .* TRANSACTION_REVERTED: /;

describe("a recorded session passes as a scenario", () => {
  it("with any commands, exchange and settlement", async () => {
    let [fills, recordings] = [0, 0];
    await forAllAsync(runs(75), [anySettlement, moves(80), moves(80)], async (config, before, session) => {
      const recorded = recordOf(config, before, session);
      if (typeof recorded === "string") return;
      recordings += 1;
      fills += recorded.trades;
      expect(await failureOf(recorded.scenario)).toBeNull();
    });
    expect(recordings).toBeGreaterThan(atLevel(50));
    expect(fills).toBeGreaterThan(atLevel(100));
  });

  it("and can be recorded if steps can express its commands and nothing was pending before", async () => {
    const counts = { faults: 0, mined: 0, calls: 0, failed: 0 };
    await forAllAsync(runs(125), [anySettlement, moves(80)], async (config, all) => {
      const recorded = recordOf(config, [], expressible(config, all));
      if (typeof recorded === "string") {
        expect(recorded).toMatch(SIMULATION_FAILED);
        return;
      }
      const { scenario } = recorded;
      expect(await failureOf(scenario)).toBeNull();
      counts.faults += scenario.match(/- (?:fail settlement|chain fault): /g)?.length ?? 0;
      counts.mined += scenario.match(/- mine: /g)?.length ?? 0;
      counts.calls += scenario.match(/: (?:split|merge|redeem)/g)?.length ?? 0;
      counts.failed += scenario.match(/FAILED/g)?.length ?? 0;
    });
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(atLevel(10));
  });

  it("over HTTP", async () => {
    await forAllAsync(runs(8), [anySettlement, moves(30), moves(40)], async (config, before, session) => {
      const recorded = recordOf(config, before, session);
      if (typeof recorded === "string") return;
      expect(await failureOf(recorded.scenario, "http")).toBeNull();
    });
  });
});
