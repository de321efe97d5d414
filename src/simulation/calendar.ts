import { MAX_MILLIS, type Millis, millis } from "../core/units.ts";

/** In UTC. */
export type Period = "day" | "month" | "quarter" | "year";
export const PERIODS: readonly Period[] = ["day", "month", "quarter", "year"];

const DAY_MS = 86_400_000;
const SECOND_MS = 1000;
const MONTHS: Readonly<Record<Period, number>> = { day: 0, month: 1, quarter: 3, year: 12 };
const MONTH_NAMES =
  "January February March April May June July August September October November December".split(" ");
const END_DATE = "{endDate}";

/** End of an event or market, in days after the start. */
export interface End {
  readonly endsInDays: number;
  /** It ends with the last second of the period that contains the day; if undefined, at the day's midnight UTC. */
  readonly endOf?: Period | undefined;
}

/** End of an event or market; `day` is a text such as "November 30, 2026". */
export interface Ending {
  readonly endDate: Millis;
  readonly day: string;
}

export function endingOf(start: Millis, { endsInDays, endOf }: End): Ending {
  const endDate = endDateOf(start, endsInDays, endOf);
  const date = new Date(endDate);
  const day = `${MONTH_NAMES[date.getUTCMonth()]} ${date.getUTCDate()}, ${date.getUTCFullYear()}`;
  return { endDate, day };
}

export const withEndDate = (text: string, { day }: Ending): string => text.replaceAll(END_DATE, day);

function endDateOf(start: Millis, days: number, period: Period | undefined): Millis {
  const day = (Math.floor(start / DAY_MS) + days) * DAY_MS;
  if (day > MAX_MILLIS) return millis(MAX_MILLIS);
  if (period === undefined) return millis(day);
  const date = new Date(day);
  const months = MONTHS[period];
  const next =
    period === "day"
      ? day + DAY_MS
      : Date.UTC(date.getUTCFullYear(), Math.floor(date.getUTCMonth() / months) * months + months);
  return millis(Math.min(MAX_MILLIS, next - SECOND_MS));
}

/** Removes the end date and its preposition from a text, for slugs that do not depend on the start. */
export const withoutEndDate = (text: string): string => text.replaceAll(/ \w+ \{endDate\}/g, "");
