import { isIP } from "node:net";
import { parseDuration, parseIso } from "./core/time.ts";
import { MAX_SIZE, type Millis, type Money, money, type Size, size } from "./core/units.ts";
import { type Setting, wholeNumber } from "./setting.ts";

/** Where time comes from: the wall clock, requests only, or the wall clock times `rate`. */
export type ClockConfig =
  | { readonly mode: "real" }
  | { readonly mode: "frozen" }
  | { readonly mode: "scaled"; readonly rate: number };

/** What an acknowledged command survives: the end of the process, or of the machine. */
export type Durability = "process" | "power";

/** A line of a journal, or the last one up to a moment. */
export interface JournalPoint {
  readonly to?: number;
  readonly until?: Millis;
}

const MAX_LINES = 999_999_999;

/** The number of a line of a journal. */
export const LINE = wholeNumber(1, MAX_LINES);

export const MOMENT: Setting<Millis> = {
  expected: "a moment with its zone such as 2026-01-01T00:00:00Z",
  read: parseIso,
};

export const LINE_OR_MOMENT: Setting<JournalPoint> = {
  expected: "the number of a line, or a moment with its zone such as 2026-01-01T00:00:00Z",
  read: (text) => {
    const to = LINE.read(text);
    if (to !== null) return { to };
    const until = parseIso(text);
    return until === null ? null : { until };
  },
};

/** The i-th of n parts, `index` from 1. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

export const SHARD: Setting<Shard> = {
  expected: "i/n with i from 1 to n, such as 2/4",
  read: (text) => {
    const found = /^(\d{1,6})\/(\d{1,6})$/.exec(text);
    const [index, count] = [Number(found?.[1]), Number(found?.[2])];
    return found !== null && index >= 1 && index <= count ? { index, count } : null;
  },
};

/** Whether only this machine can reach a host. */
export const isLoopback = (host: string): boolean =>
  host === "::1" || host.toLowerCase() === "localhost" || (isIP(host) === 4 && host.startsWith("127."));

export function readHost(text: string): string | null {
  const label = "[a-z\\d](?:[a-z\\d-]{0,61}[a-z\\d])?";
  const named = text.length <= 253 && new RegExp(`^${label}(?:\\.${label})*$`, "i").test(text);
  return isIP(text) !== 0 || named ? text : null;
}

export function readClock(text: string): ClockConfig | null {
  if (text === "real" || text === "frozen") return { mode: text };
  const rate = /^\d{1,7}(?:\.\d{1,6})?x$/.test(text) ? Number.parseFloat(text) : 0;
  return rate > 0 && rate <= 1_000_000 ? { mode: "scaled", rate } : null;
}

export function readTimeout(text: string): number | null {
  const length = parseDuration(text) ?? 0;
  return length >= 1 && length <= 86_400_000 ? length : null;
}

export function readFaucet(text: string): { collateral: Money; everyMarket: Size } | null {
  const found = /^(\d{1,8})(?:\.(\d{1,2}))?$/.exec(text);
  if (found === null) return null;
  const shares = Number(found[1]) * 100 + Number((found[2] ?? "").padEnd(2, "0"));
  return shares <= MAX_SIZE ? { collateral: money(shares * 10_000), everyMarket: size(shares) } : null;
}
