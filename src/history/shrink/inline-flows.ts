import { toIso } from "../../core/time.ts";
import { type Millis, millis } from "../../core/units.ts";
import { isName } from "../../scenario/language/fields.ts";
import type { Scenario, StepOf } from "../../scenario/language/scenario.ts";
import { stepsOf } from "../../scenario/run/needs.ts";
import type { Failure } from "../../scenario/run/result.ts";
import { goldenText } from "../../scenario/run/summary.ts";
import { rowText } from "../../scenario/run/words.ts";
import { VenuePlayer } from "../../scenario/venue/play-flow.ts";
import type { Venue } from "../../scenario/venue/venue.ts";
import type { FlowOutcome } from "../../scenario/venue/views.ts";
import type { FlowRow, PlaceRow } from "../../simulation/flow.ts";
import { columnOf, type Draft, lineOf, listed, type Part, type Span } from "./draft.ts";
import type { Trial } from "./trial.ts";

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
  const player = new NotingPlayer(venue, market, start);
  for await (const batch of rows) {
    for (const row of batch) {
      if (player.rows === last) return player.outcome;
      const at = millis(start + row.at);
      try {
        await player.play(row);
      } finally {
        // A row that makes the exchange throw is noted before that is thrown.
        note({ ...player.played, row, at, fills: venue.fillCount() });
      }
    }
  }
  return player.outcome;
}

/** Knows what became of the row that was played last. */
class NotingPlayer extends VenuePlayer {
  played: Pick<PlayedRow, "outcome" | "order"> = { outcome: "done", order: 0 };
  /** The placed order, counted from 1, that a name of the flow stands for. */
  readonly #placed = new Map<string, number>();

  override async play(row: FlowRow): Promise<void> {
    const { canceled, rejected } = this.counts;
    const named = row.op === "cancel" ? this.#placed.get(row.ref) : undefined;
    this.played = { outcome: "done", order: named ?? 0 };
    await super.play(row);
    const isCancel = row.op === "cancel" || row.op === "cancel-all";
    if (this.counts.rejected > rejected) this.played = { ...this.played, outcome: "refused" };
    else if (isCancel && this.counts.canceled === canceled)
      this.played = { ...this.played, outcome: "nothing" };
    else if (row.op === "place") {
      this.played = { outcome: "done", order: this.counts.placed };
      if (row.ref !== "") this.#placed.set(row.ref, this.counts.placed);
    }
  }
}

/** A flow as it was played. */
interface NotedFlow {
  readonly start: Millis;
  /** Up to the row at which the scenario fails. */
  readonly rows: readonly PlayedRow[];
  /** Whether there were more rows than are noted. */
  readonly isCut: boolean;
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
export async function noteRun(scenario: Scenario, failure: Failure, trial: Trial): Promise<NotedRun> {
  const flows = new Map<number, NotedFlow>();
  const fillsAfter = new Map<number, number>();
  const queue = scenario.steps.filter(({ kind }) => kind === "replay" || kind === "generate");
  let golden = "";
  await trial.failureOf(scenario, {
    open: async (of) => {
      const venue: Venue = await trial.place.open(of);
      venue.play = async (rows, market) => {
        const step = queue.shift();
        const noted: PlayedRow[] = [];
        let count = 0;
        if (step !== undefined) {
          flows.set(step.number, {
            start: await venue.now(),
            rows: noted,
            get isCut() {
              return count > noted.length;
            },
          });
        }
        const last = step?.number === failure.step ? rowOf(failure) : Number.POSITIVE_INFINITY;
        return playNoting(venue, rows, market, last, (played) => {
          count += 1;
          // The row at which the scenario fails is written of, whatever came of it.
          const each: PlayedRow = count === last ? { ...played, outcome: "done" } : played;
          if (noted.length < MAX_ROWS) noted.push(each);
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
  for (const { text } of diff) {
    const row = ROW.exec(text)?.[1];
    if (row !== undefined) return Number(row);
  }
  return Number.POSITIVE_INFINITY;
}

/** A row of a flow as it was played. */
export interface PlayedRow {
  readonly row: FlowRow;
  /** When. */
  readonly at: Millis;
  readonly outcome: "done" | "refused" | "nothing";
  /** How many fills the scenario had seen behind it. */
  readonly fills: number;
  /** Of a row that placed an order or cancels one: counts the orders of the flow; 0 for none. */
  readonly order: number;
}

/** Words that no step of the scenario uses yet. */
class OrderNames {
  readonly #taken: Set<string>;

  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  /** A name like the one that the flow has for an order. */
  next(ref: string): string {
    const wanted = isName(ref) && ref.length <= 50 && ref !== "all" ? ref : "order";
    let name = wanted;
    for (let count = 2; this.#taken.has(name); count += 1) name = `${wanted}-${count}`;
    this.#taken.add(name);
    return name;
  }
}

/** How rows are written as steps. */
interface FlowStyle {
  /** The market of rows that name none; null where the scenario has but one. */
  readonly market: string | null;
  /** Whether steps say when each row came; else all come at the moment of the first. */
  readonly withTimes: boolean;
}

/** What the rows of a flow did as steps; what did nothing is left out. */
function flowSteps(
  rows: readonly PlayedRow[],
  start: Millis,
  names: OrderNames,
  { market, withTimes }: FlowStyle,
): string[] {
  const steps: string[] = [];
  const named = new Map<number, string>();
  const canceled = new Set(rows.flatMap(({ row, order }) => (row.op === "cancel" ? [order] : [])));
  let now = start;
  for (const { row, at, outcome, order } of rows) {
    if (outcome !== "done") continue;
    if (withTimes && at > now) steps.push(`at: ${toIso(at).replace(".000Z", "Z")}`);
    now = at;
    const placed = row.op === "fund" || row.op === "place" ? { ...row, market: row.market ?? market } : row;
    if (row.op === "place" && canceled.has(order)) named.set(order, names.next(row.ref));
    const name = named.get(order);
    if (row.op === "cancel") steps.push(`${row.account}: cancel ${name ?? row.ref}`);
    else if (row.op === "place") steps.push(placeText(placed as PlaceRow, name));
    else steps.push(rowText(placed));
  }
  return steps;
}

function placeText(row: PlaceRow, name: string | undefined): string {
  const { type, expiresIn, market } = row;
  const plain = rowText({ ...row, market: null });
  const typed = type === "GTC" ? plain.replace(/ GTC$/, "") : plain;
  const life =
    expiresIn === null ? "" : ` +${expiresIn % 1000 === 0 ? `${expiresIn / 1000}s` : `${expiresIn}ms`}`;
  return `${typed}${life}${market === null ? "" : ` in ${market}`}${name === undefined ? "" : ` as ${name}`}`;
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

/** A piece of a text with what is to stand there. */
interface Replacement extends Span {
  readonly by: string;
}

type FlowStep = StepOf<"replay"> | StepOf<"generate">;

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
    return `more than ${MAX_ROWS} rows are too many steps`;
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
