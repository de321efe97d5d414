import { entriesBy, fieldsOf } from "./fields.ts";
import type { Page } from "./page.ts";
import type { FaultStep } from "./scenario.ts";
import { baseOf, type StepSource } from "./step-source.ts";
import { type DecimalRule, durationAt, oneOf, textOf, unitsAt } from "./values.ts";
import type { Entry, Node } from "./yaml-tree.ts";

const KEYS = ["route", "status", "retryAfter", "latency", "drop", "probability", "times", "after"] as const;
type FaultKey = (typeof KEYS)[number];

const STATUSES = ["429", "500", "502", "503", "504"] as const;
const DROPS = ["connection", "reply"] as const;
const PROBABILITY_PLACES = 6;
const PROBABILITY: DecimalRule = {
  what: "a probability",
  places: PROBABILITY_PLACES,
  least: 0,
  most: 1_000_000,
};
const RETRY_AFTER: DecimalRule = { what: "a number of seconds", places: 0, least: 0, most: 86_400 };
const TIMES: DecimalRule = { what: "a number of times", places: 0, least: 1, most: 1_000_000_000 };
const AFTER: DecimalRule = { what: "a number of requests", places: 0, least: 0, most: 1_000_000_000 };

/** Reads `fault: { route: POST /order, status: 503, times: 1 }`. */
export function readFault(step: StepSource): FaultStep | null {
  const { page } = step.file;
  const { value } = step.head;
  entriesBy(page, step.beside, []);
  const fields = fieldsOf(page, value, "{ route, status, times }", KEYS);
  if (fields === null) return null;
  const { status, latency, drop } = fields;
  if (status === undefined && latency === undefined && drop === undefined) {
    return page.wrong(value.start, "expected a fault with status, latency or drop, found none of them");
  }
  if (status !== undefined && drop !== undefined) {
    return page.wrong(drop.key.start, "a dropped request has no status: give one of them");
  }
  const fault: Partial<Record<FaultKey, string | number>> = {};
  for (const key of KEYS) {
    const entry: Entry | undefined = fields[key];
    const read = entry === undefined ? null : READERS[key](page, entry.value);
    if (read !== null) fault[key] = read;
  }
  return { ...baseOf(step), kind: "fault", fault };
}

/** What each key holds, as POST /sim/faults takes it. */
const READERS: Readonly<Record<FaultKey, (page: Page, node: Node) => string | number | null>> = {
  route: (page, node) => textOf(page, node, "a route such as POST /order"),
  status: (page, node) => numberOf(oneOf(page, node, STATUSES)),
  retryAfter: (page, node) => unitsAt(page, node, RETRY_AFTER),
  latency: (page, node) => (durationAt(page, node) === null ? null : textOf(page, node, "a duration")),
  drop: (page, node) => oneOf(page, node, DROPS),
  probability: (page, node) => {
    const units = unitsAt(page, node, PROBABILITY);
    return units === null ? null : units / PROBABILITY.most;
  },
  times: (page, node) => unitsAt(page, node, TIMES),
  after: (page, node) => unitsAt(page, node, AFTER),
};

const numberOf = (text: string | null): number | null => (text === null ? null : Number(text));
