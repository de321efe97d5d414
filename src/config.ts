import { isIP } from "node:net";
import { parseDuration, parseIso } from "./core/time.ts";
import { MAX_SIZE, type Millis, type Money, millis, money, type Size, size } from "./core/units.ts";
import { MOST_MARKETS } from "./world/world-limits.ts";

/** The version of the program, as in package.json. */
export const VERSION = "0.1.0";

/** Where time comes from: the wall clock, requests only, or the wall clock times `rate`. */
export type ClockConfig =
  | { readonly mode: "real" }
  | { readonly mode: "frozen" }
  | { readonly mode: "scaled"; readonly rate: number };

const LOG_LEVELS = ["silent", "fatal", "error", "warn", "info", "debug", "trace"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Everything that one server is told at its start. */
export interface Config {
  readonly host: string;
  /** 0 asks the system for a free port. */
  readonly port: number;
  readonly seed: string;
  /** False lets a world file's own seed count. */
  readonly seedGiven: boolean;
  readonly clock: ClockConfig;
  /** Null: the second the wall clock shows or, when frozen, `FROZEN_START`. */
  readonly start: Millis | null;
  readonly worldFile: string | null;
  /** How many markets to generate; null leaves it to the generator. */
  readonly markets: number | null;
  /** How prices, sizes and money appear in JSON. */
  readonly numbers: "number" | "string";
  /** Whether a wallet may derive credentials again. */
  readonly credentials: "rotate" | "once";
  readonly logLevel: LogLevel;
  /** True: nothing is kept on disk. */
  readonly ephemeral: boolean;
  /** What a caller of `/sim` must show; null lets every local caller in. */
  readonly simToken: string | null;
  /** Names a Host header may carry besides loopback, in lower case. */
  readonly allowHosts: readonly string[];
  readonly requestTimeoutMs: number;
  /** What a wallet's first derivation gives it: USDC, and shares of both outcomes of every market. */
  readonly faucet: { readonly collateral: Money; readonly everyMarket: Size };
  /** Whether `personal_sign` is accepted beside EIP-712. */
  readonly personalSign: boolean;
}

/** The configuration cannot be used; the message is a sentence for the person who wrote it. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** Where a frozen clock stands unless told otherwise: 2026-01-01T00:00:00Z. */
export const FROZEN_START = millis(1_767_225_600_000);

/** What holds when nothing is given. */
export const DEFAULT_CONFIG: Config = {
  host: "127.0.0.1",
  port: 7070,
  seed: "1",
  seedGiven: false,
  clock: { mode: "real" },
  start: null,
  worldFile: null,
  markets: null,
  numbers: "number",
  credentials: "rotate",
  logLevel: "info",
  ephemeral: true,
  simToken: null,
  allowHosts: [],
  requestTimeoutMs: 10_000,
  faucet: { collateral: money(10_000_000_000), everyMarket: size(1_000_000) },
  personalSign: true,
};

/** How the text of one setting becomes its value: null when it is not what is expected. */
export interface Setting<Value> {
  readonly expected: string;
  readonly read: (text: string) => Value | null;
  /** Never repeated in a message. */
  readonly secret?: boolean;
}

const choice = <Value extends string>(...values: readonly Value[]): Setting<Value> => ({
  expected: `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`,
  read: (text) => values.find((value) => value === text) ?? null,
});

/** A setting that is a whole number, both bounds included. */
export const wholeNumber = (least: number, most: number): Setting<number> => ({
  expected: `a whole number from ${least} to ${most}`,
  read: (text) => (/^\d{1,9}$/.test(text) && +text >= least && +text <= most ? +text : null),
});

/** Every setting by the name of its flag; its variable is the same name as `CLOBSIM_...`. */
export const SETTINGS = {
  host: { expected: "a host name or an IP address, without a port", read: readHost },
  port: wholeNumber(0, 65_535),
  seed: {
    expected: "a text of 1 to 128 characters on one line",
    read: (text: string) => (/^[^\p{Cc}\p{Cs}]{1,128}$/u.test(text) ? text : null),
  },
  clock: { expected: "real, frozen or a rate such as 5x or 0.5x, at most 1000000x", read: readClock },
  start: { expected: "a moment with its zone such as 2026-01-01T00:00:00Z, up to 9999", read: parseIso },
  world: { expected: "the path of a world file", read: (text: string) => text || null },
  markets: wholeNumber(1, MOST_MARKETS),
  numbers: choice("number", "string"),
  credentials: choice("rotate", "once"),
  "log-level": choice(...LOG_LEVELS),
  ephemeral: {
    expected: "true, for this version keeps nothing on disk",
    read: (text: string) => (text === "true" ? true : null),
  },
  "sim-token": {
    expected: "1 to 256 visible ASCII characters",
    read: (text: string) => (/^[!-~]{1,256}$/.test(text) ? text : null),
    secret: true,
  },
  "allow-host": {
    expected: "a host name or an IP address, without scheme and port",
    read: (text: string) => readHost(text)?.toLowerCase() ?? null,
  },
  "request-timeout": { expected: "a duration such as 10s, 500ms or 2m, from 1ms to 1d", read: readTimeout },
  faucet: { expected: "a number from 0 to 10000000 with at most two decimals", read: readFaucet },
  "personal-sign": {
    expected: "true or false",
    read: (text: string) => (text === "true" ? true : text === "false" ? false : null),
  },
} satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof SETTINGS;
type ValueOf<Name extends SettingName> = NonNullable<ReturnType<(typeof SETTINGS)[Name]["read"]>>;

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

function readText<Value>(source: string, text: string, setting: Setting<Value>): Value {
  const value = setting.read(text);
  if (value !== null) return value;
  const shown = JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text);
  const found = text === "" ? "nothing" : setting.secret === true ? "something else" : shown;
  throw new ConfigError(`${source} expects ${setting.expected}, found ${found}`);
}

/** What flags and environment ask for. @throws ConfigError as `readOne`, or when two settings contradict each other. */
export function readConfig(given: Given): Config {
  const one = <Name extends SettingName>(name: Name): ValueOf<Name> | null =>
    readOne(name, SETTINGS[name] as Setting<ValueOf<Name>>, given);
  const seed = one("seed");
  const config: Config = {
    host: one("host") ?? DEFAULT_CONFIG.host,
    port: one("port") ?? DEFAULT_CONFIG.port,
    seed: seed ?? DEFAULT_CONFIG.seed,
    seedGiven: seed !== null,
    clock: one("clock") ?? DEFAULT_CONFIG.clock,
    start: one("start"),
    worldFile: one("world"),
    markets: one("markets"),
    numbers: one("numbers") ?? DEFAULT_CONFIG.numbers,
    credentials: one("credentials") ?? DEFAULT_CONFIG.credentials,
    logLevel: one("log-level") ?? DEFAULT_CONFIG.logLevel,
    ephemeral: one("ephemeral") ?? DEFAULT_CONFIG.ephemeral,
    simToken: one("sim-token"),
    allowHosts: readAll("allow-host", SETTINGS["allow-host"], given),
    requestTimeoutMs: one("request-timeout") ?? DEFAULT_CONFIG.requestTimeoutMs,
    faucet: one("faucet") ?? DEFAULT_CONFIG.faucet,
    personalSign: one("personal-sign") ?? DEFAULT_CONFIG.personalSign,
  };
  refuseContradictions(config);
  return config;
}

/** Whether only this machine can reach a host. */
export const isLoopback = (host: string): boolean =>
  host === "::1" || host.toLowerCase() === "localhost" || (isIP(host) === 4 && host.startsWith("127."));

function refuseContradictions({ host, simToken, worldFile, markets }: Config): void {
  if (!isLoopback(host) && simToken === null) {
    throw new ConfigError(
      `--host ${host} lets other machines in, so --sim-token is expected too: without it anybody there could steer /sim`,
    );
  }
  if (worldFile !== null && markets !== null) {
    throw new ConfigError(`--world and --markets contradict each other: a world file holds its own markets`);
  }
}

function readHost(text: string): string | null {
  const label = "[a-z\\d](?:[a-z\\d-]{0,61}[a-z\\d])?";
  const named = text.length <= 253 && new RegExp(`^${label}(?:\\.${label})*$`, "i").test(text);
  return isIP(text) !== 0 || named ? text : null;
}

function readClock(text: string): ClockConfig | null {
  if (text === "real" || text === "frozen") return { mode: text };
  const rate = /^\d{1,7}(?:\.\d{1,6})?x$/.test(text) ? Number.parseFloat(text) : 0;
  return rate > 0 && rate <= 1_000_000 ? { mode: "scaled", rate } : null;
}

function readTimeout(text: string): number | null {
  const length = parseDuration(text) ?? 0;
  return length >= 1 && length <= 86_400_000 ? length : null;
}

function readFaucet(text: string): Config["faucet"] | null {
  const found = /^(\d{1,8})(?:\.(\d{1,2}))?$/.exec(text);
  if (found === null) return null;
  const shares = Number(found[1]) * 100 + Number((found[2] ?? "").padEnd(2, "0"));
  return shares <= MAX_SIZE ? { collateral: money(shares * 10_000), everyMarket: size(shares) } : null;
}
