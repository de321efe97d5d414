import type { Exchange } from "../../src/runtime/exchange.ts";
import { contentHash } from "../../src/runtime/state-hash.ts";

/** What names a state: what led to it, and all that is in it. */
export const sightOf = ({ hash, state }: Exchange): string => `${hash} ${contentHash(state)}`;
