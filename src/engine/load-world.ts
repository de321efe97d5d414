import { readFile } from "node:fs/promises";
import type { Config } from "../config.ts";
import { FILE_LIMITS, readText, whyUnread } from "../regular-file.ts";
import { ConfigError } from "../setting.ts";
import type { World } from "../simulation/world.ts";
import { readWorld } from "../simulation/world-file.ts";

const DEFAULT_SEED = "1";

/**
 * The world that the configuration names: a file's, the one that was built in, or one made now.
 * @throws ConfigError when it cannot be read.
 */
export async function loadWorld(config: Config): Promise<World> {
  if (config.worldFile !== null) {
    const world = await readWorldFile(config.worldFile);
    if (config.given.has("seed") && config.seed !== world.seed) {
      throw new ConfigError(
        `${config.worldFile} was made with seed ${world.seed}, --seed asks for ${config.seed}: leave --seed out, or make a world with clobsim world --seed ${config.seed}`,
      );
    }
    return world;
  }
  if (config.seed === DEFAULT_SEED && config.markets === null) {
    const builtIn = await readBuiltIn();
    if (builtIn !== null) return builtIn;
  }
  const { generateWorld } = await import("../simulation/generate-world.ts");
  const markets = config.markets === null ? {} : { markets: config.markets };
  return generateWorld({ seed: config.seed, ...markets });
}

/** A world file, or a state that a store has written. */
async function readWorldFile(file: string): Promise<World> {
  try {
    return readWorld(readText(file, FILE_LIMITS.world));
  } catch (error) {
    throw new ConfigError(`--world ${file}: ${whyUnread(error)}`);
  }
}

/** The default world as the build has left it beside the bundle; null where there is no build. */
async function readBuiltIn(): Promise<World | null> {
  try {
    return JSON.parse(await readFile(new URL("./default-world.json", import.meta.url), "utf8")) as World;
  } catch {
    return null;
  }
}
