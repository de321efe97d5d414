import { faultTerms, faultWords } from "../../api/chain.ts";
import { CERTAIN, type SettlementFaultTerms } from "../../core/chain/settlement-fault.ts";
import type { Step } from "./script.ts";
import { type Entry, map, scalar } from "./yaml-text.ts";

const LONGEST_REASON = 200;
/** A millionth of a gwei: what a step can say of a base fee. */
const LEAST_FEE = 1_000;

/** The terms that a step can say: what is said with fewer digits befalls the same. */
export function sayableTerms(terms: SettlementFaultTerms): SettlementFaultTerms {
  const baseFee = Math.round(terms.baseFee / LEAST_FEE) * LEAST_FEE;
  const reason = terms.reason?.trim().slice(0, LONGEST_REASON) || null;
  return faultTerms(faultWords({ ...terms, baseFee, reason }));
}

/** The step that sets a fault: `fail settlement` where that says it, else `chain fault`. */
export function faultStep(terms: SettlementFaultTerms): Step {
  const { fault, reason } = terms;
  const often = fault === "fail" ? howOften(terms) : null;
  if (often !== null) {
    return [["fail settlement", often], ...(reason === null ? [] : [["reason", scalar(reason)] as const])];
  }
  const entries = Object.entries(faultWords(terms)).map(
    ([key, value]): Entry => [key, typeof value === "string" ? scalar(value) : String(value)],
  );
  return [["chain fault", map(entries)]];
}

/** Of hundredths of a percent of a percent, which probabilities are counted in. */
const PER_PERCENT = 10_000;

/** `next`, `next 3`, `20%` or `all`; null where only the longer form tells it. */
function howOften({ times, probability }: SettlementFaultTerms): string | null {
  if (probability === CERTAIN) return times === null ? "all" : times === 1 ? "next" : `next ${times}`;
  return times === null && probability > 0 ? `${probability / PER_PERCENT}%` : null;
}
