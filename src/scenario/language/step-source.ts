import type { Declarations } from "./declarations.ts";
import { notThis } from "./fields.ts";
import type { Entry, Node, Page } from "./page.ts";
import type { StepBase } from "./scenario.ts";
import type { OpenFile, ScenarioFiles } from "./scenario-files.ts";
import { countUpTo } from "./source-text.ts";
import { BESIDE_WORDS, isReserved, STEP_WORDS } from "./vocabulary.ts";

const LONGEST_TEXT = 200;
/** Of a value that goes over many lines, no more is looked at for the text of its step. */
const MAX_LOOKED_AT = 4_000;

/** A step as it stands in its file, to be read. */
export interface StepSource {
  readonly file: OpenFile;
  readonly files: ScenarioFiles;
  readonly declared: Declarations;
  readonly number: number;
  /** The key that says what the step does, with its value. */
  readonly head: Entry;
  /** The keys beside it. */
  readonly beside: readonly Entry[];
}

/** What every step has. */
export const baseOf = ({ file, number, head, declared }: StepSource): StepBase => ({
  number,
  text: `${stepText(file, head)}${declared.rounds.text}`,
  place: file.page.placeOf(head.key),
});

/** The source on one line, without comments: `alice: BUY 10 YES @ 0.5`. */
function stepText(file: OpenFile, { key, value }: Entry): string {
  const said = value.kind === "text" ? value.value : uncommented(file, value);
  const text = `${key.value}: ${said.slice(0, MAX_LOOKED_AT)}`.replace(/\s+/g, " ").trim();
  if (text.length <= LONGEST_TEXT) return text;
  return `${text.slice(0, LONGEST_TEXT - 3).replace(/[\ud800-\udbff]$/, "")}...`;
}

function uncommented({ page }: OpenFile, { start, end }: Node): string {
  const { comments, source } = page;
  const last = Math.min(end, start + MAX_LOOKED_AT);
  let said = "";
  let from = start;
  for (let index = countUpTo(comments, start); (comments[index] ?? last) < last; index += 2) {
    said += source.text.slice(from, comments[index]);
    from = comments[index + 1] ?? last;
  }
  return said + source.text.slice(from, last);
}

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
