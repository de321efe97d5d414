import type { PositionChange } from "../../api/position-transaction.ts";
import { positive, SHARES, sizeOf } from "./amounts.ts";
import { type CallStep, TRANSACTION_CODES } from "./chain-steps.ts";
import { entriesBy } from "./fields.ts";
import type { LineWords } from "./line-words.ts";
import { readMarketWord } from "./market-word.ts";
import type { Page } from "./page.ts";
import type { Placed } from "./scenario.ts";
import { baseOf, type StepSource } from "./step-source.ts";
import { oneOf, ruleText } from "./values.ts";
import type { Entry } from "./yaml-tree.ts";

/** What a wallet does on the chain, as a step says it. */
export const CALL_VERBS = ["split", "merge", "redeem"] as const;

const SETS = positive({ ...SHARES, what: "a number of sets" });

/** Reads `split 10 in rain`, `merge 10`, `redeem`, the verb of which is still to be taken. */
export function readCall(step: StepSource, line: LineWords): CallStep | null {
  const { page } = step.file;
  const verb = line.oneOf(CALL_VERBS, "");
  const { rejects } = entriesBy(page, step.beside, ["rejects"]);
  const change = verb && changeOf(line, verb);
  if (change === null) return null;
  const market = readMarketWord(line, step.declared);
  if (market === undefined || !line.isOver("in MARKET or the end of the line", ["in"])) return null;
  const account = step.head.key.value;
  return { ...baseOf(step), kind: change.kind, account, market, change, rejects: codeOf(page, rejects) };
}

function changeOf(line: LineWords, kind: CallStep["kind"]): PositionChange | null {
  if (kind === "redeem") return { kind };
  const word = line.take(ruleText(SETS));
  if (word === null) return null;
  const size = sizeOf(word.text, SETS);
  return size === null ? line.page.unexpected(word.at, ruleText(SETS), word.text) : { kind, size };
}

function codeOf(page: Page, entry: Entry | undefined): Placed<string> | null {
  const value = entry === undefined ? null : oneOf(page, entry.value, TRANSACTION_CODES);
  return entry === undefined || value === null ? null : { value, place: page.placeOf(entry.value) };
}
