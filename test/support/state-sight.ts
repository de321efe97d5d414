import type { Exchange } from "../../src/engine/exchange.ts";
import { contentHash } from "../../src/engine/state-hash.ts";

/** What names a state: what led to it, and all that is in it. */
export const sightOf = ({ hash, state }: Exchange): string => `${hash} ${contentHash(state)}`;
