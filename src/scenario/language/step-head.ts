import type { Declarations } from "./declarations.ts";
import { notThis } from "./fields.ts";
import type { Page } from "./page.ts";
import { BESIDE_WORDS, isReserved, STEP_WORDS } from "./vocabulary.ts";
import type { Entry, Node } from "./yaml-tree.ts";

/** A step's keys: the one that says what it does, and those beside it. */
export interface StepKeys {
  readonly head: Entry;
  readonly beside: readonly Entry[];
}

const STEP_RULE = "a step such as `alice: BUY 10 YES @ 0.5` or `advance: 30s`";
const ACTS = /^\s*(?:buy|sell|cancel|fund|split|merge|redeem)(?:\s|$)/i;
const BESIDE: ReadonlySet<string> = new Set(BESIDE_WORDS);

/** Finds out what a step does; null with a problem when that is nothing, two things at once, or unknown. */
export function stepKeysOf(page: Page, node: Node, declared: Declarations): StepKeys | null {
  const { accounts } = declared;
  if (node.kind !== "mapping") return notThis(page, node, STEP_RULE);
  const isKnown = ({ key: { value } }: Entry): boolean =>
    !BESIDE.has(value) && (isReserved(value) || accounts === null || accounts.has(value));
  const head = node.entries.find(isKnown);
  const beside = node.entries.filter((entry) => entry !== head);
  if (head === undefined) {
    const stranger = node.entries.find(({ key }) => !BESIDE.has(key.value));
    if (stranger === undefined) return page.wrong(node.start, `expected ${STEP_RULE}, found none`);
    const { start, value } = stranger.key;
    // Whatever places an order was meant to be an account, not a step.
    const isAccount = ACTS.test(stranger.value.kind === "text" ? stranger.value.value : "");
    const known = [...(accounts ?? []), ...(isAccount ? [] : STEP_WORDS)];
    const what = isAccount ? "account" : "step or account";
    return page.unknown(start, what, value, known, declared.accountsText);
  }
  const second = accounts === null ? undefined : beside.find(isKnown)?.key;
  if (second === undefined) return { head, beside };
  return page.wrong(
    second.start,
    `expected one step, found ${second.value} as well`,
    "begin each step with a dash",
  );
}
