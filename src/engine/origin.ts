import { existsSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Config, DEFAULT_CONFIG, WORLD_NAMES } from "../config.ts";
import { DocumentError } from "../core/document-error.ts";
import { sizeText } from "../core/format.ts";
import { readDocument } from "../core/rebuild-state.ts";
import type { Optional } from "../core/schema.ts";
import { ExchangeConfig } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import { toIso } from "../core/time.ts";
import { FROZEN_START, type Millis, millis } from "../core/units.ts";
import { didYouMean } from "../nearest.ts";
import { FILE_LIMITS, readText } from "../regular-file.ts";
import { ConfigError, flagOf } from "../setting.ts";
import { openWorld, WorldOpeningError } from "../simulation/opening.ts";
import { checkedWorld, readWorldFile, type World, writeWorld } from "../simulation/world.ts";
import { devAddress, devPrivateKey } from "../simulation/world-accounts.ts";
import { Exchange, type Snapshot } from "./exchange.ts";
import { HistoryDigest } from "./hashes.ts";
import { type Base, type OpeningData, wrongLine } from "./journal-line.ts";
import { OpeningCache } from "./opening-cache.ts";
import { readBeginning, STATE_FORMAT, type StateHeader } from "./state-file.ts";

/** The state in which an exchange begins, before any request. */
export interface Origin {
  readonly config: ExchangeConfig;
  readonly start: Millis;
  readonly devAccounts: readonly Address[];
  /** The content of the journal's first line. */
  readonly base: Base;
  /** Brings an exchange of this config to the origin, any number of times. @throws ConfigError */
  readonly play: (exchange: Exchange) => void;
}

/** Origin of a world: its history played up to a start, or taken from the cache. */
export function originOfWorld(
  world: World,
  config: ExchangeConfig,
  start: Millis,
  cache: OpeningCache | null = null,
): Origin {
  const { devAccounts } = world;
  const play = (exchange: Exchange): void => {
    exchange.restart(start);
    try {
      if (cache === null) openWorld(exchange, world, start);
      else cache.open(exchange, world, start);
    } catch (error) {
      throw error instanceof WorldOpeningError ? new ConfigError(error.message) : error;
    }
  };
  return { config, start, devAccounts, base: { kind: "world", content: world }, play };
}

/** Snapshots of the origins that were played in this process. */
const openings = new WeakMap<Pick<Origin, "play">, Snapshot>();

/** Restarts an exchange at its origin, which is played only once in a process. Returns the snapshot there. */
export function restartAt(origin: Pick<Origin, "play">, exchange: Exchange): Snapshot {
  const known = openings.get(origin);
  if (known !== undefined) {
    exchange.restart(known);
    return known;
  }
  origin.play(exchange);
  const opening = exchange.snapshot();
  openings.set(origin, opening);
  return opening;
}

type DevKeys = ReadonlyMap<Address, `0x${string}`>;

/** Keys of dev accounts that were computed in this process, which takes some milliseconds. */
const devKeys = new WeakMap<Origin, DevKeys>();

/** Returns the dev accounts whose private key the seed gives. Those that were written into a world by hand have other keys. */
export function devKeysOf(origin: Origin): DevKeys {
  const known = devKeys.get(origin);
  if (known !== undefined) return known;
  const { devAccounts, config } = origin;
  const keys = devAccounts.map((address, index) => [address, devPrivateKey(config.seed, index)] as const);
  const own = new Map(keys.filter(([address, key]) => devAddress(key) === address));
  devKeys.set(origin, own);
  return own;
}

/** Returns a new exchange at its origin, not persisted. @throws ConfigError if the origin cannot be played */
export function exchangeAt(origin: Origin): Exchange {
  const exchange = new Exchange(origin.config, origin.start);
  restartAt(origin, exchange);
  return exchange;
}

/** A state document, with its position in a history. */
export interface StateDocument {
  readonly clobsim: Pick<StateHeader, "format" | "now" | "sequence" | "devAccounts">;
}

/** Origin that continues from a state. @throws DocumentError if it is not a valid state */
export function originOfState(document: StateDocument): Origin {
  const { now, sequence, devAccounts } = readBeginning(document.clobsim);
  const { state } = readDocument(document);
  const digest = HistoryDigest.of(state).text;
  const play = (exchange: Exchange): void =>
    exchange.restore({ state, now, sequence, digest, mark: undefined });
  return { config: state.config, start: now, devAccounts, base: { kind: "state", content: document }, play };
}

/** Origin of a journal. @throws DataFileError if its first line has none that can be opened */
export function originOfJournal(
  { base: { kind, content }, config, start }: OpeningData,
  path: string,
): Origin {
  const origin = asWrongLine(path, () =>
    kind === "world"
      ? originOfWorld(checkedWorld(content) && (content as World), config, start)
      : originOfState(content as StateDocument),
  );
  return { ...origin, play: (exchange) => asWrongLine(path, () => origin.play(exchange)) };
}

function asWrongLine<Value>(path: string, find: () => Value): Value {
  try {
    return find();
  } catch (error) {
    const isOfContent = error instanceof DocumentError || error instanceof ConfigError;
    throw isOfContent ? wrongLine(path, 1, `d.base.content: ${error.message}`) : error;
  }
}

/** Names of the settings that decide the rules of an exchange. */
const RULE_SETTINGS = Object.keys(ExchangeConfig.fields) as readonly (keyof ExchangeConfig)[];

/** Whether a setting is written to files: settings that were added later are omitted at their default. */
function isWritten(name: keyof ExchangeConfig, value: unknown): boolean {
  const { isOptional = false, values } = ExchangeConfig.fields[name] as Partial<Optional<unknown>>;
  return !isOptional || (value !== null && values?.includes(value as string) !== false);
}

/** Returns the settings that decide the rules of an exchange. */
export function exchangeConfigOf(config: Pick<Config, keyof ExchangeConfig>, seed: string): ExchangeConfig {
  const terms = RULE_SETTINGS.map((name) => [name, config[name]] as const);
  const written = Object.fromEntries(terms.filter(([name, value]) => isWritten(name, value)));
  return { ...written, seed } as ExchangeConfig;
}

/**
 * @param load loads the origin that the configuration would have without existing data
 * @throws ConfigError if something is requested that an existing exchange cannot change
 */
export async function requireSameOrigin(
  config: Config,
  origin: Origin,
  path: string,
  load: () => Promise<Origin>,
): Promise<void> {
  requireSameConfig(config, origin, path);
  for (const flag of ["world", "markets"]) {
    if (!config.given.has(flag) || sameContent((await load()).base, origin.base)) continue;
    throw new ConfigError(`${path} was made from another world than --${flag} asks for: ${REMEDY}`);
  }
}

/** @throws ConfigError if settings are given that differ from those of the exchange in `path` */
export function requireSameConfig(
  config: Config,
  { config: existing, start }: Origin,
  path: string,
  remedy = REMEDY,
): void {
  const shown = (
    terms: ExchangeConfig | Pick<Config, keyof ExchangeConfig>,
    name: keyof ExchangeConfig,
  ): string =>
    name === "faucet"
      ? sizeText(terms.faucet.everyMarket)
      : String(terms[name] ?? DEFAULT_CONFIG[name] ?? "none");
  const terms = RULE_SETTINGS.map((name) => [flagOf(name), shown(config, name), shown(existing, name)]);
  if (config.start !== null) terms.push(["start", toIso(config.start), toIso(start)]);
  for (const [flag = "", asked, found] of terms) {
    if (!config.given.has(flag) || asked === found) continue;
    throw new ConfigError(`${path} was made with --${flag} ${found}, found --${flag} ${asked}: ${remedy}`);
  }
}

const REMEDY = "leave it out, give another directory with --data, or start again with --reset";

/** Whether two exchanges begin in the same way; the order of keys in a world does not matter. */
const sameContent = (a: Base, b: Base): boolean => {
  const [text, other] = [a, b].map(({ kind, content }) =>
    kind === "world" ? writeWorld(content as World) : JSON.stringify(content),
  );
  return text === other;
};

const DEFAULT_SEED = "1";

/** Number of worlds, and of origins, cached in memory. */
const MAX_CACHED = 4;

/** Caches the most recent values; one that could not be made is not cached. */
class RecentCache<Value> {
  readonly #values = new Map<string, Promise<Value>>();

  get(key: string, make: () => Promise<Value>): Promise<Value> {
    const value = this.#values.get(key) ?? make();
    this.#values.delete(key);
    this.#values.set(key, value);
    value.catch(() => this.#values.delete(key));
    const [oldest] = this.#values.keys();
    if (this.#values.size > MAX_CACHED && oldest !== undefined) this.#values.delete(oldest);
    return value;
  }
}

const worlds = new RecentCache<World>();
const origins = new RecentCache<Origin>();

/** Path of a world that comes with clobsim, or of a file; a file in the working directory takes precedence. */
function worldPath(name: string): string {
  if (!/^[a-z]+$/.test(name) || existsSync(name)) return name;
  // Relative to the bundle, and to the sources.
  const places = ["../fixtures/worlds/", "../../fixtures/worlds/"];
  const paths = places.map((place) => fileURLToPath(new URL(`${place}${name}.json`, import.meta.url)));
  return paths.find((path) => existsSync(path)) ?? name;
}

/** Cache key of the configured world; a file that was modified has another one. */
function cacheKey({ world, seed, markets }: Config): string {
  if (world === null) return `${markets} ${seed}`;
  const path = worldPath(world);
  try {
    const { mtimeMs, size } = statSync(path);
    return `${path} ${mtimeMs} ${size}`;
  } catch {
    // Reading it reports the error.
    return path;
  }
}

/**
 * Loads the configured world: from a file, built in, or generated.
 * @throws ConfigError if it cannot be read
 */
async function loadWorld(config: Config, cache: OpeningCache | null): Promise<World> {
  if (config.world !== null) return worldIn(config.world);
  if (config.seed === DEFAULT_SEED && config.markets === null) {
    const builtIn = readBuiltIn();
    if (builtIn !== null) return builtIn;
  }
  const options = { seed: config.seed, ...(config.markets !== null && { markets: config.markets }) };
  const generate = async (): Promise<World> =>
    (await import("../simulation/generate-world.ts")).generateWorld(options);
  return cache === null ? generate() : cache.world(JSON.stringify(options), generate);
}

/** @throws ConfigError if `--seed` differs from the seed of a world file */
function requireSeed({ world: file, seed, given }: Config, world: World): void {
  if (file === null || !given.has("seed") || seed === world.seed) return;
  throw new ConfigError(
    `${file} was made with seed ${world.seed}, --seed asks for ${seed}: leave --seed out, or make a world with clobsim world --seed ${seed}`,
  );
}

/** @throws ConfigError if the file is not a world */
function worldIn(file: string): World {
  try {
    return readWorldFile(worldPath(file));
  } catch (error) {
    if (!/^\w+$/.test(file) || existsSync(file)) {
      throw new ConfigError(`--world ${file}: ${(error as Error).message}`);
    }
    throw new ConfigError(
      `--world ${file}: there is no such file, and no world ${file} comes with clobsim, only ${WORLD_NAMES.join(" and ")}${didYouMean(file, WORLD_NAMES)}`,
    );
  }
}

/** The default world that the build wrote beside the bundle; null if there is no build. */
function readBuiltIn(): World | null {
  try {
    return JSON.parse(readFileSync(new URL("./default-world.json", import.meta.url), "utf8")) as World;
  } catch {
    return null;
  }
}

const SECOND_MS = 1_000;

/**
 * Loads the configured origin: a state file, or a world. Returns the same object for the same configuration if it has a
 * start of its own or a frozen clock.
 * @throws ConfigError if it cannot be read, or contradicts other settings
 */
export async function loadOrigin(config: Config, wall: number): Promise<Origin> {
  const start = config.start ?? openingTime(config, wall);
  const name = cacheKey(config);
  const load = async (): Promise<Origin> => {
    const { world: worldFile } = config;
    const document = worldFile === null ? null : stateIn(worldFile);
    if (worldFile !== null && document !== null) {
      const origin = originIn(worldFile, document);
      requireSameConfig(config, origin, worldFile);
      return origin;
    }
    // A user's file is not cached.
    const cache = worldFile === null ? OpeningCache.ofProgram() : null;
    const world = await worlds.get(name, () => loadWorld(config, cache));
    requireSeed(config, world);
    return originOfWorld(world, exchangeConfigOf(config, world.seed), start, cache);
  };
  if (config.start === null && config.clock.mode !== "frozen") return load();
  const terms = RULE_SETTINGS.map((term) => config[term]);
  return origins.get(JSON.stringify([name, start, terms, [...config.given].sort()]), load);
}

/** Time at which an exchange opens: the current second of wall time or, if frozen, `FROZEN_START`. */
export const openingTime = (config: Config, wall: number): Millis =>
  config.clock.mode === "frozen" ? FROZEN_START : millis(Math.floor(wall / SECOND_MS) * SECOND_MS);

/** Reads a state document; null if the file is something else, which is reported elsewhere. */
function stateIn(file: string): StateDocument | null {
  try {
    const text = readText(file, FILE_LIMITS.world);
    if (!text.includes('"clobsim"')) return null;
    const document = JSON.parse(text) as Partial<StateDocument>;
    return typeof document?.clobsim?.format === "string" ? (document as StateDocument) : null;
  } catch {
    return null;
  }
}

/** @throws ConfigError that names the place of the error in the file */
function originIn(file: string, document: StateDocument): Origin {
  const { format } = document.clobsim;
  if (format !== STATE_FORMAT) {
    throw new ConfigError(`--world ${file}: expected a state of the format ${STATE_FORMAT}, found ${format}`);
  }
  try {
    return originOfState(document);
  } catch (error) {
    throw error instanceof DocumentError ? new ConfigError(`--world ${file}: ${error.message}`) : error;
  }
}
