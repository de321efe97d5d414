import { expect, it } from "vitest";
import { DataFileError, PersistenceError } from "../../src/engine/journal.ts";
import type { OpenedExchange } from "../../src/engine/open-exchange.ts";
import type { Durability } from "../../src/setting.ts";
import { atCalls, type DiskFault, FailingDisk, faultsOf } from "../engine/support/failing-disk.ts";
import { flush, openOn, withoutLock } from "../engine/support/persisted.ts";
import { takeStep } from "../engine/support/short-history.ts";
import { type CallKind, SimulatedDisk } from "../support/simulated-disk.ts";
import { stateHashes } from "../support/state-hashes.ts";

/** A run: its number of starts, commands per start, kinds of calls that fail, and at which of these calls a fault is tried. */
interface Shape {
  readonly starts: number;
  readonly steps: number;
  readonly kinds: readonly CallKind[];
  readonly every: number;
}

const SHAPES: readonly Shape[] = [
  { starts: 3, steps: 20, kinds: ["write", "sync", "rename", "open", "cut", "syncFolder"], every: 1 },
  { starts: 1, steps: 190, kinds: ["write", "sync"], every: 10 },
];

/** The last acknowledged sequence of a run. */
interface Progress {
  acknowledged: number;
}

/** Submits a command. If it cannot be persisted it must be undone, and the exchange must stay readable. */
async function submit(opened: OpenedExchange, step: number, progress: Progress): Promise<void> {
  try {
    takeStep(opened, step);
    await flush(opened);
    progress.acknowledged = opened.exchange.sequence;
  } catch (error) {
    if (!(error instanceof PersistenceError)) throw error;
    expect(flush(opened)).toBe(undefined);
    expect(opened.folder?.broken).toBeInstanceOf(PersistenceError);
    expect(opened.exchange.sequence).toBeGreaterThanOrEqual(progress.acknowledged);
  }
}

/** Runs all steps, with a new start after each error. Returns the hashes of the last exchange. */
async function run(
  disk: SimulatedDisk,
  durability: Durability,
  { starts, steps }: Shape,
  progress: Progress,
): Promise<string> {
  let hash = "";
  for (let step = 0; step < starts * steps; ) {
    let opened: OpenedExchange;
    try {
      opened = await openOn(disk, { durability });
    } catch (error) {
      if (!(error instanceof DataFileError) || error.problem !== "disk") throw error;
      break;
    }
    expect(opened.exchange.sequence).toBeGreaterThanOrEqual(progress.acknowledged);
    for (const end = step + steps; step < end; step += 1) await submit(opened, step, progress);
    hash = stateHashes(opened.exchange);
    const { sequence } = opened.exchange;
    const isBroken = opened.folder?.broken !== null;
    await opened.close();
    if (!isBroken && opened.folder?.broken === null) progress.acknowledged = sequence;
  }
  return hash;
}

/** Runs with a disk that fails at the nth call of a kind. Returns whether there was such a call. */
async function hasFailedAt(nth: number, durability: Durability, shape: Shape, fault: DiskFault) {
  const disk = new SimulatedDisk();
  const plan = new FailingDisk(disk, fault, nth);
  const progress: Progress = { acknowledged: 0 };
  const hash = await run(disk, durability, shape, progress);
  if (!plan.hasFailed) return false;
  const later = new SimulatedDisk(withoutLock(disk.image));
  const { exchange } = await openOn(later, { durability });
  expect(exchange.sequence).toBeGreaterThanOrEqual(progress.acknowledged);
  if (hash !== "") expect(stateHashes(exchange)).toBe(hash);
  return true;
}

it.each<Durability>(["process", "power"])(
  "when the disk fails with durability %s: at any call of a short run, once or permanently, exactly the acknowledged commands are persisted",
  async (durability) => {
    let cases = 0;
    for (const shape of SHAPES)
      for (const fault of faultsOf(shape.kinds))
        cases += await atCalls(fault, (nth) => hasFailedAt(nth, durability, shape, fault), shape.every);
    expect(cases).toBeGreaterThan(500);
  },
);
