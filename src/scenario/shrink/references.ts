import type { Expectation, Step } from "../language/scenario.ts";
import { type Part, withParts } from "./draft.ts";

/** The parts that must go with some for what is left to speak only of orders and snapshots that there are. */
export class References {
  readonly #steps: readonly (readonly [part: Part, step: Step])[];

  /** `steps` are those of the parts, one for one. */
  constructor(parts: readonly Part[], steps: readonly Step[]) {
    this.#steps = parts.map((part, index) => [part, steps[index] as Step] as const);
  }

  /** With the parts that depend on them, in one pass: names are given before they are used. */
  closed(gone: ReadonlySet<Part>): Set<Part> {
    const all = new Set(gone);
    const named = new Names();
    for (const [part, step] of this.#steps) if (!all.has(part)) take(part, step, named, all);
    return all;
  }
}

/** What the steps so far have named. */
class Names {
  readonly orders = new Set<string>();
  readonly snapshots = new Set<string>();
}

function take(part: Part, step: Step, named: Names, gone: Set<Part>): void {
  if (needsMissing(step, named)) {
    gone.add(part);
    return;
  }
  if (step.kind === "order" && step.name !== null) named.orders.add(step.name);
  if (step.kind === "snapshot") named.snapshots.add(step.name);
  if (step.kind === "expect") prune(part, step.expectations, named, gone);
  if (step.kind !== "race") return;
  const racing = part.children.find(({ name }) => name === "race")?.children ?? [];
  for (const [index, inner] of racing.entries()) {
    const innerStep = step.steps[index];
    if (innerStep !== undefined && !gone.has(inner)) take(inner, innerStep, named, gone);
  }
  const left = racing.filter((inner) => !gone.has(inner)).length;
  if (left < 2) gone.add(part);
  prune(part, step.after, named, gone);
}

function needsMissing(step: Step, { orders, snapshots }: Names): boolean {
  switch (step.kind) {
    case "cancel":
      return step.expects.rejects === null && !orders.has(step.order);
    case "at":
      return "expiryOf" in step.moment && !orders.has(step.moment.expiryOf);
    case "restore":
      return !snapshots.has(step.name);
    case "request":
      return [...`${step.path} ${JSON.stringify(step.body ?? null)}`.matchAll(/\{order ([^{}]+)\}/g)].some(
        ([, name = ""]) => !orders.has(name.trim()),
      );
    default:
      return false;
  }
}

/** Adds what an expectation says of orders that are not there. */
function prune(part: Part, expectations: readonly Expectation[], { orders }: Names, gone: Set<Part>): void {
  for (const expectation of expectations) {
    const list = expectation.kind === "order" ? "orders" : expectation.kind === "settled" ? "settled" : null;
    if (list === null || !("name" in expectation) || orders.has(expectation.name)) continue;
    for (const inner of withParts(part)) {
      if (inner.name === expectation.name && inner.parent?.name === list) gone.add(inner);
    }
  }
}
