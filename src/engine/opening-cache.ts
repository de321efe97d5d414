import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { deserialize, serialize } from "node:v8";
import { type CacheFolder, cacheFolder } from "../cache-folder.ts";
import type { ExchangeConfig } from "../core/state.ts";
import type { Millis } from "../core/units.ts";
import { creationsOf, openingText, openWorld } from "../simulation/opening.ts";
import type { World } from "../simulation/world.ts";
import type { Exchange, Snapshot } from "./exchange.ts";
import { HistoryDigest } from "./state-hash.ts";
import { imageOf, type StateImage, stateOf } from "./state-image.ts";

/** Where the history of a world has led. */
interface Opening {
  readonly start: Millis;
  /** When it began. */
  readonly first: Millis;
  readonly sequence: number;
  readonly image: StateImage;
}

/** Nobody waits for an answer any more that was asked for at the start. */
const ANSWERED_MS = 1_000;
const SECOND_MS = 1_000;

/** The program that makes openings: another one may make others of the same world. Null where it is not built. */
export const programId = (): string | null => new URL(import.meta.url).search.slice(1) || null;

/**
 * Worlds that were generated, and where their histories have led, in the user's cache folder: an opening at another moment is
 * the same but for that moment, and for what depends on the calendar.
 */
export class OpeningCache {
  readonly #cache: CacheFolder;
  readonly #program: string;

  constructor(cache: CacheFolder, program: string) {
    this.#cache = cache;
    this.#program = program;
  }

  /** The openings of this program; null where nothing is kept. */
  static ofProgram(): OpeningCache | null {
    const [cache, program] = [cacheFolder(), programId()];
    return cache === null || program === null ? null : new OpeningCache(cache, program);
  }

  /** A world that is generated from what `key` tells. */
  async world(key: string, generate: () => Promise<World>): Promise<World> {
    const name = this.#nameOf(key);
    const kept = this.#cache.read("world", name);
    if (kept !== null) return JSON.parse(kept.toString()) as World;
    const world = await generate();
    this.#writeSoon("world", name, () => Buffer.from(JSON.stringify(world)));
    return world;
  }

  /** Brings an exchange to where a world's history leads by `start`. @throws WorldOpeningError */
  open(exchange: Exchange, world: World, start: Millis): void {
    const { config } = exchange.state;
    const worldText = JSON.stringify(world);
    const name = this.#nameOf(JSON.stringify(config), worldText);
    const kept = this.#opening(name);
    const found = kept === null ? null : openingAt(start, world, config, kept);
    if (found !== null) {
      const digest = HistoryDigest.ofText(openingText(config, start, worldText)).text;
      exchange.restore({ ...found, now: start, digest, mark: undefined });
      return;
    }
    openWorld(exchange, world, start, worldText);
    if (kept !== null) return;
    const { state, sequence } = exchange.snapshot();
    this.#writeSoon("opening", name, () => {
      const image = isBeforeItsEnds(world, start) ? imageOf(state) : null;
      if (image === null) return null;
      const first = state.chain.blocks.get(1).at;
      return serialize({ start, first, sequence, image } satisfies Opening);
    });
  }

  #opening(name: string): Opening | null {
    const kept = this.#cache.read("opening", name);
    try {
      return kept === null ? null : (deserialize(kept) as Opening);
    } catch {
      // What has the right checksum was written so, by whomever.
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
    }, ANSWERED_MS).unref();
  }
}

/** The same opening at another moment; null where it would be another one. */
function openingAt(
  start: Millis,
  world: World,
  config: ExchangeConfig,
  { start: kept, first, sequence, image }: Opening,
): Pick<Snapshot, "state" | "sequence"> | null {
  const by = start - kept;
  // Prices of a second are one point, wherever seconds begin.
  const isSame = by % SECOND_MS === 0 && first + by >= 0 && isBeforeItsEnds(world, start);
  return isSame ? { state: stateOf(image, config, by, creationsOf(world, start)), sequence } : null;
}

/** Whether nothing of a world ends by its start: no such thing is in its history. */
function isBeforeItsEnds(world: World, start: Millis): boolean {
  const { events, markets } = creationsOf(world, start);
  return [...events, ...markets].every(({ endDate }) => endDate === null || endDate > start);
}
