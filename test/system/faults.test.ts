import { describe, expect, it } from "vitest";
import { PersistenceError } from "../../src/engine/journal.ts";
import type { OpenedExchange } from "../../src/engine/open-exchange.ts";
import { StoreError } from "../../src/engine/store-error.ts";
import type { Durability } from "../../src/setting.ts";
import { type DiskFault, FailingDisk, faultsOf } from "../engine/support/failing-disk.ts";
import { openOn, withoutLock } from "../engine/support/kept.ts";
import { takeStep } from "../engine/support/short-history.ts";
import { type CallKind, SimulatedDisk } from "../support/simulated-disk.ts";
import { stateHashes } from "../support/state-hashes.ts";

/** How a run goes: so many starts with so many commands each, and which of its calls fail. */
interface Shape {
  readonly starts: number;
  readonly steps: number;
  readonly kinds: readonly CallKind[];
}

const SHAPES: readonly Shape[] = [
  { starts: 3, steps: 20, kinds: ["write", "sync", "rename", "open", "cut", "syncFolder"] },
  { starts: 1, steps: 190, kinds: ["write", "sync"] },
];

/** What became of a run: the sequence that was acknowledged last, and how many commands were not kept. */
interface Told {
  acknowledged: number;
  notKept: number;
}

/** Takes one command; what cannot be kept must be undone, and reading must go on. */
async function take(opened: OpenedExchange, step: number, told: Told): Promise<void> {
  try {
    takeStep(opened, step);
    await opened.persistence.flush(opened.persistence.position);
    told.acknowledged = opened.exchange.sequence;
  } catch (error) {
    if (!(error instanceof PersistenceError)) throw error;
    told.notKept += 1;
    expect(opened.persistence.flush(opened.persistence.position)).toBe(undefined);
    expect(opened.folder?.broken).toBeInstanceOf(PersistenceError);
    expect(opened.exchange.sequence).toBeGreaterThanOrEqual(told.acknowledged);
  }
}

/** Runs until the steps are over, starting again whatever happens; answers where the last exchange stood. */
async function run(
  disk: SimulatedDisk,
  durability: Durability,
  { starts, steps }: Shape,
  told: Told,
): Promise<string> {
  let hash = "";
  for (let step = 0; step < starts * steps; ) {
    let opened: OpenedExchange;
    try {
      opened = await openOn(disk, { durability });
    } catch (error) {
      if (!(error instanceof StoreError) || error.problem !== "disk") throw error;
      break;
    }
    expect(opened.exchange.sequence).toBeGreaterThanOrEqual(told.acknowledged);
    for (const end = step + steps; step < end; step += 1) await take(opened, step, told);
    hash = stateHashes(opened.exchange);
    const { sequence } = opened.exchange;
    const isBroken = opened.folder?.broken !== null;
    await opened.close();
    if (!isBroken && opened.folder?.broken === null) told.acknowledged = sequence;
  }
  return hash;
}

/** Whether there was such a call that could fail. */
async function tryFault(
  durability: Durability,
  shape: Shape,
  fault: DiskFault,
  nth: number,
): Promise<boolean> {
  const disk = new SimulatedDisk();
  const plan = new FailingDisk(disk, fault, nth);
  const told: Told = { acknowledged: 0, notKept: 0 };
  const hash = await run(disk, durability, shape, told);
  if (!plan.hasStruck) return false;
  const later = new SimulatedDisk(withoutLock(disk.image));
  const { exchange } = await openOn(later, { durability });
  expect(exchange.sequence).toBeGreaterThanOrEqual(told.acknowledged);
  if (hash !== "") expect(stateHashes(exchange)).toBe(hash);
  return true;
}

describe("when the disk fails", () => {
  it.each<Durability>(["process", "power"])(
    "%s: at any call, once or for ever, what was acknowledged is kept and nothing else is said to be",
    async (durability) => {
      let cases = 0;
      for (const shape of SHAPES) {
        for (const fault of faultsOf(shape.kinds)) {
          for (let nth = 1; nth <= 200; nth += 1) {
            const hasStruck = await tryFault(durability, shape, fault, nth).catch((error: Error) => {
              throw new Error(`${JSON.stringify(fault)}, call ${nth}: ${error.stack}`);
            });
            if (!hasStruck) break;
            cases += 1;
          }
        }
      }
      expect(cases).toBeGreaterThan(1_400);
    },
    180_000,
  );
});
