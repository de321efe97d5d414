import type { BalancePolicy, SettlementMode } from "./core/terms.ts";
import { parseIso } from "./core/time.ts";
import { type Millis, type Money, millis, money, type Size, size } from "./core/units.ts";
import {
  type ClockConfig,
  ConfigError,
  choice,
  type Durability,
  type Given,
  isLoopback,
  type JournalPoint,
  LINE_OR_MOMENT,
  readAll,
  readClock,
  readFaucet,
  readHost,
  readOne,
  readTimeout,
  type Setting,
  truth,
  variableOf,
  wholeNumber,
} from "./setting.ts";
import { MAX_MARKETS } from "./simulation/world.ts";

export type { Durability };

/** The version of the program, as in package.json. */
export const VERSION = "0.1.0";

const LOG_LEVELS = ["silent", "fatal", "error", "warn", "info", "debug", "trace"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Everything that one server is told at its start. */
export interface Config {
  readonly host: string;
  /** 0 asks the system for a free port. */
  readonly port: number;
  readonly seed: string;
  readonly clock: ClockConfig;
  /** Null: the second the wall clock shows or, when frozen, `FROZEN_START`. */
  readonly start: Millis | null;
  readonly worldFile: string | null;
  /** The journal, data directory or report whose history it goes on from; null begins anew. */
  readonly from: string | null;
  /** Where in that history it begins: at its end, unless told otherwise. */
  readonly at: JournalPoint;
  /** How many markets to generate; null leaves it to the generator. */
  readonly markets: number | null;
  /** How prices, sizes and money appear in JSON. */
  readonly numbers: "number" | "string";
  /** Whether a wallet may derive credentials again. */
  readonly credentials: "rotate" | "once";
  readonly logLevel: LogLevel;
  /** The directory that keeps the exchange; null keeps nothing on disk. */
  readonly data: string | null;
  readonly durability: Durability;
  /** Whether what the directory holds is removed first. */
  readonly reset: boolean;
  /** The directory that reports of defects are written to; null writes none. */
  readonly report: string | null;
  /** The names of the settings that somebody has given. */
  readonly given: ReadonlySet<string>;
  /** What a caller of `/sim` must show; null lets every local caller in. */
  readonly simToken: string | null;
  /** Names a Host header may carry besides loopback, in lower case. */
  readonly allowHosts: readonly string[];
  readonly requestTimeoutMs: number;
  /** What a wallet's first derivation gives it: USDC, and shares of both outcomes of every market. */
  readonly faucet: { readonly collateral: Money; readonly everyMarket: Size };
  /** Whether `personal_sign` is accepted beside EIP-712. */
  readonly personalSign: boolean;
  /** What becomes of a request to the imitated API with fields that nobody knows; the control plane refuses it. */
  readonly unknownFields: "accept" | "refuse";
  /** When blocks of the settlement chain are mined. */
  readonly settlement: SettlementMode;
  /** When what a fill brings can be spent. */
  readonly balances: BalancePolicy;
}

/** Where a frozen clock stands unless told otherwise: 2026-01-01T00:00:00Z. */
export const FROZEN_START = millis(1_767_225_600_000);

/** What holds when nothing is given. */
export const DEFAULT_CONFIG: Config = {
  host: "127.0.0.1",
  port: 7070,
  seed: "1",
  clock: { mode: "real" },
  start: null,
  worldFile: null,
  from: null,
  at: {},
  markets: null,
  numbers: "number",
  credentials: "rotate",
  logLevel: "info",
  data: null,
  durability: "process",
  reset: false,
  report: null,
  given: new Set(),
  simToken: null,
  allowHosts: [],
  requestTimeoutMs: 10_000,
  faucet: { collateral: money(10_000_000_000), everyMarket: size(1_000_000) },
  personalSign: true,
  unknownFields: "accept",
  settlement: "auto",
  balances: "optimistic",
};

/** The directory that `clobsim serve` keeps its exchange in, unless it is told otherwise. */
export const DEFAULT_DATA = ".clobsim";

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
  from: { expected: "the path of a report or of a data directory", read: (text: string) => text || null },
  at: LINE_OR_MOMENT,
  markets: wholeNumber(1, MAX_MARKETS),
  numbers: choice("number", "string"),
  credentials: choice("rotate", "once"),
  "log-level": choice(...LOG_LEVELS),
  data: { expected: "the path of a directory", read: (text: string) => text || null },
  ephemeral: truth,
  durability: choice<Durability | "memory">("process", "power", "memory"),
  reset: truth,
  report: { expected: "the path of a directory", read: (text: string) => text || null },
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
  "personal-sign": truth,
  "unknown-fields": choice("accept", "refuse"),
  settlement: choice<SettlementMode>("instant", "auto", "manual"),
  balances: choice<BalancePolicy>("optimistic", "settled"),
} satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof SETTINGS;
type ValueOf<Name extends SettingName> = NonNullable<ReturnType<(typeof SETTINGS)[Name]["read"]>>;

/**
 * What flags and environment ask for; `data` is the directory that holds when none is named.
 * @throws ConfigError as `readOne`, or when two settings contradict each other.
 */
export function readConfig(given: Given, data: string | null = DEFAULT_CONFIG.data): Config {
  const one = <Name extends SettingName>(name: Name): ValueOf<Name> | null =>
    readOne(name, SETTINGS[name] as Setting<ValueOf<Name>>, given);
  refuseBesideFrom(given);
  const from = one("from");
  const config: Config = {
    host: one("host") ?? DEFAULT_CONFIG.host,
    port: one("port") ?? DEFAULT_CONFIG.port,
    seed: one("seed") ?? DEFAULT_CONFIG.seed,
    clock: one("clock") ?? DEFAULT_CONFIG.clock,
    start: one("start"),
    worldFile: one("world"),
    from,
    at: one("at") ?? DEFAULT_CONFIG.at,
    markets: one("markets"),
    numbers: one("numbers") ?? DEFAULT_CONFIG.numbers,
    credentials: one("credentials") ?? DEFAULT_CONFIG.credentials,
    logLevel: one("log-level") ?? DEFAULT_CONFIG.logLevel,
    ...readKeeping(given, from === null ? data : null),
    report: one("report"),
    given: givenNames(given),
    simToken: one("sim-token"),
    allowHosts: readAll("allow-host", SETTINGS["allow-host"], given),
    requestTimeoutMs: one("request-timeout") ?? DEFAULT_CONFIG.requestTimeoutMs,
    faucet: one("faucet") ?? DEFAULT_CONFIG.faucet,
    personalSign: one("personal-sign") ?? DEFAULT_CONFIG.personalSign,
    unknownFields: one("unknown-fields") ?? DEFAULT_CONFIG.unknownFields,
    settlement: one("settlement") ?? DEFAULT_CONFIG.settlement,
    balances: one("balances") ?? DEFAULT_CONFIG.balances,
  };
  refuseContradictions(config);
  return config;
}

/** @throws ConfigError when nothing is to be kept, and it is said how or where. */
function readKeeping(given: Given, otherwise: string | null): Pick<Config, "data" | "durability" | "reset"> {
  const data = readOne("data", SETTINGS.data, given);
  const durability = readOne("durability", SETTINGS.durability, given);
  const reset = readOne("reset", SETTINGS.reset, given) ?? false;
  const isEphemeral = readOne("ephemeral", SETTINGS.ephemeral, given) ?? durability === "memory";
  const kept = data ?? otherwise;
  if (!isEphemeral && durability !== "memory" && kept !== null) {
    return { data: kept, durability: durability ?? DEFAULT_CONFIG.durability, reset };
  }
  const nothing =
    durability === "memory"
      ? "--durability memory keeps nothing"
      : isEphemeral
        ? "--ephemeral keeps nothing"
        : "without --data nothing is kept";
  const said = data !== null ? "--data" : reset ? "--reset" : null;
  if (said !== null) throw new ConfigError(`${nothing}, and ${said} is given too: leave out one of them`);
  if (durability !== null && durability !== "memory") {
    throw new ConfigError(`${nothing}, and --durability ${durability} is given too: leave out one of them`);
  }
  return { data: null, durability: DEFAULT_CONFIG.durability, reset };
}

const givenNames = ({ flags, environment }: Given): ReadonlySet<string> => {
  const isGiven = (name: string) => flags[name]?.length || environment[variableOf(name)];
  return new Set(Object.keys(SETTINGS).filter(isGiven));
};

/** @throws ConfigError when something is asked for that a history has of its own, or a place in one that is not named. */
function refuseBesideFrom(given: Given): void {
  const names = givenNames(given);
  const isReset = readOne("reset", SETTINGS.reset, given) === true;
  const beside =
    ["world", "markets", "seed", "start"].find((name) => names.has(name)) ?? (isReset ? "reset" : undefined);
  if (names.has("from") && beside !== undefined) {
    throw new ConfigError(`--from and --${beside} contradict each other: the history has its own`);
  }
  if (names.has("at") && !names.has("from")) throw new ConfigError("--at goes with --from, found it alone");
}

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
