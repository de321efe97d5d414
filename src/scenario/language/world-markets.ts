import { readFileSync } from "node:fs";
import { readWorld } from "../../world/world-file.ts";

/** The slugs of a world file's markets. @throws Error with a sentence when it is no world. */
export const worldMarkets = (path: string): readonly string[] =>
  readWorld(readFileSync(path, "utf8")).events.flatMap(({ markets }) => markets.map(({ slug }) => slug));
