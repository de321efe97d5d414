import type { BumpStep, MineStep, ReorgStep } from "./chain-steps.ts";
import { entriesBy } from "./fields.ts";
import { readRejects } from "./own-expectations.ts";
import { baseOf, type StepSource } from "./step-source.ts";
import { type DecimalRule, oneOf, unitsAt } from "./values.ts";

const BLOCKS: DecimalRule = { what: "a number of blocks", places: 0, least: 1, most: 100_000 };

/** Reads `mine: 2`. */
export function readMine(step: StepSource): MineStep | null {
  const { page } = step.file;
  entriesBy(page, step.beside, []);
  const blocks = unitsAt(page, step.head.value, BLOCKS);
  return blocks === null ? null : { ...baseOf(step), kind: "mine", blocks };
}

/** Reads `reorg: 1`. */
export function readReorg(step: StepSource): ReorgStep | null {
  const { page } = step.file;
  const { rejects } = entriesBy(page, step.beside, ["rejects"]);
  const depth = unitsAt(page, step.head.value, BLOCKS);
  const refusal = readRejects(step.file, rejects);
  return depth === null ? null : { ...baseOf(step), kind: "reorg", depth, rejects: refusal };
}

/** Reads `bump: fees`. */
export function readBump(step: StepSource): BumpStep | null {
  const { page } = step.file;
  entriesBy(page, step.beside, []);
  return oneOf(page, step.head.value, ["fees"]) && { ...baseOf(step), kind: "bump" };
}
