import type { WinningOutcome } from "../../core/terms.ts";
import { entriesBy } from "./fields.ts";
import { LineWords } from "./line-words.ts";
import { orOf } from "./page.ts";
import type { CloseStep, ResolveStep } from "./plain-steps.ts";
import { baseOf, type StepSource } from "./step-source.ts";
import { textOf } from "./values.ts";
import { OUTCOMES } from "./vocabulary.ts";

const WINNERS: readonly WinningOutcome[] = [...OUTCOMES, "SPLIT"];

/** Reads `close: rain`; the only market may be called by its name as well. */
export function readClose(step: StepSource): CloseStep | null {
  const { file, head, declared } = step;
  entriesBy(file.page, step.beside, []);
  const name = textOf(file.page, head.value, "the name of a market");
  if (name === null) return null;
  if (!declared.hasMarket(name)) return declared.noMarket(file.page, head.value.start, name);
  return { ...baseOf(step), kind: "close", market: declared.marketName(name) };
}

/** Reads `resolve: YES in rain`. */
export function readResolve(step: StepSource): ResolveStep | null {
  const { file, head, declared } = step;
  const { page } = file;
  entriesBy(page, step.beside, []);
  if (textOf(page, head.value, orOf(WINNERS)) === null || head.value.kind !== "text") return null;
  const line = new LineWords(page, head.value);
  const outcome = line.oneOf(WINNERS, orOf(WINNERS));
  if (outcome === null) return null;
  const market = line.takeIf("in") === null ? null : line.take("a market after in");
  const name = market?.text ?? null;
  if (!line.isOver("in MARKET or the end of the line", ["in"])) return null;
  if (!declared.hasMarket(name)) return declared.noMarket(page, market?.at ?? line.end, name);
  return { ...baseOf(step), kind: "resolve", market: declared.marketName(name), outcome };
}
