import { MAX_MILLIS, type Millis } from "./units.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Longest duration that is parsed, in whole days. */
export const MAX_DAYS = Math.floor(MAX_MILLIS / DAY);

/** Days from 0000-03-01 to 1970-01-01. Years begin in March, so that the leap day is the last day. */
const EPOCH_DAYS = 719_468;
const DAYS_IN_FOUR_CENTURIES = 146_097;

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/;
const DURATION = /^(?=\d)(?:(\d{1,12})d)?(?:(\d{1,12})h)?(?:(\d{1,12})m)?(?:(\d{1,12})s)?(?:(\d{1,15})ms)?$/;

/** What `parseIso` parses. */
export const ISO_TIME = "a time with its zone such as 2026-01-01T00:00:00Z, from 1970 to 9999";

/**
 * Parses an ISO-8601 moment; returns null if invalid. Date, time and zone (`Z` or `+hh:mm`) are required, seconds are
 * optional, their fraction has one to nine digits and is cut to milliseconds; years 1970 to 9999. `24:00`, leap seconds
 * and days that a month does not have are invalid.
 */
export function parseIso(text: string): Millis | null {
  const found = ISO.exec(text);
  if (found === null) return null;
  const part = (index: number): number => Number(found[index] ?? 0);
  const [year, month, day] = [part(1), part(2), part(3)];
  const [hour, minute, second] = [part(4), part(5), part(6)];
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  const fraction = Number((found[7] ?? "").slice(0, 3).padEnd(3, "0"));
  const offset = (part(9) * HOUR + part(10) * MINUTE) * (found[8] === "-" ? -1 : 1);
  const time = hour * HOUR + minute * MINUTE + second * SECOND + fraction;
  const at = daysSinceEpoch(year, month, day) * DAY + time - offset;
  return year >= 1970 && at >= 0 && at <= MAX_MILLIS ? (at as Millis) : null;
}

/** Whether a text is Unix seconds, up to the year 9999 and beyond: at most 12 digits, no sign, no leading zero. */
export const isUnixSeconds = (text: string): boolean => /^(0|[1-9][0-9]{0,11})$/.test(text);

/** Whether a text can only be Unix milliseconds, of the years 2001 to 2286. */
export const isUnixMillis = (text: string): boolean => /^[1-9][0-9]{12}$/.test(text);

/** Formats as ISO-8601 in UTC, always with milliseconds: `2026-01-01T00:00:00.000Z`. */
export function toIso(at: Millis): string {
  const days = Math.floor(at / DAY);
  const time = at - days * DAY;
  const hour = Math.floor(time / HOUR);
  const minute = Math.floor(time / MINUTE) % 60;
  const second = Math.floor(time / SECOND) % 60;
  return `${toIsoDate(days)}T${two(hour)}:${two(minute)}:${two(second)}.${three(time % SECOND)}Z`;
}

/**
 * Parses a duration such as `90s`, `2h`, `500ms` or `1h30m` to milliseconds; returns null if invalid. Whole numbers with
 * the units d, h, m, s and ms, each at most once, the larger first.
 */
export function parseDuration(text: string): number | null {
  const found = DURATION.exec(text);
  if (found === null) return null;
  const part = (index: number): number => Number(found[index] ?? 0);
  const length = part(1) * DAY + part(2) * HOUR + part(3) * MINUTE + part(4) * SECOND + part(5);
  return length <= MAX_MILLIS ? length : null;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** After Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil; years from 0. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const marchYear = month > 2 ? year : year - 1;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * DAYS_IN_FOUR_CENTURIES + dayOfEra - EPOCH_DAYS;
}

/** The inverse, civil_from_days of the same paper, as `yyyy-mm-dd`. */
function toIsoDate(days: number): string {
  const shifted = days + EPOCH_DAYS;
  const era = Math.floor(shifted / DAYS_IN_FOUR_CENTURIES);
  const dayOfEra = shifted - era * DAYS_IN_FOUR_CENTURIES;
  const leapDays =
    Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear = dayOfEra - (yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1;
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return `${year}-${two(month)}-${two(day)}`;
}

const two = (value: number): string => (value < 10 ? `0${value}` : `${value}`);
const three = (value: number): string => (value < 100 ? `0${two(value)}` : `${value}`);
