import { type Config, FROZEN_START } from "../config.ts";
import { DocumentError } from "../core/document/document-error.ts";
import { type Millis, millis } from "../core/units.ts";
import { STATE_FORMAT } from "../engine/state-header.ts";
import { FILE_LIMITS, readText } from "../regular-file.ts";
import { ConfigError } from "../setting.ts";
import { loadWorld } from "./load-world.ts";
import {
  demandSameTerms,
  type Origin,
  originOfState,
  originOfWorld,
  type StateDocument,
  termsOf,
} from "./origin.ts";

const SECOND_MS = 1_000;

/**
 * Where an exchange begins that is configured so: a state that a file holds, or a world.
 * @throws ConfigError when it cannot be read, or contradicts what is asked for besides.
 */
export async function loadOrigin(config: Config, wall: number): Promise<Origin> {
  const { worldFile } = config;
  const document = worldFile === null ? null : stateIn(worldFile);
  if (worldFile !== null && document !== null) {
    const origin = originIn(worldFile, document);
    demandSameTerms(config, origin, worldFile);
    return origin;
  }
  const world = await loadWorld(config);
  return originOfWorld(world, termsOf(config, world.seed), config.start ?? openingTime(config, wall));
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
