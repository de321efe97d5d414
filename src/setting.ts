import { isIP } from "node:net";
import { isOneLine, MAX_SEED_LENGTH, quoted, SIZE_PLACES, unitsOf } from "./core/format.ts";
import { anyOf } from "./core/terms.ts";
import { ISO_TIME, parseDuration, parseIso } from "./core/time.ts";
import { MAX_SIZE, type Millis, money, size } from "./core/units.ts";
import { didYouMean } from "./nearest.ts";

/** The configuration is invalid; the message is for the user. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** JavaScript types of library options, besides a text. */
export interface OptionKinds {
  readonly number: number;
  readonly truth: boolean;
  readonly textOrNumber: string | number;
  readonly texts: string | readonly string[];
}

/** A parser of texts. */
export interface Parser<Value> {
  readonly expected: string;
  /** Returns null if the text is not as expected. */
  readonly read: (text: string) => Value | null;
  /** All accepted words, if there are only a few. */
  readonly words?: readonly string[];
  /** Words for shell completion and suggestions, if other texts are accepted too. */
  readonly offers?: readonly string[];
  /** Explains why a text is invalid; empty if no more is known. */
  readonly why?: (text: string) => string;
  /** Whether the text must not appear in messages. */
  readonly secret?: boolean;
  /** Type of the library option; a text by default. */
  readonly option?: keyof OptionKinds;
}

/** A setting: a flag of a command, or its variable `CLOBSIM_...`. */
export interface Setting<Value> extends Parser<Value> {
  /** Heading in the help. */
  readonly group: string;
  readonly help: string;
  /** Default as text; without one, the value is null if nothing is given. */
  readonly default?: string;
  /** Default shown in the help, if different from the text. */
  readonly defaultHelp?: string;
  /** A flag without a value: `on` is set by its name, `off` is unset by its name after `no-`. */
  readonly toggle?: "on" | "off";
  /** Whether it may be given several times; its value is then a list. */
  readonly isRepeatable?: true;
}

/** Settings by name in camelCase. */
export type Settings = Readonly<Record<string, Setting<unknown>>>;

type ReadValue<S extends Setting<unknown>> = NonNullable<ReturnType<S["read"]>>;
export type ValueOf<S extends Setting<unknown>> = S extends { readonly isRepeatable: true }
  ? readonly ReadValue<S>[]
  : S extends { readonly default: string }
    ? ReadValue<S>
    : ReadValue<S> | null;
export type ValuesOf<All extends Settings> = { readonly [Key in keyof All]: ValueOf<All[Key]> };

/** Returns a function that builds the settings under a heading of the help. */
export const inGroup =
  (group: string) =>
  <R extends Parser<unknown>, const More extends Partial<Setting<unknown>> = object>(
    parser: R,
    help: string,
    more = {} as More,
  ) => ({ ...parser, group, help, ...more });

export const parser = <Value>(expected: string, read: (text: string) => Value | null): Parser<Value> => ({
  expected,
  read,
});

/** Accepts one of a few words. */
export const choice = <Value extends string>(...values: readonly Value[]): Parser<Value> => ({
  expected: anyOf(values),
  words: values,
  read: (text) => values.find((value) => value === text) ?? null,
});

/** Accepts a key of a table; the value is its entry. */
export const entryOf = <Entry>(table: Readonly<Record<string, Entry>>): Parser<Entry> => ({
  ...choice(...Object.keys(table)),
  read: (text) => (Object.hasOwn(table, text) ? (table[text] ?? null) : null),
});

/** Accepts any text but an empty one. */
export const text = (expected: string): Parser<string> => ({ expected, read: (given) => given || null });

/** Accepts a text that matches a pattern. */
export const matching = (expected: string, form: RegExp): Parser<string> =>
  parser(expected, (given) => (form.test(given) ? given : null));

/** Accepts one line up to a maximum length that is not blank. */
export const oneLine = (maxLength: number): Parser<string> =>
  parser(`one line of 1 to ${maxLength} characters`, (given) =>
    isOneLine(given, maxLength) && given.trim() !== "" ? given : null,
  );

/** The seed of everything that is generated. */
export const SEED = {
  expected: `a text of 1 to ${MAX_SEED_LENGTH} characters on one line`,
  read: (given: string) => (isOneLine(given, MAX_SEED_LENGTH) ? given : null),
  option: "textOrNumber",
} as const;

const YES = ["true", "yes", "on", "1"];
const NO = ["false", "no", "off", "0"];

/** Accepts words for true and false, in any letter case. */
export const truth = {
  expected: "true, yes, on, 1, false, no, off or 0",
  read: (text: string) => {
    const word = text.toLowerCase();
    return YES.includes(word) ? true : NO.includes(word) ? false : null;
  },
  option: "truth",
} as const;

/** A flag that is off unless given. */
export const toggle = { ...truth, toggle: "on", default: "false" } as const;

/** Accepts an integer between two bounds, inclusive. */
export const wholeNumber = (min: number, max: number) => ({
  expected: `a whole number from ${min} to ${max}`,
  read: (text: string) => (/^\d{1,9}$/.test(text) && +text >= min && +text <= max ? +text : null),
  option: "number" as const,
});

/** Given settings: the texts of each flag in order, and the environment variables. */
export interface Given {
  readonly flags: Readonly<Record<string, readonly string[] | undefined>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Returns the flag of a setting, without dashes and `no-`. */
export const flagOf = (key: string): string => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Returns the word of a flag after `--`. */
export const wordOf = (key: string, { toggle }: Setting<unknown>): string =>
  toggle === "off" ? `no-${flagOf(key)}` : flagOf(key);

/** Returns the environment variable of a flag. An empty variable counts as not given. */
export const variableOf = (flag: string): string => `CLOBSIM_${flag.toUpperCase().replaceAll("-", "_")}`;

/** Names the flags in a message by other names, except in command lines. `nameOf` returns undefined for a flag that stays. */
export const withFlagsNamed = (message: string, nameOf: (word: string) => string | undefined): string =>
  message.replace(
    /clobsim [a-z]+ --[^:;,()]+|--([a-z-]+)/g,
    (found, word: string | undefined) => nameOf(word ?? "") ?? found,
  );

/** Returns the default shown in the help; undefined for none and for a flag without a value. */
export const defaultText = (setting: Setting<unknown>): string | undefined =>
  setting.defaultHelp ?? (setting.toggle === undefined ? setting.default : undefined);

/** Whether a flag or its variable is given. */
export const isGiven = (flag: string, { flags, environment }: Given): boolean =>
  (flags[flag]?.length ?? 0) > 0 || (environment[variableOf(flag)] ?? "") !== "";

/**
 * Returns the values of settings: of the flag, else of the variable, else the default. Each is read when it is accessed, and
 * throws a ConfigError that names the flag or variable, the expected and the found value.
 */
export function valuesOf<All extends Settings>(settings: All, given: Given): ValuesOf<All> {
  const values = {};
  for (const [key, setting] of Object.entries(settings)) {
    Object.defineProperty(values, key, {
      enumerable: true,
      get: () => readSetting(flagOf(key), setting, given),
    });
  }
  return values as ValuesOf<All>;
}

function readSetting(flag: string, setting: Setting<unknown>, { flags, environment }: Given): unknown {
  const texts = flags[flag] ?? [];
  const variable = environment[variableOf(flag)] ?? "";
  if (setting.isRepeatable === true) {
    if (texts.length > 0) return texts.map((text) => readValue(`--${flag}`, text, setting));
    const parts = variable === "" ? [] : variable.split(",");
    return parts.map((text) => readValue(variableOf(flag), text.trim(), setting));
  }
  const [first] = texts;
  if (texts.length > 1) throw new ConfigError(`--${flag} is expected once, found ${texts.length} times`);
  if (first !== undefined) return readValue(`--${flag}`, first, setting);
  if (variable !== "") return readValue(variableOf(flag), variable, setting);
  return setting.default === undefined ? null : readValue("default", setting.default, setting);
}

/** Reads a text. @throws ConfigError that names its source, the expected and the found value */
export function readValue<Value>(source: string, text: string, parser: Parser<Value>): Value {
  const value = parser.read(text);
  if (value !== null) return value;
  const found = text === "" ? "nothing" : parser.secret === true ? "something else" : quoted(text, 60);
  const why = parser.why?.(text) ?? "";
  // Words with digits are examples of many values, so they are not suggested.
  const words = (parser.words ?? parser.offers ?? []).filter((word) => !/\d/.test(word));
  const help = why === "" ? didYouMean(text.replace(/=.*/s, ""), words) : `: ${why}`;
  throw new ConfigError(`${source} expects ${parser.expected}, found ${found}${help}`);
}

/** Returns a regular expression that ignores case, or why it is invalid. */
function compiled(given: string): RegExp | string {
  try {
    return new RegExp(given, "iu");
  } catch (error) {
    // V8's message is `Invalid regular expression: /(/iu: Unterminated group`.
    return (error as Error).message.split(": ").at(-1) ?? "";
  }
}

/** Accepts a regular expression, which ignores case. */
export const pattern = (expected: string): Parser<RegExp> => ({
  expected,
  read: (given) => {
    const found = compiled(given);
    return given === "" || typeof found === "string" ? null : found;
  },
  why: (given) => (given === "" ? "" : String(compiled(given))),
});

/** A maximum duration with its text. */
export const BUDGET = parser("a duration such as 60s or 5m", (text) => {
  const ms = parseDuration(text);
  return ms === null || ms === 0 ? null : { ms, text };
});

/** URL of an exchange: scheme, host, port and, in a pool, its number; without a trailing slash. */
export const SERVER_URL = parser(
  "a URL such as http://127.0.0.1:7070, or http://127.0.0.1:7070/3 of a pool",
  (text) => {
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url === null || !/^https?:$/.test(url.protocol)) return null;
    const [prefix] = /^(?:\/[1-9]\d*)?(?=\/?$)/.exec(url.pathname) ?? [];
    return prefix !== undefined && url.href === url.origin + url.pathname ? url.origin + prefix : null;
  },
);

/** Source of time: the wall clock, requests only, or the wall clock times `rate`. */
type ClockConfig =
  | { readonly mode: "real" }
  | { readonly mode: "frozen" }
  | { readonly mode: "scaled"; readonly rate: number };

/**
 * Durability of an answered command. `process`: it survives the end of the process, because it was written; `power`: it
 * survives a power failure, because it was synced.
 */
export type Durability = "process" | "power";

/** A line of a journal, or the last line up to a time. */
export interface JournalPoint {
  readonly to?: number;
  readonly until?: Millis;
}

/** Accepts the number of a journal line. */
export const LINE = wholeNumber(1, 999_999_999);

export const MOMENT = parser(ISO_TIME, parseIso);

export const LINE_OR_MOMENT = {
  expected: `the number of a line, or ${ISO_TIME}`,
  option: "textOrNumber",
  read: (text: string): JournalPoint | null => {
    const to = LINE.read(text);
    if (to !== null) return { to };
    const until = parseIso(text);
    return until === null ? null : { until };
  },
} as const;

/** The i-th of n parts, `index` from 1. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

export const SHARD = parser<Shard>("i/n with i from 1 to n, such as 2/4", (text) => {
  const [, index = 0, count = 0] = (/^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? []).map(Number);
  return index >= 1 && index <= count ? { index, count } : null;
});

const readHost = (text: string): string | null => {
  const label = "[a-z\\d](?:[a-z\\d-]{0,61}[a-z\\d])?";
  const isName = text.length <= 253 && new RegExp(`^${label}(?:\\.${label})*$`, "i").test(text);
  return isIP(text) !== 0 || isName ? text : null;
};

export const HOST = parser("a host name or an IP address, without a port", readHost);

/** Accepts a host in any letter case; its value is in lower case. */
export const HOST_HEADER = parser(
  "a host name or an IP address, without scheme and port",
  (text) => readHost(text)?.toLowerCase() ?? null,
);

export const CLOCK = {
  expected: "real, frozen or a rate such as 5x or 0.5x, at most 1000000x",
  offers: ["frozen", "real", "60x"],
  read: (text: string): ClockConfig | null => {
    if (text === "real" || text === "frozen") return { mode: text };
    const rate = /^\d{1,7}(?:\.\d{1,6})?x$/.test(text) ? Number.parseFloat(text) : 0;
    return rate > 0 && rate <= 1_000_000 ? { mode: "scaled", rate } : null;
  },
};

/** Accepts a duration; its value is in milliseconds. */
export const TIMEOUT = parser("a duration such as 10s, 500ms or 2m, from 1ms to 1d", (text) => {
  const length = parseDuration(text) ?? 0;
  return length >= 1 && length <= 86_400_000 ? length : null;
});

/** Accepts the grant of a new wallet, of USDC and of shares. */
export const FAUCET = parser("a number from 0 to 10000000 with at most two decimals", (text) => {
  const shares = /^\d{1,8}(?:\.\d{1,2})?$/.test(text) ? unitsOf(text, SIZE_PLACES) : null;
  return shares !== null && shares <= MAX_SIZE
    ? { collateral: money(shares * 10_000), everyMarket: size(shares) }
    : null;
});
