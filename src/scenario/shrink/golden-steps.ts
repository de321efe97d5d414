import { scalar } from "../record/yaml-text.ts";
import { OTHER_GOLDEN, readGolden } from "../run/expectations.ts";
import { Draft, type Part } from "./draft.ts";
import { type GoldenCut, goldenCut } from "./golden-cut.ts";
import { type InlineFlows, withFlowsInline } from "./inline-flows.ts";
import type { NotedRun } from "./noted-run.ts";
import { lineOf } from "./step-list.ts";
import type { Failed } from "./trial.ts";

/** Where the golden file that fails a scenario differs first; null where something else fails, or nobody can tell. */
export async function goldenCutOf({ scenario, failure }: Failed, noted: NotedRun): Promise<GoldenCut | null> {
  const step = scenario.steps.find(({ number }) => number === failure.step);
  if (step?.kind !== "expect" || !failure.message.startsWith(OTHER_GOLDEN)) return null;
  const golden = step.expectations.find(
    (each) =>
      each.kind === "golden" &&
      each.place.line === failure.place.line &&
      each.place.column === failure.place.column,
  );
  const kept = golden?.kind === "golden" ? await readGolden(golden.file) : null;
  return kept === null ? null : goldenCut(scenario, kept, noted);
}

/**
 * The text in which flows are steps and the golden file's step is an expectation of the first thing that differs, without
 * what comes between the two. Null where the step stands in brackets.
 */
export function withoutGolden(
  draft: Draft,
  failed: Failed,
  noted: NotedRun,
  cut: GoldenCut,
  withTimes: boolean,
): InlineFlows | null {
  const { scenario, failure } = failed;
  const { behind } = cut;
  const at = scenario.steps.findIndex(({ number }) => number === failure.step);
  const line = lineOf(draft, draft.steps[at] as Part);
  if (line === null) return null;
  const golden = new Draft(draft.replaced(line, `- ${expectText(cut, line.column)}`));
  const inline = withFlowsInline(golden, scenario, noted, {
    withTimes,
    lastRow: (step) => (step === behind?.step ? behind.row : null),
  });
  const whole = new Draft(inline.text);
  const ends = scenario.steps.map(({ number }) => inline.counts.get(number) ?? 1);
  const until = (index: number): number => ends.slice(0, index).reduce((sum, count) => sum + count, 0);
  const last = behind === null ? at - 1 : scenario.steps.findIndex(({ number }) => number === behind.step);
  const [from, to] = [until(last + 1), until(at)];
  const gone = whole.steps.filter((_step, index) => (index >= from && index < to) || index > to);
  const keeps = cut.keeps.map(({ step, begins }) => begins ?? textOfStep(draft, failed, step));
  return { ...inline, text: whole.without(new Set(gone)), keeps };
}

/** The first line of a step, which stays when expectations of its own go. */
function textOfStep(draft: Draft, { scenario }: Failed, step: number): string {
  const part = draft.steps[scenario.steps.findIndex(({ number }) => number === step)];
  return part === undefined ? "" : (draft.textOf(part.span).split("\n", 1)[0] ?? "");
}

/** A step that expects what the golden file has, as it stands behind a dash so far from the left. */
function expectText({ expectation }: GoldenCut, column: number): string {
  const line = (depth: number, text: string): string => " ".repeat(column + 2 + 2 * depth) + text;
  const list = (key: string, depth: number, items: readonly string[]): string[] =>
    items.length === 0
      ? [line(depth, `${key}: []`)]
      : [line(depth, `${key}:`), ...items.map((item) => line(depth + 1, `- ${scalar(item)}`))];
  const lines =
    expectation.kind === "trades"
      ? list("trades", 1, expectation.trades)
      : [
          line(1, "book:"),
          line(2, `${expectation.token}:`),
          ...list("bids", 3, expectation.bids),
          ...list("asks", 3, expectation.asks),
        ];
  return ["expect:", ...lines].join("\n");
}
