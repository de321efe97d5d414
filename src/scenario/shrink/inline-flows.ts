import type { Millis } from "../../core/units.ts";
import { isName } from "../language/names.ts";
import type { GenerateStep, ReplayStep, Scenario } from "../language/scenario.ts";
import { stepsOf } from "../run/needs.ts";
import type { Venue } from "../venue/venue.ts";
import { columnOf, type Span } from "./cut.ts";
import type { Draft, Part } from "./draft.ts";
import { flowSteps, OrderNames, type PlayedRow } from "./flow-steps.ts";
import { playNoting } from "./play-rows.ts";
import { lineOf, listed } from "./step-list.ts";
import type { Trial } from "./trial.ts";

/** A longer flow stays a flow. */
const MOST_ROWS = 5_000;

/** A text in which flows are steps, where they can be, and what to say of the others. */
export interface InlineFlows {
  readonly text: string | null;
  /** How many rows became steps, less the flows. */
  readonly added: number;
  readonly remarks: readonly string[];
}

/** A flow as it was played. */
interface Played {
  readonly start: Millis;
  readonly rows: readonly PlayedRow[] | null;
}

/** A piece of a text with what is to stand there. */
interface Replacement extends Span {
  readonly by: string;
}

type FlowStep = ReplayStep | GenerateStep;

/** The text with the rows of its flows as steps, so that each row can be left out. */
export async function withFlowsInline(draft: Draft, scenario: Scenario, trial: Trial): Promise<InlineFlows> {
  const isFlow = ({ kind }: Scenario["steps"][number]): boolean => kind === "replay" || kind === "generate";
  const isAligned = draft.steps.length === scenario.steps.length;
  if (!isAligned || !scenario.steps.some(isFlow)) return { text: null, added: 0, remarks: [] };
  const played = await play(scenario, trial);
  const names = new OrderNames(namesIn(scenario));
  const remarks: string[] = [];
  const accounts = new Set<string>();
  const replacements: Replacement[] = [];
  let added = 0;
  for (let index = scenario.steps.length - 1; index >= 0; index -= 1) {
    const [step, part] = [scenario.steps[index] as FlowStep, draft.steps[index] as Part];
    if (!isFlow(step)) continue;
    const line = lineOf(draft, part);
    const flow = played[scenario.steps.slice(0, index).filter(isFlow).length];
    const why = line === null || flow === undefined ? "it stands in brackets" : whyNot(flow);
    if (why !== null || line === null || flow === undefined) {
      remarks.push(`${step.text} stays a flow: ${why}`);
      continue;
    }
    const wantsRefused = step.kind === "generate" || step.rejected === 0;
    added += (flow.rows?.length ?? 0) - 1;
    const bodies = flowSteps(flow.rows ?? [], flow.start, step.market, names, wantsRefused);
    for (const { row } of flow.rows ?? []) accounts.add(row.account);
    replacements.push({ start: line.start, end: line.end, by: listed(bodies, line.column) });
  }
  for (const { name } of scenario.accounts) accounts.delete(name);
  replacements.push(...accountsFor(draft, [...accounts]));
  return { text: replacedIn(draft.text, replacements), added, remarks };
}

/** Runs the scenario once more, and notes what its flows do, in order. */
async function play(scenario: Scenario, trial: Trial): Promise<readonly Played[]> {
  const played: Played[] = [];
  await trial.failureOf(scenario, async (of) => {
    const venue: Venue = await trial.place.open(of);
    venue.play = async (rows, market) => {
      const start = await venue.now();
      const { outcome, played: noted } = await playNoting(venue, rows, market, MOST_ROWS);
      played.push({ start, rows: noted });
      return outcome;
    };
    return venue;
  });
  return played;
}

function whyNot({ rows }: Played): string | null {
  if (rows === null) return `more than ${MOST_ROWS} rows are too many steps`;
  const stranger = rows.find(({ row }) => !isName(row.account));
  return stranger === undefined ? null : `a scenario cannot name the account ${stranger.row.account}`;
}

function* namesIn(scenario: Scenario): Generator<string> {
  for (const step of stepsOf(scenario.steps))
    if (step.kind === "order" && step.name !== null) yield step.name;
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
