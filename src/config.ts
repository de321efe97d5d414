import { isLoopback } from "./api/loopback.ts";
import { BOT_PROFILES, type BotProfileName } from "./bots/profiles.ts";
import { anyOf, BALANCE_POLICIES, SETTLEMENT_MODES } from "./core/terms.ts";
import {
  CLOCK,
  ConfigError,
  choice,
  type Durability,
  FAUCET,
  flagOf,
  type Given,
  HOST,
  HOST_HEADER,
  inGroup,
  isGiven,
  LINE_OR_MOMENT,
  MOMENT,
  matching,
  SEED,
  type Settings,
  TIMEOUT,
  text,
  toggle,
  truth,
  type ValuesOf,
  valuesOf,
  wholeNumber,
} from "./setting.ts";
import { MAX_MARKETS } from "./simulation/world-orders.ts";

/** Default data directory of `clobsim serve`. */
export const DEFAULT_DATA = ".clobsim";

/** Worlds that come with clobsim. */
export const WORLD_NAMES = ["tiny", "small"] as const;

const address = inGroup("Address:");
const world = inGroup("World and time:");
const behaviour = inGroup("Behaviour:");
const storage = inGroup("Storage:");
const access = inGroup("Access:");

const DIRECTORY = text("the path of a directory");
const TOKEN = matching("1 to 256 visible ASCII characters", /^[!-~]{1,256}$/);
const LOG_LEVEL = choice("silent", "fatal", "error", "warn", "info", "debug", "trace");

/**
 * All settings of a server. The flags of `clobsim serve`, their variables, the options of `startExchange` and the reference
 * page are generated from this table.
 */
export const SETTINGS = {
  port: address(wholeNumber(0, 65_535), "Port to listen on; 0 takes a free one", { default: "7070" }),
  host: address(HOST, "Host name or IP address to listen on", { default: "127.0.0.1" }),
  /** Null for one exchange at the root. */
  pool: address(
    wholeNumber(1, 256),
    "Number of exchanges to serve, at /1, /2 and so on, each created at its first request",
  ),
  seed: world(SEED, "Decides the world and every id, secret and hash", { default: "1" }),
  world: world(
    { ...text(`the path of a world file, ${anyOf(WORLD_NAMES)}`), offers: WORLD_NAMES },
    `World to open instead of a generated one: a file (see clobsim world), ${anyOf(WORLD_NAMES)}`,
  ),
  /** Journal, data directory or report to continue; null for none. */
  from: world(
    text("the path of a report or of a data directory"),
    "Report or data directory to continue, in memory unless --data names a new directory",
  ),
  /** Line or time of that history; null for its end. */
  at: world(LINE_OR_MOMENT, "With --from: after this line, or at this time", { defaultHelp: "the end" }),
  markets: world(wholeNumber(1, MAX_MARKETS), "Number of markets to generate", {
    defaultHelp: "what 12 events hold",
  }),
  clock: world(CLOCK, "real, frozen, or a rate such as 5x or 0.5x", { default: "real" }),
  /** Null for the current second or, with a frozen clock, `FROZEN_START`. */
  start: world(MOMENT, "Start of virtual time, such as 2026-01-01T00:00Z", {
    defaultHelp: "now, or 2026-01-01 when frozen",
  }),
  /** Profile of the bots; null for none. */
  bots: world(
    choice<BotProfileName>(...BOT_PROFILES),
    `Bots that trade in virtual time: ${anyOf(BOT_PROFILES)}`,
    { defaultHelp: "none" },
  ),
  numbers: behaviour(choice("number", "string"), "Decimals in JSON: number or string", { default: "number" }),
  credentials: behaviour(
    choice("rotate", "once"),
    "Deriving API credentials again: rotate issues new ones, once refuses",
    { default: "rotate" },
  ),
  /** Whether `personal_sign` is accepted besides EIP-712. */
  personalSign: behaviour(truth, "Accept only EIP-712 wallet signatures", {
    default: "true",
    toggle: "off",
  }),
  unknownFields: behaviour(
    choice("accept", "refuse"),
    "Unknown fields in requests to /api and /clob: accept (with a warning) or refuse",
    { default: "accept" },
  ),
  settlement: behaviour(
    choice(...SETTLEMENT_MODES),
    "Mining of blocks: instant, auto (every 2 s while a transaction is pending or not final) or manual",
    { default: "auto" },
  ),
  balances: behaviour(
    choice(...BALANCE_POLICIES),
    "When the proceeds of a fill can be spent: at once (optimistic) or when it is mined (settled)",
    { default: "optimistic" },
  ),
  approvals: behaviour(
    choice("granted", "required"),
    "Approvals of the exchange's contracts: granted to known wallets, or required from each wallet",
    { default: "granted" },
  ),
  /** Grant at the first derivation of a wallet: USDC, and shares of both outcomes of every market. */
  faucet: behaviour(FAUCET, "USDC, and shares of every outcome, that a new wallet receives", {
    default: "10000",
    option: "number",
  }),
  /** Milliseconds. */
  requestTimeout: behaviour(TIMEOUT, "How long a client may take to send its request", { default: "10s" }),
  logLevel: behaviour(LOG_LEVEL, LOG_LEVEL.expected, { default: "info" }),
  /** Null for no data directory. */
  data: storage(DIRECTORY, "Data directory of the exchange", { defaultHelp: DEFAULT_DATA }),
  ephemeral: storage(toggle, "Write nothing to disk"),
  durability: storage(
    choice<Durability | "memory">("process", "power", "memory"),
    "What an answered request survives: process (a crash or kill -9), power (also a power failure), memory (nothing)",
    { defaultHelp: "process" },
  ),
  reset: storage(toggle, "Delete the exchange in the data directory and start again"),
  report: storage(DIRECTORY, "Directory for a report of each defect, for clobsim replay"),
  /** Token for `/sim`; null admits every local caller. */
  simToken: access(TOKEN, "Secret for /sim, required beyond loopback; better set as CLOBSIM_SIM_TOKEN", {
    secret: true,
  }),
  /** Accepted host names besides loopback, in lower case. */
  allowHost: access(HOST_HEADER, "Host name allowed besides loopback names; repeatable", {
    isRepeatable: true,
    option: "texts",
  }),
} satisfies Settings;

type Values = ValuesOf<typeof SETTINGS>;

/** Settings of one server, checked against each other. */
export interface Config extends Omit<Values, "durability" | "ephemeral"> {
  readonly durability: Durability;
  /** Flags of the given settings. */
  readonly given: ReadonlySet<string>;
}

/**
 * Reads flags and environment; `data` is the default data directory.
 * @throws ConfigError if a setting is invalid, or if two contradict each other
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
  const hasDefault = values.from === null && values.pool === null;
  const read = { ...config, ...readPersistence(values, hasDefault ? data : null), given: names };
  refuseContradictions(read);
  return read;
}

/** @throws ConfigError if nothing is persisted, but a setting of persistence is given */
function readPersistence(
  { data, durability, reset, ephemeral, pool }: Values,
  defaultFolder: string | null,
): Pick<Config, "data" | "durability"> {
  const folder = data ?? defaultFolder;
  if (pool === null && !ephemeral && durability !== "memory" && folder !== null) {
    return { data: folder, durability: durability ?? "process" };
  }
  const isDurable = durability !== null && durability !== "memory";
  const given =
    data !== null ? "--data" : reset ? "--reset" : isDurable ? `--durability ${durability}` : null;
  if (given === null) return { data: null, durability: "process" };
  const reason =
    durability === "memory"
      ? "--durability memory persists nothing"
      : ephemeral
        ? "--ephemeral persists nothing"
        : pool !== null
          ? "--pool persists nothing"
          : "without --data nothing is persisted";
  throw new ConfigError(`${reason}, and ${given} is given too: leave out one of them`);
}

/** @throws ConfigError for settings that contradict `--from`, or for `--at` without it */
function refuseBesideFrom(names: ReadonlySet<string>, { reset }: Values): void {
  const other =
    ["world", "markets", "seed", "start"].find((name) => names.has(name)) ?? (reset ? "reset" : undefined);
  if (names.has("from") && other !== undefined) {
    throw new ConfigError(`--from and --${other} contradict each other: the history has its own`);
  }
  if (names.has("at") && !names.has("from"))
    throw new ConfigError("--at is expected with --from, found it alone");
}

function refuseContradictions({ host, simToken, world, markets }: Config): void {
  if (!isLoopback(host) && simToken === null) {
    throw new ConfigError(
      `--host ${host} admits other machines, so --sim-token or CLOBSIM_SIM_TOKEN is expected too: without it they could control /sim`,
    );
  }
  if (world !== null && markets !== null) {
    throw new ConfigError(`--world and --markets contradict each other: a world file has its own markets`);
  }
}

/** The configuration without any given setting. */
export const DEFAULT_CONFIG: Config = readConfig({ flags: {}, environment: {} });
