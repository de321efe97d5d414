import { type Millis, millis } from "../../core/units.ts";
import { isName } from "../../scenario/language/fields.ts";
import { type FlowStep, type Scenario, stepsOf } from "../../scenario/language/scenario.ts";
import { rowText } from "../../scenario/run/format.ts";
import type { Failure } from "../../scenario/run/result.ts";
import { goldenText } from "../../scenario/run/summary.ts";
import { VenuePlayer } from "../../scenario/venue/play-flow.ts";
import type { Venue } from "../../scenario/venue/venue.ts";
import type { FlowOutcome } from "../../scenario/venue/views.ts";
import type { FlowRow } from "../../simulation/flow.ts";
import { moment } from "../scenario-text.ts";
import type { Draft, Part, Replacement } from "./draft.ts";
import type { Checks, Failed, Trial } from "./trial.ts";

/** A row of a flow as it was played. */
export interface PlayedRow {
  readonly row: FlowRow;
  readonly at: Millis;
  /** Whether it did something: it was not refused, and where it cancels there was something to cancel. */
  readonly isDone: boolean;
  /** How many fills the scenario had seen behind it. */
  readonly fills: number;
}

/**
 * Plays the rows of a flow one by one, as steps of a scenario would, and calls `note` with what became of each. Behind the
 * last that is wanted it stops.
 */
async function playNoting(
  venue: Venue,
  rows: AsyncIterable<readonly FlowRow[]>,
  market: string,
  last: number,
  note: (played: PlayedRow) => void,
): Promise<FlowOutcome> {
  const start = await venue.now();
  const player = new VenuePlayer(venue, market, start);
  for await (const batch of rows) {
    for (const row of batch) {
      if (player.rows === last) return player.outcome;
      const { canceled, rejected } = player.outcome;
      let isDone = true;
      try {
        await player.play(row);
        const isCancel = row.op === "cancel" || row.op === "cancel-all";
        isDone = player.outcome.rejected === rejected && !(isCancel && player.outcome.canceled === canceled);
      } finally {
        // A row that makes the exchange throw is noted before that is thrown; that at which the scenario fails is always written.
        isDone ||= player.rows === last;
        note({ row, at: millis(start + row.at), isDone, fills: venue.fillCount() });
      }
    }
  }
  return player.outcome;
}

/** A flow as it was played. */
interface NotedFlow {
  readonly start: Millis;
  /** Up to the row at which the scenario fails. */
  readonly rows: PlayedRow[];
  /** Whether there were more rows than are noted. */
  isCut: boolean;
}

/** What happened in one run of a scenario, up to its failure. */
export interface NotedRun {
  /** By the number of the step. */
  readonly flows: ReadonlyMap<number, NotedFlow>;
  /** How many fills there were behind each step, by its number. */
  readonly fillsAfter: ReadonlyMap<number, number>;
  /** All trades and books at the failure, as a golden file holds them. */
  readonly golden: string;
}

/** A longer flow stays a flow. */
const MAX_ROWS = 5_000;

/** Runs a scenario once more as it fails, and notes what its flows and steps do. */
export async function noteRun(
  { scenario, failure }: Failed,
  trial: Trial,
  checks: Checks,
): Promise<NotedRun> {
  const flows = new Map<number, NotedFlow>();
  const fillsAfter = new Map<number, number>();
  const queue = scenario.steps.filter(isFlow);
  let golden = "";
  await trial.failureOf(scenario, {
    checks,
    open: async (of) => {
      const venue: Venue = await trial.environment.open(of);
      venue.play = async (rows, market) => {
        const step = queue.shift();
        const flow: NotedFlow = { start: await venue.now(), rows: [], isCut: false };
        if (step !== undefined) flows.set(step.number, flow);
        const last = step?.number === failure.step ? rowOf(failure) : Number.POSITIVE_INFINITY;
        return playNoting(venue, rows, market, last, (played) => {
          flow.isCut ||= flow.rows.length === MAX_ROWS;
          if (!flow.isCut) flow.rows.push(played);
        });
      };
      return venue;
    },
    taken: ({ number }, venue) => void fillsAfter.set(number, venue.fillCount()),
    failed: async (venue) => {
      golden = await goldenText(scenario, venue);
    },
  });
  return { flows, fillsAfter, golden };
}

const ROW = /^(?:at|after|the first:) row (\d+)/;

/** The row of a flow at which a scenario failed; infinite where it failed elsewhere. */
function rowOf({ diff }: Failure): number {
  const row = diff.map(({ text }) => ROW.exec(text)?.[1]).find((found) => found !== undefined);
  return row === undefined ? Number.POSITIVE_INFINITY : Number(row);
}

/** How rows are written as steps. */
interface FlowStyle {
  /** The market of rows that name none; null where the scenario has but one. */
  readonly market: string | null;
  /** Whether steps say when each row came; else all come at the moment of the first. */
  readonly withTimes: boolean;
}

/** What the rows of a flow did as steps; what did nothing is left out. `taken` are names that its orders must not have. */
function flowSteps(
  rows: readonly PlayedRow[],
  start: Millis,
  taken: Set<string>,
  { market, withTimes }: FlowStyle,
): string[] {
  const steps: string[] = [];
  const done = rows.filter(({ isDone }) => isDone);
  const canceled = canceledBy(done);
  const isCanceled = new Set(canceled.values());
  const names = new Map<PlayedRow, string>();
  let now = start;
  for (const played of done) {
    const { row, at } = played;
    if (withTimes && at > now) steps.push(`at: ${moment(at)}`);
    now = at;
    if (row.op === "cancel") {
      const placed = canceled.get(played);
      steps.push(
        `${row.account}: cancel ${(placed === undefined ? undefined : names.get(placed)) ?? row.ref}`,
      );
      continue;
    }
    const own = row.op === "cancel-all" ? row : { ...row, market: row.market ?? market };
    if (row.op === "place" && isCanceled.has(played)) names.set(played, freeName(row.ref, taken));
    const name = names.get(played);
    steps.push(
      (own.op === "place" ? placeText(own) : rowText(own)) + (name === undefined ? "" : ` as ${name}`),
    );
  }
  return steps;
}

/** The rows that place what others cancel, by the latter: a name stands for the order that had it last. */
function canceledBy(rows: readonly PlayedRow[]): Map<PlayedRow, PlayedRow | undefined> {
  const placed = new Map<string, PlayedRow>();
  const canceled = new Map<PlayedRow, PlayedRow | undefined>();
  for (const played of rows) {
    if (played.row.op === "place" && played.row.ref !== "") placed.set(played.row.ref, played);
    if (played.row.op === "cancel") canceled.set(played, placed.get(played.row.ref));
  }
  return canceled;
}

/** A name like the one that the flow has for an order, which nothing else has. */
function freeName(ref: string, taken: Set<string>): string {
  const wanted = isName(ref) && ref.length <= 50 && ref !== "all" ? ref : "order";
  let name = wanted;
  for (let count = 2; taken.has(name); count += 1) name = `${wanted}-${count}`;
  taken.add(name);
  return name;
}

function placeText(row: Extract<FlowRow, { readonly op: "place" }>): string {
  const { expiresIn, market } = row;
  const typed = rowText({ ...row, market: null }).replace(/ GTC$/, "");
  const life =
    expiresIn === null ? "" : ` +${expiresIn % 1000 === 0 ? `${expiresIn / 1000}s` : `${expiresIn}ms`}`;
  return `${typed}${life}${market === null ? "" : ` in ${market}`}`;
}

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

interface InliningOptions {
  /** Whether steps say when each row came; else all rows come at the moment of the first. */
  readonly withTimes: boolean;
  /** The last row that is wanted of the flow of a step, by its number; null for all. */
  readonly lastRow: (step: number) => number | null;
}

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
  const names = new Set(namesIn(scenario, noted));
  const remarks: string[] = [];
  const accounts = new Set<string>();
  const replacements: Replacement[] = [];
  const counts = new Map<number, number>();
  let added = 0;
  for (const [index, step] of scenario.steps.entries()) {
    if (!isFlow(step)) continue;
    const flow = noted.flows.get(step.number) ?? { start: millis(0), rows: [], isCut: false };
    const last = lastRow(step.number) ?? Number.POSITIVE_INFINITY;
    const rows = flow.rows.slice(0, last);
    const steps = flowSteps(rows, flow.start, names, { market: step.market, withTimes });
    const inline = draft.instead(draft.steps[index] as Part, steps);
    const why = inline === null ? "it stands in brackets" : whyNot(flow, last);
    if (inline === null || why !== null) {
      remarks.push(`${step.text} stays a flow: ${why}`);
      continue;
    }
    for (const { row } of rows) accounts.add(row.account);
    added += rows.length - 1;
    counts.set(step.number, steps.length);
    replacements.push(inline);
  }
  for (const { name } of scenario.accounts) accounts.delete(name);
  if (replacements.length > 0) replacements.push(...accountsFor(draft, [...accounts]));
  return { text: draft.with(replacements), added, counts, remarks, keeps: [] };
}

function whyNot({ rows, isCut }: NotedFlow, last: number): string | null {
  if (isCut && last > rows.length) return `more than ${MAX_ROWS} rows are too many steps`;
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
  if (last.collection.flow === true) {
    return [{ start: end, end, by: names.map((name) => `, ${name}: {}`).join("") }];
  }
  const indent = " ".repeat(last.column);
  return [{ start, end: start, by: names.map((name) => `${name}: {}\n${indent}`).join("") }];
}
