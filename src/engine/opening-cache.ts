import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { deserialize, serialize } from "node:v8";
import { type CacheFolder, cacheFolder } from "../cache-folder.ts";
import type { ExchangeConfig } from "../core/state.ts";
import type { Millis } from "../core/units.ts";
import { creationsOf, openingText, openWorld } from "../simulation/opening.ts";
import type { World } from "../simulation/world.ts";
import type { Exchange, Snapshot } from "./exchange.ts";
import { HistoryDigest } from "./hashes.ts";
import { imageOf, type StateImage, stateOf } from "./state-image.ts";

/** The state after the history of a world. */
interface Opening {
  readonly start: Millis;
  /** Time of the first block. */
  readonly first: Millis;
  readonly sequence: number;
  readonly image: StateImage;
}

/** Delay of cache writes, so that requests right after the start are answered first. */
const WRITE_DELAY_MS = 1_000;
const SECOND_MS = 1_000;

/**
 * Caches generated worlds, and the states after their histories, in the user's cache directory. A cached state is
 * reused for another start by shifting its times; texts that depend on the calendar are generated again.
 */
export class OpeningCache {
  readonly #cache: CacheFolder;
  readonly #program: string;

  constructor(cache: CacheFolder, program: string) {
    this.#cache = cache;
    this.#program = program;
  }

  /** The cache of this program; null if there is none, or the program is not built. */
  static ofProgram(): OpeningCache | null {
    // Identifies the program, because another one may open the same world differently.
    const program = new URL(import.meta.url).search.slice(1);
    const cache = cacheFolder();
    return cache === null || program === "" ? null : new OpeningCache(cache, program);
  }

  /** Returns the world that `key` identifies, cached or generated. */
  async world(key: string, generate: () => Promise<World>): Promise<World> {
    const name = this.#nameOf(key);
    const cached = this.#cache.read("world", name);
    if (cached !== null) return JSON.parse(cached.toString()) as World;
    const world = await generate();
    this.#writeSoon("world", name, () => Buffer.from(JSON.stringify(world)));
    return world;
  }

  /** Brings an exchange to the state after a world's history at `start`. @throws WorldOpeningError */
  open(exchange: Exchange, world: World, start: Millis): void {
    const { config } = exchange.state;
    const worldText = JSON.stringify(world);
    const name = this.#nameOf(JSON.stringify(config), worldText);
    const cached = this.#opening(name);
    const found = cached === null ? null : openingAt(start, world, config, cached);
    if (found !== null) {
      const digest = HistoryDigest.ofText(openingText(config, start, worldText)).text;
      exchange.restore({ ...found, now: start, digest, mark: undefined });
      return;
    }
    openWorld(exchange, world, start, worldText);
    if (cached !== null) return;
    const { state, sequence } = exchange.snapshot();
    this.#writeSoon("opening", name, () => {
      const image = isBeforeItsEnds(world, start) ? imageOf(state) : null;
      if (image === null) return null;
      const first = state.chain.blocks.get(1).at;
      return serialize({ start, first, sequence, image } satisfies Opening);
    });
  }

  #opening(name: string): Opening | null {
    const cached = this.#cache.read("opening", name);
    try {
      return cached === null ? null : (deserialize(cached) as Opening);
    } catch {
      // The checksum does not prove that this program wrote it.
      return null;
    }
  }

  #nameOf(...parts: readonly string[]): string {
    const hash = createHash("sha256").update(this.#program);
    for (const part of parts) hash.update("\n").update(part);
    return hash.digest("hex").slice(0, 32);
  }

  #writeSoon(kind: string, name: string, make: () => Buffer | null): void {
    setTimeout(() => {
      const contents = make();
      if (contents !== null) this.#cache.write(kind, name, contents);
    }, WRITE_DELAY_MS).unref();
  }
}

/** Shifts a cached opening to another start; null if that would differ in more than its times. */
function openingAt(
  start: Millis,
  world: World,
  config: ExchangeConfig,
  { start: cached, first, sequence, image }: Opening,
): Pick<Snapshot, "state" | "sequence"> | null {
  const by = start - cached;
  // Price points are per second, so only a shift by whole seconds preserves them.
  const isSame = by % SECOND_MS === 0 && first + by >= 0 && isBeforeItsEnds(world, start);
  return isSame ? { state: stateOf(image, config, by, creationsOf(world, start)), sequence } : null;
}

/** Whether no event or market of a world ends by its start. */
function isBeforeItsEnds(world: World, start: Millis): boolean {
  const { events, markets } = creationsOf(world, start);
  return [...events, ...markets].every(({ endDate }) => endDate === null || endDate > start);
}
