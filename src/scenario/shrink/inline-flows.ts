import { isName } from "../language/fields.ts";
import type { GenerateStep, ReplayStep, Scenario } from "../language/scenario.ts";
import { stepsOf } from "../run/needs.ts";
import { columnOf, type Span } from "./cut.ts";
import type { Draft, Part } from "./draft.ts";
import { flowSteps, OrderNames } from "./flow-steps.ts";
import { MOST_ROWS, type NotedFlow, type NotedRun } from "./noted-run.ts";
import { lineOf, listed } from "./step-list.ts";

/** A text in which flows are steps, where they can be, and what to say of the others. */
export interface InlineFlows {
  readonly text: string;
  /** How many rows became steps, less the flows. */
  readonly added: number;
  /** By the number of a step: how many steps are in its place. */
  readonly counts: ReadonlyMap<number, number>;
  readonly remarks: readonly string[];
  /** How steps begin that must stay. */
  readonly keeps: readonly string[];
}

export interface InliningOptions {
  /** Whether steps say when each row came; else all rows come at the moment of the first. */
  readonly withTimes: boolean;
  /** The last row that is wanted of the flow of a step, by its number; null for all. */
  readonly lastRow: (step: number) => number | null;
}

/** A piece of a text with what is to stand there. */
interface Replacement extends Span {
  readonly by: string;
}

type FlowStep = ReplayStep | GenerateStep;

/** Whether a step is an order flow. */
export const isFlow = (step: Scenario["steps"][number]): step is FlowStep =>
  step.kind === "replay" || step.kind === "generate";

/**
 * The text with the rows of its flows as steps, so that each row can be left out. Rows that a flow tolerates, for they
 * are refused or have nothing to cancel, are left out: as steps they would fail. What comes behind the row
 * at which the scenario fails is left out, too.
 */
export function withFlowsInline(
  draft: Draft,
  scenario: Scenario,
  noted: NotedRun,
  { withTimes, lastRow }: InliningOptions,
): InlineFlows {
  const names = new OrderNames(namesIn(scenario, noted));
  const remarks: string[] = [];
  const accounts = new Set<string>();
  const replacements: Replacement[] = [];
  const counts = new Map<number, number>();
  let added = 0;
  for (const [index, step] of scenario.steps.entries()) {
    if (!isFlow(step)) continue;
    const line = lineOf(draft, draft.steps[index] as Part);
    const flow = noted.flows.get(step.number);
    const last = lastRow(step.number);
    if (line === null || flow === undefined || whyNot(flow, last) !== null) {
      const why = flow === undefined || line === null ? "it stands in brackets" : whyNot(flow, last);
      remarks.push(`${step.text} stays a flow: ${why}`);
      continue;
    }
    const rows = last === null ? flow.rows : flow.rows.slice(0, last);
    const bodies = flowSteps(rows, flow.start, names, { market: step.market, withTimes });
    for (const { row } of rows) accounts.add(row.account);
    added += rows.length - 1;
    counts.set(step.number, bodies.length);
    replacements.push({ start: line.start, end: line.end, by: listed(bodies, line.column) });
  }
  for (const { name } of scenario.accounts) accounts.delete(name);
  if (replacements.length > 0) replacements.push(...accountsFor(draft, [...accounts]));
  return { text: replacedIn(draft.text, replacements), added, counts, remarks, keeps: [] };
}

function whyNot({ rows, isCut }: NotedFlow, last: number | null): string | null {
  if (isCut && (last ?? Number.POSITIVE_INFINITY) > rows.length)
    return `more than ${MOST_ROWS} rows are too many steps`;
  const stranger = rows.find(({ row }) => !isName(row.account));
  return stranger === undefined ? null : `a scenario cannot name the account ${stranger.row.account}`;
}

/** The names that orders of flows must not take: those of other orders, and of accounts, which trades are told by. */
function* namesIn({ steps, accounts }: Scenario, { flows }: NotedRun): Generator<string> {
  for (const step of stepsOf(steps)) if (step.kind === "order" && step.name !== null) yield step.name;
  for (const { name } of accounts) yield name;
  for (const { rows } of flows.values()) for (const { row } of rows) yield row.account;
}

/** What writes the accounts that only flows opened beside the others. */
function accountsFor({ text, headers }: Draft, names: readonly string[]): Replacement[] {
  if (names.length === 0) return [];
  const header = headers.find(({ name }) => name === "accounts");
  const last = header?.children.at(-1);
  if (last === undefined) {
    const steps = headers.find(({ name }) => name === "steps");
    const block = `accounts:\n${names.map((name) => `  ${name}: {}`).join("\n")}`;
    if (header !== undefined) return [{ ...header.span, by: block }];
    return steps === undefined ? [] : [{ start: steps.span.start, end: steps.span.start, by: `${block}\n` }];
  }
  const { start, end } = last.span;
  if (last.collection.flow === true) {
    return [{ start: end, end, by: names.map((name) => `, ${name}: {}`).join("") }];
  }
  const indent = " ".repeat(columnOf(text, start));
  return [{ start, end: start, by: names.map((name) => `${name}: {}\n${indent}`).join("") }];
}

function replacedIn(text: string, replacements: readonly Replacement[]): string {
  let result = text;
  for (const { start, end, by } of [...replacements].sort((a, b) => b.start - a.start)) {
    result = result.slice(0, start) + by + result.slice(end);
  }
  return result;
}
