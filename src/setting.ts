import { isIP } from "node:net";
import { parseDuration, parseIso } from "./core/time.ts";
import { MAX_SIZE, type Millis, type Money, money, type Size, size } from "./core/units.ts";

/** The configuration cannot be used; the message is a sentence for the person who wrote it. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** How the text of one setting becomes its value: null when it is not what is expected. */
export interface Setting<Value> {
  readonly expected: string;
  readonly read: (text: string) => Value | null;
  /** Never repeated in a message. */
  readonly secret?: boolean;
}

/** A setting that is one of a few words. */
export const choice = <Value extends string>(...values: readonly Value[]): Setting<Value> => ({
  expected: `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`,
  read: (text) => values.find((value) => value === text) ?? null,
});

const YES = ["true", "yes", "on", "1"];
const NO = ["false", "no", "off", "0"];

/** A setting that is so or not, in any letter case. */
export const truth: Setting<boolean> = {
  expected: "true, yes, on, 1, false, no, off or 0",
  read: (text) => {
    const word = text.toLowerCase();
    return YES.includes(word) ? true : NO.includes(word) ? false : null;
  },
};

/** A setting that is a whole number, both bounds included. */
export const wholeNumber = (least: number, most: number): Setting<number> => ({
  expected: `a whole number from ${least} to ${most}`,
  read: (text) => (/^\d{1,9}$/.test(text) && +text >= least && +text <= most ? +text : null),
});

/** What a person asked for: the texts of each flag in order, and the environment's variables. */
export interface Given {
  readonly flags: Readonly<Record<string, readonly string[] | undefined>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The environment variable that stands in for a flag; empty, it is not given. */
export const variableOf = (name: string): string => `CLOBSIM_${name.toUpperCase().replaceAll("-", "_")}`;

/**
 * The values of a setting that may be given several times: of its flag, else of its variable, between commas.
 * @throws ConfigError naming the flag or variable, what was expected and what was found.
 */
export function readAll<Value>(
  name: string,
  setting: Setting<Value>,
  { flags, environment }: Given,
): Value[] {
  const given = flags[name] ?? [];
  if (given.length > 0) return given.map((text) => readText(`--${name}`, text, setting));
  const variable = environment[variableOf(name)] ?? "";
  const texts = variable === "" ? [] : variable.split(",").map((text) => text.trim());
  return texts.map((text) => readText(variableOf(name), text, setting));
}

/** The value of a setting, or null when none is given. @throws ConfigError as `readAll`, or when several are given. */
export function readOne<Value>(
  name: string,
  setting: Setting<Value>,
  { flags, environment }: Given,
): Value | null {
  const [text, ...more] = flags[name] ?? [];
  if (more.length > 0) throw new ConfigError(`--${name} is expected once, found ${more.length + 1} times`);
  if (text !== undefined) return readText(`--${name}`, text, setting);
  const variable = environment[variableOf(name)] ?? "";
  return variable === "" ? null : readText(variableOf(name), variable, setting);
}

/** The value of a text. @throws ConfigError naming its source, what was expected and what was found. */
export function readText<Value>(source: string, text: string, setting: Setting<Value>): Value {
  const value = setting.read(text);
  if (value !== null) return value;
  const shown = JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text);
  const found = text === "" ? "nothing" : setting.secret === true ? "something else" : shown;
  throw new ConfigError(`${source} expects ${setting.expected}, found ${found}`);
}

/** `a, b or c`: of two words or more, as a sentence lists what it expects. */
export const anyOf = (words: readonly string[]): string =>
  `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;

/** Where a server answers: scheme, host and port alone. */
export const ORIGIN: Setting<URL> = { expected: "an origin such as http://127.0.0.1:7070", read: readOrigin };

function readOrigin(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/` ? url : null;
}

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
