import type { Exchange } from "../../src/engine/exchange.ts";
import { contentHash } from "../../src/engine/hashes.ts";

/** Returns the state hash, which covers the history, and the hash of the content of the state. */
export const stateHashes = ({ hash, state }: Exchange): string => `${hash} ${contentHash(state)}`;
