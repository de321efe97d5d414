import type { BalancePolicy, SettlementMode } from "./core/terms.ts";
import { parseIso } from "./core/time.ts";
import { millis } from "./core/units.ts";
import {
  ConfigError,
  choice,
  type Durability,
  flagOf,
  type Given,
  isGiven,
  isLoopback,
  LINE_OR_MOMENT,
  readClock,
  readFaucet,
  readHost,
  readTimeout,
  SEED,
  type Setting,
  text,
  toggle,
  truth,
  type ValuesOf,
  valuesOf,
  wholeNumber,
} from "./setting.ts";
import { MAX_MARKETS } from "./simulation/world-orders.ts";

/** The version of the program, as in package.json. */
export const VERSION = "0.1.0";

/** Where a frozen clock stands unless told otherwise: 2026-01-01T00:00:00Z. */
export const FROZEN_START = millis(1_767_225_600_000);

/** The directory that `clobsim serve` keeps its exchange in, unless it is told otherwise. */
export const DEFAULT_DATA = ".clobsim";

/** The JavaScript types of an option of `startExchange`, by what its setting is said to take. */
export interface OptionKinds {
  readonly text: string;
  readonly number: number;
  readonly truth: boolean;
  readonly textOrNumber: string | number;
  readonly texts: string | readonly string[];
}

/** A setting of `clobsim serve`, which is an option of `startExchange` too. */
export interface ServerSetting extends Setting<unknown> {
  readonly option: keyof OptionKinds;
}

const ADDRESS = "Address:";
const WORLD = "World and time:";
const BEHAVIOUR = "Behaviour:";
const STORAGE = "Storage:";
const ACCESS = "Access:";

/**
 * Every setting of a server: the flags of `clobsim serve`, their variables, the options of `startExchange`, and the
 * reference page all come from here.
 */
export const SETTINGS = {
  port: {
    ...wholeNumber(0, 65_535),
    ...{ group: ADDRESS, help: "Port to listen on; 0 takes any free one" },
    ...{ default: "7070", option: "number" },
  },
  host: {
    ...{ expected: "a host name or an IP address, without a port", read: readHost },
    ...{ group: ADDRESS, help: "Host name or IP address to listen on" },
    ...{ default: "127.0.0.1", option: "text" },
  },
  seed: {
    ...SEED,
    ...{ group: WORLD, help: "Decides the world and every id, secret and hash" },
    ...{ default: "1", option: "textOrNumber" },
  },
  world: {
    ...text("the path of a world file"),
    ...{
      group: WORLD,
      help: "File to open instead of generating a world (see clobsim world)",
      option: "text",
    },
  },
  /** The journal, data directory or report whose history it continues; null begins anew. */
  from: {
    ...text("the path of a report or of a data directory"),
    group: WORLD,
    help: "Report or data directory whose history to continue, in memory unless --data names a new directory",
    option: "text",
  },
  /** Where in that history it begins: a line, or a moment; else its end. */
  at: {
    ...LINE_OR_MOMENT,
    ...{ group: WORLD, help: "With --from: after this line, or at this moment" },
    ...{ defaultHelp: "the end", option: "textOrNumber" },
  },
  markets: {
    ...wholeNumber(1, MAX_MARKETS),
    ...{ group: WORLD, help: "How many markets to generate" },
    ...{ defaultHelp: "what 12 events hold", option: "number" },
  },
  clock: {
    ...{ expected: "real, frozen or a rate such as 5x or 0.5x, at most 1000000x", read: readClock },
    ...{ group: WORLD, help: "real, frozen, or a rate such as 5x or 0.5x" },
    ...{ default: "real", option: "text" },
  },
  /** Null: the second that the wall clock shows or, when frozen, `FROZEN_START`. */
  start: {
    ...{ expected: "a moment with its zone such as 2026-01-01T00:00:00Z, up to 9999", read: parseIso },
    ...{ group: WORLD, help: "Moment at which time starts, such as 2026-01-01T00:00Z" },
    ...{ defaultHelp: "now, or 2026-01-01 when frozen", option: "text" },
  },
  numbers: {
    ...choice("number", "string"),
    ...{ group: BEHAVIOUR, help: "How JSON carries decimals: number or string" },
    ...{ default: "number", option: "text" },
  },
  credentials: {
    ...choice("rotate", "once"),
    ...{ group: BEHAVIOUR, help: "Deriving API credentials again: rotate issues new ones, once refuses" },
    ...{ default: "rotate", option: "text" },
  },
  /** Whether `personal_sign` is accepted beside EIP-712. */
  personalSign: {
    ...truth,
    ...{ group: BEHAVIOUR, help: "Accept only EIP-712 wallet signatures", toggle: "off" },
    ...{ default: "true", option: "truth" },
  },
  unknownFields: {
    ...choice("accept", "refuse"),
    group: BEHAVIOUR,
    help: "Fields that /api and /clob do not know: accept (with a warning) or refuse",
    ...{ default: "accept", option: "text" },
  },
  settlement: {
    ...choice<SettlementMode>("instant", "auto", "manual"),
    group: BEHAVIOUR,
    help: "Blocks of the settlement chain: instant, auto (every 2 s while something is pending) or manual",
    ...{ default: "auto", option: "text" },
  },
  balances: {
    ...choice<BalancePolicy>("optimistic", "settled"),
    group: BEHAVIOUR,
    help: "What a fill brings can be spent at once (optimistic) or when it is mined (settled)",
    ...{ default: "optimistic", option: "text" },
  },
  /** What a wallet's first derivation gives it: USDC, and shares of both outcomes of every market. */
  faucet: {
    ...{ expected: "a number from 0 to 10000000 with at most two decimals", read: readFaucet },
    ...{ group: BEHAVIOUR, help: "USDC, and shares of every outcome, that a new wallet receives" },
    ...{ default: "10000", option: "number" },
  },
  /** Read as milliseconds. */
  requestTimeout: {
    ...{ expected: "a duration such as 10s, 500ms or 2m, from 1ms to 1d", read: readTimeout },
    ...{ group: BEHAVIOUR, help: "How long a client may take to send its request" },
    ...{ default: "10s", option: "text" },
  },
  logLevel: {
    ...choice("silent", "fatal", "error", "warn", "info", "debug", "trace"),
    ...{ group: BEHAVIOUR, help: "silent, fatal, error, warn, info, debug or trace" },
    ...{ default: "info", option: "text" },
  },
  /** The directory that keeps the exchange; null keeps nothing on disk. */
  data: {
    ...text("the path of a directory"),
    ...{
      group: STORAGE,
      help: "Directory that keeps the exchange",
      defaultHelp: DEFAULT_DATA,
      option: "text",
    },
  },
  ephemeral: { ...toggle, group: STORAGE, help: "Keep nothing on disk", option: "truth" },
  durability: {
    ...choice<Durability | "memory">("process", "power", "memory"),
    group: STORAGE,
    help: "What an answered request survives: process (a crash or kill -9), power (a power failure, too), memory (nothing)",
    ...{ defaultHelp: "process", option: "text" },
  },
  reset: {
    ...toggle,
    group: STORAGE,
    help: "Delete what the directory holds and start again",
    option: "truth",
  },
  report: {
    ...text("the path of a directory"),
    ...{
      group: STORAGE,
      help: "Directory for a report of each defect, to be replayed elsewhere",
      option: "text",
    },
  },
  /** What a caller of `/sim` must show; null lets every local caller in. */
  simToken: {
    expected: "1 to 256 visible ASCII characters",
    read: (given: string) => (/^[!-~]{1,256}$/.test(given) ? given : null),
    secret: true,
    group: ACCESS,
    help: "Secret that /sim asks for, needed beyond loopback; better set as CLOBSIM_SIM_TOKEN",
    option: "text",
  },
  /** Names that a Host header may carry besides loopback, in lower case. */
  allowHost: {
    expected: "a host name or an IP address, without scheme and port",
    read: (given: string) => readHost(given)?.toLowerCase() ?? null,
    ...{ group: ACCESS, help: "Name that a Host header may carry besides loopback; repeatable" },
    ...{ isRepeatable: true, option: "texts" },
  },
} as const satisfies Record<string, ServerSetting>;

type Values = ValuesOf<typeof SETTINGS>;

/** The settings of one server, read and checked against each other. */
export interface Config extends Omit<Values, "durability" | "ephemeral"> {
  readonly durability: Durability;
  /** The flags of the settings that somebody has given. */
  readonly given: ReadonlySet<string>;
}

/**
 * What flags and environment ask for; `data` is the directory that holds when none is named.
 * @throws ConfigError when a setting is wrong, or when two contradict each other.
 */
export function readConfig(given: Given, data: string | null = null): Config {
  const names = new Set(
    Object.keys(SETTINGS)
      .map(flagOf)
      .filter((flag) => isGiven(flag, given)),
  );
  const values = valuesOf(SETTINGS, given);
  refuseBesideFrom(names, values);
  const { ephemeral, ...config } = values;
  const read = { ...config, ...readKeeping(values, values.from === null ? data : null), given: names };
  refuseContradictions(read);
  return read;
}

/** @throws ConfigError when nothing is to be kept, and it is said how or where. */
function readKeeping(
  { data, durability, reset, ephemeral }: Values,
  otherwise: string | null,
): Pick<Config, "data" | "durability"> {
  const kept = data ?? otherwise;
  if (!ephemeral && durability !== "memory" && kept !== null) {
    return { data: kept, durability: durability ?? "process" };
  }
  const nothing =
    durability === "memory"
      ? "--durability memory keeps nothing"
      : ephemeral
        ? "--ephemeral keeps nothing"
        : "without --data nothing is kept";
  const said = data !== null ? "--data" : reset ? "--reset" : null;
  if (said !== null) throw new ConfigError(`${nothing}, and ${said} is given too: leave out one of them`);
  if (durability !== null && durability !== "memory") {
    throw new ConfigError(`${nothing}, and --durability ${durability} is given too: leave out one of them`);
  }
  return { data: null, durability: "process" };
}

/** @throws ConfigError for what a history determines itself, or for a place in a history that is not named. */
function refuseBesideFrom(names: ReadonlySet<string>, { reset }: Values): void {
  const beside =
    ["world", "markets", "seed", "start"].find((name) => names.has(name)) ?? (reset ? "reset" : undefined);
  if (names.has("from") && beside !== undefined) {
    throw new ConfigError(`--from and --${beside} contradict each other: the history has its own`);
  }
  if (names.has("at") && !names.has("from")) throw new ConfigError("--at goes with --from, found it alone");
}

function refuseContradictions({ host, simToken, world, markets }: Config): void {
  if (!isLoopback(host) && simToken === null) {
    throw new ConfigError(
      `--host ${host} lets other machines in, so --sim-token is expected too: without it anybody there could steer /sim`,
    );
  }
  if (world !== null && markets !== null) {
    throw new ConfigError(`--world and --markets contradict each other: a world file holds its own markets`);
  }
}

/** The configuration of a server that is told nothing. */
export const DEFAULT_CONFIG: Config = readConfig({ flags: {}, environment: {} });
