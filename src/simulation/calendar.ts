import { parseIso, toIso } from "../core/time.ts";
import { MAX_MILLIS, type Millis, millis } from "../core/units.ts";

/** A stretch of the calendar, in UTC. */
export type Period = "day" | "month" | "quarter" | "year";
export const PERIODS: readonly Period[] = ["day", "month", "quarter", "year"];

const DAY_MS = 86_400_000;
const SECOND_MS = 1000;
const MONTHS: Readonly<Record<Period, number>> = { day: 0, month: 1, quarter: 3, year: 12 };
const MONTH_NAMES = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
/** Where a text of a world says when its event ends. */
const END_DATE = "{endDate}";

/** When an event or a market ends, in days after the start. */
export interface End {
  readonly endsInDays: number;
  /**
   * The period, in UTC, in which that day lies and with whose last second it ends; without one it ends at midnight
   * UTC, when that day begins.
   */
  readonly endOf?: Period | undefined;
}

/** When something ends: the moment, and its day as a text says it, such as "November 30, 2026". */
export interface Ending {
  readonly endDate: Millis;
  readonly day: string;
}

/** When something ends that is opened at `start`. */
export function endingOf(start: Millis, { endsInDays, endOf }: End): Ending {
  const endDate = endDateOf(start, endsInDays, endOf);
  const [year, month, day] = dateOf(endDate);
  return { endDate, day: `${MONTH_NAMES[month - 1]} ${day}, ${year}` };
}

/** A text with the day in it on which its event ends. */
export const withEndDate = (text: string, { day }: Ending): string => text.replaceAll(END_DATE, day);

function endDateOf(start: Millis, days: number, period: Period | undefined): Millis {
  const day = (Math.floor(start / DAY_MS) + days) * DAY_MS;
  if (day > MAX_MILLIS) return millis(MAX_MILLIS);
  if (period === undefined) return millis(day);
  const next = period === "day" ? day + DAY_MS : startAfter(day, MONTHS[period]);
  return millis(Math.min(MAX_MILLIS, next - SECOND_MS));
}

/** The moment at which the next stretch of so many months begins; beyond the last moment when there is none. */
function startAfter(at: number, months: number): number {
  const [year, month] = dateOf(at);
  const next = Math.floor((month - 1) / months) * months + months;
  const text = `${year + Math.floor(next / 12)}-${String((next % 12) + 1).padStart(2, "0")}-01T00:00Z`;
  return parseIso(text) ?? Number.POSITIVE_INFINITY;
}

/** A text without its end date and the preposition before it, which a name that holds at any start leaves out. */
export const withoutEndDate = (text: string): string => text.replaceAll(/ \w+ \{endDate\}/g, "");

function dateOf(at: number): [year: number, month: number, day: number] {
  const [year, month, day] = toIso(millis(at)).slice(0, 10).split("-").map(Number);
  if (year === undefined || month === undefined || day === undefined) throw new Error(`${at} has no date`);
  return [year, month, day];
}
