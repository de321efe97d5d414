import type { RefusedEntry } from "../../engine/journal.ts";
import type { ObservedSession } from "./observed-session.ts";
import type { TouchedMarket } from "./touched-markets.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** A session with the words in which a scenario tells it. */
export interface ToldSession {
  /** Its acts are those that steps say. */
  readonly session: ObservedSession;
  readonly words: Vocabulary;
  /** Of orders, by number. */
  readonly names: ReadonlyMap<number, string>;
  readonly markets: readonly TouchedMarket[];
  readonly actors: readonly number[];
  /** What was refused meanwhile, oldest first. */
  readonly refused: readonly RefusedEntry[];
}
