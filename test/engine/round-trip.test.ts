import fc from "fast-check";
import { expect, it } from "vitest";
import type { Config } from "../../src/config.ts";
import { runSteps } from "../../src/core/steps.ts";
import { millis } from "../../src/core/units.ts";
import type { ClockSetting } from "../../src/engine/clock.ts";
import { Snapshots } from "../../src/engine/clock.ts";
import { type OpenedExchange, openAtOrigin } from "../../src/engine/open-exchange.ts";
import { loadOrigin } from "../../src/engine/origin.ts";
import { anySteeredMove } from "../core/chain/chain-moves.ts";
import { openArena } from "../core/properties/moves.ts";
import { forAllAsync, ofKind, runs, type ValueOf } from "../support/runs.ts";
import { type DiskImage, SimulatedDisk } from "../support/simulated-disk.ts";
import { stateHashes } from "../support/state-hashes.ts";
import { flush, NOON, openOn, persistedConfig, withoutLock } from "./support/persisted.ts";
import { takeMove } from "./support/short-history.ts";

const SETTINGS: readonly ClockSetting[] = [
  { mode: "frozen", rate: 1 },
  { mode: "real", rate: 1 },
  { mode: "scaled", rate: 2.5 },
  { mode: "scaled", rate: 3600 },
];
const milliseconds = fc.constantFrom(0, 1, 499, 2000, 61_000);
const turn = fc.oneof(
  ofKind(6, "moves", { moves: fc.array(anySteeredMove, { maxLength: 15, size: "max" }) }),
  ofKind(2, "snapshot"),
  ofKind(2, "restore", { pick: fc.nat(), isDeleted: fc.boolean() }),
  ofKind(1, "reset"),
  ofKind(2, "clock", { setting: fc.constantFrom(...SETTINGS), ms: milliseconds }),
  ofKind(2, "pass", { ms: milliseconds }),
  ofKind(2, "reopen", { how: fc.constantFrom("killed", "stopped", "stopped, no db.json") }),
);
type Turn = ValueOf<typeof turn>;

const config: fc.Arbitrary<Partial<Config>> = fc.record({
  clock: fc.constantFrom({ mode: "frozen" as const }, { mode: "real" as const }),
  settlement: fc.constantFrom("instant" as const, "auto" as const, "manual" as const),
  balances: fc.constantFrom("optimistic" as const, "settled" as const),
  durability: fc.constantFrom("process" as const, "power" as const),
});

/** An exchange with its snapshots, as in a server. */
class Running {
  readonly opened: OpenedExchange;
  readonly snapshots: Snapshots;

  constructor(opened: OpenedExchange) {
    this.opened = opened;
    this.snapshots = new Snapshots(opened.exchange, opened.clock);
  }

  /** Hashes, counters, time and clock. */
  get status(): unknown {
    const { exchange, clock } = this.opened;
    clock.advanceToNow();
    return [stateHashes(exchange), exchange.sequence, exchange.now, clock.setting, exchange.nextDueAt];
  }

  take(turn: Exclude<Turn, { kind: "reopen" | "pass" }>): void {
    const { exchange, clock } = this.opened;
    clock.advanceToNow();
    if (turn.kind === "moves") for (const move of turn.moves) takeMove(this.opened, move);
    else if (turn.kind === "snapshot") this.snapshots.take(null);
    else if (turn.kind === "clock") runSteps(clock.moveInSteps(turn.setting, millis(exchange.now + turn.ms)));
    else if (turn.kind === "reset") {
      this.opened.reopen();
      this.snapshots.clear();
      openArena(exchange);
    } else {
      const { all } = this.snapshots;
      const kept = all[turn.pick % all.length];
      if (kept === undefined) return;
      this.snapshots.restore(kept);
      if (turn.isDeleted) for (const other of all.slice(all.indexOf(kept))) this.snapshots.delete(other);
    }
  }
}

/** Ends an exchange, and returns the disk after it. */
async function ended(
  disk: SimulatedDisk,
  { opened }: Running,
  how: Extract<Turn, { kind: "reopen" }>["how"],
): Promise<DiskImage> {
  await flush(opened);
  const killed = disk.image;
  opened.clock.stop();
  await opened.close();
  if (how === "killed") return withoutLock(killed);
  const files = [...disk.image].filter(([path]) => how === "stopped" || !path.includes("/db."));
  return new Map(files);
}

it("a persisted exchange behaves like one in memory, with any commands and restarts", async () => {
  await forAllAsync(
    runs(40),
    [config, fc.array(turn, { maxLength: 24, size: "max" })],
    async (some, turns) => {
      let wall = NOON;
      const wallNow = (): number => wall;
      const terms = persistedConfig(some);
      const inMemory = new Running(openAtOrigin(terms, await loadOrigin(terms, wall), null, wallNow));
      let disk = new SimulatedDisk();
      let persisted = new Running(await openOn(disk, some, [], wallNow));
      for (const each of [inMemory, persisted]) openArena(each.opened.exchange);
      const end: Turn[] = [
        { kind: "reopen", how: "stopped" },
        { kind: "reopen", how: "stopped, no db.json" },
      ];
      for (const each of [...turns, ...end]) {
        if (each.kind === "pass") wall += each.ms;
        else if (each.kind !== "reopen") for (const one of [inMemory, persisted]) one.take(each);
        else {
          expect(persisted.status).toEqual(inMemory.status);
          // A scaled clock continues at its last recorded time.
          for (const { opened } of [inMemory, persisted]) opened.clock.applySetting(opened.clock.setting);
          disk = new SimulatedDisk(await ended(disk, persisted, each.how));
          const warnings: string[] = [];
          persisted = new Running(await openOn(disk, some, warnings, wallNow));
          inMemory.snapshots.clear();
          expect(warnings).toEqual([]);
          expect(persisted.status).toEqual(inMemory.status);
        }
      }
      inMemory.opened.clock.stop();
      persisted.opened.clock.stop();
    },
  );
});
