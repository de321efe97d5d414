import { existsSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Config, DEFAULT_CONFIG, FROZEN_START, WORLD_NAMES } from "../config.ts";
import { sizeText } from "../core/format.ts";
import { readDocument } from "../core/rebuild-state.ts";
import { DocumentError, type Optional } from "../core/schema.ts";
import { ExchangeConfig } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import { toIso } from "../core/time.ts";
import { type Millis, millis } from "../core/units.ts";
import { FILE_LIMITS, readText } from "../regular-file.ts";
import { ConfigError, didYouMean, flagOf } from "../setting.ts";
import { openWorld, WorldOpeningError } from "../simulation/opening.ts";
import type { World } from "../simulation/world.ts";
import { checkedWorld, readWorldFile } from "../simulation/world.ts";
import type { Exchange } from "./exchange.ts";
import type { Base, OpeningData } from "./journal-line.ts";
import { OpeningCache } from "./opening-cache.ts";
import { readBeginning, STATE_FORMAT, type StateHeader } from "./state-file.ts";
import { HistoryDigest } from "./state-hash.ts";
import { wrongLine } from "./store-error.ts";

/** Where an exchange begins, before anybody has done anything. */
export interface Origin {
  readonly config: ExchangeConfig;
  readonly start: Millis;
  readonly devAccounts: readonly Address[];
  /** The same as a journal's first line has it. */
  readonly base: Base;
  /** Brings an exchange of this config there, as often as wanted. @throws ConfigError when it cannot. */
  readonly play: (exchange: Exchange) => void;
}

/** A world's history, played up to a start, or as it is kept. */
export function originOfWorld(
  world: World,
  config: ExchangeConfig,
  start: Millis,
  kept: OpeningCache | null = null,
): Origin {
  const { devAccounts } = world;
  const play = (exchange: Exchange): void => {
    exchange.restart(start);
    try {
      if (kept === null) openWorld(exchange, world, start);
      else kept.open(exchange, world, start);
    } catch (error) {
      throw error instanceof WorldOpeningError ? new ConfigError(error.message) : error;
    }
  };
  return { config, start, devAccounts, base: { kind: "world", content: world }, play };
}

/** A document of a state, with its place in a history. */
export interface StateDocument {
  readonly clobsim: Pick<StateHeader, "format" | "now" | "sequence" | "devAccounts">;
}

/** A state that goes on from where it stood. @throws DocumentError when it is no state of any exchange. */
export function originOfState(document: StateDocument): Origin {
  const { now, sequence, devAccounts } = readBeginning(document.clobsim);
  const { state } = readDocument(document);
  const digest = HistoryDigest.of(state).text;
  const play = (exchange: Exchange): void =>
    exchange.restore({ state, now, sequence, digest, mark: undefined });
  return { config: state.config, start: now, devAccounts, base: { kind: "state", content: document }, play };
}

/** The origin that a journal begins with. @throws StoreError when its first line holds none that can be opened */
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

/** The settings that decide the rules of an exchange. */
const TERMS = Object.keys(ExchangeConfig.fields) as readonly (keyof ExchangeConfig)[];

/** Whether files tell a term: what came later than they is left out where it has its default. */
function isTold(name: keyof ExchangeConfig, value: unknown): boolean {
  const { isOptional = false, values } = ExchangeConfig.fields[name] as Partial<Optional<unknown>>;
  return !isOptional || (value !== null && values?.includes(value as string) !== false);
}

/** What decides the rules of an exchange, as it is configured. */
export function exchangeConfigOf(config: Pick<Config, keyof ExchangeConfig>, seed: string): ExchangeConfig {
  const terms = TERMS.map((name) => [name, config[name]] as const);
  return {
    ...Object.fromEntries(terms.filter(([name, value]) => isTold(name, value))),
    seed,
  } as ExchangeConfig;
}

/**
 * @param load what is asked for now, as it would be opened if nothing were kept yet.
 * @throws ConfigError when something is asked for that an exchange, once it was opened, cannot become.
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

/** @throws ConfigError when other terms are given than those of the exchange that `path` holds. */
export function requireSameConfig(
  config: Config,
  { config: kept, start }: Origin,
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
  const terms = TERMS.map((name) => [flagOf(name), shown(config, name), shown(kept, name)]);
  if (config.start !== null) terms.push(["start", toIso(config.start), toIso(start)]);
  for (const [flag = "", asked, found] of terms) {
    if (!config.given.has(flag) || asked === found) continue;
    throw new ConfigError(`${path} was made with --${flag} ${found}, found --${flag} ${asked}: ${remedy}`);
  }
}

const REMEDY = "leave it out, give another directory with --data, or start anew with --reset";

const sameContent = (a: Base, b: Base): boolean => JSON.stringify(a) === JSON.stringify(b);

const DEFAULT_SEED = "1";

/** How many worlds, and origins, stay in memory for the next exchange of this process. */
const KEPT = 4;

/** What was made for some keys, the latest few; what could not be made is made again. */
class Latest<Value> {
  readonly #values = new Map<string, Promise<Value>>();

  get(key: string, make: () => Promise<Value>): Promise<Value> {
    const value = this.#values.get(key) ?? make();
    this.#values.delete(key);
    this.#values.set(key, value);
    value.catch(() => this.#values.delete(key));
    const [oldest] = this.#values.keys();
    if (this.#values.size > KEPT && oldest !== undefined) this.#values.delete(oldest);
    return value;
  }
}

const worlds = new Latest<World>();
const origins = new Latest<Origin>();

/** The path of a world that comes with clobsim, or of a file; a file in the working directory goes first. */
function worldPath(name: string): string {
  if (!/^[a-z]+$/.test(name) || existsSync(name)) return name;
  // Beside the bundle, and beside the sources.
  const places = ["../fixtures/worlds/", "../../fixtures/worlds/"];
  const paths = places.map((place) => fileURLToPath(new URL(`${place}${name}.json`, import.meta.url)));
  return paths.find((path) => existsSync(path)) ?? name;
}

/** Names what the configuration asks to be opened, so that a file that was written again is another. */
function nameOf({ world, seed, markets }: Config): string {
  if (world === null) return `${markets} ${seed}`;
  const path = worldPath(world);
  try {
    const { mtimeMs, size } = statSync(path);
    return `${path} ${mtimeMs} ${size}`;
  } catch {
    // Whoever reads it says what is wrong.
    return path;
  }
}

/**
 * The world that the configuration names: a file's, the one that was built in, or one made now.
 * @throws ConfigError when it cannot be read.
 */
async function loadWorld(config: Config, kept: OpeningCache | null): Promise<World> {
  if (config.world !== null) return worldIn(config.world);
  if (config.seed === DEFAULT_SEED && config.markets === null) {
    const builtIn = readBuiltIn();
    if (builtIn !== null) return builtIn;
  }
  const options = { seed: config.seed, ...(config.markets !== null && { markets: config.markets }) };
  const generate = async (): Promise<World> =>
    (await import("../simulation/generate-world.ts")).generateWorld(options);
  return kept === null ? generate() : kept.world(JSON.stringify(options), generate);
}

/** @throws ConfigError when another seed is asked for than the world of a file was made with. */
function requireSeed({ world: file, seed, given }: Config, world: World): void {
  if (file === null || !given.has("seed") || seed === world.seed) return;
  throw new ConfigError(
    `${file} was made with seed ${world.seed}, --seed asks for ${seed}: leave --seed out, or make a world with clobsim world --seed ${seed}`,
  );
}

/** @throws ConfigError when the file holds no world. */
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

/** The default world as the build has left it beside the bundle; null where there is no build. */
function readBuiltIn(): World | null {
  try {
    return JSON.parse(readFileSync(new URL("./default-world.json", import.meta.url), "utf8")) as World;
  } catch {
    return null;
  }
}

const SECOND_MS = 1_000;

/**
 * Where an exchange begins that is configured so: a state that a file holds, or a world. Asked for again with a start of
 * its own or a frozen clock, it is the same object.
 * @throws ConfigError when it cannot be read, or contradicts what is asked for besides.
 */
export async function loadOrigin(config: Config, wall: number): Promise<Origin> {
  const start = config.start ?? openingTime(config, wall);
  const name = nameOf(config);
  const load = async (): Promise<Origin> => {
    const { world: worldFile } = config;
    const document = worldFile === null ? null : stateIn(worldFile);
    if (worldFile !== null && document !== null) {
      const origin = originIn(worldFile, document);
      requireSameConfig(config, origin, worldFile);
      return origin;
    }
    // What somebody has made is read and played as it stands.
    const kept = worldFile === null ? OpeningCache.ofProgram() : null;
    const world = await worlds.get(name, () => loadWorld(config, kept));
    requireSeed(config, world);
    return originOfWorld(world, exchangeConfigOf(config, world.seed), start, kept);
  };
  if (config.start === null && config.clock.mode !== "frozen") return load();
  const terms = TERMS.map((term) => config[term]);
  return origins.get(JSON.stringify([name, start, terms, [...config.given].sort()]), load);
}

/** When an exchange opens: the second that the wall clock shows or, when frozen, `FROZEN_START`. */
export const openingTime = (config: Config, wall: number): Millis =>
  config.clock.mode === "frozen" ? FROZEN_START : millis(Math.floor(wall / SECOND_MS) * SECOND_MS);

/** The document of a state in a file; null when the file is something else, which others tell. */
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

/** @throws ConfigError that names the place in the file that is wrong. */
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
