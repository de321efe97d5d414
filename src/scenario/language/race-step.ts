import { entriesBy, itemsOf } from "./fields.ts";
import { readExpectations } from "./read-expectations.ts";
import type { RaceStep, Step } from "./scenario.ts";
import { baseOf, type StepSource } from "./step-source.ts";
import type { Node } from "./yaml-tree.ts";

/** With one more the orders would be 5,040 for this race alone. */
const MOST_STEPS = 6;

/** Reads `race: [{ bob: cancel ask }, { alice: BUY 10 YES @ 0.60 }]`; `readSteps` reads what races. */
export function readRace(
  step: StepSource,
  readSteps: (nodes: readonly Node[]) => readonly Step[],
): RaceStep | null {
  const { file, head, beside } = step;
  const { page } = file;
  const { after } = entriesBy(page, beside, ["after"]);
  const nodes = itemsOf(page, head.value, `a list of 2 to ${MOST_STEPS} steps`);
  if (nodes !== null && (nodes.length < 2 || nodes.length > MOST_STEPS)) {
    return page.wrong(head.value.start, `expected 2 to ${MOST_STEPS} steps, found ${nodes.length}`);
  }
  const steps = nodes === null ? [] : readSteps(nodes);
  const expectations = after === undefined ? [] : readExpectations(step, after);
  return { ...baseOf(step), kind: "race", steps, after: expectations };
}

/** In how many orders some steps can be taken. */
export function ordersOf(steps: number): number {
  let orders = 1;
  for (let count = 2; count <= steps; count += 1) orders *= count;
  return orders;
}
