import fc from "fast-check";
import { expect, it } from "vitest";
import type { Exchange } from "../../../src/engine/exchange.ts";
import { SessionLog } from "../../../src/engine/journal.ts";
import {
  type HistoryExpectation,
  type HistoryNames,
  HistoryNotExpressible,
  historyNames,
  readHistoryExpectation,
} from "../../../src/history/shrink/history-failure.ts";
import { shrinkHistory } from "../../../src/history/shrink/shrink-history.ts";
import { NotRunInTime, type ShrunkScenario } from "../../../src/history/shrink/shrink-scenario.ts";
import { anyChainMove, anySettlement, play } from "../../core/chain/chain-moves.ts";
import { openArena } from "../../core/properties/moves.ts";
import { START } from "../../support/exchange.ts";
import { atLevel, forAllAsync, runs } from "../../support/runs.ts";
import { type Actions, SessionExchange, type Settlement, take } from "../record/session-exchange.ts";
import { environmentIn, fingerprintIn } from "./planted.ts";

/** Plays a world and a session, and shrinks it to what an unmet expectation needs; null if it is met. */
async function shrunkOf(
  world: Actions,
  session: Actions,
  unmet: (names: HistoryNames) => string,
  settlement?: Settlement,
  isOver = () => false,
): Promise<ShrunkScenario | null> {
  const log = new SessionLog();
  log.begin();
  const played = new SessionExchange(log, settlement);
  take(played, world);
  const { sequence, state } = played.exchange;
  take(played, session);
  const entries = log.entries ?? [];
  const open = (): Exchange => {
    const fresh = new SessionExchange(undefined, settlement);
    take(fresh, world);
    return fresh.exchange;
  };
  const names = historyNames({ open, entries: entries.slice(sequence), devAccounts: [] });
  const expected = readHistoryExpectation("expected", unmet(names), names);
  expect(expected).not.toHaveProperty("problems");
  return shrinkHistory(
    { config: state.config, start: START, entries },
    { expected: expected as HistoryExpectation, isOver },
  );
}

/** Expectations that hardly any session meets, by what they are about. */
const UNMET: Readonly<Record<string, (names: HistoryNames) => string>> = {
  trades: () => "trades: []",
  order: ({ orders }) => `orders: { ${orders.at(-1)}: LIVE 0/999 }`,
  settlement: ({ orders }) => `chain: { settled: { ${orders.at(-1)}: [RETRYING, FAILED] } }`,
  balance: ({ accounts }) => `balances: { ${[...accounts.keys()].at(-1)}: { USDC: 123456 } }`,
  book: ({ markets }) => `book: { ${markets[0]} YES: { bids: [0.5 x 12345] } }`,
};

const CALLS: ReadonlySet<string> = new Set(["split", "merge", "redeem"]);
/** Moves that steps can express; orders are for two markets, so that many trade. */
const anyMoves = (length: number) =>
  fc.array(
    anyChainMove
      .filter((move) => move.kind !== "call" || (CALLS.has(move.call) && move.nonce === null))
      .map((move) => (move.kind === "order" ? { ...move, market: move.market % 2 } : move)),
    { minLength: length / 2, maxLength: length, size: "max" },
  );

/** Number of questions whether the time is up before it is. */
const anyPatience = fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.nat({ max: 60 }));

it("an unmet expectation of any session becomes a scenario that fails in the same way, whenever the time is up", async () => {
  let failing = 0;
  await forAllAsync(
    { ...runs(40), endOnFailure: true },
    [anySettlement, anyMoves(40), anyMoves(30), fc.constantFrom(...Object.keys(UNMET)), anyPatience],
    async (config, before, after, about, patience) => {
      const world = ({ exchange }: SessionExchange): void => void play(openArena(exchange), before);
      const session = (played: SessionExchange): void => {
        played.act("fund eve usdc=5; derive eve");
        play(played.exchange, after);
      };
      const unmet = (names: HistoryNames): string => {
        fc.pre(names.orders.length > 0);
        return UNMET[about]?.(names) ?? "";
      };
      let asked = 0;
      const isOver = (): boolean => ++asked > patience;
      const shrunk = await shrunkOf(world, session, unmet, config, isOver).catch((error: unknown) => {
        if (!(error instanceof HistoryNotExpressible || error instanceof NotRunInTime)) throw error;
        return null;
      });
      if (shrunk === null) return;
      failing += 1;
      expect(await fingerprintIn(shrunk.text, environmentIn("."))).toEqual(shrunk.fingerprint);
    },
  );
  expect(failing).toBeGreaterThan(atLevel(17));
});

it("trades of a world that the session needs are not trades of the session", async () => {
  const world = "market rain; derive ann ben; ann SELL 10 YES @ 0.5; ben BUY 4 YES @ 0.5";
  const shrunk = await shrunkOf(world, "derive cat; cat BUY 10 YES @ 0.5", () => "trades: []");
  expect(shrunk?.text.slice(shrunk.text.indexOf("steps:"))).toBe(`steps:
  - trader-1: SELL 10 YES @ 0.5
  - trader-2: BUY 4 YES @ 0.5
  - expect: { trades: [trader-2 BUY 4 YES @ 0.5 from trader-1] }
  - wallet-1: BUY 10 YES @ 0.5
  - expect: { trades: [] }
`);
});

it("an error says that no scenario can express that approvals are required", async () => {
  const session = (played: SessionExchange): void => {
    played.act("ann SELL 1 YES @ 0.5; ben BUY 1 YES @ 0.5");
    played.mustSubmit({ kind: "mineBlocks", count: 1 });
  };
  const rules = { settlement: "manual", balances: "optimistic", approvals: "required" } as const;
  const unmet = (): string => "chain: { settled: { o2: MINED } }";
  const shrunk = shrunkOf("market rain; derive ann ben", session, unmet, rules);
  await expect(shrunk).rejects.toThrow("no scenario can express approvals: required");
});

it("an expectation that names a market and needs no command is the only step", async () => {
  const trade = "wallet-1 BUY 1 YES @ 0.5 in rain from trader-1";
  const shrunk = await shrunkOf("market rain; derive ann", "derive ben", () => `trades: [${trade}]`);
  expect(shrunk?.steps).toBe(1);
  expect(shrunk?.text).toContain(`steps:\n  - expect: { trades: [ ${trade} ] }\n`);
});
