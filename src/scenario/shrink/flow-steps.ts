import { toIso } from "../../core/time.ts";
import type { Millis } from "../../core/units.ts";
import type { FlowRow, PlaceRow } from "../../simulation/flow.ts";
import { isName } from "../language/fields.ts";
import { rowText } from "../run/words.ts";

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
export class OrderNames {
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
export interface FlowStyle {
  /** The market of rows that name none; null where the scenario has but one. */
  readonly market: string | null;
  /** Whether steps say when each row came; else all come at the moment of the first. */
  readonly withTimes: boolean;
}

/** What the rows of a flow did as steps; what did nothing is left out. */
export function flowSteps(
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
