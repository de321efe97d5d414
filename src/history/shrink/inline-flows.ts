import { type Millis, millis } from "../../core/units.ts";
import { isName, MAX_NAME_LENGTH } from "../../scenario/language/fields.ts";
import type { OrderWords } from "../../scenario/language/order-line.ts";
import { type FlowStep, type Scenario, stepsOf } from "../../scenario/language/steps.ts";
import { goldenText } from "../../scenario/run/format.ts";
import { byOperations, playFlow, rowText } from "../../scenario/venue/play-flow.ts";
import type { Venue } from "../../scenario/venue/venue.ts";
import type { Checks } from "../../scenario/venue/views.ts";
import { uniqueName } from "../../simulation/event-story.ts";
import type { FlowRow } from "../../simulation/flow.ts";
import { moment } from "../scenario-text.ts";
import { type Draft, isBracketed, type Part, type Replacement } from "./draft.ts";
import type { Failed, Trial } from "./trial.ts";

/** A row of a flow, and its result. */
interface PlayedRow {
  readonly row: FlowRow;
  readonly at: Millis;
  /** Whether it had an effect: it was not refused, and a cancel found an order. */
  readonly isEffective: boolean;
}

interface PlayedFlow {
  /** Number of its step. */
  readonly step: number;
  readonly start: Millis;
  /** Rows up to the one at which the scenario fails. */
  readonly rows: PlayedRow[];
  /** Whether the flow has more rows. */
  isCut: boolean;
}

const NO_FLOW: PlayedFlow = { step: 0, start: millis(0), rows: [], isCut: false };

/** A placed order that may trade: by a step, or by a row of its flow. */
export interface TradingOrder {
  readonly step: number;
  /** From 1; null for an order step. */
  readonly row: number | null;
  readonly account: string;
  readonly words: OrderWords;
  /** Number of fills of the scenario before and after it. */
  readonly before: number;
  readonly after: number;
}

export type RunRecord = Awaited<ReturnType<typeof recordRun>>;

/** Maximum number of rows of a flow that are turned into steps. */
const MAX_ROWS = 5_000;

/**
 * Runs a failing scenario again, up to its failure. Records its flows by number of the step, its orders, and all trades
 * and books at the failure as in a golden file.
 */
export async function recordRun({ scenario, failure }: Failed, trial: Trial, checks: Checks) {
  const flows = new Map<number, PlayedFlow>();
  const placed: TradingOrder[] = [];
  const orderSteps = new Map(
    scenario.steps.flatMap((step) => (step.kind === "order" ? [[step.words, step.number] as const] : [])),
  );
  const flowsToPlay = scenario.steps.filter(isFlow).values();
  let golden = "";
  await trial.failureOf(scenario, {
    checks,
    open: async (of) => {
      const venue: Venue = await trial.environment.open(of);
      const place = venue.place.bind(venue);
      let flow: PlayedFlow = NO_FLOW;
      venue.place = async (account, words) => {
        const step = orderSteps.get(words);
        const before = venue.fillCount();
        const attempt = await place(account, words);
        const order = { account, words, before, after: venue.fillCount() };
        if (step !== undefined) placed.push({ step, row: null, ...order });
        else if (!flow.isCut) placed.push({ step: flow.step, row: flow.rows.length + 1, ...order });
        return attempt;
      };
      venue.play = async (rows, market) => {
        const start = await venue.now();
        flow = { step: flowsToPlay.next().value?.number ?? 0, start, rows: [], isCut: false };
        flows.set(flow.step, flow);
        const failedRow = flow.step === failure.step ? failure.mismatches[0]?.row : undefined;
        const last = failedRow ?? Number.POSITIVE_INFINITY;
        const execute = byOperations(venue, market, start);
        const recorded: typeof execute = async (row, number) => {
          let isEffective = true;
          try {
            const attempt = await execute(row, number);
            isEffective = attempt.ok && (row.op === "fund" || attempt.value > 0);
            return attempt;
          } finally {
            // The row at which the scenario fails is needed, also if the exchange throws.
            isEffective ||= number === last;
            flow.isCut ||= flow.rows.length === MAX_ROWS;
            if (!flow.isCut) flow.rows.push({ row, at: millis(start + row.at), isEffective });
          }
        };
        // The step fails there, whatever the row did.
        return playFlow(recorded, rows, (played) => (played === last ? ["the last row to record"] : []));
      };
      return venue;
    },
    failed: async (venue) => {
      golden = await goldenText(scenario, venue);
    },
  });
  return { flows, placed, golden };
}

/**
 * Writes the effective rows of a flow as steps. `taken` are names that its orders must not have; `market` is that of rows
 * without one, null if the scenario has only one.
 */
function flowSteps(
  rows: readonly PlayedRow[],
  start: Millis,
  taken: Set<string>,
  market: string | null,
  withTimes: boolean,
): string[] {
  const steps: string[] = [];
  const effective = rows.filter(({ isEffective }) => isEffective);
  const canceled = canceledBy(effective);
  const isCanceled = new Set(canceled.values());
  const names = new Map<PlayedRow, string>();
  let now = start;
  for (const played of effective) {
    const { row, at } = played;
    if (withTimes && at > now) steps.push(`at: ${moment(at)}`);
    now = at;
    if (row.op === "cancel") {
      const placed = canceled.get(played);
      const name = placed === undefined ? undefined : names.get(placed);
      steps.push(`${row.account}: cancel ${name ?? row.ref}`);
      continue;
    }
    const complete = row.op === "cancel-all" ? row : { ...row, market: row.market ?? market };
    if (row.op === "place" && isCanceled.has(played)) {
      const wanted = isName(row.ref) && row.ref !== "all" ? row.ref : "order";
      names.set(played, uniqueName(wanted, taken, MAX_NAME_LENGTH));
    }
    const name = names.get(played);
    const text = complete.op === "place" ? placedText(complete) : rowText(complete);
    steps.push(text + (name === undefined ? "" : ` as ${name}`));
  }
  return steps;
}

/** Maps canceling rows to the rows that placed their orders: a name refers to the latest order with it. */
function canceledBy(rows: readonly PlayedRow[]): Map<PlayedRow, PlayedRow | undefined> {
  const placed = new Map<string, PlayedRow>();
  const canceled = new Map<PlayedRow, PlayedRow | undefined>();
  for (const played of rows) {
    if (played.row.op === "place" && played.row.ref !== "") placed.set(played.row.ref, played);
    if (played.row.op === "cancel") canceled.set(played, placed.get(played.row.ref));
  }
  return canceled;
}

function placedText(row: Extract<FlowRow, { readonly op: "place" }>): string {
  const { expiresIn, market } = row;
  const typed = rowText({ ...row, market: null }).replace(/ GTC$/, "");
  const expiry =
    expiresIn === null ? "" : ` +${expiresIn % 1000 === 0 ? `${expiresIn / 1000}s` : `${expiresIn}ms`}`;
  return `${typed}${expiry}${market === null ? "" : ` in ${market}`}`;
}

/** A text in which flows are replaced by steps, where possible. */
export interface InlineFlows {
  readonly text: string;
  /** Number of rows that became steps, minus the number of their flows. */
  readonly added: number;
  /** Why other flows are not replaced. */
  readonly remarks: readonly string[];
  /** Beginnings of steps that must not be removed. */
  readonly requiredSteps: readonly string[];
}

export const isFlow = (step: Scenario["steps"][number]): step is FlowStep =>
  step.kind === "replay" || step.kind === "generate";

/**
 * Returns the text with the rows of its flows as steps, so that each can be removed. Rows without an effect are omitted,
 * because a flow tolerates refusals and a step does not; rows after the failure are omitted, too, and those after
 * `lastRow` of a flow's step. With `withTimes` steps advance to the time of each row; else all have that of the first.
 */
export function withFlowsInline(
  draft: Draft,
  scenario: Scenario,
  run: RunRecord,
  withTimes: boolean,
  lastRow: (step: number) => number | null = () => null,
): InlineFlows {
  // Orders of flows must not have the names of other orders, or of accounts, which identify trades.
  const names = new Set([
    ...[...stepsOf(scenario.steps)].flatMap((step) => (step.kind === "order" ? (step.name ?? []) : [])),
    ...scenario.accounts.map(({ name }) => name),
    ...[...run.flows.values()].flatMap(({ rows }) => rows.map(({ row }) => row.account)),
  ]);
  const remarks: string[] = [];
  const accounts = new Set<string>();
  const replacements: Replacement[] = [];
  let added = 0;
  for (const [index, step] of scenario.steps.entries()) {
    if (!isFlow(step)) continue;
    const flow = run.flows.get(step.number) ?? NO_FLOW;
    const last = lastRow(step.number) ?? Number.POSITIVE_INFINITY;
    const rows = flow.rows.slice(0, last);
    const steps = flowSteps(rows, flow.start, names, step.market, withTimes);
    const inline = draft.replacement(draft.steps[index] as Part, steps);
    const why = inline === null ? "it is in brackets" : obstacleIn(flow, last);
    if (inline === null || why !== null) {
      remarks.push(`${step.text} stays a flow: ${why}`);
      continue;
    }
    for (const { row } of rows) accounts.add(row.account);
    added += rows.length - 1;
    replacements.push(inline);
  }
  for (const { name } of scenario.accounts) accounts.delete(name);
  if (replacements.length > 0) replacements.push(...accountsFor(draft, [...accounts]));
  return { text: draft.with(replacements), added, remarks, requiredSteps: [] };
}

/** Returns why a flow cannot be replaced by steps; null if it can. */
function obstacleIn({ rows, isCut }: PlayedFlow, last: number): string | null {
  if (isCut && last > rows.length) return `more than ${MAX_ROWS} rows are too many steps`;
  const unnamed = rows.find(({ row }) => !isName(row.account));
  return unnamed === undefined ? null : `a scenario cannot name the account ${unnamed.row.account}`;
}

/** Adds accounts to the header that only flows opened. */
function accountsFor({ headers }: Draft, names: readonly string[]): Replacement[] {
  if (names.length === 0) return [];
  const header = headers.find(({ name }) => name === "accounts");
  const last = header?.children.at(-1);
  if (last === undefined) {
    const steps = headers.find(({ name }) => name === "steps");
    const block = `accounts:\n${names.map((name) => `  ${name}: {}`).join("\n")}`;
    if (header !== undefined) return [{ start: header.start, end: header.end, by: block }];
    return steps === undefined ? [] : [{ start: steps.start, end: steps.start, by: `${block}\n` }];
  }
  const { start, end } = last;
  if (isBracketed(last.collection)) {
    return [{ start: end, end, by: names.map((name) => `, ${name}: {}`).join("") }];
  }
  const indent = " ".repeat(last.column);
  return [{ start, end: start, by: names.map((name) => `${name}: {}\n${indent}`).join("") }];
}
