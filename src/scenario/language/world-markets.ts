import { FILE_LIMITS, readText } from "../../regular-file.ts";
import { readWorld } from "../../simulation/world-file.ts";

/** The slugs of a world file's markets. @throws Error with a sentence when it is no world. */
export const worldMarkets = (path: string): readonly string[] =>
  readWorld(readText(path, FILE_LIMITS.world)).events.flatMap(({ markets }) =>
    markets.map(({ slug }) => slug),
  );
