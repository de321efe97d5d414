import {
  FAULT_FIELDS,
  FAULT_KINDS,
  type FaultField,
  type FaultKind,
  faultTerms,
  type SettlementFaultWords,
} from "../../api/settlement-faults.ts";
import { CERTAIN } from "../../core/chain/settlement-fault.ts";
import type { SettlementFaultStep } from "./chain-steps.ts";
import { entriesBy, fieldsOf } from "./fields.ts";
import { LineWords } from "./line-words.ts";
import { orOf, type Page } from "./page.ts";
import { baseOf, type StepSource } from "./step-source.ts";
import { type DecimalRule, decimalIn, oneOf, ruleText, textOf, unitsAt } from "./values.ts";
import type { Entry, Node } from "./yaml-tree.ts";

const PERCENT_PLACES = 4;
const PERCENT: DecimalRule = { what: "a share", places: PERCENT_PLACES, least: 1, most: CERTAIN };
const PROBABILITY: DecimalRule = { what: "a probability", places: 6, least: 0, most: CERTAIN };
const TIMES: DecimalRule = { what: "a number of settlements", places: 0, least: 1, most: 1_000_000_000 };
const BLOCKS: DecimalRule = { what: "a number of blocks", places: 0, least: 1, most: 100_000 };
/** A millionth of a gwei. */
const GWEI_UNITS = 1_000_000;
const GWEI: DecimalRule = { what: "a fee in gwei", places: 6, least: 0, most: 1_000_000 * GWEI_UNITS };

const LONGEST_REASON = 200;
const REASON_RULE = `a reason of 1 to ${LONGEST_REASON} characters`;
const HOW_OFTEN = ["next", "all", "never"] as const;
const FAILURE_RULE = "next, next 3, a share such as 20%, all or never";

/** Reads `fail settlement: next`, `next 3`, `20%`, `all` or `never`, with a `reason` beside it. */
export function readFailSettlement(step: StepSource): SettlementFaultStep | null {
  const { page } = step.file;
  const { value } = step.head;
  const { reason } = entriesBy(page, step.beside, ["reason"]);
  if (textOf(page, value, FAILURE_RULE) === null || value.kind !== "text") return null;
  const failure = failureOf(new LineWords(page, value));
  if (failure === null) return null;
  if (failure !== "never") {
    const text = reason === undefined ? null : reasonOf(page, reason.value);
    const terms = faultTerms({ kind: "fail", ...failure, ...(text === null ? {} : { reason: text }) });
    return { ...baseOf(step), kind: "failSettlement", fault: terms };
  }
  if (reason !== undefined) page.wrong(reason.key.start, "what never fails has no reason");
  return { ...baseOf(step), kind: "failSettlement", fault: null };
}

type Failure = Pick<SettlementFaultWords, "times" | "probability"> | "never";

function failureOf(line: LineWords): Failure | null {
  const word = line.peek();
  if (word?.text.endsWith("%")) {
    line.take("");
    const units = decimalIn(word.text.slice(0, -1), PERCENT);
    if (units === null) return line.page.unexpected(word.at, `${ruleText(PERCENT)}, then %`, word.text);
    return line.isOver() ? { probability: units / CERTAIN } : null;
  }
  const often = line.oneOf(HOW_OFTEN, FAILURE_RULE);
  if (often === null) return null;
  const count = often === "next" && line.peek() !== undefined ? line.take("") : null;
  const times = count === null ? 1 : decimalIn(count.text, TIMES);
  if (times === null) return line.page.unexpected(count?.at ?? line.end, ruleText(TIMES), count?.text ?? "");
  if (!line.isOver()) return null;
  if (often === "never") return "never";
  return often === "all" ? { probability: 1 } : { times };
}

const FIELDS = ["times", "probability", "blocks", "baseFeeGwei", "reason"] as const;

/** Reads `chain fault: { kind: delay, blocks: 3, times: 1 }`, or `chain fault: none`. */
export function readChainFault(step: StepSource): SettlementFaultStep | null {
  const { page } = step.file;
  const { value } = step.head;
  entriesBy(page, step.beside, []);
  const base = { ...baseOf(step), kind: "chainFault" } as const;
  if (value.kind === "text" && value.value === "none") return { ...base, fault: null };
  const fields = fieldsOf(page, value, "{ kind } and what belongs to it, or none", ["kind", ...FIELDS]);
  if (fields === null) return null;
  if (fields.kind === undefined) return page.wrong(value.start, "expected the key kind, found none");
  const kind = kindOf(page, fields.kind.value);
  if (kind === null) return null;
  const words: Partial<Record<FaultField, number | string>> = {};
  for (const field of FIELDS) {
    const entry: Entry | undefined = fields[field];
    if (entry === undefined || !belongs(page, entry, kind, field)) continue;
    const read = READERS[field](page, entry.value);
    if (read !== null) words[field] = read;
  }
  return { ...base, fault: faultTerms({ kind, ...(words as Omit<SettlementFaultWords, "kind">) }) };
}

/** What goes wrong; the API's kind reorg is a step of its own here. */
function kindOf(page: Page, node: Node): FaultKind | null {
  const isReorg = node.kind === "text" && node.value === "reorg";
  if (!isReorg) return oneOf(page, node, FAULT_KINDS);
  return page.wrong(node.start, "a reorganization is no fault but a step", "reorg: 1");
}

/** Whether a field means something of a kind; if not, that is a problem. */
function belongs(page: Page, { key }: Entry, kind: FaultKind, field: FaultField): boolean {
  const known = FAULT_FIELDS[kind];
  if (known.includes(field)) return true;
  page.wrong(key.start, `${field} means nothing of ${kind}`, `beside kind it takes ${orOf(known)}`);
  return false;
}

/** What each field holds, as POST /sim/chain/faults takes it. */
const READERS: Readonly<Record<FaultField, (page: Page, node: Node) => string | number | null>> = {
  times: (page, node) => unitsAt(page, node, TIMES),
  probability: (page, node) => over(unitsAt(page, node, PROBABILITY), CERTAIN),
  blocks: (page, node) => unitsAt(page, node, BLOCKS),
  baseFeeGwei: (page, node) => over(unitsAt(page, node, GWEI), GWEI_UNITS),
  reason: (page, node) => reasonOf(page, node),
};

const over = (units: number | null, whole: number): number | null => (units === null ? null : units / whole);

function reasonOf(page: Page, node: Node): string | null {
  const text = textOf(page, node, REASON_RULE);
  if (text === null) return null;
  return text.length <= LONGEST_REASON ? text : page.unexpected(node.start, REASON_RULE, text);
}
