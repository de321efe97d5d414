import { createHash } from "node:crypto";
import { canonicalLines } from "../core/canonical.ts";
import type { State } from "../core/state.ts";

/** Lines are handed to the hash in pieces of about so many characters. */
const PIECE_LENGTH = 65_536;

/** The same as the core's `stateHash`, worked out by the platform's own SHA-256: states may have millions of lines. */
export function nativeStateHash(state: State): string {
  const hash = createHash("sha256");
  let piece = "";
  for (const line of canonicalLines(state)) {
    piece += `${line}\n`;
    if (piece.length < PIECE_LENGTH) continue;
    hash.update(piece);
    piece = "";
  }
  return hash.update(piece).digest("hex");
}
